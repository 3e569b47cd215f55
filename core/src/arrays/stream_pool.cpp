// stream_pool.cpp -- memory that is allocated and freed in the order of one stream.
#include "arrays/stream_pool.h"

#include <pycuda/driver.h>

namespace pycuda::detail {
namespace {

/// A pool in `context`, which need not be the current context.
MemoryPool pool_in(const Context &context) {
    ScopedContext scope(context);
    return MemoryPool::device();
}

} // namespace

void wait_for_uses(const Context &context, CUstream stream,
                   std::span<const std::shared_ptr<Event>> uses) noexcept {
    if (uses.empty()) [[likely]]
        return;
    const Driver *driver = driver_for_cleanup();
    if (driver == nullptr || !context.usable())
        return;
    for (const std::shared_ptr<Event> &use : uses)
        (void)driver->cuStreamWaitEvent.status(stream, use->get(), 0);
}

StreamPool::StreamPool(CUstream stream, const Context &context)
    : stream_(stream), context_(context), memory_(pool_in(context)) {}

void StreamPool::take_back(PooledMemory block,
                           std::span<const std::shared_ptr<Event>> uses) noexcept {
    std::lock_guard lock(mutex_);
    if (!ended_) {
        wait_for_uses(context_, stream_, uses);
        const PooledMemory back = std::move(block);
        return;
    }
    // The pool is closed: frees the block when its uses are done.
    const Driver *driver = driver_for_cleanup();
    if (driver != nullptr && context_.usable()) {
        for (const std::shared_ptr<Event> &use : uses)
            (void)driver->cuEventSynchronize.status(use->get());
        if (last_)
            (void)driver->cuEventSynchronize.status(last_->get());
    }
    const PooledMemory back = std::move(block);
}

void StreamPool::end(MemoryPool &heir) noexcept {
    std::lock_guard lock(mutex_);
    ended_ = true;
    const Driver *driver = driver_for_cleanup();
    if (driver == nullptr || !context_.usable())
        return;
    try {
        last_.emplace(context_, CU_EVENT_DISABLE_TIMING).record(stream_);
        const ScopedContext scope(context_);
        driver->cuStreamWaitEvent(nullptr, last_->get(), 0);
        memory_.move_held_to(heir);
    } catch (const std::exception &) {
        // No event can be created: waits until the work is done instead.
        last_.reset();
        (void)driver->cuStreamSynchronize.status(stream_);
    }
    memory_.stop_holding();
}

} // namespace pycuda::detail
