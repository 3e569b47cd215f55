// own_exits.cpp -- recognises counts, updates, and additions to memory.
#include "transform/own_exits.h"

namespace softcuda::transform {

namespace {

using ir::Compare;
using ir::Instruction;
using ir::Opcode;
using ir::Value;

/// Definitions that a search follows from one value.
constexpr unsigned kMostSteps = 12;

bool is_equality(Compare compare) { return compare == Compare::Eq || compare == Compare::Ne; }

bool is_less(Compare compare) { return compare == Compare::Lt || compare == Compare::Le; }
bool is_greater(Compare compare) { return compare == Compare::Gt || compare == Compare::Ge; }

/// The value before conversions that keep its bits or its order.
const Value *without_conversions(const Value *value) {
    while (value->definition &&
           (value->definition->is(Opcode::Bitcast) || value->definition->is(Opcode::Convert)))
        value = value->definition->operand(0);
    return value;
}

bool same_place(const Instruction &a, const Instruction &b) {
    return a.operand(0) == b.operand(0) && a.attributes.offset == b.attributes.offset &&
           a.attributes.symbol == b.attributes.symbol &&
           may_be_same_memory(a.attributes.space, b.attributes.space);
}

/// The constant that an atomic adds, with its sign; 0 if there is none.
std::int64_t summand(const Instruction &atomic) {
    if (!is_atomic(atomic) || atomic.attributes.atomic != ir::AtomicOp::Add ||
        ir::is_floating(atomic.attributes.type) || !atomic.operand(1)->constant)
        return 0;
    const unsigned unused = 64 - std::min(64u, ir::bits(atomic.operand(1)->type));
    return static_cast<std::int64_t>(atomic.operand(1)->bits << unused) >> unused;
}

} // namespace

OwnExits::OwnExits(const LoopView &loop) : loop_(loop) {
    for (const ir::Block *block : loop.blocks()) {
        const Instruction &end = *block->terminator();
        if (end.is(Opcode::Branch) && !end.operand(0)->constant && loop.leaves(block) &&
            loop.in_each_iteration(block))
            look_at(end.operand(0), !loop.contains(end.blocks[0]));
    }
}

// A conjunction is false, and a disjunction true, as soon as one operand is.
void OwnExits::look_at(const Value *condition, bool leaves_if) {
    const Instruction *i = condition->definition;
    if (!i || loop_.is_invariant(condition))
        return;
    if (i->is(Opcode::Not))
        return look_at(i->operand(0), !leaves_if);
    if (i->is(Opcode::Compare))
        return add_compare(*i, leaves_if);
    if ((i->is(Opcode::And) && !leaves_if) || (i->is(Opcode::Or) && leaves_if))
        for (const Value *operand : i->operands)
            look_at(operand, leaves_if);
}

void OwnExits::add_compare(const Instruction &compare, bool leaves_if) {
    if (ir::is_floating(compare.attributes.type))
        return;
    const Compare relation = compare.attributes.compare;
    if (is_equality(relation) && (relation == Compare::Eq) == leaves_if)
        if (const Instruction *update = updated_by(compare))
            return compares_.push_back({&compare, update, nullptr});
    for (std::size_t side = 0; side < 2; ++side) {
        const Value *value = compare.operand(side), *limit = compare.operand(1 - side);
        if (is_count(value))
            return compares_.push_back(
                {&compare, nullptr, is_equality(relation) ? limit : nullptr});
        const Instruction *addition = addition_of(value, 0);
        if (!addition || loop_.is_invariant(value))
            continue;
        // The loop must be left when the sum has grown, or shrunk, enough.
        const bool if_greater = is_greater(relation) == (side == 0);
        const bool grows = summand(*addition) > 0;
        if ((is_less(relation) || is_greater(relation)) && (if_greater == leaves_if) == grows)
            return compares_.push_back({&compare, addition, value});
    }
}

/// A header's phi that each iteration changes by an invariant or a shift, or a value that follows
/// from such a phi.
bool OwnExits::is_count(const Value *value, unsigned depth) const {
    if (value->constant || loop_.is_invariant(value) || depth > kMostSteps)
        return false;
    const Instruction &i = *value->definition;
    switch (i.opcode) {
    case Opcode::Phi:
        if (i.block != loop_.header())
            return false;
        for (std::size_t n = 0; n < i.operands.size(); ++n)
            if (loop_.contains(i.blocks[n]) && !is_step_of(i.operand(n), value, depth + 1))
                return false;
        return true;
    case Opcode::Convert:
    case Opcode::Bitcast:
        return !ir::is_float(value->type) && is_count(i.operand(0), depth + 1);
    case Opcode::Add:
    case Opcode::Sub:
    case Opcode::Mul:
    case Opcode::MulWide:
    case Opcode::Shl:
    case Opcode::Shr:
        return !ir::is_floating(i.attributes.type) &&
               ((is_count(i.operand(0), depth + 1) && loop_.is_invariant(i.operand(1))) ||
                (is_count(i.operand(1), depth + 1) && loop_.is_invariant(i.operand(0))));
    default:
        return false;
    }
}

/// Whether the value is the phi's after a step, on every path through the iteration.
bool OwnExits::is_step_of(const Value *value, const Value *phi, unsigned depth) const {
    if (loop_.is_invariant(value) || depth > kMostSteps)
        return false;
    const Instruction &i = *value->definition;
    if (i.is(Opcode::Phi))
        return i.block != loop_.header() && std::ranges::all_of(i.operands, [&](const Value *v) {
                   return is_step_of(v, phi, depth + 1);
               });
    const bool steps = i.is(Opcode::Add) || i.is(Opcode::Sub) || i.is(Opcode::Shl) ||
                       i.is(Opcode::Shr) || i.is(Opcode::Mul);
    if (!steps || ir::is_floating(i.attributes.type))
        return false;
    auto step_by = [&](const Value *base, const Value *by) {
        const bool unchanged = is_constant(by, 0) || (i.is(Opcode::Mul) && is_constant(by, 1));
        return loop_.is_invariant(by) && !unchanged &&
               (base == phi || is_step_of(base, phi, depth + 1));
    };
    return step_by(i.operand(0), i.operand(1)) ||
           (i.is(Opcode::Add) && step_by(i.operand(1), i.operand(0)));
}

/// The compare-and-swap whose result is compared with the value that it expects, if the loop read
/// that value from the same place.
const Instruction *OwnExits::updated_by(const Instruction &compare) const {
    for (std::size_t side = 0; side < 2; ++side) {
        const Value *result = without_conversions(compare.operand(side));
        const Instruction *atomic = result->definition;
        if (!atomic || !atomic->is(Opcode::Atomic) || loop_.is_invariant(result) ||
            atomic->attributes.atomic != ir::AtomicOp::CompareSwap)
            continue;
        const Value *expected = without_conversions(atomic->operand(1));
        if (expected == without_conversions(compare.operand(1 - side)) &&
            !loop_.is_invariant(expected) && is_read_from(expected, *atomic, 0))
            return atomic;
    }
    return nullptr;
}

/// Whether the value, in each iteration but the first one, was read from the atomic's place.
bool OwnExits::is_read_from(const Value *value, const Instruction &atomic, unsigned depth) const {
    value = without_conversions(value);
    if (!value->definition || loop_.is_invariant(value) || depth > kMostSteps)
        return false;
    const Instruction &i = *value->definition;
    if (i.is(Opcode::Load) || i.is(Opcode::Atomic))
        return same_place(i, atomic);
    if (!i.is(Opcode::Phi))
        return false;
    for (std::size_t n = 0; n < i.operands.size(); ++n)
        if (loop_.contains(i.blocks[n]) && !is_read_from(i.operand(n), atomic, depth + 1))
            return false;
    return true;
}

/// The atomic addition of a constant whose result reaches the value, through the lanes of the
/// warp, a sum, or a variable that only the adding thread writes.
const Instruction *OwnExits::addition_of(const Value *value, unsigned depth) const {
    if (!value->definition || loop_.is_invariant(value) || depth > kMostSteps)
        return nullptr;
    const Instruction &i = *value->definition;
    switch (i.opcode) {
    case Opcode::Atomic:
        return summand(i) != 0 && !is_undone(i) ? &i : nullptr;
    case Opcode::Load:
        return stored_addition(i, depth);
    case Opcode::Convert:
    case Opcode::Bitcast:
    case Opcode::Shuffle:
        return addition_of(i.operand(0), depth + 1);
    case Opcode::Add:
    case Opcode::Phi:
    case Opcode::Select:
        for (const Value *operand : i.operands)
            if (const Instruction *found = addition_of(operand, depth + 1))
                return found;
        return nullptr;
    default:
        return nullptr;
    }
}

/// Follows a weak load through the only store of the loop to its place. Other stores to this memory
/// must be to other constant addresses.
const Instruction *OwnExits::stored_addition(const Instruction &load, unsigned depth) const {
    if (load.attributes.order != ir::Order::Weak || load.attributes.vector != 1)
        return nullptr;
    const Instruction *found = nullptr;
    const bool others = loop_.any_instruction([&](const Instruction &i) {
        const bool writes = i.is(Opcode::Store) || is_atomic(i) || i.is(Opcode::Call);
        if (!writes ||
            (!i.is(Opcode::Call) && !may_be_same_memory(i.attributes.space, load.attributes.space)))
            return false;
        if (i.is(Opcode::Store) && same_place(i, load) && i.attributes.vector == 1 && !found) {
            found = &i;
            return false;
        }
        const bool elsewhere = !i.is(Opcode::Call) && i.operand(0)->constant &&
                               load.operand(0)->constant && !same_place(i, load);
        return !elsewhere;
    });
    return found && !others ? addition_of(found->operand(1), depth + 1) : nullptr;
}

/// Whether another atomic of the loop may undo the addition.
bool OwnExits::is_undone(const Instruction &count) const {
    return loop_.any_instruction([&](const Instruction &i) {
        return &i != &count && is_atomic(i) &&
               may_be_same_memory(i.attributes.space, count.attributes.space) &&
               (summand(i) == 0 || (summand(i) > 0) != (summand(count) > 0));
    });
}

} // namespace softcuda::transform
