// find_loop_ends.cpp -- finds what depends on a signal, and the exits that do.
#include "transform/find_loop_ends.h"

#include "transform/own_exits.h"

#include <array>
#include <bitset>

namespace softcuda::transform {

namespace {

using ir::Block;
using ir::Instruction;
using ir::Opcode;
using ir::Order;
using ir::Space;
using ir::Value;

constexpr std::size_t kSpaces = 6;
using Spaces = std::bitset<kSpaces>;

std::size_t index_of(Space space) { return static_cast<std::size_t>(space); }

/// Memory that no other thread can write while the kernel runs.
bool is_constant_memory(const Instruction &load) {
    const Space space = load.attributes.space;
    return space == Space::Local || space == Space::Constant || space == Space::Param ||
           load.attributes.invariant;
}

bool is_ordered_read(const Instruction &i) {
    return i.is(Opcode::Atomic) ||
           (i.is(Opcode::Load) && i.attributes.order != Order::Weak && !is_constant_memory(i));
}

bool acquires(const Instruction &i) {
    const Order order = i.attributes.order;
    return is_ordered_read(i) && (order == Order::Acquire || order == Order::AcquireRelease ||
                                  order == Order::Sequential);
}

/// A barrier at which all warps of the block meet.
bool is_full_barrier(const Instruction &i) {
    if (!i.is(Opcode::Barrier) && !i.is(Opcode::BarrierReduce))
        return false;
    return !ir::barrier_threads(i) && ir::barrier_number(i)->constant;
}

class LoopSearch {
  public:
    LoopSearch(const LoopView &loop, std::span<const std::uint32_t> signalling)
        : loop_(loop), signalling_(signalling), own_(loop) {
        for (const Block *block : loop.blocks())
            for (const Instruction *i : block->instructions)
                has_barrier_ |= is_full_barrier(*i) && loop.in_each_iteration(block);
        for (const Block *block : loop.blocks())
            for (const Instruction *i : block->instructions)
                look_at(*i);
        bounded_ = !own_.compares().empty();
    }

    // The loop's own atomics are no signals, as long as what is compared with their results does
    // not depend on one.
    LoopEnd find() {
        if (bounded_ && !reads_ && !strict_)
            return {LoopProof::Counted, {}};
        for (const OwnCompare &own : own_.compares())
            if (own.atomic)
                excused_.insert(own.atomic);
        do
            mark_signals();
        while (reject_compares());
        return conclude();
    }

  private:
    /// How a signal reaches an exit. A weak load that only controls the body of a loop without
    /// fences is usually an ordinary read of data.
    enum class Spread { DataOnly, WithControl };

    void look_at(const Instruction &i) {
        const bool calls = is_signalling_call(i);
        reads_ |= is_ordered_read(i) || calls;
        strict_ |= calls || publishes(i);
        refreshes_ |= i.is(Opcode::Fence) || i.is(Opcode::Nanosleep) || i.is(Opcode::WarpBarrier);
    }

    /// Whether weak loads after the instruction may read what another thread wrote before. If the
    /// block meets in each iteration, only other blocks matter.
    bool publishes(const Instruction &i) const {
        if (i.is(Opcode::Nanosleep))
            return true;
        const bool of_block = i.is(Opcode::Fence) ? i.attributes.scope == ir::Scope::Block
                                                  : i.attributes.space == Space::Shared;
        return (i.is(Opcode::Fence) || acquires(i)) && !(has_barrier_ && of_block);
    }

    bool is_signalling_call(const Instruction &i) const {
        return i.is(Opcode::CallIndirect) ||
               (i.is(Opcode::Call) &&
                std::ranges::find(signalling_, i.attributes.symbol) != signalling_.end());
    }

    /// Whether the thread that writes this memory makes progress in each iteration, because of a
    /// barrier of the block.
    bool is_settled_by_barrier(const Instruction &i) const {
        return has_barrier_ && i.attributes.space == Space::Shared;
    }

    // ---- signals
    // ----------------------------------------------------------------------------------

    bool is_signal(const Instruction &i) const {
        if (excused_.contains(&i) || is_settled_by_barrier(i))
            return false;
        return is_ordered_read(i) || is_signalling_call(i) || is_weak_signal(i);
    }

