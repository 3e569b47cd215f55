// kernel_plan.cpp -- the analyses; each uses the results of earlier ones.
#include "warp/kernel_plan.h"

#include "analysis/coordinates.h"
#include "analysis/used_bytes.h"
#include "rt/watch_abi.h"
#include "transform/find_split_exchange.h"

#include <algorithm>
#include <cstddef>

namespace softcuda::warp {

using ir::Instruction;
using ir::Opcode;
using ir::Value;

namespace {

template <typename Test> bool any_instruction(const ir::Function &function, Test test) {
    return std::ranges::any_of(function.blocks, [&](const ir::Block *block) {
        return std::ranges::any_of(block->instructions,
                                   [&](const ir::Instruction *i) { return test(*i); });
    });
}

/// An access with separate code for each lane takes some hundred instructions, and its compilation
/// takes long. A kernel with more such accesses would take seconds.
constexpr std::size_t kManyAccesses = 200;
/// In the tier lanes, few lanes access memory together, so long code does not pay off.
constexpr std::size_t kManyAccessesOfLanes = 20;

/// A call takes about a tenth of the code of a loop over the lanes with its check. A processor that
/// gathers fast has no loop.
constexpr std::size_t kCalledAccesses = 200, kCalledGathers = 800;

/// An atomic with its check takes 11 ms to compile, a call of a function that has both takes 2 ms.
/// The call makes atomics at scattered addresses 1.2 to 1.4 times slower, those of shared memory
/// 1.5 times, those of rows 2.0 times, and those of one address not at all. With this limit the
/// atomics of a kernel take at most 0.7 s to compile, and a kernel with more of them has to run
/// eight million threads before the time that its compilation saves is lost.
/// benchmarks/softcuda/called_atomics.py measures this.
constexpr std::size_t kCalledAtomics = 64;

std::size_t count_accesses(const ir::Function &function) {
    std::size_t count = 0;
    for (const ir::Block *block : function.blocks)
        for (const ir::Instruction *i : block->instructions)
            if (i->is(ir::Opcode::Load) || i->is(ir::Opcode::Store))
                count += i->attributes.vector;
    return count;
}

std::size_t count_atomics(const ir::Function &function) {
    std::size_t count = 0;
    for (const ir::Block *block : function.blocks)
        count += static_cast<std::size_t>(
            std::ranges::count_if(block->instructions, [](const Instruction *i) {
                return i->is(ir::Opcode::Atomic) || i->is(ir::Opcode::Reduce);
            }));
    return count;
}

std::uint64_t round_to_16(std::uint64_t bytes) { return (bytes + 15) / 16 * 16; }

} // namespace

bool needs_call_stack(const ir::Function &kernel) {
    return any_instruction(kernel, [](const ir::Instruction &i) {
        return i.is(ir::Opcode::Call) || i.is(ir::Opcode::Alloca);
    });
}

std::uint64_t local_memory_of(const ir::Function &kernel) {
    return round_to_16(kernel.local_bytes);
}

std::uint64_t call_memory_of(const ir::Function &kernel) {
    return round_to_16(kernel.called_bytes);
}

// The initial results of optional analyses mean "unknown".
KernelPlan::KernelPlan(const ir::Function &kernel, const analysis::LaunchShape &shape,
                       const TierRequest &wanted, std::span<const std::string> file_names,
                       const Machine &processor, std::span<const ir::GlobalVariable> of_module)
    : function(kernel), launch(shape), request(wanted), files(file_names), machine(processor),
      variables(of_module), ranges(kernel.value_count()),
      coordinate_functions(kernel.value_count(), false),
      thread_values(kernel, shape, coordinate_functions) {}

std::string KernelPlan::place(const ir::Instruction &instruction) const {
    const ir::Location &at = instruction.location;
    const std::string file = at.file < files.size() ? files[at.file] : "kernel";
    return file + ":" + std::to_string(at.line);
}

void find_dominators(KernelPlan &plan) {
    using Direction = ir::DominatorTree::Direction;
    plan.dominators = ir::DominatorTree(plan.function);
    plan.post_dominators = ir::DominatorTree(plan.function, Direction::Backward);
}

void find_loops(KernelPlan &plan) {
    plan.loops = analysis::LoopForest(plan.function, plan.dominators);
}

void find_ranges(KernelPlan &plan) {
    plan.ranges = analysis::find_ranges(plan.function, plan.launch);
}

void find_shapes(KernelPlan &plan) {
    plan.divergence = analysis::find_divergence(plan.function, plan.launch, plan.ranges, plan.loops,
                                                plan.post_dominators);
}

void plan_schedule(KernelPlan &plan) {
    plan.schedule = transform::plan_schedule(plan.function, plan.divergence, plan.loops,
                                             plan.dominators, plan.post_dominators);
}

void find_loop_ends(KernelPlan &plan) {
    plan.loop_ends = transform::find_loop_ends(plan.function, plan.loops, plan.dominators,
                                               plan.request.signalling);
}

void find_waits(KernelPlan &plan) {
    plan.waits = transform::find_waits(plan.function, plan.divergence, plan.loops, plan.schedule,
                                       plan.loop_ends, plan.request.lanes_outside);
}

void find_coordinates(KernelPlan &plan) {
    plan.coordinate_functions = analysis::find_coordinate_functions(plan.function);
}

void find_float_bits(KernelPlan &plan) { plan.float_bits = analysis::FloatBits(plan.function); }

void find_used_bytes(KernelPlan &plan) {
    if (plan.request.watch & rt::kWatchWrites)
        plan.used_bytes = analysis::find_used_bytes(plan.function);
}

void find_split_exchange(KernelPlan &plan) {
    plan.split_exchange = transform::find_split_exchange(
        plan.function, plan.launch, plan.divergence, plan.schedule, plan.thread_values,
        {plan.request.exchanging, plan.request.lanes_outside});
}

namespace {

KernelPlan::Yield yield_behind(const KernelPlan &plan, const ir::Block *block) {
    auto most = KernelPlan::Yield::Never;
    for (const ir::Block *to : block->successors()) {
        if (!plan.loops.back_edge(block, to))
            continue;
        const auto loop = static_cast<std::size_t>(plan.loops.innermost(to));
        if (plan.waits.loops[loop])
            return KernelPlan::Yield::Always;
        if (plan.loop_ends[loop].proof != transform::LoopProof::Counted)
            most = KernelPlan::Yield::Sometimes;
    }
    return most;
}

} // namespace

// In regions no loop may wait, and in lanes the runtime chooses who runs after each basic block.
void choose_tier(KernelPlan &plan) {
    plan.tier = choose_tier(plan.function, plan.launch, plan.loops, plan.schedule, plan.waits,
                            plan.split_exchange, plan.request);
    plan.yields.assign(plan.function.blocks.size(), KernelPlan::Yield::Never);
    if (plan.tier.tier == rt::Tier::Fibers)
        for (const ir::Block *block : plan.function.blocks)
            plan.yields[block->id] = yield_behind(plan, block);
}

void find_shapes_of_lanes(KernelPlan &plan) {
    if (plan.tier.tier == rt::Tier::Lanes)
        plan.divergence =
            analysis::find_divergence(plan.function, plan.launch, plan.ranges, plan.loops,
                                      plan.post_dominators, analysis::LaneOrder::Independent);
}

namespace {

/// Calls `body` with the instructions of each place in the tier lanes, otherwise of each basic
/// block. Code stores values in memory between two of these pieces.
template <typename Body> void for_pieces(const KernelPlan &plan, Body body) {
    for (const Place &place : plan.lanes.places)
        body(place.instructions());
    if (plan.lanes.places.empty())
        for (const ir::Block *block : plan.function.blocks)
            body(std::span<Instruction *const>(block->instructions));
}

/// Calls `use` with each value that code for an instruction reads: its operands, and further values
/// of its access plan.
template <typename Use> void for_uses(const KernelPlan &plan, const Instruction &i, Use use) {
    for (const Value *operand : i.operands)
        use(operand);
    const auto access = plan.accesses.find(&i);
    if (access == plan.accesses.end())
        return;
    for (const Value *part : {access->second.indexed.pointer, access->second.indexed.index})
        if (part)
            use(part);
    for (const Step::Term &term : access->second.prefetch.ahead.terms)
        use(term.value);
}

} // namespace

void find_outliving(KernelPlan &plan) {
    plan.outlives_block.assign(plan.function.value_count(), false);
    plan.is_read.assign(plan.function.value_count(), false);
    // By Value::id: the piece of a basic block that defines the value.
    std::vector<std::uint32_t> made_in(plan.function.value_count(), 0);
    std::uint32_t piece = 0;
    for_pieces(plan, [&](std::span<Instruction *const> instructions) {
        ++piece;
        for (const Instruction *i : instructions) {
            for_uses(plan, *i, [&](const Value *value) {
                plan.is_read[value->id] = true;
                if (value->definition && (i->is(Opcode::Phi) || made_in[value->id] != piece))
                    plan.outlives_block[value->id] = true;
            });
            for (const Value *result : i->results)
                made_in[result->id] = piece;
        }
    });
}

void lay_out_local_memory(KernelPlan &plan) {
    plan.takes_memory =
        any_instruction(plan.function, [](const Instruction &i) { return i.is(Opcode::Alloca); });
    plan.frame_bytes = local_memory_of(plan.function);
    const std::uint64_t own = plan.frame_bytes + call_memory_of(plan.function) +
                              (needs_call_stack(plan.function) ? plan.launch.call_stack : 0);
    plan.local_stride = plan.kernel_stride.value_or(own);
    const std::size_t accesses = count_accesses(plan.function);
    plan.wants_short_code =
        accesses > (plan.tier.tier == rt::Tier::Lanes ? kManyAccessesOfLanes : kManyAccesses);
    plan.calls_accesses = accesses > (plan.machine.fast_gather ? kCalledGathers : kCalledAccesses);
    plan.calls_atomics = count_atomics(plan.function) > kCalledAtomics;
}

void find_lockstep(KernelPlan &plan) {
    if (plan.has_regions())
        plan.lockstep = analysis::find_lockstep(plan.function, plan.post_dominators);
}

} // namespace softcuda::warp
