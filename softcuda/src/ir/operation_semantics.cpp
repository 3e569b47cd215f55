// operation_semantics.cpp -- operations on bits, fields and bytes, as the PTX manual defines them.
#include "ir/operation_semantics.h"

#include "ir/float_semantics.h"
#include "ir/integer_semantics.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

namespace softcuda::ir {

namespace {

using Bits = std::uint64_t;
using Wide = __int128;
using Inputs = std::span<const std::uint64_t>;
using Found = std::optional<Bits>;

Bits low_ones(unsigned width) { return width >= 64 ? ~Bits{0} : (Bits{1} << width) - 1; }

/// An operand as the number that it means.
Wide number(Bits value, Scalar type) {
    const unsigned width = bits(type);
    const auto low = static_cast<Wide>(value & low_ones(width));
    const bool negative = is_signed(type) && (value >> (width - 1) & 1) != 0;
    return negative ? low - (Wide{1} << width) : low;
}

Wide clamped(Wide value, Scalar type) {
    const unsigned width = bits(type);
    const Wide high = (Wide{1} << (is_signed(type) ? width - 1 : width)) - 1;
    return std::clamp(value, is_signed(type) ? -high - 1 : Wide{0}, high);
}

// ---- numbers --------------------------------------------------------------------------------

Bits divided(Opcode opcode, Wide a, Wide b) {
    if (b == 0)
        return ~Bits{0}; // as an H200 answers
    return static_cast<Bits>(opcode == Opcode::Div ? a / b : a % b);
}

Bits multiplied_24(const Attributes &a, Inputs x) {
    auto cut = [&](Bits value) {
        const auto low = static_cast<Wide>(value & 0xffffff);
        return is_signed(a.type) && (low >> 23 & 1) != 0 ? low - 0x1000000 : low;
    };
    return static_cast<Bits>(cut(x[0]) * cut(x[1]) >> (a.high ? 16 : 0));
}

/// Four products of bytes, or two of 16 bits by bytes, added to the third operand.
Bits dot_product(const Instruction &i, Inputs x) {
    const Attributes &a = i.attributes;
    auto part = [](Bits value, unsigned at, Scalar element) {
        return number(value >> (at * bits(element)), element);
    };
    const Scalar byte = is_signed(a.source_type) ? Scalar::S8 : Scalar::U8;
    Wide sum = number(x[2], a.type);
    if (i.is(Opcode::Dp4a)) {
        for (unsigned n = 0; n < 4; ++n)
            sum += part(x[0], n, is_signed(a.type) ? Scalar::S8 : Scalar::U8) * part(x[1], n, byte);
        return static_cast<Bits>(sum);
    }
    for (unsigned n = 0; n < 2; ++n)
        sum += part(x[0], n, is_signed(a.type) ? Scalar::S16 : Scalar::U16) *
               part(x[1], n + (a.high ? 2 : 0), byte);
    return static_cast<Bits>(sum);
}

Bits distance_added(Wide a, Wide b, Wide c) {
    return static_cast<Bits>(c + (a < b ? b - a : a - b));
}

/// Saturating operations, and those too wide for integer_semantics.cpp.
Found on_numbers(const Instruction &i, Inputs x) {
    const Attributes &a = i.attributes;
    if (a.type == Scalar::None || bits(a.type) > 64 || packed_element(a.type) != Scalar::None)
        return std::nullopt;
    const Wide first = number(x[0], a.type);
    const Wide second = x.size() > 1 ? number(x[1], a.type) : 0;
    switch (i.opcode) {
    case Opcode::Add:
        return static_cast<Bits>(a.saturate ? clamped(first + second, a.type) : first + second);
    case Opcode::Sub:
        return static_cast<Bits>(a.saturate ? clamped(first - second, a.type) : first - second);
    case Opcode::Min:
    case Opcode::Max: {
        const Wide chosen = i.is(Opcode::Min) ? std::min(first, second) : std::max(first, second);
        return static_cast<Bits>(a.relu ? std::max(chosen, Wide{0}) : chosen);
    }
    case Opcode::MulHigh: {
        const auto product =
            static_cast<unsigned __int128>(first) * static_cast<unsigned __int128>(second);
        return static_cast<Bits>(static_cast<Wide>(product) >> bits(a.type));
    }
    case Opcode::Div:
    case Opcode::Rem:
        return divided(i.opcode, first, second);
    case Opcode::Mul24:
        return multiplied_24(a, x);
    case Opcode::Sad:
        return distance_added(first, second, number(x[2], a.type));
    case Opcode::Dp4a:
    case Opcode::Dp2a:
        return dot_product(i, x);
    case Opcode::Convert:
        return a.saturate ? Found(static_cast<Bits>(clamped(number(x[0], a.source_type), a.type)))
                          : std::nullopt;
    default:
        return std::nullopt;
    }
}

Bits packed_converted(const Attributes &a, Inputs x) {
    const unsigned width = bits(a.type);
    auto part = [&](Bits value) {
        return static_cast<Bits>(clamped(number(value, a.source_type), a.type)) & low_ones(width);
    };
    const Bits both = part(x[0]) << width | part(x[1]);
    return width < 16 && x.size() > 2 ? both | x[2] << (2 * width) : both;
}

// ---- bits and fields ------------------------------------------------------------------------

Bits reversed(Bits value, unsigned width) {
    Bits result = 0;
    for (unsigned n = 0; n < width; ++n)
        result |= (value >> n & 1) << (width - 1 - n);
    return result;
}

Bits highest_bit(const Attributes &a, Bits value) {
    const unsigned width = bits(a.type);
    const bool negative = is_signed(a.type) && (value >> (width - 1) & 1) != 0;
    const Bits sought = (negative ? ~value : value) & low_ones(width);
    if (sought == 0)
        return ~Bits{0};
    const auto place = static_cast<unsigned>(std::bit_width(sought)) - 1;
    return a.shift_amount ? width - 1 - place : place;
}

/// fns: the n-th set bit from a base on, upwards or downwards.
Bits nth_set(Inputs x) {
    const auto n = static_cast<std::int32_t>(x[2]);
    auto place = static_cast<std::int64_t>(x[1] & 31);
    if (n == INT32_MIN)
        return 0; // as an H200 answers
    if (n == 0)
        return (x[0] >> place & 1) != 0 ? static_cast<Bits>(place) : ~Bits{0};
    std::int64_t left = n < 0 ? -std::int64_t{n} : n;
    for (; place >= 0 && place < 32; place += n > 0 ? 1 : -1)
        if ((x[0] >> place & 1) != 0 && --left == 0)
            return static_cast<Bits>(place);
    return ~Bits{0};
}

/// A position or a length of a field: modulo 256 in 32 bits, 255 at most in 64, as on an H200.
unsigned field_number(const Attributes &a, Bits value) {
    const Bits low = value & low_ones(32);
    return static_cast<unsigned>(bits(a.type) == 32 ? low & 255 : std::min<Bits>(low, 255));
}

Bits extracted(const Attributes &a, Inputs x) {
    const unsigned top = bits(a.type) - 1;
    const unsigned position = field_number(a, x[1]), length = field_number(a, x[2]);
    if (length == 0)
        return 0;
    const bool fill = is_signed(a.type) && (x[0] >> std::min(position + length - 1, top) & 1) != 0;
    Bits result = 0;
    for (unsigned n = 0; n <= top; ++n) {
        const bool inside = n < length && position + n <= top;
        result |= Bits{inside ? (x[0] >> (position + n) & 1) != 0 : fill} << n;
    }
    return result;
}

Bits inserted(const Attributes &a, Inputs x) {
    const unsigned width = bits(a.type);
    const unsigned position = field_number(a, x[2]), length = field_number(a, x[3]);
    Bits result = x[1];
    for (unsigned n = 0; n < length && position + n < width; ++n) {
        result &= ~(Bits{1} << (position + n));
        result |= (x[0] >> n & 1) << (position + n);
    }
    return result;
}

/// An amount of bits: modulo 32, or 32 at most.
unsigned amount_of(const Attributes &a, Bits value) {
    const Bits low = value & low_ones(32);
    return static_cast<unsigned>(a.wrap ? low & 31 : std::min<Bits>(low, 32));
}

Bits made_mask(const Attributes &a, Inputs x) {
    const unsigned first = amount_of(a, x[0]), length = amount_of(a, x[1]);
    return low_ones(length) << first;
}

Bits extended_from(const Attributes &a, Inputs x) {
    const unsigned length = amount_of(a, x[1]);
    if (length == 0)
        return 0;
    const Bits low = x[0] & low_ones(length);
    return is_signed(a.type) && (low >> (length - 1) & 1) != 0 ? low | ~low_ones(length) : low;
}

Bits by_truth_table(Bits table, Inputs x) {
    Bits result = 0;
    for (unsigned row = 0; row < 8; ++row)
        if ((table >> row & 1) != 0)
            result |= ((row & 4) != 0 ? x[0] : ~x[0]) & ((row & 2) != 0 ? x[1] : ~x[1]) &
                      ((row & 1) != 0 ? x[2] : ~x[2]);
    return result;
}

// ---- bytes ----------------------------------------------------------------------------------

/// The bytes that prmt chooses in a mode that is not that of single bytes, by selector.
constexpr unsigned kPermutations[7][4][4] = {
    {},
    {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}},
    {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}},
    {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}},
    {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}},
    {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}},
    {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}}};

