// find_waits.cpp -- finds the values that depend on a signal, the exits that depend on them, and
// other lanes that could give the signal.
#include "transform/find_waits.h"

#include "ir/dominators.h"
#include "ir/exchange.h"
#include "transform/may_reach.h"

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

bool may_be_same_memory(ir::Space a, ir::Space b) {
    return a == b || a == ir::Space::Generic || b == ir::Space::Generic;
}

bool is_atomic(const Instruction &i) { return i.is(Opcode::Atomic) || i.is(Opcode::Reduce); }

/// Memory that no other thread can write while the kernel runs.
bool is_constant_memory(const Instruction &load) {
    return load.attributes.space == ir::Space::Local ||
           load.attributes.space == ir::Space::Constant ||
           load.attributes.space == ir::Space::Param || load.attributes.invariant;
}

class LoopSearch {
  public:
    LoopSearch(const ir::Function &function, const LoopForest &loops, int loop,
               const ir::DominatorTree &dominators)
        : function_(function), loop_(loops.loops()[loop]), dominators_(dominators),
          inside_(function.blocks.size(), false), tainted_(function.value_count(), false) {
        for (const Block *block : loop_.blocks)
            inside_[block->id] = true;
        meets_ = std::ranges::any_of(loop_.blocks, [&](const Block *block) {
            return in_each_iteration(block) &&
                   std::ranges::any_of(block->instructions, [](const Instruction *i) {
                       return i->is(Opcode::Barrier) || i->is(Opcode::BarrierReduce);
                   });
        });
    }

    // The instruction that reads the signal for which the loop waits, or null.
    const Instruction *find() {
        if (const Instruction *found = search(
                Spread::WithControl, [&](const Instruction &i) { return reads_ordered_signal(i); }))
            return found;
        if (has_bounded_trip_count())
            return nullptr;
        const Spread spread_by = in_loop(synchronizes) ? Spread::WithControl : Spread::DataOnly;
        return search(spread_by, [&](const Instruction &i) { return reads_weak_signal(i); });
    }

  private:
    /// How a signal reaches an exit. A weak load that only controls the body of a loop without
    /// fences is usually an ordinary read of data.
    enum class Spread { DataOnly, WithControl };

    template <typename IsSignal> const Instruction *search(Spread spread_by, IsSignal is_signal) {
        source_ = nullptr;
        tainted_.assign(tainted_.size(), false);
        for (const Block *block : loop_.blocks)
            for (const Instruction *i : block->instructions)
                if (!i->results.empty() && is_signal(*i)) {
                    source_ = source_ ? source_ : i;
                    taint(*i);
                }
        if (!source_)
            return nullptr;
        while (spread(spread_by))
            ;
        return exits_depend(spread_by) ? source_ : nullptr;
    }

    bool in_each_iteration(const Block *block) const {
        return std::ranges::all_of(
            loop_.latches, [&](const Block *latch) { return dominators_.dominates(block, latch); });
    }

    /// Whether the thread that writes this memory makes progress in each iteration, because of a
    /// barrier of the block.
    bool is_settled_by_barrier(const Instruction &i) const {
        return meets_ && i.attributes.space == ir::Space::Shared;
    }

    bool reads_ordered_signal(const Instruction &i) const {
        if (is_settled_by_barrier(i))
            return false;
        if (i.is(Opcode::Load))
            return i.attributes.order != ir::Order::Weak && !is_constant_memory(i);
        return i.is(Opcode::Atomic) && waits_on_atomic(i);
    }

    // An atomic that eventually ends its own loop does not wait for other threads.
    bool waits_on_atomic(const Instruction &i) const {
        const Value *operand = i.operand(1);
        switch (i.attributes.atomic) {
        case ir::AtomicOp::CompareSwap: // of a value that was read before: an update, repeated if
                                        // another thread was first
            return !operand->definition || !inside_[operand->definition->block->id];
        case ir::AtomicOp::Add: // of zero: reads the value
            return !operand->constant || is_constant(operand, 0) || is_undone(i);
        case ir::AtomicOp::Inc:
        case ir::AtomicOp::Dec:
            return is_undone(i);
        default:
            return true;
        }
    }

