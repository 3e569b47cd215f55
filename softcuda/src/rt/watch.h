// watch.h -- what a checked kernel tells of itself while it runs.
//
// Kernels that are compiled with check modes (warp::TierRequest::checks) call the functions
// scu_watch_* of kernel_abi.h before what they do. These hand it to the BlockWatch of the block.
// Who watches is above this layer (check/).
#pragma once

#include "rt/watch_abi.h"

#include <cstdint>
#include <new>

namespace softcuda::rt {

/// One thread block under watch, or several, one after the other. All warps of a block run on one
/// thread at a time.
class BlockWatch {
  public:
    virtual ~BlockWatch() = default;

    /// The next block begins: in the tier of regions, where one thread runs some one by one.
    virtual void begin_block() = 0;
    /// Warps pass a barrier of the block: those that have arrived, or `all`. In the tier of
    /// regions.
    virtual void pass(bool all) = 0;
    /// The lanes in `mask` are about to access `addresses`, of which there are 32. `values` holds
    /// what they store, as scu_store_lanes takes it; null where that is not known. `piece`: null,
    /// or what the kernel keeps for the site; to be filled in.
    virtual void access(WatchSite &site, std::uint32_t mask, const std::uint64_t *addresses,
                        const std::byte *values, WatchPiece *piece) = 0;
    /// The same where lane i accesses `first` + i * `step`. By default it calls access().
    virtual void access_row(WatchSite &site, std::uint32_t mask, std::uint64_t first,
                            std::uint64_t step, const std::byte *values);
    /// A lane is about to access so many bytes, by a copy that only an mbarrier or a group orders.
    virtual void copy(WatchSite &site, std::uint32_t lane, std::uint64_t address,
                      std::uint64_t bytes) = 0;
    /// A fence of the lanes in `mask`; `scope` is a WatchScope.
    virtual void fence(WatchScope scope, std::uint32_t mask) = 0;
    /// The lanes in `mask` exchange something with, or wait for, those that each names. `sources`:
    /// whom each reads; null where that is all of them or nobody.
    virtual void meet(WatchSite &site, std::uint32_t mask, const std::uint32_t *members,
                      const std::uint32_t *sources) = 0;
    /// The present warp ends a group of its asynchronous copies (~0), or waits until so many of its
    /// groups are left.
    virtual void wait_for_copies(std::uint32_t groups_left) = 0;
    /// The lanes in `mask` of the present warp come to a barrier.
    virtual void come_to_barrier(WatchSite &site, std::uint32_t mask) = 0;

    // From the schedulers of warps and lanes:
    /// Those of the warp's lanes that have come to the barrier at which it arrives.
    virtual void lanes_at_barrier(std::uint32_t lanes) = 0;
    /// Those of the warp's lanes that have not ended, where each goes its own way. `stranded`: they
    /// go on with an exchange although others that they name stand elsewhere and wait for them.
    virtual void live_lanes(std::uint32_t lanes, bool stranded) = 0;
    virtual void arrive(std::uint32_t warp, std::uint32_t number, bool waits) = 0;
    /// `all`: the barrier is one of the whole block.
    virtual void leave(std::uint32_t warp, std::uint32_t number, bool all) = 0;
    /// A barrier of the whole block is passed although `ended` of its warps have ended.
    virtual void pass_without(std::uint32_t ended) = 0;
};

/// One launch under watch. Any thread.
class LaunchWatch {
  public:
    virtual ~LaunchWatch() = default;
    /// Begins to watch a block, or several, whose memory and index `state` has; null where there is
    /// no memory for that.
    virtual BlockWatch *begin(WorkerState &state) noexcept = 0;
    virtual void end(BlockWatch *block) noexcept = 0;
};

/// Tells the watch of the block whose memory it is that a lane of the worker's copies to or from
/// these bytes.
void watch_copy(WorkerState *worker, WatchSite &site, std::uint32_t lane, std::uint64_t address,
                std::uint64_t bytes);

/// Ends the launch. Nothing that owns memory may be alive in the caller: this jumps.
[[noreturn]] void fail_for_memory_of_checks();

/// Calls tell(watch); what calls it may have been called by generated code, through which no
/// exception may go.
template <class Tell> void tell_watch(BlockWatch &watch, Tell tell) {
    bool done = false;
    try {
        tell(watch);
        done = true;
    } catch (const std::bad_alloc &) { // the launch is ended where nothing is alive any more
    }
    if (!done)
        fail_for_memory_of_checks();
}

} // namespace softcuda::rt
