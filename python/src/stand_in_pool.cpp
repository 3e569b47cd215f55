// stand_in_pool.cpp -- device memory for In, Out and InOut, which come and go with every call.
#include "stand_in_pool.h"

namespace pycuda::python {

StandInPool &StandInPool::instance() {
    static auto *instance = new StandInPool; // never destroyed: it may be asked at the very end
    return *instance;
}

namespace {

/// The pool, made anew where the last one was of another context.
MemoryPool &current_pool(std::optional<MemoryPool> &pool, MemoryPool (*make)()) {
    if (!pool || !pool->context().usable() || !pool->context().is_current())
        pool = make();
    return *pool;
}

} // namespace

PooledMemory StandInPool::allocate(std::size_t bytes) {
    return current_pool(pool_, MemoryPool::device).allocate(bytes);
}

PooledMemory StandInPool::allocate_pinned(std::size_t bytes) {
    return current_pool(pinned_pool_, [] { return MemoryPool::pinned(); }).allocate(bytes);
}

void StandInPool::abandon(PooledMemory memory) { abandoned_.push_back(std::move(memory)); }

void StandInPool::free_held() {
    for (std::optional<MemoryPool> *pool : {&pool_, &pinned_pool_})
        if (*pool)
            (*pool)->free_held();
}

} // namespace pycuda::python
