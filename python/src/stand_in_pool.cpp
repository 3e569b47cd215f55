// stand_in_pool.cpp -- device memory for In, Out and InOut, which come and go with every call.
#include "stand_in_pool.h"

namespace pycuda::python {

StandInPool &StandInPool::instance() {
    static auto *instance = new StandInPool; // never destroyed: it may be asked at the very end
    return *instance;
}

PooledMemory StandInPool::allocate(std::size_t bytes) {
    if (!pool_ || !pool_->context().usable() || !pool_->context().is_current())
        pool_ = MemoryPool::device();
    return pool_->allocate(bytes);
}

void StandInPool::free_held() {
    if (pool_)
        pool_->free_held();
}

} // namespace pycuda::python
