// access_marks.cpp -- pages of cells.
#include "check/access_marks.h"

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

} // namespace

Line MarkedMemory::Cursor::line(std::uint64_t address) {
    const std::uint64_t number = address / kPageBytes;
    if (number != number_) {
        Shard &shard = memory_.shards_[number % kShards];
        if (lock_.owns_lock())
            lock_.unlock();
        lock_ = std::unique_lock(shard.mutex);
        const auto found = shard.pages.find(number);
        if (found != shard.pages.end()) {
            page_ = found->second.get();
        } else {
            if (++memory_.pages_ > most_pages()) { // what was long ago is forgotten
                memory_.pages_ -= shard.pages.size();
                shard.pages.clear();
            }
            std::unique_ptr<Page> &made = shard.pages[number];
            made = std::make_unique<Page>();
            page_ = made.get();
        }
        constexpr std::size_t kMostRuns = 16;
        std::vector<std::uint32_t> &runs = page_->runs;
        if (std::find(runs.rbegin(), runs.rend(), run_) == runs.rend()) {
            if (runs.size() == kMostRuns)
                runs.erase(runs.begin());
            runs.push_back(run_);
        }
        number_ = number;
    }
    return page_->line(address);
}

void MarkedMemory::clear(std::uint64_t begin, std::uint64_t bytes) {
    if (pages_ == 0)
        return;
    for_each_page(begin, begin + bytes, [](Page &page, std::uint64_t first, std::uint64_t last) {
        for (std::uint64_t word = first / kWordBytes; word * kWordBytes < last; ++word)
            page.cell(word * kWordBytes) = {};
    });
}

} // namespace softcuda::check
