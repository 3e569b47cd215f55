// find_counted.cpp -- finds regions that only add to counters in a variable of shared memory.
#include "warp/kernel_plan.h"
#include "warp/region_plan.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace softcuda::warp {

namespace {

using ir::Opcode;
using ir::Space;

constexpr std::uint64_t kMostCountedBytes =
    4096; ///< of a table, so that all tables fit the first-level cache
constexpr unsigned kMostAddends = 8;

/// The shared variable that contains the address if the other parts of the address are small; null:
/// unknown.
const ir::LocalVariable *base_variable(const ir::Function &function, const ir::Value *address) {
    const ir::LocalVariable *variable = nullptr;
    std::vector<const ir::Value *> parts{address};
    for (std::size_t k = 0; k < parts.size() && parts.size() <= kMostAddends; ++k) {
        const ir::Instruction *i = parts[k]->definition;
        if (!i)
            continue;
        if (i->is(Opcode::Add)) {
            parts.insert(parts.end(), i->operands.begin(), i->operands.end());
        } else if (i->is(Opcode::SymbolAddress) && i->attributes.space == Space::Shared) {
            if (variable || i->attributes.offset != 0)
                return nullptr;
            variable = &function.variables.at(i->attributes.symbol);
        }
    }
    return variable;
}

bool is_count(const ir::Instruction &i) {
    return i.is(Opcode::Reduce) && i.attributes.space == Space::Shared &&
           i.attributes.atomic == ir::AtomicOp::Add && !ir::is_floating(i.attributes.type) &&
           (ir::bits(i.attributes.type) == 32 || ir::bits(i.attributes.type) == 64);
}

std::optional<CountedVariable> counted_in(const KernelPlan &plan, const Region &region) {
    CountedVariable counted;
    bool in_loop = false;
    for (const ir::Block *block : plan.function.blocks) {
        if (!region.blocks[block->id])
            continue;
        for (const ir::Instruction *i : block->instructions) {
            if (leaves_shared_alone(*i))
                continue;
            if (!is_count(*i) || plan.divergence.of(i->operand(0)).uniform())
                return std::nullopt;
            const ir::LocalVariable *variable = base_variable(plan.function, i->operand(0));
            if (!variable || (counted.variable && counted.variable != variable) ||
                (counted.variable && ir::bits(counted.type) != ir::bits(i->attributes.type)))
                return std::nullopt;
            counted.variable = variable;
            counted.type = i->attributes.type;
            in_loop |= plan.loops.innermost(block) >= 0;
        }
    }
    const std::uint64_t bytes = counted.variable ? ir::bits(counted.type) / 8 : 1;
    // The size of `extern __shared__` variables is unknown here.
    if (!in_loop || counted.variable->size == 0 || counted.variable->size > kMostCountedBytes ||
        counted.variable->size % bytes != 0 || counted.variable->offset % bytes != 0)
        return std::nullopt;
    return counted;
}

} // namespace

bool leaves_shared_alone(const ir::Instruction &i) {
    const ir::OpcodeInfo &facts = ir::info(i.opcode);
    if (!facts.reads && !facts.writes)
        return true;
    if (ir::is_block_barrier(i)) // the end of the region
        return true;
    switch (i.opcode) {
    case Opcode::Load:
    case Opcode::Store:
    case Opcode::Atomic:
    case Opcode::Reduce:
        return i.attributes.space == Space::Global || i.attributes.space == Space::Constant ||
               i.attributes.space == Space::Local || i.attributes.space == Space::Param;
    default:
        return false;
    }
}

void find_counted(KernelPlan &plan) {
    if (plan.has_regions() && plan.lockstep.holds)
        for (Region &region : plan.regions)
            region.counted = counted_in(plan, region);
}

} // namespace softcuda::warp
