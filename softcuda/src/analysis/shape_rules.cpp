// shape_rules.cpp -- one rule for each kind of operation. Without a rule, a result is constant
// where its operands are constant.
//
// The base of a result is always the operation applied to the bases of its operands, because a base
// is the value of the first lane. So a rule only determines how the other lanes differ from the
// base.

#include "analysis/shape_rules.h"

#include "ir/integer_semantics.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace softcuda::analysis {

namespace {

using ir::Opcode;
using ir::Special;

constexpr Shape kUniform{.groups = 1};
constexpr Shape kDivergent{.groups = kLanes};
/// Windows of shared memory begin at multiples of 2^12 bytes (pages).
constexpr std::uint8_t kWindowAlign = 12;
/// Lanes of a dividend are this close: the quotient changes in few groups then.
constexpr std::int64_t kWidestDividend = 1 << 12;
constexpr unsigned kMostDividedGroups = 4;

std::int64_t wrap(std::int64_t value, unsigned bits) {
    if (bits >= 64)
        return value;
    unsigned unused = 64 - bits;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << unused) >> unused;
}

std::uint8_t trailing_zeros(std::uint64_t value) {
    return static_cast<std::uint8_t>(value ? std::countr_zero(value) : 64);
}

std::optional<std::uint64_t> constant_bits(const ir::Value *value) {
    return value->constant ? std::optional(value->bits) : std::nullopt;
}

// The largest offset, if offsets only use bits that are zero in the base, so that base + offset is
// base | offset.
std::optional<std::int64_t> largest_separate_offset(const Shape &shape) {
    if (!shape.offsets)
        return 0;
    std::int64_t largest = 0;
    for (std::int64_t offset : *shape.offsets) {
        if (offset < 0 || (shape.align < 63 && offset >> shape.align != 0))
            return std::nullopt;
        largest = std::max(largest, offset);
    }
    return largest;
}

/// From the least lane of a group to the greatest.
std::int64_t distance_of_lanes(const Shape &shape) {
    const auto [least, most] = std::ranges::minmax(*shape.offsets);
    return most - least;
}

/// Integer operations of which code generation can compute exact lanes beside the bases.
bool computes_with_quotients(const ir::Instruction &i) {
    switch (i.opcode) {
    case Opcode::Add:
    case Opcode::Sub:
    case Opcode::Mul:
    case Opcode::MulHigh:
    case Opcode::MulWide:
    case Opcode::Div:
    case Opcode::Rem:
    case Opcode::Abs:
    case Opcode::Neg:
    case Opcode::Min:
    case Opcode::Max:
    case Opcode::Select:
    case Opcode::And:
    case Opcode::Or:
    case Opcode::Xor:
    case Opcode::Not:
    case Opcode::Shl:
    case Opcode::Shr:
    case Opcode::Convert:
        return true;
    default:
        return false;
    }
}

} // namespace

ShapeRules::ShapeRules(const LaunchShape &launch, const std::vector<Range> &ranges,
                       std::vector<Shape> &shapes, PatternTable &patterns)
    : launch_(launch), ranges_(ranges), shapes_(shapes), patterns_(patterns) {}

Shape ShapeRules::operand(const ir::Value *value) const {
    if (!value->constant)
        return shapes_[value->id];
    Shape shape = kUniform;
    if (!ir::is_float(value->type))
        shape.align = trailing_zeros(value->bits);
    return shape;
}

Shape ShapeRules::special(const ir::Instruction &i) const {
    auto lanes = [&](auto &&of_lane) {
        LanePattern pattern{};
        for (unsigned lane = 0; lane < kLanes; ++lane)
            pattern[lane] = of_lane(lane) - of_lane(0u);
        return Shape{.groups = 1, .align = 0, .offsets = patterns_.intern(pattern)};
    };
    switch (i.attributes.special) {
    case Special::TidX:
        return thread_index_shape(launch_, 0, patterns_);
    case Special::TidY:
        return thread_index_shape(launch_, 1, patterns_);
    case Special::TidZ:
        return thread_index_shape(launch_, 2, patterns_);
    case Special::LaneId: {
        Shape shape = lanes([](unsigned l) { return static_cast<std::int64_t>(l); });
        shape.align = 64;
        return shape;
    }
    case Special::LanemaskEq:
        return lanes([](unsigned l) { return std::int64_t{1} << l; });
    case Special::LanemaskLt:
        return lanes([](unsigned l) { return (std::int64_t{1} << l) - 1; });
    case Special::LanemaskLe:
        return lanes([](unsigned l) { return (std::int64_t{2} << l) - 1; });
    case Special::LanemaskGt:
        return lanes([](unsigned l) { return 0xffffffff & ~((std::int64_t{2} << l) - 1); });
    case Special::LanemaskGe:
        return lanes([](unsigned l) { return 0xffffffff & ~((std::int64_t{1} << l) - 1); });
    default:
        return kUniform;
    }
}

