// stream_pool.cpp -- memory that is allocated and freed in the order of one stream.
#include "arrays/stream_pool.h"

#include "objects/outside_captures.h"
#include "objects/recording.h"

#include <pycuda/driver.h>

#include <exception>
#include <optional>

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
    try {
        std::optional<ScopedContext> scope;
        if (stream == nullptr && !context.is_current()) // then null is another default stream
            scope.emplace(context);
        // During a capture the driver would refuse the wait and end the capture.
        if (recording_of(stream) == Recording::No) [[likely]] {
            for (const std::shared_ptr<Event> &use : uses)
                (void)driver->cuStreamWaitEvent.status(stream, use->get(), 0);
            return;
        }
    } catch (const std::exception &) { // the context cannot be made current: the host waits
    }
    const OutsideCaptures outside;
    for (const std::shared_ptr<Event> &use : uses)
        (void)driver->cuEventSynchronize.status(use->get());
}

StreamPool::StreamPool(CUstream stream, const Context &context, std::uint64_t capture)
    : stream_(stream), capture_(capture), context_(context), memory_(pool_in(context)) {}

PooledMemory StreamPool::allocate(std::size_t bytes) {
    if (capture_ != 0) {
        std::lock_guard lock(mutex_);
        if (++allocated_ > retired_.capacity())
            retired_.reserve(2 * allocated_);
    }
    return memory_.allocate(bytes);
}

void StreamPool::take_back(PooledMemory block,
                           std::span<const std::shared_ptr<Event>> uses) noexcept {
    if (capture_ != 0) {
        if (!uses.empty())
            return retire(std::move(block));
        const PooledMemory back = std::move(block); // the graph's next launch follows this one
        return;
    }
    std::lock_guard lock(mutex_);
    if (!ended_) {
        wait_for_uses(context_, stream_, uses);
        const PooledMemory back = std::move(block);
        return;
    }
    // The pool is closed: frees the block when its uses are done.
    const Driver *driver = driver_for_cleanup();
    if (driver != nullptr && context_.usable()) {
        const OutsideCaptures outside;
        for (const std::shared_ptr<Event> &use : uses)
            (void)driver->cuEventSynchronize.status(use->get());
        if (last_)
            (void)driver->cuEventSynchronize.status(last_->get());
    }
    const PooledMemory back = std::move(block);
}

void StreamPool::retire(PooledMemory block) noexcept {
    std::lock_guard lock(mutex_);
    if (!ended_)
        return retired_.push_back(std::move(block));
    const PooledMemory back = std::move(block); // to the driver, which waits for its uses
}

void StreamPool::end_capture() noexcept {
    std::vector<PooledMemory> retired;
    {
        std::lock_guard lock(mutex_);
        ended_ = true;
        retired.swap(retired_);
    }
    memory_.stop_holding();
}

void StreamPool::end(MemoryPool &heir) noexcept {
    std::lock_guard lock(mutex_);
    ended_ = true;
    const Driver *driver = driver_for_cleanup();
    if (driver == nullptr || !context_.usable())
        return;
    try {
        const ScopedContext scope(context_);
        if (recording_of(nullptr) != Recording::No) { // the driver would refuse the wait below
            const OutsideCaptures outside;
            driver->cuStreamSynchronize(stream_);
            memory_.move_held_to(heir);
            return memory_.stop_holding();
        }
        last_.emplace(context_, CU_EVENT_DISABLE_TIMING).record(stream_);
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
