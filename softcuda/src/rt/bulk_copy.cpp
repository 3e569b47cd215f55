// bulk_copy.cpp -- checks first, then memory piece by piece, then barriers.
#include "rt/bulk_copy.h"

#include "rt/reduce_elements.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace softcuda::rt {
namespace {

constexpr std::uint32_t kBulkUnit = 16;
/// Pieces are copied upwards, so that a copy past the end of an allocation faults at its end.
constexpr std::uint32_t kPiece = 4096;

void copy_masked(std::byte *to, const std::byte *from, std::uint32_t bytes, std::uint32_t mask) {
    for (std::uint32_t at = 0; at < bytes; at++)
        if (mask >> at % kBulkUnit & 1)
            to[at] = from[at];
}

void move(const BulkForm &form, std::uint64_t to, const BulkCopy &copy) {
    for (std::uint32_t at = 0; at < copy.bytes; at += kPiece) {
        const std::uint32_t bytes = std::min(copy.bytes - at, kPiece);
        auto *target = reinterpret_cast<std::byte *>(to + at);
        const auto *source = reinterpret_cast<const std::byte *>(copy.from + at);
        if (form.element.operation != ElementOperation::Copy)
            reduce_elements(form.element, target, source, bytes);
        else if (form.masked)
            copy_masked(target, source, bytes, copy.mask);
        else
            std::memmove(target, source, bytes);
    }
}

Access target_access(const BulkForm &form) {
    return form.element.operation == ElementOperation::Copy ? Access::Store : Access::Atomic;
}

CopyEnd end_of(const BulkForm &form, std::uint64_t barrier) {
    return {form.arrives ? CopyEnd::By::Barrier : CopyEnd::By::Group, barrier};
}

void deliver(const LaneCaller &lane, const BulkForm &form, const BulkCopy &copy, std::uint64_t to,
             std::uint64_t barrier) {
    lane.require(to, copy.bytes, target_access(form), end_of(form, barrier));
    if (form.arrives)
        lane.require_shared(barrier, sizeof(std::uint64_t), "the mbarrier");
    move(form, to, copy);
    if (form.arrives)
        lane.complete_transactions(barrier, copy.bytes);
}

} // namespace

void copy_in_bulk(const LaneCaller &lane, const BulkForm &form, const BulkCopy &copy) {
    lane.require_alignment(copy.from, kBulkUnit, Access::Load);
    lane.require_alignment(copy.to, kBulkUnit, target_access(form));
    if (copy.bytes % kBulkUnit != 0)
        lane.fail(Fault::MisalignedAddress, copy.from,
                  "a bulk copy of %u bytes, expected a multiple of 16", copy.bytes);
    lane.require(copy.from, copy.bytes, Access::Load, end_of(form, copy.barrier));
    if (!form.multicast)
        return deliver(lane, form, copy, copy.to, copy.barrier);
    for (std::uint32_t left = copy.mask; left != 0; left &= left - 1) {
        const auto rank = static_cast<std::uint32_t>(std::countr_zero(left));
        deliver(lane, form, copy, lane.in_block(copy.to, rank), lane.in_block(copy.barrier, rank));
    }
}

void store_asynchronously(const LaneCaller &lane, const BulkForm &form, std::uint64_t to,
                          std::uint64_t barrier, const std::byte *values, std::uint32_t bytes) {
    lane.require_alignment(to, bytes, target_access(form));
    lane.require_shared(to, bytes, "the destination");
    const BulkCopy copy{.to = to,
                        .from = reinterpret_cast<std::uint64_t>(values),
                        .bytes = bytes,
                        .barrier = barrier};
    deliver(lane, form, copy, to, barrier);
}

} // namespace softcuda::rt