// Shared and local variables have known offsets in their windows.
Shape ShapeRules::symbol(const ir::Instruction &i) const {
    const ir::Attributes &a = i.attributes;
    if (a.space != ir::Space::Shared && a.space != ir::Space::Local)
        return kUniform;
    const std::uint64_t at =
        i.block->function->variables.at(a.symbol).offset + static_cast<std::uint64_t>(a.offset);
    Shape shape = kUniform;
    shape.align = a.space == ir::Space::Local ? std::min(trailing_zeros(at), kLocalAlign)
                                              : trailing_zeros(at);
    return shape;
}

Shape ShapeRules::sum(const Shape &a, const Shape &b, int sign, unsigned bits) const {
    unsigned groups = std::max(a.groups, b.groups);
    Shape x = refine(a, groups, patterns_), y = refine(b, groups, patterns_);
    LanePattern pattern;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        pattern[lane] = wrap(x.offset(lane) + sign * y.offset(lane), bits);
    Shape result;
    result.groups = static_cast<std::uint8_t>(groups);
    result.align = std::min(x.align, y.align);
    result.checked = x.checked || y.checked;
    result.divided = x.divided || y.divided;
    result.offsets = patterns_.intern(pattern);
    return result;
}

Shape ShapeRules::scaled(const Shape &a, std::int64_t factor, unsigned bits) const {
    LanePattern pattern;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        pattern[lane] = wrap(a.offset(lane) * factor, bits);
    Shape result = a;
    result.align = static_cast<std::uint8_t>(
        std::min<unsigned>(64, a.align + trailing_zeros(static_cast<std::uint64_t>(factor))));
    result.offsets = patterns_.intern(pattern);
    return result;
}

// cvt to a wider type, and mul.wide. The offsets stay valid if base + offset does not wrap in the
// narrow type. This is known if the value cannot be negative: two non-negative 32-bit values differ
// by less than 2^31, so one cannot be the other plus 2^32. Otherwise, code must test it.
Shape ShapeRules::widened(const ir::Instruction &i) const {
    Shape a = operand(i.operand(0));
    bool multiplies = i.is(Opcode::MulWide);
    unsigned narrow = ir::bits(multiplies ? i.attributes.type : i.attributes.source_type);
    if (multiplies && !i.operand(1)->constant)
        return flat(i);
    if (!a.offsets)
        return multiplies ? flat(i) : a;
    if ((a.checked && !a.divided) || narrow < 32)
        return flat(i);
    Shape result = a;
    if (!ranges_[i.operand(0)->id].non_negative())
        result.checked = true;
    if (!multiplies)
        return result;
    std::int64_t factor = static_cast<std::int64_t>(i.operand(1)->bits);
    return scaled(result, ir::is_signed(i.attributes.type) ? wrap(factor, narrow) : factor,
                  2 * narrow);
}

// and, or, xor with a constant, and right shifts by one, if offsets and base have no common bits.
Shape ShapeRules::bitwise(const ir::Instruction &i) const {
    Shape a = operand(i.operand(0));
    auto c = constant_bits(i.operand(1));
    auto largest = largest_separate_offset(a);
    unsigned bits = ir::bits(i.result()->type);
    if (!c || !largest || a.checked || bits < 8)
        return flat(i);
    auto apply = [&](std::int64_t offset) -> std::int64_t {
        std::uint64_t o = static_cast<std::uint64_t>(offset);
        std::uint64_t low =
            a.align >= 64 ? ~0ull : (1ull << a.align) - 1; // bits that are zero in the base
        switch (i.opcode) {
        case Opcode::And:
            return static_cast<std::int64_t>(o & *c);
        case Opcode::Or:
            return static_cast<std::int64_t>((o | *c) & low);
        case Opcode::Xor:
            return static_cast<std::int64_t>((o ^ *c) & low);
        default:
            return *c >= bits ? 0 : offset >> *c;
        }
    };
    LanePattern pattern;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        pattern[lane] = wrap(apply(a.offset(lane)) - apply(0), bits);
    Shape result = a;
    result.offsets = patterns_.intern(pattern);
    switch (i.opcode) {
    case Opcode::And:
        result.align =
            a.align < 64 && *c >> a.align == 0 ? 64 : std::max(a.align, trailing_zeros(*c));
        break;
    case Opcode::Or:
    case Opcode::Xor:
        result.align = std::min(a.align, trailing_zeros(*c));
        break;
    default:
        result.align =
            a.align == 64 ? 64 : static_cast<std::uint8_t>(a.align > *c ? a.align - *c : 0);
    }
    return result;
}

