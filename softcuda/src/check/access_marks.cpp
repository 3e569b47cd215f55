// access_marks.cpp -- pages of cells.
#include "check/access_marks.h"

#include <unistd.h>

namespace softcuda::check {

namespace {

/// A quarter of the machine's memory.
std::uint64_t most_pages() {
    static const std::uint64_t most = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                                      static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) / 4 /
                                      (MarkedMemory::kPageBytes / kWordBytes * sizeof(Cell));
    return most;
}

} // namespace

Cell &MarkedMemory::Cursor::at(std::uint64_t address) {
    const std::uint64_t page = address / kPageBytes;
    if (page != page_) {
        Shard &shard = memory_.shards_[page % kShards];
        if (lock_.owns_lock())
            lock_.unlock();
        lock_ = std::unique_lock(shard.mutex);
        const bool is_new = !shard.pages.contains(page);
        if (is_new && ++memory_.pages_ > most_pages()) { // what was long ago is forgotten
            memory_.pages_ -= shard.pages.size();
            shard.pages.clear();
        }
        std::unique_ptr<Page> &found = shard.pages[page];
        if (is_new)
            found = std::make_unique<Page>();
        constexpr std::size_t kMostRuns = 16;
        std::vector<std::uint32_t> &runs = found->runs;
        if (std::find(runs.begin(), runs.end(), run_) == runs.end()) {
            if (runs.size() == kMostRuns)
                runs.erase(runs.begin());
            runs.push_back(run_);
        }
        cells_ = found->cells.data();
        page_ = page;
    }
    return cells_[address % kPageBytes / kWordBytes];
}

void MarkedMemory::clear(std::uint64_t begin, std::uint64_t bytes) {
    if (pages_ == 0)
        return;
    for_each_page(begin, begin + bytes, [](Page &page, std::uint64_t first, std::uint64_t last) {
        for (std::uint64_t word = first / kWordBytes; word * kWordBytes < last; ++word)
            page.cells[word % kCells] = {};
    });
}

} // namespace softcuda::check
