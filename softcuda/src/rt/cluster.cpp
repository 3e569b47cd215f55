// cluster.cpp -- the barrier of a cluster, and the owner of an address in shared memory.
#include "rt/cluster.h"

#include "rt/guard.h"
#include "rt/resident_block.h"

#include <cstdarg>
#include <cstdio>

namespace softcuda::rt {
namespace {

constexpr unsigned kRankShift = 24;

/// Ends the launch. Nothing that owns memory may be alive in the caller: this jumps.
[[noreturn, gnu::format(printf, 2, 3)]] void fail(FaultReport report, const char *format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(report.detail, sizeof report.detail, format, arguments);
    va_end(arguments);
    Guard::fail(report);
}

FaultReport at_barrier() {
    FaultReport report;
    report.kind = Fault::BarrierMismatch;
    return report;
}

FaultReport of_address(std::uint64_t address, std::uint32_t lane) {
    FaultReport report;
    report.kind = Fault::IllegalAddress;
    report.address_known = true;
    report.address = address;
    report.lane = static_cast<int>(lane);
    return report;
}

std::uint64_t begin_of(ResidentBlock &block) {
    return reinterpret_cast<std::uint64_t>(block.state().shared);
}

} // namespace

void Cluster::begin(std::uint32_t warps) noexcept {
    count_ = 0;
    live_ = warps;
    arrived_ = gone_ = 0;
    phase_ = 0;
    place_ = "";
    waiting_.clear();
}

void Cluster::arrive(WarpFiber &warp, const char *place, WarpQueue &ready) {
    if (warp.arrived_at_cluster)
        fail(at_barrier(),
             "a warp arrives a second time at the cluster's barrier at %s, without a wait in "
             "between",
             place);
    warp.arrived_at_cluster = true;
    warp.cluster_phase = phase_;
    arrived_++;
    place_ = place;
    if (arrived_ >= live_ + gone_)
        complete(ready);
}

bool Cluster::pass(WarpFiber &warp, const char *place) {
    if (!warp.arrived_at_cluster)
        fail(at_barrier(), "a warp waits at the cluster's barrier at %s without having arrived",
             place);
    warp.arrived_at_cluster = false;
    if (warp.cluster_phase != phase_)
        return true;
    waiting_.push(warp);
    return false;
}

void Cluster::complete(WarpQueue &ready) {
    phase_++;
    arrived_ = gone_ = 0;
    while (!waiting_.empty())
        ready.push(waiting_.pop());
}

void Cluster::end_warp(const WarpFiber &warp, WarpQueue &ready) {
    live_--;
    if (warp.arrived_at_cluster && warp.cluster_phase == phase_)
        gone_++;
    if (arrived_ > 0 && arrived_ >= live_ + gone_)
        complete(ready);
}

void Cluster::report_deadlock() const {
    fail(at_barrier(), "deadlock: the cluster's barrier%s%s has %u of %u warps",
         *place_ ? " at " : "", place_, arrived_, live_ + gone_);
}

ResidentBlock *Cluster::owner_of(std::uint64_t address, std::uint64_t size) const noexcept {
    for (ResidentBlock *block : blocks()) {
        const std::uint64_t offset = address - begin_of(*block), bytes = block->shared_bytes();
        if (offset < bytes && size <= bytes - offset)
            return block;
    }
    return nullptr;
}

KnownRange cluster_range(const WorkerState *worker, std::uint64_t address,
                         std::uint64_t size) noexcept {
    if (!worker->resident)
        return {};
    const auto &own = *static_cast<const ResidentBlock *>(worker->resident);
    ResidentBlock *owner = own.cluster().owner_of(address, size);
    return owner && !owner->done() ? KnownRange{begin_of(*owner), owner->shared_bytes()}
                                   : KnownRange{};
}

bool cluster_contains(const WorkerState *worker, std::uint64_t address,
                      std::uint64_t size) noexcept {
    return cluster_range(worker, address, size).bytes > 0;
}

std::uint64_t from_cluster_address(WorkerState *worker, std::uint32_t address, std::uint32_t lane) {
    ResidentBlock &own = ResidentBlock::of(worker);
    const std::uint32_t owner = address >> kRankShift;
    const std::uint32_t offset = address & ((1u << kRankShift) - 1);
    if (owner == 0)
        return begin_of(own) + offset;
    const auto blocks = own.cluster().blocks();
    if (owner > blocks.size())
        fail(of_address(address, lane),
             "an address in shared::cluster of rank %u, in a cluster of %zu blocks", owner - 1,
             blocks.size());
    return begin_of(*blocks[owner - 1]) + offset;
}

std::uint32_t to_cluster_address(WorkerState *worker, std::uint64_t address) {
    ResidentBlock &own = ResidentBlock::of(worker);
    ResidentBlock *owner = own.cluster().owner_of(address, 1);
    if (!owner || owner == &own)
        return static_cast<std::uint32_t>(address - begin_of(own));
    return (owner->rank() + 1) << kRankShift |
           static_cast<std::uint32_t>(address - begin_of(*owner));
}

std::uint32_t rank_of(WorkerState *worker, std::uint64_t address) {
    ResidentBlock &own = ResidentBlock::of(worker);
    const ResidentBlock *owner = own.cluster().owner_of(address, 1);
    return owner ? owner->rank() : own.rank();
}

std::uint64_t map_rank(WorkerState *worker, std::uint64_t address, std::uint32_t rank,
                       std::uint32_t lane) {
    ResidentBlock &own = ResidentBlock::of(worker);
    const auto blocks = own.cluster().blocks();
    if (rank >= blocks.size())
        fail(of_address(address, lane), "mapa of rank %u, in a cluster of %zu blocks", rank,
             blocks.size());
    ResidentBlock *owner = own.cluster().owner_of(address, 1);
    return address - begin_of(owner ? *owner : own) + begin_of(*blocks[rank]);
}

} // namespace softcuda::rt