    /// Whether another atomic of the loop may undo the count of this one.
    bool is_undone(const Instruction &count) const {
        return in_loop([&](const Instruction &i) {
            return &i != &count && is_atomic(i) &&
                   may_be_same_memory(i.attributes.space, count.attributes.space);
        });
    }

    bool reads_weak_signal(const Instruction &i) const {
        if (!i.is(Opcode::Load) || i.attributes.order != ir::Order::Weak || is_constant_memory(i) ||
            is_settled_by_barrier(i))
            return false;
        if (is_invariant(i.operand(0)))
            return true;
        std::vector<const Value *> path;
        return may_stay(i.operand(0), path) &&
               in_loop([&](const Instruction &other) { return refreshes(other, i); });
    }

    /// Whether values of memory may have changed after the instruction.
    static bool refreshes(const Instruction &i, const Instruction &load) {
        switch (i.opcode) {
        case Opcode::Fence:
        case Opcode::Barrier:
        case Opcode::BarrierReduce:
        case Opcode::WarpBarrier:
        case Opcode::Nanosleep:
        case Opcode::Call:
        case Opcode::CallIndirect:
            return true;
        case Opcode::Store:
        case Opcode::Atomic:
        case Opcode::Reduce:
            return may_be_same_memory(i.attributes.space, load.attributes.space);
        default:
            return false;
        }
    }

    /// Operations that are usual in loops that wait, and rare in other loops.
    static bool synchronizes(const Instruction &i) {
        return i.is(Opcode::Fence) || i.is(Opcode::WarpBarrier) || i.is(Opcode::Nanosleep);
    }

    template <typename Test> bool in_loop(Test test) const {
        return std::ranges::any_of(loop_.blocks, [&](const Block *block) {
            return std::ranges::any_of(block->instructions,
                                       [&](const Instruction *i) { return test(*i); });
        });
    }

    bool is_invariant(const Value *value) const {
        return !value->definition || !inside_[value->definition->block->id];
    }

    /// Whether the value may be the same in the next iteration, according to its operations. Loaded
    /// and counted values are assumed to change.
    bool may_stay(const Value *value, std::vector<const Value *> &path) const {
        if (is_invariant(value))
            return true;
        if (std::ranges::find(path, value) != path.end())
            return path.front() == value || value->definition->is(Opcode::Phi);
        const Instruction &i = *value->definition;
        path.push_back(value);
        bool stays = false;
        if (i.is(Opcode::Phi) && i.block == loop_.header) {
            for (std::size_t n = 0; n < i.operands.size() && !stays; ++n)
                stays = inside_[i.blocks[n]->id] && leads_back(i.operand(n), value, 0);
        } else if (i.is(Opcode::Phi) || i.is(Opcode::Select)) {
            stays =
                std::ranges::any_of(i.operands, [&](const Value *v) { return may_stay(v, path); });
        } else if (ir::info(i.opcode).pure || i.is(Opcode::Load)) {
            stays =
                std::ranges::all_of(i.operands, [&](const Value *v) { return may_stay(v, path); });
        }
        path.pop_back();
        return stays;
    }

    /// Whether a header's phi may keep its value in an iteration, through other phis and selects.
    bool leads_back(const Value *value, const Value *phi, unsigned depth) const {
        constexpr unsigned kMostSteps = 8;
        if (value == phi || depth == kMostSteps)
            return true;
        if (is_invariant(value))
            return false;
        const Instruction &i = *value->definition;
        return (i.is(Opcode::Phi) || i.is(Opcode::Select)) &&
               std::ranges::any_of(i.operands,
                                   [&](const Value *v) { return leads_back(v, phi, depth + 1); });
    }

