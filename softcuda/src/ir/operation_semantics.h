// operation_semantics.h -- the semantics of pure operations for one thread: all results.
//
// The table has three parts: integer_semantics.h, which passes read as well, the operations on bits
// here, and float_semantics.h.
#pragma once

#include "ir/ir.h"

#include <cstdint>
#include <span>

namespace softcuda::ir {

/// Computes the bits of all results of a pure operation. Bits above an operand's width are ignored,
/// those above a result's are zero. Returns false and writes nothing for operations that the table
/// lacks: approximate operations, values of more than 64 bits, and operations that depend on more
/// than their operands.
[[nodiscard]] bool compute(const Instruction &instruction, std::span<const std::uint64_t> operands,
                           std::span<std::uint64_t> results);

} // namespace softcuda::ir