// tid < 64: equal for a whole warp, because its indices start at a multiple of 32.
Shape ShapeRules::compared(const ir::Instruction &i) const {
    Shape a = operand(i.operand(0));
    auto c = constant_bits(i.operand(1));
    if (!a.offsets || a.checked || !c || a.align >= 64 || !largest_separate_offset(a))
        return flat(i);
    std::uint64_t unit = std::uint64_t{1} << a.align;
    bool splits_at_unit = false;
    switch (i.attributes.compare) {
    case ir::Compare::Lt:
    case ir::Compare::Ge:
        splits_at_unit = *c % unit == 0;
        break;
    case ir::Compare::Le:
    case ir::Compare::Gt:
        splits_at_unit = (*c + 1) % unit == 0;
        break;
    default:
        break;
    }
    return splits_at_unit ? Shape{.groups = a.groups} : flat(i);
}

Shape ShapeRules::selected(const ir::Instruction &i) const {
    Shape condition = operand(i.operand(0));
    if (condition.offsets || !condition.known())
        return flat(i);
    Shape joined = meet(operand(i.operand(1)), operand(i.operand(2)), patterns_);
    if (joined.groups < condition.groups)
        joined = refine(joined, condition.groups, patterns_);
    return joined;
}

Shape ShapeRules::arithmetic(const ir::Instruction &i) const {
    unsigned bits = ir::bits(i.result()->type);
    switch (i.opcode) {
    case Opcode::Add:
        return sum(operand(i.operand(0)), operand(i.operand(1)), 1, bits);
    case Opcode::Sub:
        return sum(operand(i.operand(0)), operand(i.operand(1)), -1, bits);
    case Opcode::Neg:
        return scaled(operand(i.operand(0)), -1, bits);
    case Opcode::Not: { // -x - 1
        Shape result = scaled(operand(i.operand(0)), -1, bits);
        result.align = 0;
        return result;
    }
    case Opcode::Mul:
        for (int side : {0, 1})
            if (auto c = constant_bits(i.operand(side)))
                return scaled(operand(i.operand(1 - side)), static_cast<std::int64_t>(*c), bits);
        return flat(i);
    case Opcode::Shl:
        if (auto c = constant_bits(i.operand(1)); c && *c < bits)
            return scaled(operand(i.operand(0)), static_cast<std::int64_t>(1ull << *c), bits);
        return flat(i);
    case Opcode::Div:
    case Opcode::Rem:
        return divided(i);
    default:
        return flat(i);
    }
}

Shape ShapeRules::convergent(const ir::Instruction &i, const ir::Value &result) const {
    switch (i.opcode) {
    case Opcode::ActiveMask:
        return kUniform;
    case Opcode::Vote:
        return flatten(operand(i.operand(1)), patterns_);
    case Opcode::WarpReduce:
        return flatten(operand(i.operand(1)), patterns_);
    case Opcode::ElectOne:
        return result.index == 0 ? flatten(operand(i.operand(0)), patterns_) : kDivergent;
    case Opcode::BarrierReduce:
        return kUniform;
    case Opcode::Shuffle: {
        // All lanes read the same lane.
        bool whole_warp = i.operand(2)->constant && (i.operand(2)->bits & 0x1f1f) == 0x1f;
        bool broadcast = i.attributes.shuffle == ir::ShuffleMode::Index && whole_warp &&
                         operand(i.operand(1)).uniform();
        return broadcast ? kUniform : kDivergent;
    }
    default:
        return kDivergent;
    }
}

// Equal operands give equal results: constant where all operands are.
Shape ShapeRules::flat(const ir::Instruction &i) const {
    Shape result = kUniform;
    for (const ir::Value *value : i.operands) {
        Shape shape = operand(value);
        bool was_checked = shape.checked;
        shape = flatten(shape, patterns_);
        if (was_checked)
            return kDivergent;
        result.groups = std::max(result.groups, shape.groups);
    }
    return result;
}

