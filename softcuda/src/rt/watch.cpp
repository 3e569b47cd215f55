// watch.cpp -- the functions that checked kernels call.
#include "rt/watch.h"

#include "rt/guard.h"
#include "support/bulk_copy.h"

#include <cstdio>

using softcuda::rt::BlockWatch;

namespace {

template <class Tell> void notify_watch(softcuda::rt::WorkerState *worker, Tell tell) {
    softcuda::rt::notify_watch(*static_cast<BlockWatch *>(worker->watch), tell);
}

} // namespace

namespace softcuda::rt {

void BlockWatch::access_row(WatchSite &site, std::uint32_t mask, std::uint64_t first,
                            std::uint64_t step, const std::byte *values, WatchPiece *piece) {
    std::uint64_t addresses[kWarpSize];
    for (std::uint64_t &address : addresses)
        address = first + static_cast<std::uint64_t>(&address - addresses) * step;
    access(site, mask, addresses, values, piece);
}

void watch_copy(WorkerState *worker, WatchSite &site, std::uint32_t lane, std::uint64_t address,
                std::uint64_t bytes, const CopyEnd &end) {
    ::notify_watch(worker, [&](BlockWatch &watch) { watch.copy(site, lane, address, bytes, end); });
}

void fail_for_memory_of_checks() {
    FaultReport report;
    report.kind = Fault::Trap;
    std::snprintf(report.detail, sizeof report.detail, "out of memory for the checks of a block");
    Guard::fail(report);
}

} // namespace softcuda::rt

void scu_watch_access(softcuda::rt::WorkerState *worker, softcuda::rt::WatchSite *site,
                      std::uint32_t mask, const std::uint64_t *addresses, const std::byte *values,
                      softcuda::rt::WatchPiece *piece) {
    notify_watch(worker,
                 [&](BlockWatch &watch) { watch.access(*site, mask, addresses, values, piece); });
}

void scu_watch_row(softcuda::rt::WorkerState *worker, softcuda::rt::WatchSite *site,
                   std::uint32_t mask, std::uint64_t first, std::uint64_t step,
                   const std::byte *values, softcuda::rt::WatchPiece *piece) {
    notify_watch(worker, [&](BlockWatch &watch) {
        watch.access_row(*site, mask, first, step, values, piece);
    });
}

void scu_watch_block(softcuda::rt::WorkerState *worker) {
    notify_watch(worker, [](BlockWatch &watch) { watch.begin_block(); });
}

void scu_watch_arrival(softcuda::rt::WorkerState *worker) {
    notify_watch(worker, [&](BlockWatch &watch) { watch.arrive(worker->warp_index, 0, true); });
}

void scu_watch_pass(softcuda::rt::WorkerState *worker, std::uint32_t all) {
    notify_watch(worker, [&](BlockWatch &watch) { watch.pass(all != 0); });
}

void scu_watch_fence(softcuda::rt::WorkerState *worker, std::uint32_t scope, std::uint32_t mask) {
    notify_watch(worker, [&](BlockWatch &watch) {
        watch.fence(static_cast<softcuda::rt::WatchScope>(scope), mask);
    });
}

void scu_watch_meeting(softcuda::rt::WorkerState *worker, softcuda::rt::WatchSite *site,
                       std::uint32_t mask, const std::uint32_t *members,
                       const std::uint32_t *sources) {
    notify_watch(worker, [&](BlockWatch &watch) { watch.meet(*site, mask, members, sources); });
}

void scu_watch_copies(softcuda::rt::WorkerState *worker, std::uint32_t groups_left,
                      std::uint32_t mask) {
    if (mask == 0)
        return;
    notify_watch(worker, [&](BlockWatch &watch) {
        if (groups_left == softcuda::kWaitForEarlierGrid)
            watch.wait_for_earlier_grid();
        else if (groups_left == softcuda::kLaunchDependents)
            watch.launch_dependents();
        else
            watch.wait_for_copies(groups_left);
    });
}

void scu_watch_barrier(softcuda::rt::WorkerState *worker, softcuda::rt::WatchSite *site,
                       std::uint32_t mask) {
    notify_watch(worker, [&](BlockWatch &watch) { watch.come_to_barrier(*site, mask); });
}
