// cluster_checks.cpp -- accesses to the shared memory of other blocks of the cluster.
//
// The block of the thread that accesses memory does the check. It uses the marks and the written
// bytes of the block that owns the memory:
//
//     block 0   writes its `tile`             marks of block 0:  write by block 0, warp 1, clock 3
//     block 1   reads the tile of block 0     compared by block 1: does its warp know 0, 1, 3?
#include "check/block_checks.h"

#include "rt/resident_block.h"

#include <algorithm>
#include <bit>

namespace softcuda::check {

/// The cluster of the blocks that have begun before, or a new one.
std::shared_ptr<BlockChecks::Cluster> BlockChecks::find_cluster() const {
    if (state_.resident)
        for (rt::ResidentBlock *block : rt::ResidentBlock::of(&state_).cluster().blocks())
            if (&block->state() != &state_ && block->watch())
                return static_cast<const BlockChecks *>(block->watch())->cluster_;
    const std::uint32_t *extent = launch_.frame.cluster;
    return std::make_shared<Cluster>(state_.resident ? extent[0] * extent[1] * extent[2] : 1);
}

bool BlockChecks::is_in_cluster(std::uint32_t block) const {
    return cluster_->order.rank_of(block) != ClusterOrder::kNone;
}

bool BlockChecks::has_peers() const { return cluster_->order.size() > 1; }

BlockChecks *BlockChecks::owner_of(std::uint64_t address, std::uint64_t bytes) {
    for (BlockChecks *block : cluster_->blocks) {
        const std::uint64_t offset =
            address - reinterpret_cast<std::uint64_t>(block->state_.shared);
        if (offset < launch_.shared_bytes && bytes <= launch_.shared_bytes - offset)
            return block;
    }
    return this;
}

void BlockChecks::arrive_at_cluster(std::uint32_t warp, bool releases) {
    if ((launch_.modes & (Race | Sync)) == 0)
        return;
    acquire_pending_reads(warp);
    order_.arrive_at_cluster(warp, releases);
}

void BlockChecks::leave_cluster(std::uint32_t warp) {
    if ((launch_.modes & (Race | Sync)) != 0)
        order_.leave_cluster(warp);
}

} // namespace softcuda::check
