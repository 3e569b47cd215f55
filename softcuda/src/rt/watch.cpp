// watch.cpp -- the functions that checked kernels call.
#include "rt/watch.h"

namespace {

softcuda::rt::BlockWatch &watch_of(softcuda::rt::WorkerState *worker) {
    return *static_cast<softcuda::rt::BlockWatch *>(worker->watch);
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

} // namespace softcuda::rt

void scu_watch_access(softcuda::rt::WorkerState *worker, softcuda::rt::WatchSite *site,
                      std::uint32_t mask, const std::uint64_t *addresses, const std::byte *values,
                      softcuda::rt::WatchPiece *piece) {
    watch_of(worker).access(*site, mask, addresses, values, piece);
}

void scu_watch_row(softcuda::rt::WorkerState *worker, softcuda::rt::WatchSite *site,
                   std::uint32_t mask, std::uint64_t first, std::uint64_t step,
                   const std::byte *values) {
    watch_of(worker).access_row(*site, mask, first, step, values);
}

void scu_watch_block(softcuda::rt::WorkerState *worker) { watch_of(worker).begin_block(); }

void scu_watch_fence(softcuda::rt::WorkerState *worker, std::uint32_t scope, std::uint32_t mask) {
    watch_of(worker).fence(static_cast<softcuda::rt::WatchScope>(scope), mask);
}

void scu_watch_meeting(softcuda::rt::WorkerState *worker, softcuda::rt::WatchSite *site,
                       std::uint32_t mask, const std::uint32_t *members,
                       const std::uint32_t *sources) {
    watch_of(worker).meet(*site, mask, members, sources);
}

void scu_watch_copies(softcuda::rt::WorkerState *worker, std::uint32_t groups_left) {
    watch_of(worker).wait_for_copies(groups_left);
}

void scu_watch_barrier(softcuda::rt::WorkerState *worker, softcuda::rt::WatchSite *site,
                       std::uint32_t mask) {
    watch_of(worker).come_to_barrier(*site, mask);
}
