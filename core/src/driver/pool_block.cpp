// pool_block.cpp -- the list of all blocks of memory pools.
#include "driver/pool_block.h"

#include <pycuda/caller_lock.h>

#include <mutex>

namespace pycuda::detail {
namespace {

// The lock is held for a few instructions, and never while the driver is called: the driver itself
// may ask for a block's size.
constinit CallerMutex mutex;
constinit PoolBlock *first = nullptr;

} // namespace

PoolBlock::PoolBlock(std::size_t bytes) noexcept : size(bytes) {
    std::lock_guard lock(mutex);
    next_ = first;
    if (first)
        first->previous_ = this;
    first = this;
}

PoolBlock::~PoolBlock() {
    std::lock_guard lock(mutex);
    if (next_)
        next_->previous_ = previous_;
    (previous_ ? previous_->next_ : first) = next_;
}

std::size_t bytes_in_use(CUdeviceptr address) noexcept {
    std::lock_guard lock(mutex);
    for (const PoolBlock *block = first; block; block = block->next_) {
        const std::size_t used = block->used_.load(std::memory_order_acquire);
        if (used > 0 && block->address == address) // a block in use has its address
            return used;
    }
    return 0;
}

} // namespace pycuda::detail
