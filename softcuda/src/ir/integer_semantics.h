// integer_semantics.h -- what integer operations mean: the one table that folding, ranges, shapes
// and values known for each thread read.
//
// An operation on a *whole integer* takes its operands for single numbers as wide as its type. A
// packed operation (add.u16x2) takes them for several: knowledge about the number as a whole (a
// range, an offset between lanes) says nothing about its result.
#pragma once

#include "ir/ir.h"

#include <optional>
#include <span>

namespace softcuda::ir {

/// True if the operation works on whole integers and does not saturate: no floats, no packed types.
/// Predicates count as integers of one bit.
[[nodiscard]] bool is_whole_integer(const Instruction &instruction);

/// The bits of the first result for operands with these bits, or nothing where the operation is not
/// one of integers of up to 64 bits, or is one that only generated code computes. Bits above an
/// operand's width are ignored; those above the result's are zero.
[[nodiscard]] std::optional<std::uint64_t> evaluate(const Instruction &instruction,
                                                    std::span<const std::uint64_t> operands);

/// The same where all operands are constants; else nothing.
[[nodiscard]] std::optional<std::uint64_t> evaluate_constants(const Instruction &instruction);

} // namespace softcuda::ir
