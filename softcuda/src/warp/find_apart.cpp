// find_apart.cpp -- follows the calls that not all lanes of a warp make together.
#include "warp/find_apart.h"

#include "ir/exchange.h"
#include "warp/kernel_plan.h"

#include <algorithm>

namespace softcuda::warp {

namespace {

using ir::Block;
using ir::Instruction;
using ir::Opcode;

/// Whether lanes may return from the function while others continue in it.
bool lanes_return_early(const KernelPlan &plan) {
    const auto returns = std::ranges::count_if(plan.function.blocks, [](const Block *block) {
        return block->terminator()->is(Opcode::Return);
    });
    const std::vector<bool> &divergent = plan.divergence.divergent_branch;
    return returns > 1 && std::ranges::find(divergent, true) != divergent.end();
}

/// Whether the lanes in the function may need lanes outside of it.
bool may_wait(const KernelPlan &plan) {
    return plan.waits.cause || !plan.loops.reducible() ||
           std::ranges::any_of(plan.function.blocks, [](const Block *block) {
               return std::ranges::any_of(block->instructions, [](const Instruction *i) {
                   return ir::waits_for_lanes(*i);
               });
           });
}

} // namespace

std::vector<std::uint32_t> find_apart(const KernelPlan &kernel,
                                      std::span<const CalledPlan> called) {
    std::vector<std::uint32_t> apart;
    if (std::ranges::none_of(called, [](const CalledPlan &f) { return may_wait(*f.plan); }))
        return apart;
    auto is_apart = [&](std::uint32_t symbol) {
        return std::ranges::find(apart, symbol) != apart.end();
    };
    for (const CalledPlan &callee : called)
        if (lanes_return_early(*callee.plan))
            apart.push_back(callee.symbol);
    bool changed = true;
    auto add_calls = [&](const KernelPlan &caller, bool all) {
        for (const Block *block : caller.function.blocks)
            for (const Instruction *i : block->instructions)
                if (i->is(Opcode::Call) && (all || !caller.schedule.of(block).pending.empty()) &&
                    !is_apart(i->attributes.symbol)) {
                    apart.push_back(i->attributes.symbol);
                    changed = true;
                }
    };
    while (changed) {
        changed = false;
        add_calls(kernel, false);
        for (const CalledPlan &callee : called)
            add_calls(*callee.plan, is_apart(callee.symbol));
    }
    return apart;
}

} // namespace softcuda::warp
