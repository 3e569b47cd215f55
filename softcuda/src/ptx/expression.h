// expression.h -- PTX's constant expressions, evaluated while they are read.
#pragma once

#include "ptx/token_stream.h"

#include <cstdint>

namespace softcuda::ptx {

/// A value of a constant expression: 64 bits, signed or unsigned, or floating-point.
struct Constant {
    enum class Kind : std::uint8_t { Integer, Float32, Float64 };
    Kind kind = Kind::Integer;
    bool is_unsigned = false;
    std::uint64_t bits = 0; ///< of the integer, float or double

    bool is_integer() const { return kind == Kind::Integer; }
    std::int64_t signed_value() const { return static_cast<std::int64_t>(bits); }
};

/// True if the current token can begin a constant expression.
bool begins_constant(const TokenStream &tokens);

/// Reads an expression with C's precedences: `? :`, `||` ... `*`, unary, casts `(.s64)`. Abandons
/// the statement if it is malformed, nested deeper than 64 levels or divides by zero.
Constant parse_constant(TokenStream &tokens);

/// As above; the value must be an integer.
Constant parse_integer_constant(TokenStream &tokens);

} // namespace softcuda::ptx