    /// Drops the comparisons that depend on a signal. True if there are more signals then.
    bool reject_compares() {
        std::set<const Instruction *> excused;
        accepted_.clear();
        for (const OwnCompare &own : own_.compares()) {
            if (own.other && tainted(own.other))
                continue;
            accepted_.insert(own.compare);
            if (own.atomic)
                excused.insert(own.atomic);
        }
        const bool changed = excused != excused_ || bounded_ == accepted_.empty();
        excused_ = std::move(excused);
        bounded_ = !accepted_.empty();
        return changed;
    }

    bool is_weak_signal(const Instruction &i) const {
        if (!i.is(Opcode::Load) || i.attributes.order != Order::Weak || is_constant_memory(i) ||
            is_settled_by_barrier(i))
            return false;
        if (bounded_) // a poll that gives up
            return strict_ && loop_.is_invariant(i.operand(0));
        if (strict_ || loop_.is_invariant(i.operand(0)))
            return true;
        std::vector<const Value *> path;
        return may_stay(i.operand(0), path) && loop_.any_instruction([&](const Instruction &other) {
            return may_change(other, i);
        });
    }

    /// Whether values of memory may have changed after the instruction.
    static bool may_change(const Instruction &i, const Instruction &load) {
        if (may_signal(i))
            return true;
        switch (i.opcode) {
        case Opcode::WarpBarrier:
        case Opcode::Call:
        case Opcode::CallIndirect:
        case Opcode::RuntimeCall:
            return true;
        case Opcode::Store:
        case Opcode::Reduce:
            return may_be_same_memory(i.attributes.space, load.attributes.space);
        default:
            return false;
        }
    }

