// active_warps.cpp -- follows each warp through a region as far as its threads' indices tell.
#include "codegen/active_warps.h"

#include "codegen/warp_emitter.h"

#include <algorithm>

namespace softcuda::codegen {

namespace {

using ir::Opcode;

class Walk {
  public:
    Walk(KernelEmitter &kernel, unsigned region, unsigned warp)
        : kernel_(kernel), warp_(warp), block_(kernel.region_entry(region)) {}

    /// False if it is sure that nothing is done.
    bool does_anything() {
        for (std::size_t count = kernel_.plan.function.blocks.size(); count > 0; --count) {
            path_.push_back(block_);
            if (has_effects())
                return true;
            if (kernel_.is_barrier_end(block_))
                return leaves_anything(block_->successors().front());
            if (block_->successors().empty())
                return false; // the threads end
            block_ = next();
            if (!block_)
                return true;
        }
        return true; // goes round a loop
    }

  private:
    [[nodiscard]] bool has_effects() const {
        for (const ir::Instruction *i : block_->instructions) {
            if (i->is(Opcode::Barrier) || i->is(Opcode::LoadParam) || i == block_->terminator())
                continue;
            const ir::OpcodeInfo &facts = ir::info(i->opcode);
            if (facts.reads || facts.writes || facts.convergent)
                return true;
        }
        return false;
    }

    /// Where all lanes go on; null if that is not known or they part.
    const ir::Block *next() {
        const ir::Instruction &end = *block_->terminator();
        if (end.is(Opcode::Jump))
            return block_->successors().front();
        if (!end.is(Opcode::Branch))
            return nullptr;
        const analysis::PerThread *taken = kernel_.plan.thread_values.of(end.operand(0));
        if (!taken)
            return nullptr;
        const std::size_t first = std::size_t{warp_} * analysis::kLanes;
        const bool way = ((*taken)[first] & 1) != 0;
        for (std::size_t thread = first; thread < first + analysis::kLanes; ++thread)
            if (((*taken)[thread] & 1) != std::uint64_t{way})
                return nullptr;
        return block_->successors()[way ? 0 : 1];
    }

    /// Whether the region behind takes anything from here that each warp keeps for itself.
    [[nodiscard]] bool leaves_anything(const ir::Block *behind) const {
        const std::vector<bool> &live = kernel_.live_into(kernel_.region_behind(behind));
        auto is_kept = [&](const ir::Value *value) {
            return live[value->id] && !is_rematerialized(value) && !kernel_.is_recomputed(value) &&
                   !kernel_.is_kept_for_block(value);
        };
        auto is_left = [&](const ir::Block *block, bool phis_only) {
            for (const ir::Instruction *i : block->instructions) {
                if (phis_only && !i->is(Opcode::Phi))
                    break;
                for (const ir::Value *result : i->results)
                    if (is_kept(result))
                        return true;
            }
            return false;
        };
        if (is_left(behind, true) || kernel_.plan.masks.keeps_mask(behind))
            return true;
        for (const ir::Block *block : path_)
            if (is_left(block, false) || live[kernel_.plan.mask_id(block)])
                return true;
        return false;
    }

    KernelEmitter &kernel_;
    unsigned warp_;
    const ir::Block *block_;
    std::vector<const ir::Block *> path_;
};

} // namespace

bool does_nothing_that_fails(KernelEmitter &kernel, unsigned region) {
    const std::vector<bool> blocks = kernel.plan.blocks_of_region(region);
    for (const ir::Block *block : kernel.plan.function.blocks)
        for (const ir::Instruction *i : block->instructions) {
            if (!blocks[block->id])
                break;
            const ir::OpcodeInfo &facts = ir::info(i->opcode);
            if (!facts.pure && !facts.terminator && !i->is(Opcode::Barrier) &&
                !i->is(Opcode::LoadParam) && !warp::is_in_static_memory(kernel.plan, *i))
                return false;
        }
    return true;
}

std::uint64_t find_active_warps(KernelEmitter &kernel, unsigned region) {
    std::uint64_t active = 0;
    for (unsigned warp = 0; warp < kernel.plan.launch.warps(); ++warp)
        if (Walk(kernel, region, warp).does_anything())
            active |= std::uint64_t{1} << warp;
    // Somebody has to say where the block goes on.
    return active == 0 ? 1 : active;
}

} // namespace softcuda::codegen