Bits permuted(PrmtMode mode, Inputs x) {
    const Bits both = (x[1] & low_ones(32)) << 32 | (x[0] & low_ones(32));
    Bits result = 0;
    for (unsigned n = 0; n < 4; ++n) {
        const auto selector = static_cast<unsigned>(x[2] >> (4 * n) & 15);
        const unsigned from = mode == PrmtMode::Bytes
                                  ? selector & 7
                                  : kPermutations[static_cast<unsigned>(mode)][x[2] & 3][n];
        Bits byte = both >> (8 * from) & 255;
        if (mode == PrmtMode::Bytes && (selector & 8) != 0)
            byte = (byte & 128) != 0 ? 255 : 0;
        result |= byte << (8 * n);
    }
    return result;
}

Bits shifted_through(const Instruction &i, Inputs x) {
    const Bits both = (x[1] & low_ones(32)) << 32 | (x[0] & low_ones(32));
    const unsigned amount = amount_of(i.attributes, x[2]);
    return i.is(Opcode::FunnelLeft) ? both << amount >> 32 : both >> amount;
}

Bits packed(const Instruction &i, Inputs x) {
    const unsigned width = bits(i.operand(0)->type);
    Bits result = 0;
    for (std::size_t n = 0; n < x.size(); ++n)
        result |= (x[n] & low_ones(width)) << (n * width);
    return result;
}