    /// Whether the value may be the same in the next iteration, according to its operations. Loaded
    /// and counted values are assumed to change.
    bool may_stay(const Value *value, std::vector<const Value *> &path) const {
        if (loop_.is_invariant(value))
            return true;
        if (std::ranges::find(path, value) != path.end())
            return path.front() == value || value->definition->is(Opcode::Phi);
        const Instruction &i = *value->definition;
        path.push_back(value);
        bool stays = false;
        if (i.is(Opcode::Phi) && i.block == loop_.header()) {
            for (std::size_t n = 0; n < i.operands.size() && !stays; ++n)
                stays = loop_.contains(i.blocks[n]) && leads_back(i.operand(n), value, 0);
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
        if (loop_.is_invariant(value))
            return false;
        const Instruction &i = *value->definition;
        return (i.is(Opcode::Phi) || i.is(Opcode::Select)) &&
               std::ranges::any_of(i.operands,
                                   [&](const Value *v) { return leads_back(v, phi, depth + 1); });
    }

    // ---- what depends on a signal
    // -----------------------------------------------------------------

    void mark_signals() {
        signals_.clear();
        tainted_.assign(loop_.function().value_count(), false);
        written_.reset();
        for (const Block *block : loop_.blocks())
            for (const Instruction *i : block->instructions)
                if (is_signal(*i)) {
                    signals_.push_back(i);
                    taint(*i);
                    if (is_signalling_call(*i))
                        write(*i);
                }
        if (signals_.empty())
            return;
        const Spread by = reads_ || refreshes_ ? Spread::WithControl : Spread::DataOnly;
        while (spread(by))
            ;
        by_control_ = by == Spread::WithControl;
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
        std::vector<bool> after;
        if (by == Spread::WithControl)
            after = behind_tainted_branches();
        for (const Block *block : loop_.blocks()) {
            const bool behind = !after.empty() && after[block->id];
            for (const Instruction *i : block->instructions) {
                const bool by_signal = has_tainted_operand(*i);
                const bool chosen = i->is(Opcode::Phi) && behind && block != loop_.header();
                if (chosen || by_signal || reads_written(*i))
                    changed |= taint(*i);
                if (by_signal || behind)
                    changed |= write(*i);
            }
        }
        return changed;
    }

    /// Whether the instruction reads memory that a signal has changed.
    bool reads_written(const Instruction &i) const {
        if (!i.is(Opcode::Load) && !i.is(Opcode::Atomic))
            return false;
        if (i.attributes.space == Space::Constant || i.attributes.space == Space::Param ||
            i.attributes.invariant)
            return false;
        return i.attributes.space == Space::Generic ? written_.any()
                                                    : written_[index_of(i.attributes.space)];
    }

    // In a loop that counts, an exit by what is in global memory is an exit by data.
    bool write(const Instruction &i) {
        Spaces spaces;
        if (i.is(Opcode::Store) || is_atomic(i))
            spaces.set(index_of(i.attributes.space));
        else if (i.is(Opcode::Call) || i.is(Opcode::CallIndirect) || i.is(Opcode::RuntimeCall))
            spaces.set();
        if (spaces[index_of(Space::Generic)])
            spaces.set();
        if (bounded_)
            spaces.reset(index_of(Space::Global));
        const bool changed = (spaces & ~written_).any();
        written_ |= spaces;
        return changed;
    }

    std::vector<bool> behind_tainted_branches() const {
        std::vector<bool> reached(loop_.function().blocks.size(), false);
        std::vector<const Block *> work;
        for (const Block *block : loop_.blocks())
            if (branches_by_signal(block))
                work.push_back(block);
        while (!work.empty()) {
            const Block *block = work.back();
            work.pop_back();
            for (const Block *next : block->successors())
                if (loop_.contains(next) && next != loop_.header() && !reached[next->id]) {
                    reached[next->id] = true;
                    work.push_back(next);
                }
        }
        return reached;
    }

    // ---- the exits
    // ----------------------------------------------------------------------------------

    LoopEnd conclude() const {
        if (!signals_.empty() && exits_depend())
            return {LoopProof::None, signals_};
        if (bounded_)
            return {LoopProof::Counted, {}};
        return {has_barrier_ ? LoopProof::Together : LoopProof::Data, {}};
    }

    // Whether the signal decides about an exit, or may prevent every exit.
    bool exits_depend() const {
        bool by_signal = false, other_exit = false;
        for (const Block *block : loop_.blocks()) {
            by_signal |= branches_by_signal(block);
            if (!loop_.leaves(block))
                continue;
            const Instruction &end = *block->terminator();
            if (std::ranges::any_of(end.operands, [&](const Value *v) { return decides(v); }))
                return true;
            other_exit |= loop_.in_each_iteration(block) &&
                          std::ranges::none_of(
                              end.operands, [&](const Value *v) { return loop_.is_invariant(v); });
        }
        return by_control_ && by_signal && !bounded_ && !other_exit;
    }

    /// Whether a signal decides about the condition, except by the loop's own comparisons.
    bool decides(const Value *condition) const {
        if (!tainted(condition) || loop_.is_invariant(condition))
            return false;
        const Instruction &i = *condition->definition;
        if (accepted_.contains(&i))
            return false;
        if (i.is(Opcode::And) || i.is(Opcode::Or) || i.is(Opcode::Not))
            return std::ranges::any_of(i.operands, [&](const Value *v) { return decides(v); });
        return true;
    }

    const LoopView &loop_;
    std::span<const std::uint32_t> signalling_;
    OwnExits own_;
    bool reads_ = false;       ///< some instruction reads a signal for certain
    bool refreshes_ = false;   ///< there is an operation that is usual in loops that wait
    bool strict_ = false;      ///< weak loads may read what another thread has published
    bool has_barrier_ = false; ///< the threads of the block meet at a barrier in each iteration
    bool by_control_ = false;  ///< signals were followed through branches
    bool bounded_ = false;     ///< an exit of the loop's own is passed in each iteration
    std::set<const Instruction *> excused_, accepted_; ///< own atomics; own comparisons
    std::vector<const Instruction *> signals_;
    std::vector<bool> tainted_; ///< by Value::id: depends on a signal
    Spaces written_;            ///< by space: its contents depend on a signal
};

} // namespace

std::string_view text(LoopProof proof) {
    constexpr std::array<std::string_view, 4> kNames = {"waits", "counted", "together", "data"};
    return kNames.at(static_cast<std::size_t>(proof));
}

bool may_signal(const Instruction &i) {
    return is_ordered_read(i) || i.is(Opcode::Fence) || i.is(Opcode::Nanosleep) ||
           ir::is_block_barrier(i);
}

std::vector<LoopEnd> find_loop_ends(const ir::Function &function, const analysis::LoopForest &loops,
                                    const ir::DominatorTree &dominators,
                                    std::span<const std::uint32_t> signalling) {
    std::vector<LoopEnd> ends;
    for (const analysis::Loop &loop : loops.loops()) {
        const LoopView view(function, loop, dominators);
        ends.push_back(LoopSearch(view, signalling).find());
    }
    return ends;
}

} // namespace softcuda::transform
