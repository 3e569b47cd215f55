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
        std::unique_ptr<Page> &cells = shard.pages[page];
        if (is_new)
            cells = std::make_unique<Page>();
        cells_ = cells->data();
        page_ = page;
    }
    return cells_[address % kPageBytes / kWordBytes];
}

} // namespace softcuda::check
