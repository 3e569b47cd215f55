// find_indices.cpp -- splits an address into a pointer that all lanes share and an index.
#include "warp/find_indices.h"

#include "ir/integer_semantics.h"
#include "warp/kernel_plan.h"
#include "warp/low_bits.h"

#include <bit>

namespace softcuda::warp {

namespace {

using analysis::Range;
using ir::Instruction;
using ir::Opcode;
using ir::Value;

constexpr unsigned kMostDepth = 6; ///< of operations that bounds() follows
/// Bytes. Memory may end between bounds that are further apart.
constexpr std::int64_t kFar = 1 << 16;

/// A product that widens a 32-bit index as a signed number, or one that is not negative.
bool is_signed_product(const KernelPlan &kernel, const Instruction &product) {
    return product.is(Opcode::MulWide) && (product.attributes.type == ir::Scalar::S32 ||
                                           (product.attributes.type == ir::Scalar::U32 &&
                                            kernel.ranges[product.operand(0)->id].non_negative()));
}

/// Of an integer of up to 64 bits. Follows at most `depth` operations.
std::optional<Range> bounds(const KernelPlan &kernel, const Value *value, unsigned depth) {
    constexpr std::int64_t kLimit = std::int64_t{1} << 40; // so that nothing overflows
    auto limited = [](std::int64_t low, std::int64_t high) {
        return low >= -kLimit && high <= kLimit ? std::optional(Range{low, high}) : std::nullopt;
    };
    if (value->constant) {
        const auto number = ir::bits(value->type) == 64
                                ? static_cast<std::int64_t>(value->bits)
                                : std::int64_t{static_cast<std::int32_t>(value->bits)};
        return limited(number, number);
    }
    if (ir::bits(value->type) <= 32) {
        const Range &known = kernel.ranges[value->id];
        return limited(known.low, known.high);
    }
    const Instruction *i = value->definition;
    if (!i || depth == 0 || !ir::is_whole_integer(*i))
        return std::nullopt;
    auto of = [&](unsigned operand) { return bounds(kernel, i->operand(operand), depth - 1); };
    auto times = [&](const std::optional<Range> &range, std::int64_t by) {
        return range && by >= 0 && by < kLimit >> 20 && range->low >= -(kLimit >> 1) / (by + 1) &&
                       range->high <= (kLimit >> 1) / (by + 1)
                   ? limited(range->low * by, range->high * by)
                   : std::nullopt;
    };
    switch (i->opcode) {
    case Opcode::And:
        if (i->operand(1)->constant && i->operand(1)->bits < static_cast<std::uint64_t>(kLimit))
            return Range{0, static_cast<std::int64_t>(i->operand(1)->bits)};
        return std::nullopt;
    case Opcode::Convert: {
        if (ir::bits(i->attributes.source_type) != 32)
            return std::nullopt;
        const std::optional<Range> from = of(0);
        return from && (ir::is_signed(i->attributes.source_type) || from->non_negative())
                   ? from
                   : std::nullopt;
    }
    case Opcode::MulWide:
        return is_signed_product(kernel, *i) && i->operand(1)->constant
                   ? times(of(0), static_cast<std::int32_t>(i->operand(1)->bits))
                   : std::nullopt;
    case Opcode::Mul:
        return i->operand(1)->constant && i->operand(1)->bits < kLimit >> 20
                   ? times(of(0), static_cast<std::int64_t>(i->operand(1)->bits))
                   : std::nullopt;
    case Opcode::Shl:
        return i->operand(1)->constant && i->operand(1)->bits < 16
                   ? times(of(0), std::int64_t{1} << i->operand(1)->bits)
                   : std::nullopt;
    case Opcode::Add: {
        const std::optional<Range> a = of(0), z = of(1);
        return a && z ? limited(a->low + z->low, a->high + z->high) : std::nullopt;
    }
    default:
        return std::nullopt;
    }
}

/// Whether a number of 32 bits with sign is enough, also after a few bytes are added.
bool is_short(const Range &range) {
    return range.low >= INT32_MIN && range.high <= INT32_MAX - kFar;
}

/// Rounded to multiples of an element's size; nothing if they are far apart.
std::optional<Range> close_bounds(const std::optional<Range> &found, unsigned bytes) {
    if (!found || !is_short(*found) || found->high - found->low >= kFar)
        return std::nullopt;
    const auto unit = static_cast<std::int64_t>(bytes);
    return Range{.low = found->low & -unit, .high = (found->high + unit - 1) & -unit};
}

} // namespace

IndexedAddress find_indices(const KernelPlan &kernel, const Instruction &access, unsigned bytes) {
    const Instruction *sum = access.operand(0)->definition;
    if (!sum || !sum->is(Opcode::Add) || sum->block != access.block || !std::has_single_bit(bytes))
        return {};
    for (unsigned side = 0; side < 2; ++side) {
        const Value *pointer = sum->operand(side), *offset = sum->operand(1 - side);
        const Instruction *product = offset->definition;
        if (!product || !(pointer->constant || kernel.divergence.of(pointer).uniform()))
            continue;
        const std::optional<Range> found = bounds(kernel, offset, kMostDepth);
        const std::optional<Range> close = close_bounds(found, bytes);
        if (is_signed_product(kernel, *product) && product->block == access.block &&
            product->operand(1)->constant && product->operand(1)->bits == bytes)
            return {pointer, product->operand(0), bytes, close};
        if (found && is_short(*found) && has_multiples(kernel, offset, bytes))
            return {pointer, offset, 1, close};
    }
    return {};
}

} // namespace softcuda::warp
