// marked_memory.h -- the last accesses to each word of global memory, by pages.
#pragma once

#include "check/access_marks.h"
#include "rt/reserved_range.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace softcuda::check {

/// The cells of global memory, by pages. Any thread.
class MarkedMemory {
  public:
    static constexpr std::uint64_t kPageBytes = 4096;
    /// All zero if no access is recorded.
    struct Page {
        std::uint32_t lock; ///< 1: locked by a thread
        std::uint32_t run_count;
        std::array<std::uint32_t, 16> runs; ///< the latest launches that accessed the page
        std::array<LineMarks, kPageBytes / kLineBytes> lines;
        std::array<Cell, kPageBytes / kWordBytes> cells;

        /// The line that contains `address`.
        Line line(std::uint64_t address) {
            const std::uint64_t number = address % kPageBytes / kLineBytes;
            return {&lines[number], &cells[number * kLineWords]};
        }
        Cell &cell(std::uint64_t address) {
            const Line at = line(address);
            at.marks->expand(at.cells);
            return at.cells[address / kWordBytes % kLineWords];
        }
        void add_run(std::uint32_t run);
    };

    /// Holds the lock of one page at a time.
    class Cursor {
      public:
        /// For accesses of one launch.
        Cursor(MarkedMemory &memory, std::uint32_t run) : memory_(memory), run_(run) {}
        ~Cursor() { release(); }
        Cursor(const Cursor &) = delete;
        Cursor &operator=(const Cursor &) = delete;
        /// The line that contains `address`, valid until the next call. Throws std::bad_alloc.
        Line line(std::uint64_t address) {
            if (!page_ || address / kPageBytes != number_)
                go_to(address / kPageBytes);
            expect(address + kLineBytes);
            return page_->line(address);
        }
        void release() noexcept;

      private:
        void go_to(std::uint64_t number);
        /// Kernels usually continue at higher addresses. GCC 12 drops the prefetch if it does not
        /// inline this function early.
        [[gnu::always_inline]] void expect(std::uint64_t address) const {
            const std::uint64_t number = address / kPageBytes;
            Page *page = number == number_ || number % kLeafPages != 0
                             ? page_ + static_cast<std::ptrdiff_t>(number - number_)
                             : page_;
            __builtin_prefetch(page->line(address).marks, 1);
        }

        MarkedMemory &memory_;
        std::uint32_t run_;
        std::uint64_t number_ = 0;
        Page *page_ = nullptr; ///< the page whose lock is held
        struct Seen {
            std::uint64_t number = ~std::uint64_t{0};
            Page *pages = nullptr;
        };
        std::array<Seen, 8> leaves_; ///< recently used
    };

    /// Clears the marks of a range.
    void clear(std::uint64_t begin, std::uint64_t bytes);

    /// Calls look(cell, address) for the words of [begin, end) in pages of which concerns(run) is
    /// true for one of the launches. The page's lock is held, so neither function may call this
    /// class.
    template <class Concerns, class Look>
    void for_each_cell(std::uint64_t begin, std::uint64_t end, Concerns concerns, Look look) {
        for_each_page(begin, end, [&](Page &page, std::uint64_t first, std::uint64_t last) {
            const auto count = std::min<std::size_t>(page.run_count, page.runs.size());
            if (std::any_of(page.runs.begin(), page.runs.begin() + count, concerns))
                for (std::uint64_t word = first / kWordBytes; word * kWordBytes < last; ++word)
                    look(page.cell(word * kWordBytes), word * kWordBytes);
        });
    }

  private:
    // Pages of neighbouring addresses are in one leaf. Leaves are never freed; the memory of their
    // pages is returned to the system if it becomes too large.
    static constexpr std::uint64_t kLeafPages = 4096;
    static void lock(Page &page) noexcept;
    static void unlock(Page &page) noexcept;
    /// Null if there is none.
    [[nodiscard]] Page *find_leaf(std::uint64_t number);
    Page *make_leaf(std::uint64_t number);
    void forget_all();

    /// Calls each(page, begin, end) for the accessed pages, under their locks.
    template <class Each> void for_each_page(std::uint64_t begin, std::uint64_t end, Each each) {
        constexpr std::uint64_t kLeafBytes = kLeafPages * kPageBytes;
        while (begin < end) {
            const std::uint64_t leaf_end = std::min(end, (begin / kLeafBytes + 1) * kLeafBytes);
            Page *leaf = find_leaf(begin / kLeafBytes);
            for (; leaf && begin < leaf_end;) {
                const std::uint64_t last = std::min(end, (begin / kPageBytes + 1) * kPageBytes);
                Page &page = leaf[begin / kPageBytes % kLeafPages];
                if (std::atomic_ref(page.run_count).load(std::memory_order_relaxed) != 0) {
                    lock(page);
                    each(page, begin, last);
                    unlock(page);
                }
                begin = last;
            }
            begin = leaf_end;
        }
    }

    std::mutex mutex_; ///< of leaves_
    std::unordered_map<std::uint64_t, std::unique_ptr<rt::ReservedRange>> leaves_;
    std::atomic<std::uint64_t> pages_{0}; ///< that have been accessed
};

} // namespace softcuda::check
