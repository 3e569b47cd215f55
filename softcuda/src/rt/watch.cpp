// watch.cpp -- the functions that checked kernels call.
#include "rt/watch.h"

#include "rt/guard.h"

#include <cstdio>

using softcuda::rt::BlockWatch;

namespace {

template <class Tell> void tell_watch(softcuda::rt::WorkerState *worker, Tell tell) {
    softcuda::rt::tell_watch(*static_cast<BlockWatch *>(worker->watch), tell);
}

} // namespace

namespace softcuda::rt {

void BlockWatch::access_row(WatchSite &site, std::uint32_t mask, std::uint64_t first,
                            std::uint64_t step, const std::byte *values) {
    std::uint64_t addresses[kWarpSize];
    for (std::uint64_t &address : addresses)
        address = first + static_cast<std::uint64_t>(&address - addresses) * step;
    access(site, mask, addresses, values, nullptr);
}

void fail_for_memory_of_checks() {
    FaultReport report;
    report.kind = Fault::Trap;
    std::snprintf(report.detail, sizeof report.detail, "there is no memory for its checks");
    Guard::fail(report);
}

} // namespace softcuda::rt

void scu_watch_access(softcuda::rt::WorkerState *worker, softcuda::rt::WatchSite *site,
                      std::uint32_t mask, const std::uint64_t *addresses, const std::byte *values,
                      softcuda::rt::WatchPiece *piece) {
    tell_watch(worker,
               [&](BlockWatch &watch) { watch.access(*site, mask, addresses, values, piece); });
}

void scu_watch_row(softcuda::rt::WorkerState *worker, softcuda::rt::WatchSite *site,
                   std::uint32_t mask, std::uint64_t first, std::uint64_t step,
                   const std::byte *values) {
    tell_watch(worker,
               [&](BlockWatch &watch) { watch.access_row(*site, mask, first, step, values); });
}

void scu_watch_block(softcuda::rt::WorkerState *worker) {
    tell_watch(worker, [](BlockWatch &watch) { watch.begin_block(); });
}

void scu_watch_arrival(softcuda::rt::WorkerState *worker) {
    tell_watch(worker, [&](BlockWatch &watch) { watch.arrive(worker->warp_index, 0, true); });
}

void scu_watch_pass(softcuda::rt::WorkerState *worker, std::uint32_t all) {
    tell_watch(worker, [&](BlockWatch &watch) { watch.pass(all != 0); });
}

void scu_watch_fence(softcuda::rt::WorkerState *worker, std::uint32_t scope, std::uint32_t mask) {
    tell_watch(worker, [&](BlockWatch &watch) {
        watch.fence(static_cast<softcuda::rt::WatchScope>(scope), mask);
    });
}

void scu_watch_meeting(softcuda::rt::WorkerState *worker, softcuda::rt::WatchSite *site,
                       std::uint32_t mask, const std::uint32_t *members,
                       const std::uint32_t *sources) {
    tell_watch(worker, [&](BlockWatch &watch) { watch.meet(*site, mask, members, sources); });
}

void scu_watch_copies(softcuda::rt::WorkerState *worker, std::uint32_t groups_left) {
    tell_watch(worker, [&](BlockWatch &watch) { watch.wait_for_copies(groups_left); });
}

void scu_watch_barrier(softcuda::rt::WorkerState *worker, softcuda::rt::WatchSite *site,
                       std::uint32_t mask) {
    tell_watch(worker, [&](BlockWatch &watch) { watch.come_to_barrier(*site, mask); });
}