// k / width, k % width: unless the quotient changes within a group, it is the group's, and the
// remainders have the dividend's pattern.
Shape ShapeRules::divided(const ir::Instruction &i) const {
    const Shape a = operand(i.operand(0));
    const bool by_uniform = !i.operand(1)->constant && operand(i.operand(1)).uniform();
    if (!by_uniform || !a.offsets || a.checked || a.groups > kMostDividedGroups ||
        ir::bits(i.attributes.type) != 32 || i.result()->type != ir::Type::I32 ||
        distance_of_lanes(a) >= kWidestDividend)
        return flat(i);
    return {.groups = a.groups,
            .checked = true,
            .divided = true,
            .offsets = i.is(Opcode::Rem) ? a.offsets : nullptr};
}

// Operations on quotients that are equal in a group, unless one changes there.
std::optional<Shape> ShapeRules::of_quotients(const ir::Instruction &i) const {
    if (!computes_with_quotients(i) || !ir::is_whole_integer(i) || i.results.size() != 1 ||
        ir::bits(i.result()->type) < 16)
        return std::nullopt;
    Shape result{.groups = 1};
    for (const ir::Value *value : i.operands) {
        const Shape shape = operand(value);
        if (shape.offsets || (shape.checked && !shape.divided) || shape.groups > kMostDividedGroups)
            return std::nullopt;
        result.groups = std::max(result.groups, shape.groups);
        result.divided |= shape.divided;
    }
    result.checked = result.divided;
    return result.divided ? std::optional(result) : std::nullopt;
}

Shape ShapeRules::evaluate(const ir::Instruction &i, const ir::Value &result) const {
    for (const ir::Value *value : i.operands)
        if (!operand(value).known())
            return {};
    const Shape found = of_lanes(i, result);
    if (launch_.is_one_thread()) // its value is the first lane's
        return {.groups = 1, .align = found.align};
    return found;
}

Shape ShapeRules::of_lanes(const ir::Instruction &i, const ir::Value &result) const {
    const ir::OpcodeInfo &opcode = ir::info(i.opcode);
    if (opcode.convergent)
        return convergent(i, result);
    if (const auto found = of_quotients(i))
        return *found;
    switch (i.opcode) {
    case Opcode::Special:
        return special(i);
    case Opcode::Load: // equal local addresses refer to different memory in each lane
        return i.attributes.space == ir::Space::Local ? kDivergent : flat(i);
    case Opcode::Undef:
    case Opcode::Clock:
    case Opcode::FunctionAddress:
    case Opcode::LoadParam:
    case Opcode::ParamAddress:
    case Opcode::StackBase:
        return kUniform;
    case Opcode::Bitcast:
        return ir::is_float(result.type) || ir::is_float(i.operand(0)->type)
                   ? flat(i)
                   : operand(i.operand(0));
    case Opcode::SymbolAddress:
        return symbol(i);
    case Opcode::Select:
        return selected(i);
    case Opcode::Compare:
        return ir::is_whole_integer(i) ? compared(i) : flat(i);
    case Opcode::And:
    case Opcode::Or:
    case Opcode::Xor:
    case Opcode::Shr:
        return ir::is_whole_integer(i) ? bitwise(i) : flat(i);
    case Opcode::MulWide:
        return widened(i);
    default:
        break;
    }
    // A shared or local address is an offset in its window; the generic address is that plus a
    // constant.
    if (i.is(Opcode::ToGeneric) || i.is(Opcode::FromGeneric)) {
        if (ir::bits(i.operand(0)->type) == ir::bits(result.type) &&
            i.attributes.space != ir::Space::Local) {
            Shape shape = operand(i.operand(0));
            shape.align = std::min(shape.align, kWindowAlign);
            return shape;
        }
        return i.attributes.space == ir::Space::Local ? kDivergent : flat(i);
    }
    if (!opcode.pure)
        return kDivergent;
    if (ir::is_float(result.type) || ir::bits(result.type) < 16 || !ir::is_whole_integer(i))
        return flat(i);
    if (i.is(Opcode::Convert)) {
        unsigned from = ir::bits(i.attributes.source_type), to = ir::bits(i.attributes.type);
        if (to > from)
            return widened(i);
        if (to <
            ir::bits(
                result.type)) // the register is wider than the type: truncated and extended again
            return flat(i);
        Shape narrowed = scaled(operand(i.operand(0)), 1, to);
        if (to <= 32 && !narrowed.divided)
            narrowed.checked = false; // the difference is a multiple of 2^32
        return narrowed;
    }
    return arithmetic(i);
}

} // namespace softcuda::analysis
