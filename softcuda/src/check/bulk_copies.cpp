// bulk_copies.cpp -- races with bulk copies, which a thread starts and others wait for.
//
// The bytes of a copy are marked as accesses of the thread that starts it, with a clock that no
// thread knows. An mbarrier or a group ends the copy: then the marks get a clock of the thread.
//
//     thread 0   start copy: tile is written at kUnderWay     arrive: clock 7 released at barrier
//     thread 9   wait at barrier: tile is written at 7, and 7 is known     read tile: in order
//     thread 40  read tile: 7 is not known, a race
#include "check/block_checks.h"

#include "support/bulk_copy.h"

#include <algorithm>

namespace softcuda::check {

void BlockChecks::check_bulk_copy(WarpAccess access, const rt::CopyEnd &end) {
    acquire_pending_reads(access.warp);
    check_transfers(access);
    if (phase_reads_.only_reads())
        mark_kept_reads();
    access.under_way = true;
    const Place place = place_of(access, access.span.first);
    if (place.space == Space::Local)
        return;
    BulkAccess pending{.site = access.number,
                       .warp = access.warp,
                       .space = place.space,
                       .offset = place.offset,
                       .bytes = access.bytes,
                       .reads = access.site.kind == rt::WatchKind::Load,
                       .block = block_,
                       .window = place.space == Space::Shared ? owner_->state_.shared : nullptr};
    if (end.by == rt::CopyEnd::By::Barrier)
        pending.barrier = end.barrier;
    else
        pending.group = bulk_groups_[access.warp];
    cluster_->bulk.push_back(pending);
    mark_bytes(access);
    cursor_.release();
}

// The transaction of a copy is complete: whoever sees the phase end knows the copy.
void BlockChecks::end_copies(std::uint64_t barrier) {
    if (!(launch_.modes & Race))
        return;
    const std::uint32_t warp = state_.warp_index, clock = order_.clock(warp);
    for (BulkAccess &access : cluster_->bulk)
        if (access.barrier == barrier && access.block == block_ && access.warp == warp &&
            access.clock == kUnderWay)
            access.clock = clock;
    order_.fence(warp, rt::WatchScope::Cluster);
    order_.release(warp, barrier);
}

void BlockChecks::wait_at(std::uint64_t barrier) {
    std::erase_if(cluster_->bulk, [&](const BulkAccess &access) {
        if (access.barrier != barrier || access.clock == kUnderWay)
            return false;
        end_access(access, access.clock);
        return true;
    });
    cursor_.release();
}

void BlockChecks::wait_for_bulk_copies(std::uint32_t groups) {
    const std::uint32_t warp = state_.warp_index;
    if (groups & kCommitBulkGroup) {
        ++bulk_groups_[warp];
        return;
    }
    const std::uint32_t left = groups & kMostBulkGroups;
    std::erase_if(cluster_->bulk, [&](const BulkAccess &access) {
        if (access.barrier != 0 || access.block != block_ || access.warp != warp ||
            bulk_groups_[warp] - access.group <= left ||
            ((groups & kReadBulkGroups) != 0 && !access.reads))
            return false;
        end_access(access, order_.clock(warp));
        return true;
    });
    cursor_.release();
}

/// Gives the marks of a copy's bytes the clock at which it has ended.
void BlockChecks::end_access(const BulkAccess &access, std::uint32_t clock) {
    const std::uint64_t end = access.offset + access.bytes;
    BlockChecks *owner = this;
    if (access.window) {
        const auto found = std::ranges::find_if(cluster_->blocks, [&](const BlockChecks *block) {
            return block->state_.shared == access.window;
        });
        if (found == cluster_->blocks.end())
            return; // the block has ended
        owner = *found;
    }
    const std::uint32_t run = access.window ? owner->shared_marks_.run : launch_.run;
    for (std::uint64_t at = access.offset; at < end; at = (at / kWordBytes + 1) * kWordBytes) {
        if (access.window && !owner->shared_marks_.holds(at))
            return;
        const Line line = access.window ? owner->shared_marks_.line(at) : cursor_.line(at);
        Cell &cell = line.cells[at / kWordBytes % kLineWords];
        if (!line.marks->by_words || cell.run != run)
            continue; // another launch has accessed the word since
        for (Mark *mark : {&cell.write, &cell.other_write, &cell.read, &cell.other_read})
            if (mark->site == access.site && mark->block == access.block &&
                mark->warp == access.warp && mark->clock == kUnderWay)
                mark->clock = clock;
    }
}

} // namespace softcuda::check
