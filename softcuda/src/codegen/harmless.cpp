// harmless.cpp -- looks at a block, and at what leads there.
#include "codegen/harmless.h"

#include "codegen/active_warps.h"

#include <algorithm>

namespace softcuda::codegen {

namespace {

using ir::Opcode;

constexpr std::size_t kMostStores = 4;

/// Whether the condition compares what only the run shows: then it is true for some lane of most
/// warps, where an index may be out of range for whole ones.
bool depends_on_data(const KernelPlan &plan, const ir::Value *condition) {
    const ir::Instruction *i = condition->definition;
    if (condition->constant || !i)
        return false;
    if (i->is(Opcode::And) || i->is(Opcode::Or) || i->is(Opcode::Xor) || i->is(Opcode::Not))
        return std::ranges::any_of(
            i->operands, [&](const ir::Value *operand) { return depends_on_data(plan, operand); });
    return i->is(Opcode::Compare) &&
           std::ranges::any_of(i->operands, [&](const ir::Value *operand) {
               return !operand->constant && plan.divergence.of(operand).divergent();
           });
}

} // namespace

bool is_harmless(KernelEmitter &kernel, const ir::Block *block) {
    if (block->predecessors.size() != 1 || block->successors().size() != 1 ||
        block->instructions.size() > kMostStores + 1 ||
        block->successors().front()->instructions.front()->is(Opcode::Phi))
        return false;
    // With no lane of its own the warp would go on where this block leads to, too.
    const transform::BlockPlan &plan = kernel.plan.schedule.of(block);
    if (block->instructions.size() == 1 || plan.pending.empty() ||
        plan.pending.front() != plan.next.front())
        return false;
    const ir::Instruction &branch = *block->predecessors.front()->terminator();
    if (!branch.is(Opcode::Branch) || !depends_on_data(kernel.plan, branch.operand(0)))
        return false;
    return std::ranges::all_of(block->instructions, [&](const ir::Instruction *i) {
        return i == block->terminator() || (i->is(Opcode::Store) && is_access_of_own(kernel, *i) &&
                                            !kernel.plan.divergence.of(i->operand(0)).uniform());
    });
}

} // namespace softcuda::codegen
