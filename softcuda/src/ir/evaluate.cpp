// evaluate.cpp -- integer operations on constants.
#include "ir/evaluate.h"

#include <algorithm>
#include <bit>

namespace softcuda::ir {

namespace {

using Bits = std::optional<std::uint64_t>;

std::uint64_t mask(unsigned width) {
    return width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

std::int64_t as_signed(std::uint64_t value, unsigned width) {
    unsigned unused = 64 - width;
    return static_cast<std::int64_t>(value << unused) >> unused;
}

/// A value as the type has it: extended to 64 bits by its sign or by zeros.
std::uint64_t extended(std::uint64_t value, Scalar type) {
    unsigned width = bits(type);
    return is_signed(type) ? static_cast<std::uint64_t>(as_signed(value, width))
                           : value & mask(width);
}

bool less(std::uint64_t a, std::uint64_t b, Scalar type) {
    a = extended(a, type);
    b = extended(b, type);
    return is_signed(type) ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) : a < b;
}

Bits compare(Compare compare, std::uint64_t a, std::uint64_t b, Scalar type) {
    a &= mask(bits(type));
    b &= mask(bits(type));
    switch (compare) {
    case Compare::Eq:
        return a == b;
    case Compare::Ne:
        return a != b;
    case Compare::Lt:
        return less(a, b, type);
    case Compare::Le:
        return !less(b, a, type);
    case Compare::Gt:
        return less(b, a, type);
    case Compare::Ge:
        return !less(a, b, type);
    default:
        return std::nullopt;
    }
}

Bits divide(Opcode opcode, std::uint64_t a, std::uint64_t b, Scalar type) {
    a = extended(a, type);
    b = extended(b, type);
    if (b == 0 || (is_signed(type) && b == ~std::uint64_t{0}))
        return std::nullopt; // left to the machine, which has its own answers
    bool quotient = opcode == Opcode::Div;
    if (!is_signed(type))
        return quotient ? a / b : a % b;
    auto x = static_cast<std::int64_t>(a), y = static_cast<std::int64_t>(b);
    return static_cast<std::uint64_t>(quotient ? x / y : x % y);
}

Bits multiply(Opcode opcode, std::uint64_t a, std::uint64_t b, Scalar type) {
    a = extended(a, type);
    b = extended(b, type);
    if (opcode == Opcode::Mul)
        return a * b;
    if (bits(type) > 32)
        return std::nullopt;
    std::uint64_t product = a * b; // of 32 bits or less each: exact
    return opcode == Opcode::MulWide ? product : product >> bits(type);
}

Bits shift(Opcode opcode, std::uint64_t a, std::uint64_t amount, Scalar type) {
    unsigned width = bits(type);
    if (opcode == Opcode::Shl)
        return amount >= width ? 0 : a << amount;
    a = extended(a, type);
    if (is_signed(type))
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(a) >>
                                          std::min<std::uint64_t>(amount, width - 1));
    return amount >= width ? 0 : a >> amount;
}

Bits convert(const Attributes &a, std::uint64_t value) {
    if (is_floating(a.type) || is_floating(a.source_type) || a.saturate ||
        std::max(bits(a.type), bits(a.source_type)) > 64)
        return std::nullopt;
    return extended(value, a.source_type);
}

Bits unary(const Instruction &i, std::uint64_t a) {
    Scalar type = i.attributes.type;
    unsigned width = bits(type);
    switch (i.opcode) {
    case Opcode::Not:
        return ~a;
    case Opcode::Neg:
        return 0 - a;
    case Opcode::Abs:
        return less(a, 0, type) ? 0 - a : a;
    case Opcode::Popc:
        return std::popcount(a & mask(width));
    case Opcode::Clz:
        return std::countl_zero(a & mask(width)) - (64 - width);
    default:
        return std::nullopt;
    }
}

Bits binary(const Instruction &i, std::uint64_t a, std::uint64_t b) {
    Scalar type = i.attributes.type;
    switch (i.opcode) {
    case Opcode::Add:
        return a + b;
    case Opcode::Sub:
        return a - b;
    case Opcode::And:
        return a & b;
    case Opcode::Or:
        return a | b;
    case Opcode::Xor:
        return a ^ b;
    case Opcode::Min:
        return less(a, b, type) ? a : b;
    case Opcode::Max:
        return less(a, b, type) ? b : a;
    case Opcode::Mul:
    case Opcode::MulHigh:
    case Opcode::MulWide:
        return multiply(i.opcode, a, b, type);
    case Opcode::Div:
    case Opcode::Rem:
        return divide(i.opcode, a, b, type);
    case Opcode::Shl:
    case Opcode::Shr:
        return shift(i.opcode, a, b, type);
    case Opcode::Compare:
        return compare(i.attributes.compare, a, b, type);
    default:
        return std::nullopt;
    }
}

} // namespace

Bits evaluate(const Instruction &i) {
    const Attributes &a = i.attributes;
    bool constant = std::all_of(i.operands.begin(), i.operands.end(),
                                [](const Value *operand) { return operand->constant; });
    if (!constant || i.operands.empty() || i.operands.size() > 2)
        return std::nullopt;
    if (i.is(Opcode::Convert))
        return convert(a, i.operand(0)->bits);
    if (is_floating(a.type) || a.saturate || a.relu || a.type == Scalar::None ||
        bits(a.type) > 64 || a.type == Scalar::U16x2 || a.type == Scalar::S16x2)
        return std::nullopt;
    if (i.operands.size() == 1)
        return unary(i, i.operand(0)->bits);
    return binary(i, i.operand(0)->bits, i.operand(1)->bits);
}

} // namespace softcuda::ir
