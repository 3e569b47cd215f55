// find_waits.cpp -- which values come from a signal, which exits depend on them, who else could
// give the signal.
#include "transform/find_waits.h"

#include "ir/dominators.h"

#include <algorithm>

namespace softcuda::transform {

namespace {

using analysis::Loop;
using analysis::LoopForest;
using ir::Block;
using ir::Instruction;
using ir::Opcode;
using ir::Value;

bool is_constant(const Value *value, std::uint64_t bits) {
    return value->constant && value->bits == bits;
}

// An atomic that brings its own loop to an end sooner or later needs nobody else.
bool waits_on_atomic(const Instruction &i, const std::vector<bool> &in_loop) {
    const Value *operand = i.operand(1);
    switch (i.attributes.atomic) {
    case ir::AtomicOp::CompareSwap: // of a value seen before: an update, done again if it came late
        return !operand->definition || !in_loop[operand->definition->block->id];
    case ir::AtomicOp::Add: // of nothing: a way to read
        return !operand->constant || is_constant(operand, 0);
    case ir::AtomicOp::Inc:
    case ir::AtomicOp::Dec:
        return false;
    default:
        return true;
    }
}

class LoopLook {
  public:
    LoopLook(const ir::Function &function, const LoopForest &loops, int loop,
             const ir::DominatorTree &dominators)
        : function_(function), loop_(loops.loops()[loop]), dominators_(dominators),
          inside_(function.blocks.size(), false), tainted_(function.value_count(), false) {
        for (const Block *block : loop_.blocks)
            inside_[block->id] = true;
    }

    // What the loop waits for, or null.
    const Instruction *find() {
        for (const Block *block : loop_.blocks)
            for (const Instruction *i : block->instructions)
                if (!i->results.empty() && reads_signal(*i, inside_)) {
                    source_ = source_ ? source_ : i;
                    taint(*i);
                }
        if (!source_)
            return nullptr;
        while (spread())
            ;
        return exits_depend() ? source_ : nullptr;
    }

  private:
    bool taint(const Instruction &i) {
        bool changed = false;
        for (const Value *result : i.results)
            if (!tainted_[result->id])
                changed = tainted_[result->id] = true;
        return changed;
    }

    bool tainted(const Value *value) const { return !value->constant && tainted_[value->id]; }

    bool has_tainted_operand(const Instruction &i) const {
        return std::ranges::any_of(i.operands, [&](const Value *v) { return tainted(v); });
    }

    bool branches_by_signal(const Block *block) const {
        return block->successors().size() > 1 && has_tainted_operand(*block->terminator());
    }

    // A phi also depends on the branches that decide on the way to it. The header's are left out:
    // what comes round the loop comes as an operand.
    bool spread() {
        bool changed = false;
        std::vector<bool> after = behind_tainted_branches();
        for (const Block *block : loop_.blocks)
            for (const Instruction *i : block->instructions) {
                bool chosen = i->is(Opcode::Phi) && after[block->id] && block != loop_.header;
                if (chosen || has_tainted_operand(*i))
                    changed |= taint(*i);
            }
        return changed;
    }

    std::vector<bool> behind_tainted_branches() const {
        std::vector<bool> reached(function_.blocks.size(), false);
        std::vector<const Block *> work;
        for (const Block *block : loop_.blocks)
            if (branches_by_signal(block))
                work.push_back(block);
        while (!work.empty()) {
            const Block *block = work.back();
            work.pop_back();
            for (const Block *next : block->successors())
                if (inside_[next->id] && next != loop_.header && !reached[next->id]) {
                    reached[next->id] = true;
                    work.push_back(next);
                }
        }
        return reached;
    }

    // Some exit is taken by the signal; or every exit could be passed by because of it.
    bool exits_depend() const {
        bool by_signal = false, counted_exit = false;
        for (const Block *block : loop_.blocks) {
            by_signal |= branches_by_signal(block);
            bool leaves = std::ranges::any_of(block->successors(),
                                              [&](const Block *to) { return !inside_[to->id]; });
            if (!leaves)
                continue;
            if (branches_by_signal(block))
                return true;
            counted_exit |= std::ranges::all_of(loop_.latches, [&](const Block *latch) {
                return dominators_.dominates(block, latch);
            });
        }
        return by_signal && !counted_exit;
    }

