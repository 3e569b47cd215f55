// access_marks.h -- who accessed each word of memory last.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace softcuda::check {

inline constexpr unsigned kWordBytes = 4;

/// In place of a clock: a copy that nobody has waited for.
inline constexpr std::uint32_t kUnderWay = (1u << 22) - 1;

/// One access to a word.
struct Mark {
    std::uint32_t block = 0;
    std::uint32_t clock : 22 = 0; ///< of the warp
    std::uint32_t warp : 5 = 0;
    std::uint32_t lane : 5 = 0;
    std::uint32_t site : 22 = 0; ///< 0: there was none
    std::uint32_t bytes : 4 = 0; ///< of the word: a bit each
    std::uint32_t strong : 1 = 0;
    std::uint32_t atomic : 1 = 0;
    std::uint32_t device : 1 = 0;  ///< where strong: for all blocks, not its own alone
    std::uint32_t several : 1 = 0; ///< lanes of the warp at once; `lane` is one of them
};

/// A word's last write, and two of the reads after it: the latest, and one of another warp.
struct Cell {
    std::uint32_t run = 0; ///< of what launch, or block for shared memory
    Mark write, read, other_read;

    /// Forgets what is of another run.
    void begin(std::uint32_t present) {
        if (run != present)
            *this = {present, {}, {}, {}};
    }
};

/// The cells of global memory, by pages that are made when first touched.
class MarkedMemory {
  public:
    static constexpr std::uint64_t kPageBytes = 4096;

    /// Holds the lock of one page at a time: for a walk over places that lie together.
    class Cursor {
      public:
        /// For the accesses of a launch.
        Cursor(MarkedMemory &memory, std::uint32_t run) : memory_(memory), run_(run) {}
        /// The cell of the word at `address`, until the next call. Throws std::bad_alloc.
        Cell &at(std::uint64_t address);

      private:
        MarkedMemory &memory_;
        std::uint32_t run_;
        std::unique_lock<std::mutex> lock_;
        std::uint64_t page_ = ~std::uint64_t{0};
        Cell *cells_ = nullptr;
    };

    void clear(std::uint64_t begin, std::uint64_t bytes);

    /// Calls look(cell, address) for the words of [begin, end), in pages for one of whose launches
    /// concerns(run) is true. A page's lock is held: neither may come back here.
    template <class Concerns, class Look>
    void for_each_cell(std::uint64_t begin, std::uint64_t end, Concerns concerns, Look look) {
        for_each_page(begin, end, [&](Page &page, std::uint64_t first, std::uint64_t last) {
            if (std::any_of(page.runs.begin(), page.runs.end(), concerns))
                for (std::uint64_t word = first / kWordBytes; word * kWordBytes < last; ++word)
                    look(page.cells[word % kCells], word * kWordBytes);
        });
    }

  private:
    static constexpr std::size_t kCells = kPageBytes / kWordBytes;
    struct Page {
        std::array<Cell, kCells> cells;
        std::vector<std::uint32_t> runs; ///< that accessed it; of many, the latest
    };
    template <class Each> void for_each_page(std::uint64_t begin, std::uint64_t end, Each each) {
        while (begin < end) {
            const std::uint64_t page = begin / kPageBytes;
            const std::uint64_t last = std::min(end, (page + 1) * kPageBytes);
            Shard &shard = shards_[page % kShards];
            std::lock_guard lock(shard.mutex);
            if (const auto found = shard.pages.find(page); found != shard.pages.end())
                each(*found->second, begin, last);
            begin = last;
        }
    }
    static constexpr std::size_t kShards = 256;
    struct Shard {
        std::mutex mutex;
        std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages;
    };
    std::array<Shard, kShards> shards_;
    std::atomic<std::uint64_t> pages_{0};
};

} // namespace softcuda::check
