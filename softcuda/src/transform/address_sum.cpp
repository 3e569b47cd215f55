// address_sum.cpp -- takes addresses apart.
#include "transform/address_sum.h"

#include "analysis/lockstep.h"
#include "ir/integer_semantics.h"

#include <algorithm>

namespace softcuda::transform {

namespace {

using ir::Instruction;
using ir::Opcode;
using ir::Value;

constexpr unsigned kMostTermDepth = 8;  ///< operations from an address to a term
constexpr unsigned kMostEqualDepth = 6; ///< operations that are compared

bool has_equal_steps(const Instruction &a, const Instruction &b) {
    if (a.block != b.block)
        return false;
    const auto one = moving_phi(a), other = moving_phi(b);
    return one && other && one->step == other->step && a.blocks[one->back] == b.blocks[other->back];
}

/// The same operation on the same values, and not a phi.
bool are_equal(const Value *a, const Value *b, unsigned depth) {
    if (a == b)
        return true;
    const Instruction *x = a->definition, *y = b->definition;
    if (!x || !y || depth == 0 || x->opcode != y->opcode || x->is(Opcode::Phi) ||
        a->index != b->index || a->type != b->type || !(x->attributes == y->attributes) ||
        x->operands.size() != y->operands.size() ||
        !(ir::info(x->opcode).pure || x->is(Opcode::LoadParam)) || ir::info(x->opcode).convergent)
        return false;
    return std::ranges::equal(x->operands, y->operands, [&](const Value *p, const Value *q) {
        return are_equal(p, q, depth - 1);
    });
}

bool are_equal(const AddressTerm &a, const AddressTerm &b) {
    if (a.moving || b.moving)
        return a.moving && b.moving && has_equal_steps(*a.moving, *b.moving);
    return are_equal(a.value, b.value, kMostEqualDepth);
}

bool is_in_loop_of(const Instruction &phi, const ir::Block &block,
                   const analysis::LoopForest &loops) {
    for (int loop = loops.innermost(&block); loop >= 0;
         loop = loops.loops()[static_cast<std::size_t>(loop)].parent)
        if (loops.loops()[static_cast<std::size_t>(loop)].header == phi.block)
            return true;
    return false;
}

class Decomposer {
  public:
    Decomposer(const ir::Block &block, const analysis::LoopForest &loops)
        : block_(block), loops_(loops) {}

    void add(Value *value, bool negative, unsigned depth) {
        if (value->constant) {
            sum.constant += negative ? -value->bits : value->bits;
            return;
        }
        Instruction *i = value->definition;
        if (i && depth > 0 && i->is(Opcode::Phi))
            if (const auto moving = moving_phi(*i); moving && is_in_loop_of(*i, block_, loops_)) {
                add(i->operand(1 - moving->back), negative, depth - 1);
                sum.terms.push_back({.value = nullptr, .moving = i, .negative = negative});
                return;
            }
        if (i && depth > 0 && (i->is(Opcode::Add) || i->is(Opcode::Sub)) &&
            value->type == ir::Type::I64 && ir::is_whole_integer(*i)) {
            add(i->operand(0), negative, depth - 1);
            add(i->operand(1), i->is(Opcode::Sub) ? !negative : negative, depth - 1);
            return;
        }
        sum.terms.push_back({.value = value, .moving = nullptr, .negative = negative});
    }

    AddressSum sum;

  private:
    const ir::Block &block_;
    const analysis::LoopForest &loops_;
};

/// How much an integer rises from a thread to the next one along x.
std::optional<std::int64_t> rise(const Value *value, unsigned depth) {
    if (analysis::is_same_in_block(value))
        return 0;
    const Instruction *i = value->definition;
    if (!i || depth == 0 || !ir::is_whole_integer(*i))
        return std::nullopt;
    const auto scaled = [&](unsigned side, std::int64_t by) -> std::optional<std::int64_t> {
        const auto found = rise(i->operand(side), depth - 1);
        return found && std::abs(by) < 1 << 16 && std::abs(*found) < 1 << 16
                   ? std::optional(*found * by)
                   : std::nullopt;
    };
    const auto factor = [&](unsigned side) {
        return static_cast<std::int64_t>(static_cast<std::int32_t>(i->operand(side)->bits));
    };
    switch (i->opcode) {
    case Opcode::Special:
        return i->attributes.special == ir::Special::TidX ? std::optional<std::int64_t>(1)
               : i->attributes.special == ir::Special::TidY ||
                       i->attributes.special == ir::Special::TidZ
                   ? std::optional<std::int64_t>(0)
                   : std::nullopt;
    case Opcode::Add:
    case Opcode::Sub: {
        const auto a = rise(i->operand(0), depth - 1), b = rise(i->operand(1), depth - 1);
        return a && b ? std::optional(i->is(Opcode::Add) ? *a + *b : *a - *b) : std::nullopt;
    }
    case Opcode::Mul:
    case Opcode::MulWide:
        for (const unsigned side : {0u, 1u})
            if (i->operand(side)->constant)
                return scaled(1 - side, factor(side));
        // A row of a matrix for each value of another index.
        for (const unsigned side : {0u, 1u})
            if (analysis::is_same_in_block(i->operand(side)) &&
                rise(i->operand(1 - side), depth - 1) == 0)
                return 0;
        return std::nullopt;
    case Opcode::Shl:
        return i->operand(1)->constant && i->operand(1)->bits < 16
                   ? scaled(0, std::int64_t{1} << i->operand(1)->bits)
                   : std::nullopt;
    case Opcode::Convert:
        return rise(i->operand(0), depth - 1);
    default:
        return std::nullopt;
    }
}

} // namespace

std::optional<MovingPhi> moving_phi(const Instruction &phi) {
    if (phi.result()->type != ir::Type::I64 || phi.blocks.size() != 2)
        return std::nullopt;
    for (const std::size_t back : {0, 1}) {
        const Instruction *next = phi.operand(back)->definition;
        if (next && next->is(Opcode::Add) && next->operand(0) == phi.result() &&
            next->operand(1)->constant)
            return MovingPhi{back, next->operand(1)};
    }
    return std::nullopt;
}

AddressSum to_sum(Value *address, const ir::Block &block, const analysis::LoopForest &loops) {
    Decomposer parts(block, loops);
    parts.add(address, false, kMostTermDepth);
    return std::move(parts.sum);
}

AddressSum difference(const AddressSum &a, const AddressSum &b) {
    AddressSum result = a;
    result.constant -= b.constant;
    for (AddressTerm term : b.terms) {
        term.negative = !term.negative;
        const auto other = std::ranges::find_if(result.terms, [&](const AddressTerm &mine) {
            return mine.negative != term.negative && are_equal(mine, term);
        });
        if (other != result.terms.end())
            result.terms.erase(other);
        else
            result.terms.push_back(term);
    }
    return result;
}

bool is_same_in_block(const AddressSum &sum) {
    return std::ranges::all_of(sum.terms, [](const AddressTerm &term) {
        return term.moving || analysis::is_same_in_block(term.value);
    });
}

std::optional<std::int64_t> bytes_between_threads(const AddressSum &sum) {
    std::int64_t bytes = 0;
    for (const AddressTerm &term : sum.terms) {
        if (term.moving)
            continue;
        const auto found = rise(term.value, kMostTermDepth);
        if (!found)
            return std::nullopt;
        bytes += term.negative ? -*found : *found;
    }
    return bytes;
}

} // namespace softcuda::transform