    const ir::Function &function_;
    const Loop &loop_;
    const ir::DominatorTree &dominators_;
    std::vector<bool> inside_;
    std::vector<bool> tainted_; ///< by Value::id: depends on a signal
    const Instruction *source_ = nullptr;
};

bool is_shared_write(const Instruction &i) {
    switch (i.opcode) {
    case Opcode::Store:
    case Opcode::Atomic:
    case Opcode::Reduce:
        return i.attributes.space != ir::Space::Local;
    case Opcode::Call:
    case Opcode::CallIndirect:
        return true;
    default:
        return false;
    }
}

// All lanes of the warp have to come here before any goes on.
bool gathers_warp(const Instruction &i) {
    constexpr std::uint64_t kAll = 0xffffffff;
    switch (i.opcode) {
    case Opcode::Barrier:
    case Opcode::BarrierReduce:
    case Opcode::Mma:
        return true;
    case Opcode::WarpBarrier:
    case Opcode::ElectOne:
        return is_constant(i.operand(0), kAll);
    case Opcode::Vote:
    case Opcode::Match:
    case Opcode::WarpReduce:
        return is_constant(i.operand(1), kAll);
    case Opcode::Shuffle:
        return is_constant(i.operand(3), kAll);
    default:
        return false;
    }
}

bool may_be_same_memory(ir::Space a, ir::Space b) {
    return a == b || a == ir::Space::Generic || b == ir::Space::Generic;
}

// Could a lane that stands at one of these blocks write what `source` reads, if it went on alone?
bool could_signal(const ir::Function &function, std::vector<const Block *> work,
                  const Instruction &source) {
    std::vector<bool> seen(function.blocks.size(), false);
    while (!work.empty()) {
        const Block *block = work.back();
        work.pop_back();
        if (seen[block->id])
            continue;
        seen[block->id] = true;
        bool stopped = false;
        for (const Instruction *i : block->instructions) {
            if (is_shared_write(*i) &&
                may_be_same_memory(i->attributes.space, source.attributes.space))
                return true;
            stopped |= gathers_warp(*i);
            if (stopped)
                break;
        }
        if (!stopped)
            work.insert(work.end(), block->successors().begin(), block->successors().end());
    }
    return false;
}

} // namespace

bool reads_signal(const Instruction &i, const std::vector<bool> &in_loop) {
    switch (i.opcode) {
    case Opcode::Load:
        return i.attributes.order != ir::Order::Weak && i.attributes.space != ir::Space::Local;
    case Opcode::Atomic:
        return waits_on_atomic(i, in_loop);
    default:
        return false;
    }
}

Waits find_waits(const ir::Function &function, const analysis::Divergence &divergence,
                 const LoopForest &loops, const Schedule &schedule) {
    Waits waits;
    waits.loops.assign(loops.loops().size(), false);
    const ir::DominatorTree dominators(function);
    for (int loop = 0; loop < static_cast<int>(loops.loops().size()); ++loop) {
        const Instruction *source = LoopLook(function, loops, loop, dominators).find();
        if (!source)
            continue;
        waits.loops[loop] = true;
        if (!waits.cause)
            waits.cause = source;
        // Lanes that stand still while others go round: those that were sent elsewhere, and, where
        // lanes leave one by one, those that have left.
        const Loop &look = loops.loops()[loop];
        std::vector<const Block *> still = schedule.of(look.header).pending;
        if (divergence.divergent_loop[loop])
            still.insert(still.end(), look.exits.begin(), look.exits.end());
        if (!waits.lane_cause && could_signal(function, still, *source))
            waits.lane_cause = source;
    }
    return waits;
}

} // namespace softcuda::transform
