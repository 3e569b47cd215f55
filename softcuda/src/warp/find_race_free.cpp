// find_race_free.cpp -- finds regions whose accesses to shared memory cannot race.
#include "warp/kernel_plan.h"
#include "warp/region_plan.h"

#include <algorithm>

namespace softcuda::warp {

namespace {

using ir::Opcode;

bool is_in_shared(const ir::Instruction &i) { return i.attributes.space == ir::Space::Shared; }

bool is_plain_load(const ir::Instruction &i) {
    return i.is(Opcode::Load) && is_in_shared(i) && i.attributes.order == ir::Order::Weak;
}

/// An atomic that does not publish other writes to later readers.
bool is_relaxed_atomic(const ir::Instruction &i) {
    return (i.is(Opcode::Atomic) || i.is(Opcode::Reduce)) && is_in_shared(i) &&
           i.attributes.order == ir::Order::Relaxed;
}

/// Instructions that neither change shared memory nor, without a fence, order accesses of several
/// warps.
bool only_waits(const ir::Instruction &i) {
    return i.is(Opcode::WarpBarrier) || i.is(Opcode::Clock) || i.is(Opcode::Nanosleep) ||
           i.is(Opcode::Trap) || i.is(Opcode::DebugValue);
}

bool is_race_free(const KernelPlan &plan, const Region &region) {
    bool loads = false, atomics = false;
    for (const ir::Block *block : plan.function.blocks) {
        if (!region.blocks[block->id])
            continue;
        for (const ir::Instruction *i : block->instructions) {
            if (is_plain_load(*i))
                loads = true;
            else if (is_relaxed_atomic(*i))
                atomics = true;
            else if (!leaves_shared_alone(*i) && !only_waits(*i))
                return false;
        }
    }
    return !(loads && atomics);
}

/// Asynchronous copies continue after the end of a region.
bool has_asynchronous_copies(const ir::Function &function) {
    return std::ranges::any_of(function.blocks, [](const ir::Block *block) {
        return std::ranges::any_of(block->instructions,
                                   [](const ir::Instruction *i) { return i->attributes.async; });
    });
}

} // namespace

// In lockstep, all warps run one region until they meet at its end.
void find_race_free(KernelPlan &plan) {
    if (!plan.has_regions() || !plan.lockstep.holds || has_asynchronous_copies(plan.function))
        return;
    for (Region &region : plan.regions)
        region.race_free = is_race_free(plan, region);
}

} // namespace softcuda::warp
