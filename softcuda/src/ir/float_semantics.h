// float_semantics.h -- exact operations on floats, with all rounding modes, .ftz, .sat and NaN
// rules.
#pragma once

#include "ir/ir.h"

#include <cstdint>
#include <optional>
#include <span>

namespace softcuda::ir {

/// The bits of the result of an operation that has a float as operand or result. Empty for
/// approximate operations and for formats of fewer than 16 bits. NaNs of f32 and f64 have the bits
/// that the host computes.
[[nodiscard]] std::optional<std::uint64_t> evaluate_floats(const Instruction &instruction,
                                                           std::span<const std::uint64_t> operands);

/// The sum of two floats of this type and format, as atomics compute it: rounded to nearest.
[[nodiscard]] std::optional<std::uint64_t> add_floats(Scalar type, bool ftz, std::uint64_t a,
                                                      std::uint64_t b);

} // namespace softcuda::ir
