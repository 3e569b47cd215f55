// lane_caller.cpp -- checks and reports accesses of a lane.
#include "rt/lane_caller.h"

#include "rt/cluster.h"
#include "rt/kernel_services.h"
#include "rt/resident_block.h"
#include "rt/watch.h"
#include "support/mbarrier.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace softcuda::rt {
namespace {

FaultReport::Direction direction_of(Access access) {
    return access == Access::Load ? FaultReport::Direction::Read : FaultReport::Direction::Write;
}

} // namespace

bool LaneCaller::may_access(std::uint64_t address, std::uint64_t bytes) const {
    const std::uint64_t offset = address - frame_->global_base;
    if (offset < frame_->global_size) // an access to unallocated memory there faults
        return bytes <= frame_->global_size - offset;
    if (cluster_contains(worker_, address, bytes))
        return true;
    const Guard::Uninterrupted section;
    return static_cast<KernelServices *>(frame_->launch)
        ->registered_range(address)
        .contains(address, bytes);
}

void LaneCaller::require(std::uint64_t address, std::uint64_t bytes, Access access,
                         const CopyEnd &end) const {
    if (bytes == 0)
        return;
    if (sites_)
        watch_copy(worker_, sites_[static_cast<std::size_t>(access)], lane_, address, bytes, end);
    if (may_access(address, bytes))
        return;
    FaultReport report;
    report.address_known = true;
    report.address = address;
    report.lane = static_cast<int>(lane_);
    report.direction = direction_of(access);
    Guard::fail(report);
}

void LaneCaller::require_alignment(std::uint64_t address, std::uint64_t alignment,
                                   Access access) const {
    if (address % alignment == 0)
        return;
    FaultReport report;
    report.kind = Fault::MisalignedAddress;
    report.address_known = true;
    report.address = address;
    report.lane = static_cast<int>(lane_);
    report.direction = direction_of(access);
    std::snprintf(report.detail, sizeof report.detail,
                  "misaligned address, expected a multiple of %llu,",
                  static_cast<unsigned long long>(alignment));
    Guard::fail(report);
}

void LaneCaller::require_shared(std::uint64_t address, std::uint64_t bytes,
                                const char *what) const {
    if (!cluster_contains(worker_, address, bytes))
        fail(Fault::IllegalAddress, address, "%s is not in shared memory of the cluster", what);
}

std::uint64_t LaneCaller::offset_in_block(std::uint64_t address) const {
    const ResidentBlock *owner = ResidentBlock::of(worker_).cluster().owner_of(address, 1);
    return address - reinterpret_cast<std::uint64_t>(owner->shared());
}

std::uint64_t LaneCaller::in_block(std::uint64_t address, std::uint32_t rank) const {
    return map_rank(worker_, address, rank, lane_);
}

void LaneCaller::complete_transactions(std::uint64_t barrier, std::uint64_t bytes) const {
    require_alignment(barrier, sizeof(std::uint64_t), Access::Atomic);
    require_shared(barrier, sizeof(std::uint64_t), "the mbarrier");
    if (sites_)
        notify_watch(*static_cast<BlockWatch *>(worker_->watch),
                     [&](BlockWatch &watch) { watch.end_copies(barrier); });
    auto *place = reinterpret_cast<std::byte *>(barrier);
    std::uint64_t bits = 0;
    std::memcpy(&bits, place, sizeof bits);
    bits = mbarrier::subtract(bits, bytes << mbarrier::kTransactionShift);
    std::memcpy(place, &bits, sizeof bits);
}

void LaneCaller::fail(Fault kind, std::uint64_t address, const char *format, ...) const {
    FaultReport report;
    report.kind = kind;
    report.address_known = true;
    report.address = address;
    report.lane = static_cast<int>(lane_);
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(report.detail, sizeof report.detail, format, arguments);
    va_end(arguments);
    Guard::fail(report);
}

} // namespace softcuda::rt
