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

/// The words of a line, and what is known of all of them at once.
inline constexpr unsigned kLineWords = 32, kLineBytes = kLineWords * kWordBytes;

/// What one warp did to words of a line at once.
struct LineAccess {
    Mark mark;                 ///< `lane` and `bytes` mean nothing: whole words are accessed
    std::uint32_t words = 0;   ///< a bit each, of those for which it still counts; 0: none
    std::uint32_t several = 0; ///< those that several lanes accessed
    bool writes = false;
    std::array<std::uint8_t, kLineWords> lanes; ///< by word: the lane, or one of them

    [[nodiscard]] bool is_of(const Mark &warp) const {
        return mark.block == warp.block && mark.warp == warp.warp;
    }
};

/// A few accesses stand for the cells of a line's words: until writes are too many; of reads, three
/// at least of the latest. Each word has at most one write among them, and that is older than the
/// reads.
struct LineMarks {
    std::uint32_t run = 0;   ///< as in Cell
    bool by_words = false;   ///< the words' cells say it
    std::uint8_t oldest = 0; ///< the next of the accesses to go
    std::array<LineAccess, 4> accesses;

    void begin(std::uint32_t present);
    /// Adds an access, in the place of those that need not be known any more. False where there is
    /// no room.
    [[nodiscard]] bool add(const LineAccess &access);
    /// Writes all of it into the words' cells.
    void expand(Cell *cells);
};

struct Line {
    LineMarks *marks;
    Cell *cells;
};

/// Of a window, whose block forgets what all of its warps know: it begins another run then.
struct MarkedWindow {
    std::vector<LineMarks> lines;
    std::vector<Cell> cells;
    std::uint32_t run = 0;

    void begin_run() {
        if (++run != 0)
            return;
        std::fill(lines.begin(), lines.end(), LineMarks{}); // none has a number that comes again
        std::fill(cells.begin(), cells.end(), Cell{});
        run = 1;
    }

    void resize(std::uint64_t bytes) {
        lines.resize((bytes + kLineBytes - 1) / kLineBytes);
        cells.resize(lines.size() * kLineWords);
    }
    [[nodiscard]] bool holds(std::uint64_t offset) const {
        return offset / kWordBytes < cells.size();
    }
    /// That `offset` is in, which it holds.
    [[nodiscard]] Line line(std::uint64_t offset) {
        const std::uint64_t number = offset / kLineBytes;
        return {&lines[number], &cells[number * kLineWords]};
    }
};

/// The cells of global memory, by pages that are made when first touched.
class MarkedMemory {
  public:
    static constexpr std::uint64_t kPageBytes = 4096;
    struct Page {
        std::array<LineMarks, kPageBytes / kLineBytes> lines;
        std::array<Cell, kPageBytes / kWordBytes> cells;
        std::vector<std::uint32_t> runs; ///< that accessed it; of many, the latest

        /// That the byte at `address` is in.
        Line line(std::uint64_t address) {
            const std::uint64_t number = address % kPageBytes / kLineBytes;
            return {&lines[number], &cells[number * kLineWords]};
        }
        Cell &cell(std::uint64_t address) {
            const Line at = line(address);
            at.marks->expand(at.cells);
            return at.cells[address / kWordBytes % kLineWords];
        }
    };

    /// Holds the lock of one page at a time: for a walk over places that lie together.
    class Cursor {
      public:
        /// For the accesses of a launch.
        Cursor(MarkedMemory &memory, std::uint32_t run) : memory_(memory), run_(run) {}
        /// The line that `address` is in, until the next call. Throws std::bad_alloc.
        Line line(std::uint64_t address);

      private:
        MarkedMemory &memory_;
        std::uint32_t run_;
        std::unique_lock<std::mutex> lock_;
        std::uint64_t number_ = ~std::uint64_t{0};
        Page *page_ = nullptr;
    };

    void clear(std::uint64_t begin, std::uint64_t bytes);

    /// Calls look(cell, address) for the words of [begin, end), in pages for one of whose launches
    /// concerns(run) is true. A page's lock is held: neither may come back here.
    template <class Concerns, class Look>
    void for_each_cell(std::uint64_t begin, std::uint64_t end, Concerns concerns, Look look) {
        for_each_page(begin, end, [&](Page &page, std::uint64_t first, std::uint64_t last) {
            if (std::any_of(page.runs.begin(), page.runs.end(), concerns))
                for (std::uint64_t word = first / kWordBytes; word * kWordBytes < last; ++word)
                    look(page.cell(word * kWordBytes), word * kWordBytes);
        });
    }

  private:
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
