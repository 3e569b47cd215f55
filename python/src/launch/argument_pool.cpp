// argument_pool.cpp -- pools of device memory for In, Out and InOut, which are allocated in each
// call.
#include "launch/argument_pool.h"

namespace pycuda::python {

ArgumentPool &ArgumentPool::instance() {
    static auto *instance =
        new ArgumentPool; // never destroyed: it may be used until the process ends
    return *instance;
}

namespace {

/// The pool; a new one if the last one belongs to another context.
MemoryPool current_pool(std::optional<MemoryPool> &pool, MemoryPool (*make)()) {
    if (!pool || !pool->context().usable() || !pool->context().is_current())
        pool = make();
    return *pool;
}

} // namespace

// Allocation may wait for the driver or for other memory to be freed; the mutex is not locked
// meanwhile.

PooledMemory ArgumentPool::allocate(std::size_t bytes) {
    MemoryPool pool = [&] {
        nb::ft_lock_guard guard(mutex_);
        return current_pool(pool_, MemoryPool::device);
    }();
    return pool.allocate(bytes);
}

PooledMemory ArgumentPool::allocate_pinned(std::size_t bytes) {
    MemoryPool pool = [&] {
        nb::ft_lock_guard guard(mutex_);
        return current_pool(pinned_pool_, [] { return MemoryPool::pinned(); });
    }();
    return pool.allocate(bytes);
}

void ArgumentPool::abandon(PooledMemory memory) {
    nb::ft_lock_guard guard(mutex_);
    abandoned_.push_back(std::move(memory));
}

void ArgumentPool::free_held() {
    nb::ft_lock_guard guard(mutex_);
    for (std::optional<MemoryPool> *pool : {&pool_, &pinned_pool_})
        if (*pool)
            (*pool)->free_held();
}

} // namespace pycuda::python
