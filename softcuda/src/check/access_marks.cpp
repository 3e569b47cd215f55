// access_marks.cpp -- pages of cells.
#include "check/access_marks.h"

namespace softcuda::check {

Cell &MarkedMemory::Cursor::at(std::uint64_t address) {
    const std::uint64_t page = address / kPageBytes;
    if (page != page_) {
        Shard &shard = memory_.shards_[page % kShards];
        if (lock_.owns_lock())
            lock_.unlock();
        lock_ = std::unique_lock(shard.mutex);
        std::unique_ptr<Page> &found = shard.pages[page];
        if (!found)
            found = std::make_unique<Page>();
        cells_ = found->data();
        page_ = page;
    }
    return cells_[address % kPageBytes / kWordBytes];
}

} // namespace softcuda::check
