// kernel_plan.cpp -- the analyses in their order.
#include "codegen/kernel_plan.h"

#include "analysis/coordinates.h"
#include "analysis/thread_values.h"
#include "transform/find_parted_exchange.h"

#include <algorithm>

namespace softcuda::codegen {

namespace {

std::vector<bool> find_outliving(const ir::Function &function) {
    std::vector<bool> outlives(function.value_count(), false);
    for (const ir::Block *block : function.blocks)
        for (const ir::Instruction *i : block->instructions)
            for (const ir::Value *operand : i->operands)
                if (operand->definition &&
                    (i->is(ir::Opcode::Phi) || operand->definition->block != block))
                    outlives[operand->id] = true;
    return outlives;
}

bool has_alloca(const ir::Function &function) {
    for (const ir::Block *block : function.blocks)
        for (const ir::Instruction *i : block->instructions)
            if (i->is(ir::Opcode::Alloca))
                return true;
    return false;
}

/// Accesses by lanes of their own take some hundred instructions each, and compilation as long as
/// that. A kernel with more of them than this would take seconds.
constexpr std::size_t kManyAccesses = 200;

std::size_t count_accesses(const ir::Function &function) {
    std::size_t count = 0;
    for (const ir::Block *block : function.blocks)
        for (const ir::Instruction *i : block->instructions)
            if (i->is(ir::Opcode::Load) || i->is(ir::Opcode::Store))
                count += i->attributes.vector;
    return count;
}

std::uint64_t round_to_16(std::uint64_t bytes) { return (bytes + 15) / 16 * 16; }

} // namespace

bool needs_call_stack(const ir::Function &kernel) {
    for (const ir::Block *block : kernel.blocks)
        for (const ir::Instruction *i : block->instructions)
            if (i->is(ir::Opcode::Call) || i->is(ir::Opcode::Alloca))
                return true;
    return false;
}

std::uint64_t local_memory_of(const ir::Function &kernel) {
    return round_to_16(kernel.local_bytes);
}

KernelPlan::KernelPlan(const ir::Function &kernel, const analysis::LaunchShape &shape,
                       const TierRequest &request, std::span<const std::string> file_names)
    : function(kernel), launch(shape), files(file_names), dominators(kernel),
      post_dominators(kernel, ir::DominatorTree::Direction::Backward), loops(kernel, dominators),
      divergence(find_divergence(kernel, shape, loops, post_dominators)),
      schedule(transform::plan_schedule(kernel, divergence, loops, dominators, post_dominators)),
      waits(transform::find_waits(kernel, divergence, loops, schedule)),
      local_stride(local_memory_of(kernel) + (needs_call_stack(kernel) ? shape.call_stack : 0)),
      frame_bytes(local_memory_of(kernel)), takes_memory(has_alloca(kernel)),
      wants_short_code(count_accesses(kernel) > kManyAccesses),
      ending(request.ending.begin(), request.ending.end()),
      coordinate_functions(analysis::find_coordinate_functions(kernel)),
      outlives_block(find_outliving(kernel)) {
    analysis::ThreadValues thread_values(kernel, shape, coordinate_functions);
    const ir::Instruction *parted =
        transform::find_parted_exchange(kernel, shape, divergence, schedule, thread_values);
    tier = choose_tier(kernel, shape, loops, schedule, waits, parted, request);
    if (tier.tier != rt::Tier::Lanes)
        return;
    divergence =
        find_divergence(kernel, shape, loops, post_dominators, analysis::LaneOrder::Independent);
    outlives_block.assign(kernel.value_count(), true); // exchanges cut blocks
}

std::string KernelPlan::place(const ir::Instruction &instruction) const {
    const ir::Location &at = instruction.location;
    const std::string file = at.file < files.size() ? files[at.file] : "kernel";
    return file + ":" + std::to_string(at.line);
}

bool KernelPlan::may_end_in(std::uint32_t symbol) const {
    return std::ranges::find(ending, symbol) != ending.end();
}

bool KernelPlan::yields_behind(const ir::Block *block) const {
    return std::ranges::any_of(block->successors(), [&](const ir::Block *to) {
        return loops.back_edge(block, to) && waits.loops[loops.innermost(to)];
    });
}

} // namespace softcuda::codegen
