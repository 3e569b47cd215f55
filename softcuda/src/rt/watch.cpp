// watch.cpp -- the functions that checked kernels call.
#include "rt/watch.h"

#include "rt/guard.h"
#include "rt/resident_block.h"

#include <cstdio>
#include <utility>

using softcuda::rt::BlockWatch;

namespace {

template <class Tell> void notify_watch(softcuda::rt::WorkerState *worker, Tell tell) {
    softcuda::rt::notify_watch(*static_cast<BlockWatch *>(worker->watch), tell);
}

bool is_in_cluster(softcuda::rt::WorkerState *worker) {
    return worker->resident &&
           softcuda::rt::ResidentBlock::of(worker).cluster().blocks().size() > 1;
}

/// The other block of the worker's cluster whose shared memory the bytes are; null: none. It has a
/// watch as long as it has not ended, and knows what was written there.
softcuda::rt::ResidentBlock *other_owner(softcuda::rt::WorkerState *worker, std::uint64_t address,
                                         std::uint64_t size) {
    softcuda::rt::ResidentBlock &own = softcuda::rt::ResidentBlock::of(worker);
    softcuda::rt::ResidentBlock *owner = own.cluster().owner_of(address, size);
    return owner && owner != &own && owner->watch() ? owner : nullptr;
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
    ResidentBlock *const owner =
        is_in_cluster(worker) ? other_owner(worker, address, bytes) : nullptr;
    WorkerState *const receiver = owner ? &owner->state() : worker;
    const std::uint32_t warp = std::exchange(receiver->warp_index, worker->warp_index);
    ::notify_watch(receiver,
                   [&](BlockWatch &watch) { watch.copy(site, lane, address, bytes, end); });
    receiver->warp_index = warp;
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
    using softcuda::rt::ResidentBlock;
    if (!is_in_cluster(worker))
        return notify_watch(worker, [&](BlockWatch &watch) {
            watch.access(*site, mask, addresses, values, piece);
        });
    const std::uint32_t bytes = site->bytes * site->count;
    while (mask != 0) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(mask));
        ResidentBlock *const owner = other_owner(worker, addresses[lane], bytes);
        std::uint32_t together = 0;
        for (std::uint32_t left = mask; left != 0; left &= left - 1)
            if (const auto one = static_cast<unsigned>(__builtin_ctz(left));
                other_owner(worker, addresses[one], bytes) == owner)
                together |= 1u << one;
        mask &= ~together;
        softcuda::rt::WorkerState *const receiver = owner ? &owner->state() : worker;
        const std::uint32_t warp = std::exchange(receiver->warp_index, worker->warp_index);
        notify_watch(receiver, [&](BlockWatch &watch) {
            watch.access(*site, together, addresses, values, piece);
        });
        receiver->warp_index = warp;
    }
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

void scu_watch_copies(softcuda::rt::WorkerState *worker, std::uint32_t groups_left) {
    notify_watch(worker, [&](BlockWatch &watch) { watch.wait_for_copies(groups_left); });
}

void scu_watch_barrier(softcuda::rt::WorkerState *worker, softcuda::rt::WatchSite *site,
                       std::uint32_t mask) {
    notify_watch(worker, [&](BlockWatch &watch) { watch.come_to_barrier(*site, mask); });
}
