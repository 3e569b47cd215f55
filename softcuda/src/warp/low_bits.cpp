// low_bits.cpp -- follows the operations of index computations.
#include "warp/low_bits.h"

#include "ir/integer_semantics.h"
#include "warp/kernel_plan.h"

#include <algorithm>
#include <bit>

namespace softcuda::warp {

namespace {

using analysis::kLanes;
using analysis::Shape;
using ir::Instruction;
using ir::Opcode;
using ir::Space;
using ir::Value;

constexpr unsigned kMostFollowed = 8; ///< of operations that are followed

LowBits same_low_bits(unsigned count, std::uint64_t value) {
    LowBits known{.count = count};
    known.lanes.fill(value);
    return known;
}

/// The base of each group is a multiple of 2^align, and the offsets of the lanes are known.
LowBits low_bits_by_shape(const Shape &shape) {
    if (shape.divided)
        return {.count = 0};
    LowBits known{.count = shape.align};
    for (unsigned lane = 0; lane < kLanes; ++lane)
        known.lanes[lane] = static_cast<std::uint64_t>(shape.offset(lane));
    return known;
}

Shape shape_of(const KernelPlan &kernel, const Value *value) {
    return value->constant ? Shape{.groups = 1} : kernel.divergence.of(value);
}

LowBits low_bits_of_symbol(const KernelPlan &kernel, const Instruction &i) {
    return same_low_bits(i.attributes.space == Space::Shared ? 64 : analysis::kLocalAlign,
                         kernel.function.variables.at(i.attributes.symbol).offset +
                             static_cast<std::uint64_t>(i.attributes.offset));
}

LowBits follow(const KernelPlan &kernel, const Value *value, unsigned depth);

LowBits times(const KernelPlan &kernel, const Value *value, std::uint64_t by, unsigned depth) {
    LowBits known = follow(kernel, value, depth);
    // A wrap of the factor affects only bits above its register.
    known.count = std::min(64u, std::min(known.count, ir::bits(value->type)) +
                                    static_cast<unsigned>(std::countr_zero(by)));
    for (std::uint64_t &lane : known.lanes)
        lane *= by;
    return known;
}

// Follows at most `depth` operations.
LowBits follow(const KernelPlan &kernel, const Value *value, unsigned depth) {
    if (value->constant)
        return same_low_bits(64, value->bits);
    const Instruction *i = value->definition;
    if (!i || depth == 0 || !ir::is_whole_integer(*i))
        return low_bits_by_shape(shape_of(kernel, value));
    switch (i->opcode) {
    case Opcode::SymbolAddress:
        if (i->attributes.space == Space::Shared || i->attributes.space == Space::Local)
            return low_bits_of_symbol(kernel, *i);
        break;
    case Opcode::Add: {
        LowBits sum = follow(kernel, i->operand(0), depth - 1);
        const LowBits other = follow(kernel, i->operand(1), depth - 1);
        sum.count = std::min(sum.count, other.count);
        for (unsigned lane = 0; lane < kLanes; ++lane)
            sum.lanes[lane] += other.lanes[lane];
        return sum;
    }
    case Opcode::And:
        if (i->operand(1)->constant) {
            LowBits known = follow(kernel, i->operand(0), depth - 1);
            const auto zeros = static_cast<unsigned>(std::countr_zero(i->operand(1)->bits));
            if (known.count < zeros)
                return same_low_bits(zeros, 0);
            for (std::uint64_t &lane : known.lanes)
                lane &= i->operand(1)->bits;
            return known;
        }
        break;
    case Opcode::Mul:
    case Opcode::MulWide:
        if (i->operand(1)->constant && i->operand(1)->bits != 0)
            return times(kernel, i->operand(0), i->operand(1)->bits, depth - 1);
        break;
    case Opcode::Shl:
        if (i->operand(1)->constant && i->operand(1)->bits < 32)
            return times(kernel, i->operand(0), std::uint64_t{1} << i->operand(1)->bits, depth - 1);
        break;
    default:
        break;
    }
    return low_bits_by_shape(shape_of(kernel, value));
}

} // namespace

LowBits low_bits(const KernelPlan &kernel, const Value *value) {
    return follow(kernel, value, kMostFollowed);
}

bool has_multiples(const KernelPlan &kernel, const Value *value, unsigned of) {
    const LowBits known = low_bits(kernel, value);
    return known.count >= static_cast<unsigned>(std::countr_zero(of)) &&
           std::ranges::all_of(known.lanes,
                               [&](std::uint64_t lane) { return (lane & (of - 1)) == 0; });
}

} // namespace softcuda::warp
