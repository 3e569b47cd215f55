// find_waits.cpp -- other lanes that could give a signal, and preemption points.
#include "transform/find_waits.h"

#include "ir/exchange.h"
#include "transform/loop_view.h"
#include "transform/may_reach.h"

namespace softcuda::transform {

namespace {

using analysis::Loop;
using ir::Block;
using ir::Instruction;
using ir::Opcode;
using ir::Value;

bool is_shared_write(const Instruction &i) {
    switch (i.opcode) {
    case Opcode::Store:
    case Opcode::Atomic:
    case Opcode::Reduce:
        return i.attributes.space != ir::Space::Local;
    case Opcode::Call:
    case Opcode::CallIndirect:
    case Opcode::RuntimeCall:
        return true;
    default:
        return false;
    }
}

// All lanes of the warp must arrive before any of them continues.
bool gathers_warp(const Instruction &i) {
    if (i.is(Opcode::Barrier) || i.is(Opcode::BarrierReduce))
        return true;
    const Value *members = ir::members_of(i);
    return ir::is_exchange(i) && (!members || is_constant(members, 0xffffffff));
}

/// Whether the write may change what the signal reads. Calls read and write any memory, and so do
/// the callers of a function, in which its lanes continue.
bool may_give(const ir::Function &function, const Instruction &write, const Instruction *signal) {
    if (write.is(Opcode::Return) && !function.kernel)
        return true;
    if (!is_shared_write(write))
        return false;
    const bool accesses = write.is(Opcode::Store) || is_atomic(write);
    return !signal || !accesses || signal->operands.empty() || signal->is(Opcode::Call) ||
           may_be_same_memory(write.attributes.space, signal->attributes.space);
}

// Whether a lane that is at one of these blocks could write the memory that a signal reads, if it
// continued alone.
const Instruction *signal_of_lanes(const ir::Function &function,
                                   const std::vector<const Block *> &paused, const LoopEnd &end,
                                   const Instruction *unknown) {
    auto could_give = [&](const Instruction *signal) {
        return may_reach(
            function, paused, [&](const Instruction &i) { return may_give(function, i, signal); },
            gathers_warp);
    };
    for (const Instruction *signal : end.signals)
        if (could_give(signal))
            return signal;
    return end.signals.empty() && could_give(nullptr) ? unknown : nullptr;
}

void add_preemption_points(const Loop &loop, Waits &waits) {
    std::vector<const Instruction *> writes;
    for (const Block *block : loop.blocks)
        for (const Instruction *i : block->instructions)
            if (is_shared_write(*i))
                writes.push_back(i);
    if (writes.size() < 2) // the end of an iteration follows the only write
        return;
    for (std::size_t n = 0; n < std::min(writes.size(), kMostPreemptionPoints); ++n)
        waits.preemption_points.try_emplace(writes[n], static_cast<std::uint32_t>(n + 1));
}

} // namespace

Waits find_waits(const ir::Function &function, const analysis::Divergence &divergence,
                 const analysis::LoopForest &loops, const Schedule &schedule,
                 std::span<const LoopEnd> ends, bool lanes_outside) {
    Waits waits;
    waits.loops.assign(loops.loops().size(), false);
    for (std::size_t number = 0; number < waits.loops.size(); ++number) {
        const LoopEnd end = ends.empty() ? LoopEnd{} : ends[number];
        if (end.proof != LoopProof::None)
            continue;
        const Loop &loop = loops.loops()[number];
        const Instruction *unknown = loop.header->terminator();
        waits.loops[number] = true;
        add_preemption_points(loop, waits);
        if (!waits.cause)
            waits.cause = end.signals.empty() ? unknown : end.signals.front();
        // The lanes that pause while others repeat the loop: those that took another branch and, if
        // lanes leave one by one, those that have left.
        std::vector<const Block *> paused = schedule.of(loop.header).pending;
        if (divergence.divergent_loop[number])
            paused.insert(paused.end(), loop.exits.begin(), loop.exits.end());
        if (lanes_outside && !waits.lane_cause)
            waits.lane_cause = end.signals.empty() ? unknown : end.signals.front();
        if (!waits.lane_cause)
            waits.lane_cause = signal_of_lanes(function, paused, end, unknown);
    }
    return waits;
}

} // namespace softcuda::transform
