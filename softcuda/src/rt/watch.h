// watch.h -- the interface by which a checked kernel reports its accesses while it runs.
//
// Kernels that are compiled with check modes (warp::TierRequest::checks) call the functions
// scu_watch_* of watch_abi.h before their accesses. These functions call the BlockWatch of the
// block. Its implementation is in the layer above (check/).
#pragma once

#include "rt/copy_end.h"
#include "rt/watch_abi.h"

#include <cstdint>
#include <new>

namespace softcuda::rt {

/// The watch of one thread block, or of several blocks one after the other. All warps of a block
/// run on one thread at a time.
class BlockWatch {
  public:
    virtual ~BlockWatch() = default;

    /// The next block begins. In the tier of regions, one thread runs several blocks one after the
    /// other.
    virtual void begin_block() = 0;
    /// The arrived warps, or with `all` all warps, pass a barrier of the block. In the tier of
    /// regions.
    virtual void pass(bool all) = 0;
    /// The lanes in `mask` will access `addresses`, an array of 32. `values` are the values to
    /// store, in the format of scu_store_lanes; null if unknown. `piece`: null, or the kernel's
    /// cache for the site, which the call fills in.
    virtual void access(WatchSite &site, std::uint32_t mask, const std::uint64_t *addresses,
                        const std::byte *values, WatchPiece *piece) = 0;
    /// As above if lane i accesses `first` + i * `step`. By default calls access().
    virtual void access_row(WatchSite &site, std::uint32_t mask, std::uint64_t first,
                            std::uint64_t step, const std::byte *values, WatchPiece *piece);
    /// A lane will access these bytes by an asynchronous copy, which is ordered only by its end.
    virtual void copy(WatchSite &site, std::uint32_t lane, std::uint64_t address,
                      std::uint64_t bytes, const CopyEnd &end) = 0;
    /// The lanes in `mask` will access `bytes` bytes each of textures or surfaces.
    virtual void texels(WatchSite &site, std::uint32_t mask, const std::uint64_t *addresses,
                        std::uint32_t bytes) = 0;
    /// The copies of a lane that end by the mbarrier at this address have been reported.
    virtual void end_copies(std::uint64_t barrier) = 0;
    /// A fence of the lanes in `mask`; `scope` is a WatchScope.
    virtual void fence(WatchScope scope, std::uint32_t mask) = 0;
    /// The lanes in `mask` exchange values with, or wait for, the lanes of their member masks.
    /// `sources`: the lane that each lane reads; null if it reads all lanes or none.
    virtual void meet(WatchSite &site, std::uint32_t mask, const std::uint32_t *members,
                      const std::uint32_t *sources) = 0;
    /// The current warp ends a group of its asynchronous copies (~0), or waits until at most this
    /// number of groups is pending. With kBulkGroups: groups of bulk copies.
    virtual void wait_for_copies(std::uint32_t groups_left) = 0;
    /// The current warp waits for the launch before it in the stream, or allows the launch after it
    /// to begin.
    virtual void wait_for_earlier_grid() = 0;
    virtual void launch_dependents() = 0;
    /// The lanes in `mask` of the current warp reach a barrier.
    virtual void come_to_barrier(WatchSite &site, std::uint32_t mask) = 0;

    // From the schedulers of warps and lanes:
    /// The lanes of the warp that have reached the barrier at which the warp arrives.
    virtual void lanes_at_barrier(std::uint32_t lanes) = 0;
    /// The live lanes of the warp, if lanes run independently. `stranded`: lanes that continue an
    /// exchange although other members wait for them at another point of the program.
    virtual void live_lanes(std::uint32_t lanes, bool stranded) = 0;
    virtual void arrive(std::uint32_t warp, std::uint32_t number, bool waits) = 0;
    /// `all`: the barrier is for the whole block.
    virtual void leave(std::uint32_t warp, std::uint32_t number, bool all) = 0;
    /// The warp arrives at the barrier of the cluster. `releases`: the barrier orders its accesses.
    virtual void arrive_at_cluster(std::uint32_t warp, bool releases) = 0;
    virtual void leave_cluster(std::uint32_t warp) = 0;
    /// The block passes a barrier of the whole block although `ended` of its warps have ended.
    virtual void pass_without(std::uint32_t ended) = 0;
};

/// The watch of one launch. Any thread may call.
class LaunchWatch {
  public:
    virtual ~LaunchWatch() = default;
    /// Begins to watch the block of `state`, or several blocks; null if memory runs out.
    virtual BlockWatch *begin(WorkerState &state) noexcept = 0;
    virtual void end(BlockWatch *block) noexcept = 0;
};

/// Reports a copy of a lane of the worker to or from these bytes.
void watch_copy(WorkerState *worker, WatchSite &site, std::uint32_t lane, std::uint64_t address,
                std::uint64_t bytes, const CopyEnd &end);

/// Ends the launch by a jump. The caller must not own resources.
[[noreturn]] void fail_for_memory_of_checks();

/// Calls tell(watch) and catches exceptions, because exceptions must not pass through generated
/// code.
template <class Tell> void notify_watch(BlockWatch &watch, Tell tell) {
    bool done = false;
    try {
        tell(watch);
        done = true;
    } catch (const std::bad_alloc &) { // ends the launch below, after all destructors
    }
    if (!done)
        fail_for_memory_of_checks();
}

} // namespace softcuda::rt