    /// Whether an exit that is reached in each iteration compares a count with a limit. Then the
    /// loop ends for all values of memory.
    bool has_bounded_trip_count() const {
        return std::ranges::any_of(loop_.blocks, [&](const Block *block) {
            const Instruction &end = *block->terminator();
            if (!end.is(Opcode::Branch) || !in_each_iteration(block) || end.operand(0)->constant ||
                std::ranges::all_of(end.blocks, [&](const Block *to) { return inside_[to->id]; }))
                return false;
            const Instruction *condition = end.operand(0)->definition;
            return condition && condition->is(Opcode::Compare) &&
                   !ir::is_floating(condition->attributes.type) &&
                   std::ranges::any_of(condition->operands,
                                       [&](const Value *v) { return is_count(v); });
        });
    }

    /// A header's phi that changes by a constant in each iteration, or its next value.
    bool is_count(const Value *value) const {
        if (value->constant || is_invariant(value))
            return false;
        const Instruction &i = *value->definition;
        if (i.is(Opcode::Phi)) {
            if (i.block != loop_.header)
                return false;
            for (std::size_t n = 0; n < i.operands.size(); ++n)
                if (inside_[i.blocks[n]->id] && !is_step_of(i.operand(n), value))
                    return false;
            return true;
        }
        return (i.is(Opcode::Add) || i.is(Opcode::Sub)) && i.operand(1)->constant &&
               !is_constant(i.operand(1), 0) && i.operand(0)->definition &&
               i.operand(0)->definition->is(Opcode::Phi) && is_count(i.operand(0));
    }

    static bool is_step_of(const Value *value, const Value *phi) {
        const Instruction *i = value->definition;
        return i && (i->is(Opcode::Add) || i->is(Opcode::Sub)) && i->operand(0) == phi &&
               i->operand(1)->constant && !is_constant(i->operand(1), 0);
    }

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

    // A phi also depends on the branches on the paths to it. Headers are an exception, because the
    // value of the previous iteration is an operand.
    bool spread(Spread by) {
        bool changed = false;
        std::vector<bool> after(function_.blocks.size(), false);
        if (by == Spread::WithControl)
            after = behind_tainted_branches();
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

    // Whether the signal decides about an exit, or may prevent every exit.
    bool exits_depend(Spread by) const {
        bool by_signal = false, counted_exit = false;
        for (const Block *block : loop_.blocks) {
            by_signal |= branches_by_signal(block);
            bool leaves = std::ranges::any_of(block->successors(),
                                              [&](const Block *to) { return !inside_[to->id]; });
            if (!leaves)
                continue;
            if (branches_by_signal(block))
                return true;
            counted_exit |= in_each_iteration(block);
        }
        return by == Spread::WithControl && by_signal && !counted_exit;
    }

    const ir::Function &function_;
    const Loop &loop_;
    const ir::DominatorTree &dominators_;
    std::vector<bool> inside_;
    std::vector<bool> tainted_; ///< by Value::id: depends on a signal
    bool meets_ = false;        ///< the threads of the block meet at a barrier in each iteration
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

// All lanes of the warp must arrive before any of them continues.
bool gathers_warp(const Instruction &i) {
    if (i.is(Opcode::Barrier) || i.is(Opcode::BarrierReduce))
        return true;
    const Value *members = ir::members_of(i);
    return ir::is_exchange(i) && (!members || is_constant(members, 0xffffffff));
}

// Whether a lane that is at one of these blocks could write the memory that `source` reads, if it
// continued alone.
bool could_signal(const ir::Function &function, std::vector<const Block *> waiting,
                  const Instruction &source) {
    auto writes_source = [&](const Instruction &i) {
        return is_shared_write(i) &&
               may_be_same_memory(i.attributes.space, source.attributes.space);
    };
    return may_reach(function, std::move(waiting), writes_source, gathers_warp);
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
                 const LoopForest &loops, const Schedule &schedule) {
    Waits waits;
    waits.loops.assign(loops.loops().size(), false);
    const ir::DominatorTree dominators(function);
    for (int loop = 0; loop < static_cast<int>(loops.loops().size()); ++loop) {
        const Instruction *source = LoopSearch(function, loops, loop, dominators).find();
        if (!source)
            continue;
        waits.loops[loop] = true;
        add_preemption_points(loops.loops()[loop], waits);
        if (!waits.cause)
            waits.cause = source;
        // The lanes that pause while others repeat the loop: those that took another branch and, if
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
