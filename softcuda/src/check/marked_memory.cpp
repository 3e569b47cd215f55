// marked_memory.cpp -- pages of marks, and their locks.
#include "check/marked_memory.h"

#include <new>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

namespace softcuda::check {

namespace {

/// A quarter of the machine's memory.
std::uint64_t most_pages() {
    static const std::uint64_t most = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                                      static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) / 4 /
                                      sizeof(MarkedMemory::Page);
    return most;
}

/// Populates the memory of all lines with one system call, instead of two page faults for each
/// page. If the system does not support the call, the page faults occur.
void make_present(MarkedMemory::Page &page) {
#ifdef MADV_POPULATE_WRITE
    const std::uint64_t size = rt::page_size();
    const auto begin = reinterpret_cast<std::uint64_t>(&page) / size * size;
    const auto end = reinterpret_cast<std::uint64_t>(&page.cells);
    (void)madvise(reinterpret_cast<void *>(begin), end - begin, MADV_POPULATE_WRITE);
#endif
}

} // namespace

void MarkedMemory::Page::add_run(std::uint32_t run) {
    const auto count = std::min<std::size_t>(run_count, runs.size());
    if (count != 0 && runs[(run_count - 1) % runs.size()] == run)
        return;
    if (std::find(runs.begin(), runs.begin() + count, run) != runs.begin() + count)
        return;
    runs[run_count % runs.size()] = run;
    if (++run_count == 0) // it stays a number of several rounds
        run_count = runs.size();
}

void MarkedMemory::lock(Page &page) noexcept {
    std::atomic_ref<std::uint32_t> held(page.lock);
    for (unsigned tries = 0; held.exchange(1, std::memory_order_acquire) != 0;)
        while (held.load(std::memory_order_relaxed) != 0)
            if (++tries % 64 == 0)
                sched_yield();
}

void MarkedMemory::unlock(Page &page) noexcept {
    std::atomic_ref(page.lock).store(0, std::memory_order_release);
}

void MarkedMemory::Cursor::release() noexcept {
    if (page_)
        unlock(*page_);
    page_ = nullptr;
}

void MarkedMemory::Cursor::go_to(std::uint64_t number) {
    release();
    const std::uint64_t leaf = number / kLeafPages;
    Seen &seen = leaves_[leaf % leaves_.size()];
    if (seen.number != leaf)
        seen = {leaf, memory_.make_leaf(leaf)};
    Page &page = seen.pages[number % kLeafPages];
    if (std::atomic_ref(page.run_count).load(std::memory_order_relaxed) == 0) {
        if (++memory_.pages_ > most_pages())
            memory_.forget_all();
        make_present(page);
    }
    lock(page);
    page_ = &page;
    number_ = number;
    page.add_run(run_);
}

MarkedMemory::Page *MarkedMemory::find_leaf(std::uint64_t number) {
    std::lock_guard lock(mutex_);
    const auto found = leaves_.find(number);
    return found == leaves_.end() ? nullptr : reinterpret_cast<Page *>(found->second->begin());
}

MarkedMemory::Page *MarkedMemory::make_leaf(std::uint64_t number) {
    std::lock_guard lock(mutex_);
    std::unique_ptr<rt::ReservedRange> &leaf = leaves_[number];
    if (!leaf) {
        const std::uint64_t bytes = rt::round_up(kLeafPages * sizeof(Page), rt::page_size());
        auto made = std::make_unique<rt::ReservedRange>(bytes);
        if (!made->open(made->begin(), bytes))
            throw std::bad_alloc();
        leaf = std::move(made);
    }
    return reinterpret_cast<Page *>(leaf->begin());
}

// A page may become zero while a thread is at it, and even be unlocked thereby. Then some accesses
// are forgotten or marked only in part; any mixture of marks and zeros is valid.
void MarkedMemory::forget_all() {
    std::lock_guard lock(mutex_);
    pages_ = 0;
    for (auto &[number, leaf] : leaves_)
        madvise(leaf->begin(), leaf->size(), MADV_DONTNEED);
}

void MarkedMemory::clear(std::uint64_t begin, std::uint64_t bytes) {
    if (pages_ == 0)
        return;
    for_each_page(begin, begin + bytes, [](Page &page, std::uint64_t first, std::uint64_t last) {
        for (std::uint64_t at = first; at < last;) {
            const std::uint64_t line_end = std::min(last, (at / kLineBytes + 1) * kLineBytes);
            if (line_end - at == kLineBytes) {
                page.line(at).marks->begin(0);
            } else {
                for (std::uint64_t word = at / kWordBytes; word * kWordBytes < line_end; ++word)
                    page.cell(word * kWordBytes) = {};
            }
            at = line_end;
        }
    });
}

} // namespace softcuda::check
