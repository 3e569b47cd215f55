// stream_pool.cpp -- memory that is allocated and freed in the order of one stream.
#include "arrays/stream_pool.h"

#include "context/outside_captures.h"
#include "context/recording.h"

#include <pycuda/driver.h>

#include <exception>
#include <optional>

namespace pycuda::detail {
namespace {

/// Waits in the host.
void wait_for_end(std::span<const StreamUse> uses) noexcept {
    const Driver *driver = driver_for_cleanup();
    if (driver == nullptr)
        return;
    const OutsideCaptures outside;
    for (const StreamUse &use : uses)
        (void)driver->cuEventSynchronize.status(use.done->get());
}

/// A pool in `context`, which need not be the current context.
MemoryPool pool_in(const Context &context) {
    ScopedContext scope(context);
    return MemoryPool::device();
}

} // namespace

void wait_for_uses(const Context &context, CUstream stream,
                   std::span<const StreamUse> uses) noexcept {
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
            for (const StreamUse &use : uses)
                (void)driver->cuStreamWaitEvent.status(stream, use.done->get(), 0);
            return;
        }
    } catch (const std::exception &) { // the context cannot be made current: the host waits
    }
    wait_for_end(uses);
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

void StreamPool::take_back(PooledMemory block, std::span<const StreamUse> uses) noexcept {
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
    try {
        last_.insert(last_.end(), uses.begin(), uses.end());
    } catch (const std::exception &) { // no host memory: waits
        wait_for_end(uses);
    }
    if (!holds_) // the pool has an heir, so the driver gets the block
        wait_for_end(last_);
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

void StreamPool::end() noexcept {
    std::lock_guard lock(mutex_);
    ended_ = true;
    const Driver *driver = driver_for_cleanup();
    if (driver == nullptr || !context_.usable())
        return;
    try {
        const ScopedContext scope(context_);
        auto last = std::make_shared<Event>(context_, CU_EVENT_DISABLE_TIMING);
        last->record(stream_);
        last_.push_back({std::move(last)});
    } catch (const std::exception &) {
        // No event can be created: waits until the work is done instead.
        (void)driver->cuStreamSynchronize.status(stream_);
    }
}

bool StreamPool::give_to(StreamPool &heir) noexcept {
    std::lock_guard lock(mutex_);
    std::erase_if(last_, [](const StreamUse &use) { return use.done->is_over(); });
    if (!last_.empty())
        return false;
    memory_.move_held_to(heir.memory_);
    memory_.stop_holding();
    holds_ = false;
    return true;
}

bool StreamPool::empty() const noexcept {
    const PoolStatistics now = memory_.statistics();
    return now.held_blocks == 0 && now.active_blocks == 0;
}

} // namespace pycuda::detail
