// whole_warps.cpp -- compares what masks cost in basic blocks with the same lanes with the length
// of their code.
#include "warp/whole_warps.h"

#include "warp/kernel_plan.h"

#include <map>

namespace softcuda::warp {

namespace {

using ir::Block;
using ir::Instruction;
using ir::Opcode;

/// More instructions are not worth the time of their compilation.
constexpr unsigned kLongestVersion = 160;
/// An access lane by lane is this many instructions for all lanes: 32 loads, or stores, of a place
/// each, and the test whether a vector access does.
constexpr unsigned kLaneByLane = 20;
/// Outside loops, a mask of two loads costs less than the compilation of a second version.
constexpr unsigned kLeastCost = 12;

/// What masks cost in the basic blocks of one mask, and all their instructions. The unit of the
/// first is about half an instruction for all lanes.
struct Cost {
    unsigned of_mask = 0, instructions = 0;
    bool in_loop = false;

    /// A mask that costs less than a fifth is not worth a second version.
    [[nodiscard]] bool is_worth_it() const {
        return instructions <= kLongestVersion && of_mask * 5 >= instructions * 2 &&
               (in_loop || of_mask >= kLeastCost);
    }
};

/// The block that builds the mask from the lanes that arrive; null if the lanes are known.
const Block *builder_of(const KernelPlan &plan, const Block *block) {
    const BlockMask *mask = &plan.masks.of(block).mask;
    while (mask->from == BlockMask::From::Owner) {
        block = mask->owner;
        mask = &plan.masks.of(block).mask;
    }
    return mask->from == BlockMask::From::Arrivals && mask->lanes.empty() ? block : nullptr;
}

unsigned cost_of_mask(const KernelPlan &plan, const Instruction &i) {
    const bool store = i.is(Opcode::Store);
    if (!store && !i.is(Opcode::Load))
        return 0;
    const auto found = plan.accesses.find(&i);
    if (found == plan.accesses.end() || found->second.joined_by ||
        found->second.full == AccessMethod::Uniform)
        return 0;
    if (i.attributes.space == ir::Space::Shared) // loads read inactive lanes, too
        return store ? 1 : 0;
    if (found->second.bytes < 4)
        return 16;
    return store ? 1 : 4; // a store tests for all lanes in any case
}

/// Of the code, in instructions for all lanes.
unsigned length(const KernelPlan &plan, const Instruction &i) {
    const auto found = plan.accesses.find(&i);
    if (found == plan.accesses.end() || found->second.joined_by ||
        (found->second.full != AccessMethod::Tested &&
         found->second.full != AccessMethod::Scattered))
        return 1;
    return kLaneByLane * found->second.count;
}

/// Lanes that have left a loop keep the values of its phis.
unsigned cost_of_loop(const KernelPlan &plan, const Block *header) {
    const int loop = plan.loops.innermost(header);
    if (loop < 0 || plan.loops.loops()[static_cast<std::size_t>(loop)].header != header)
        return 0;
    unsigned phis = 0;
    for (const Instruction *i : header->instructions)
        phis += i->is(Opcode::Phi);
    return 6 + 2 * phis;
}

std::map<const Block *, Cost> find_costs(const KernelPlan &plan) {
    std::map<const Block *, Cost> costs; // by the block that builds the mask
    for (const Block *block : plan.schedule.order) {
        const Block *builder = builder_of(plan, block);
        if (!builder)
            continue;
        Cost &cost = costs[builder];
        cost.in_loop |= plan.loops.innermost(block) >= 0;
        if (block == builder)
            cost.of_mask += cost_of_loop(plan, block);
        for (const Instruction *i : block->instructions) {
            cost.of_mask += cost_of_mask(plan, *i);
            cost.instructions += length(plan, *i);
        }
    }
    return costs;
}

bool may_have_versions(const KernelPlan &plan) {
    return !plan.machine.cheap_masks && !plan.masks.independent_lanes && !plan.wants_short_code &&
           plan.request.watch == 0 && !plan.request.counts && !plan.function.debug;
}

} // namespace

void choose_whole_warps(KernelPlan &plan) {
    plan.whole_warps.clear();
    if (!may_have_versions(plan))
        return;
    const std::map<const Block *, Cost> costs = find_costs(plan);
    plan.whole_warps.assign(plan.function.blocks.size(), false);
    for (const Block *block : plan.schedule.order)
        if (const Block *builder = builder_of(plan, block))
            plan.whole_warps[block->id] = costs.at(builder).is_worth_it();
}

std::string print_whole_warps(const KernelPlan &plan) {
    std::string out;
    const std::map<const Block *, Cost> costs = find_costs(plan);
    for (const Block *block : plan.schedule.order) {
        const auto found = costs.find(block);
        if (found == costs.end())
            continue;
        out += block->name + ": masks cost " + std::to_string(found->second.of_mask / 2) + " of " +
               std::to_string(found->second.instructions) + " instructions";
        if (!plan.whole_warps.empty() && plan.whole_warps[block->id])
            out += ", two versions";
        out += "\n";
    }
    return out;
}

} // namespace softcuda::warp
