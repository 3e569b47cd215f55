// integer_semantics.h -- the semantics of integer operations: one table that folding, ranges,
// shapes and values known for each thread use.
//
// An operation on a *whole integer* interprets its operands as single numbers as wide as its type.
// A packed operation (add.u16x2) interprets them as several numbers: facts about the number as a
// whole (a range, an offset between lanes) do not apply to its result.
#pragma once

#include "ir/ir.h"

#include <optional>
#include <span>

namespace softcuda::ir {

/// True if the operation works on whole integers and does not saturate: no floats, no packed types.
/// Predicates count as integers of one bit.
[[nodiscard]] bool is_whole_integer(const Instruction &instruction);

/// The bits of the first result for operands with these bits. Empty if the operation is not on
/// integers of up to 64 bits, or if only generated code computes it. Bits above an operand's width
/// are ignored; those above the result's are zero.
[[nodiscard]] std::optional<std::uint64_t> evaluate(const Instruction &instruction,
                                                    std::span<const std::uint64_t> operands);

/// As above if all operands are constants; else empty.
[[nodiscard]] std::optional<std::uint64_t> evaluate_constants(const Instruction &instruction);

} // namespace softcuda::ir