// ---- all of them ----------------------------------------------------------------------------

Found on_bits(const Instruction &i, Inputs x) {
    const Attributes &a = i.attributes;
    switch (i.opcode) {
    case Opcode::Brev:
        return reversed(x[0], bits(a.type));
    case Opcode::Bfind:
        return highest_bit(a, x[0]);
    case Opcode::Fns:
        return nth_set(x);
    case Opcode::Bfe:
        return extracted(a, x);
    case Opcode::Bfi:
        return inserted(a, x);
    case Opcode::Bmsk:
        return made_mask(a, x);
    case Opcode::Szext:
        return extended_from(a, x);
    case Opcode::Lop3:
        return by_truth_table(a.immediate, x);
    case Opcode::FunnelLeft:
    case Opcode::FunnelRight:
        return shifted_through(i, x);
    case Opcode::Prmt:
        return permuted(a.prmt, x);
    case Opcode::Pack:
        return packed(i, x);
    case Opcode::ConvertPack:
        return packed_converted(a, x);
    default:
        return on_numbers(i, x);
    }
}

bool is_narrow(const Value *value) { return bits(value->type) <= 64; }

/// add_carry, sub_borrow, unpack.
bool several_results(const Instruction &i, Inputs x, std::span<std::uint64_t> results) {
    if (i.is(Opcode::Unpack)) {
        const unsigned width = bits(i.result()->type);
        for (std::size_t n = 0; n < results.size(); ++n)
            results[n] = x[0] >> (n * width) & low_ones(width);
        return true;
    }
    if (!i.is(Opcode::AddCarry) && !i.is(Opcode::SubBorrow))
        return false;
    const unsigned width = bits(i.attributes.type);
    const auto a = static_cast<Wide>(x[0] & low_ones(width));
    const Wide b = static_cast<Wide>(x[1] & low_ones(width)) + static_cast<Wide>(x[2] & 1);
    const Wide result = i.is(Opcode::AddCarry) ? a + b : a - b;
    results[0] = static_cast<Bits>(result) & low_ones(width);
    results[1] = static_cast<Bits>(result >> width) & 1;
    return true;
}

} // namespace

bool compute(const Instruction &i, Inputs operands, std::span<std::uint64_t> results) {
    if (!info(i.opcode).pure || i.is(Opcode::Phi) || operands.empty() || results.empty() ||
        !std::ranges::all_of(i.operands, is_narrow) || !std::ranges::all_of(i.results, is_narrow))
        return false;
    if (results.size() > 1 || i.is(Opcode::Unpack))
        return several_results(i, operands, results);
    Found found = evaluate(i, operands);
    if (!found)
        found = is_floating(i.attributes.type) || is_floating(i.attributes.source_type)
                    ? evaluate_floats(i, operands)
                    : on_bits(i, operands);
    if (!found && (i.is(Opcode::Pack) || i.is(Opcode::ConvertPack)))
        found = on_bits(i, operands);
    if (!found)
        return false;
    results[0] = *found & low_ones(bits(i.result()->type));
    return true;
}

} // namespace softcuda::ir
