// stand_in_pool.cpp -- device memory for In, Out and InOut, which come and go with every call.
#include "stand_in_pool.h"

namespace pycuda::python {

StandInPool &StandInPool::instance() {
    static auto *instance = new StandInPool; // never destroyed: it may be asked at the very end
    return *instance;
}

namespace {

/// The pool, made anew where the last one was of another context.
MemoryPool current_pool(std::optional<MemoryPool> &pool, MemoryPool (*make)()) {
    if (!pool || !pool->context().usable() || !pool->context().is_current())
        pool = make();
    return *pool;
}

} // namespace

// Allocating may wait for the driver, and for memory to be found, with the mutex open again.

PooledMemory StandInPool::allocate(std::size_t bytes) {
    MemoryPool pool = [&] {
        nb::ft_lock_guard guard(mutex_);
        return current_pool(pool_, MemoryPool::device);
    }();
    return pool.allocate(bytes);
}

PooledMemory StandInPool::allocate_pinned(std::size_t bytes) {
    MemoryPool pool = [&] {
        nb::ft_lock_guard guard(mutex_);
        return current_pool(pinned_pool_, [] { return MemoryPool::pinned(); });
    }();
    return pool.allocate(bytes);
}

void StandInPool::abandon(PooledMemory memory) {
    nb::ft_lock_guard guard(mutex_);
    abandoned_.push_back(std::move(memory));
}

void StandInPool::free_held() {
    nb::ft_lock_guard guard(mutex_);
    for (std::optional<MemoryPool> *pool : {&pool_, &pinned_pool_})
        if (*pool)
            (*pool)->free_held();
}

} // namespace pycuda::python
