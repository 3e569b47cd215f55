// integer_semantics.cpp -- integer operations on the bits of their operands.
#include "ir/integer_semantics.h"

#include <algorithm>
#include <array>
#include <bit>

namespace softcuda::ir {

namespace {

using Found = std::optional<std::uint64_t>;

std::uint64_t mask(unsigned width) {
    return width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

std::int64_t as_signed(std::uint64_t value, unsigned width) {
    unsigned unused = 64 - width;
    return static_cast<std::int64_t>(value << unused) >> unused;
}

/// A value in the interpretation of the type: sign-extended or zero-extended to 64 bits.
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

Found compare(Compare compare, std::uint64_t a, std::uint64_t b, Scalar type) {
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

Found divide(Opcode opcode, std::uint64_t a, std::uint64_t b, Scalar type) {
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

Found multiply(Opcode opcode, std::uint64_t a, std::uint64_t b, Scalar type) {
    a = extended(a, type);
    b = extended(b, type);
    if (opcode == Opcode::Mul)
        return a * b;
    if (bits(type) > 32)
        return std::nullopt;
    std::uint64_t product = a * b; // of 32 bits or less each: exact
    return opcode == Opcode::MulWide ? product : product >> bits(type);
}

Found shift(Opcode opcode, std::uint64_t a, std::uint64_t amount, Scalar type) {
    unsigned width = bits(type);
    if (opcode == Opcode::Shl)
        return amount >= width ? 0 : a << amount;
    a = extended(a, type);
    if (is_signed(type))
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(a) >>
                                          std::min<std::uint64_t>(amount, width - 1));
    return amount >= width ? 0 : a >> amount;
}

Found convert(const Attributes &a, std::uint64_t value) {
    if (is_floating(a.type) || is_floating(a.source_type) || a.saturate ||
        std::max(bits(a.type), bits(a.source_type)) > 64)
        return std::nullopt;
    return extended(value, a.source_type);
}

Found unary(Opcode opcode, Scalar type, std::uint64_t a) {
    unsigned width = bits(type);
    switch (opcode) {
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

Found binary(const Attributes &attributes, Opcode opcode, Scalar type, std::uint64_t a,
             std::uint64_t b) {
    switch (opcode) {
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
        return multiply(opcode, a, b, type);
    case Opcode::Div:
    case Opcode::Rem:
        return divide(opcode, a, b, type);
    case Opcode::Shl:
    case Opcode::Shr:
        return shift(opcode, a, b, type);
    case Opcode::Compare:
        return compare(attributes.compare, a, b, type);
    default:
        return std::nullopt;
    }
}

/// On integers of one type, whole or elements of a packed one.
Found on_elements(const Instruction &i, Scalar type, std::span<const std::uint64_t> operands) {
    switch (operands.size()) {
    case 1:
        return unary(i.opcode, type, operands[0]);
    case 2:
        return binary(i.attributes, i.opcode, type, operands[0], operands[1]);
    default:
        return std::nullopt;
    }
}

/// Element by element, from the lowest on.
Found on_packed(const Instruction &i, Scalar element, std::span<const std::uint64_t> operands) {
    const unsigned width = bits(element);
    std::array<std::uint64_t, 2> pieces{};
    if (operands.size() > pieces.size() || i.is(Opcode::Compare))
        return std::nullopt;
    std::uint64_t packed = 0;
    for (unsigned at = 0; at < bits(i.attributes.type); at += width) {
        for (std::size_t n = 0; n < operands.size(); n++)
            pieces[n] = (operands[n] >> at) & mask(width);
        const Found made = on_elements(i, element, std::span(pieces).first(operands.size()));
        if (!made)
            return std::nullopt;
        packed |= (*made & mask(width)) << at;
    }
    return packed;
}

Found evaluate_uncut(const Instruction &i, std::span<const std::uint64_t> operands) {
    const Attributes &a = i.attributes;
    if (i.is(Opcode::Convert))
        return convert(a, operands[0]);
    if (i.is(Opcode::Select))
        return operands[0] & 1 ? operands[1] : operands[2];
    if (i.is(Opcode::Bitcast))
        return operands[0];
    if (is_floating(a.type) || a.saturate || a.relu || a.type == Scalar::None || bits(a.type) > 64)
        return std::nullopt;
    if (const Scalar element = packed_element(a.type); element != Scalar::None)
        return on_packed(i, element, operands);
    return on_elements(i, a.type, operands);
}

} // namespace

bool is_whole_integer(const Instruction &i) {
    const Attributes &a = i.attributes;
    auto whole = [](Scalar type) {
        return !is_floating(type) && packed_element(type) == Scalar::None;
    };
    return whole(a.type) && whole(a.source_type) && !a.saturate && !a.relu;
}

Found evaluate(const Instruction &i, std::span<const std::uint64_t> operands) {
    if (operands.empty() || i.results.empty() || bits(i.result()->type) > 64 ||
        !info(i.opcode).pure || i.is(Opcode::Phi))
        return std::nullopt;
    const Found found = evaluate_uncut(i, operands);
    return found ? Found(*found & mask(bits(i.result()->type))) : std::nullopt;
}

Found evaluate_constants(const Instruction &i) {
    std::array<std::uint64_t, 3> operands{};
    if (i.operands.size() > operands.size())
        return std::nullopt;
    for (std::size_t n = 0; n < i.operands.size(); n++) {
        if (!i.operand(n)->constant)
            return std::nullopt;
        operands[n] = i.operand(n)->bits;
    }
    return evaluate(i, std::span(operands).first(i.operands.size()));
}

} // namespace softcuda::ir
