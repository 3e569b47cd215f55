// active_warps.cpp -- finds the warps of a block that have an effect between two barriers.
//
//     if (threadIdx.x < 64) sums[threadIdx.x] += sums[threadIdx.x + 64];     warps 0 and 1
//     __syncthreads();
//
// Each warp is followed through the region as far as the threads' indices decide its path.
#include "warp/access_plan.h"
#include "warp/kernel_plan.h"
#include "warp/region_plan.h"

#include <algorithm>
#include <cstddef>

namespace softcuda::warp {

namespace {

using ir::Block;
using ir::Instruction;
using ir::Opcode;

class Walk {
  public:
    Walk(const KernelPlan &plan, const Region &region, unsigned warp)
        : plan_(plan), region_(region), warp_(warp), block_(region.entry) {}

    /// False if the warp surely has no effect.
    bool does_anything() {
        for (std::size_t count = plan_.function.blocks.size(); count > 0; --count) {
            path_.push_back(block_);
            if (has_effects())
                return true;
            if (barrier_at_end(block_))
                return leaves_anything();
            if (block_->successors().empty())
                return false; // the threads end
            block_ = next();
            if (!block_)
                return true;
        }
        return true; // repeats a loop
    }

  private:
    [[nodiscard]] bool has_effects() const {
        for (const Instruction *i : block_->instructions) {
            if (i->is(Opcode::Barrier) || i->is(Opcode::LoadParam) || i == block_->terminator())
                continue;
            const ir::OpcodeInfo &facts = ir::info(i->opcode);
            if (facts.reads || facts.writes || facts.convergent)
                return true;
        }
        return false;
    }

    /// The next block of all lanes; null if it is unknown or if the lanes diverge.
    const Block *next() {
        const Instruction &end = *block_->terminator();
        if (end.is(Opcode::Jump))
            return block_->successors().front();
        if (!end.is(Opcode::Branch))
            return nullptr;
        const analysis::PerThread *taken = plan_.thread_values.of(end.operand(0));
        if (!taken)
            return nullptr;
        const std::size_t first = std::size_t{warp_} * analysis::kLanes;
        const bool way = ((*taken)[first] & 1) != 0;
        for (std::size_t thread = first; thread < first + analysis::kLanes; ++thread)
            if (((*taken)[thread] & 1) != std::uint64_t{way})
                return nullptr;
        return block_->successors()[way ? 0 : 1];
    }

    [[nodiscard]] bool on_path(const Block *block) const {
        return std::ranges::find(path_, block) != path_.end();
    }

    /// Whether the next region reads a value that each warp stores separately, and that this warp
    /// computes in this region.
    [[nodiscard]] bool leaves_anything() const {
        const auto end = std::ranges::find(region_.ends, block_, &RegionEnd::block);
        const Region &behind = plan_.regions[end->region];
        return behind.arrives ||
               std::ranges::any_of(end->masks,
                                   [&](const Block *owner) { return on_path(owner); }) ||
               std::ranges::any_of(behind.fetches, [&](const Fetch &fetch) {
                   return fetch.from == Fetch::From::Warp &&
                          on_path(fetch.value->definition->block);
               });
    }

    const KernelPlan &plan_;
    const Region &region_;
    unsigned warp_;
    const Block *block_;
    std::vector<const Block *> path_;
};

bool cannot_fail(const KernelPlan &plan, const Region &region) {
    return std::ranges::all_of(plan.function.blocks, [&](const Block *block) {
        return !region.blocks[block->id] ||
               std::ranges::all_of(block->instructions, [&](const Instruction *i) {
                   const ir::OpcodeInfo &facts = ir::info(i->opcode);
                   return facts.pure || facts.terminator || i->is(Opcode::Barrier) ||
                          i->is(Opcode::LoadParam) || is_in_static_memory(plan, *i);
               });
    });
}

} // namespace

// Only if all warps go through the regions in the same order. Code for the last warp is emitted
// separately if it is not full.
void find_active_warps(KernelPlan &plan) {
    if (!plan.has_regions() || !plan.lockstep.holds)
        return;
    for (Region &region : plan.regions) {
        region.quiet = plan.request.watch == 0 && cannot_fail(plan, region);
        if (!plan.launch.is_fixed() || !plan.launch.has_whole_warps())
            continue;
        std::uint64_t active = 0;
        for (unsigned warp = 0; warp < plan.launch.warps(); ++warp)
            if (Walk(plan, region, warp).does_anything())
                active |= std::uint64_t{1} << warp;
        // At least one warp must determine the next region of the block.
        region.active_warps = active == 0 ? 1 : active;
    }
}

} // namespace softcuda::warp
