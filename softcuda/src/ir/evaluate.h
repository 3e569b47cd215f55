// evaluate.h -- integer operations on constants.
#pragma once

#include "ir/ir.h"

#include <optional>

namespace softcuda::ir {

/// The bits of the first result if all operands are constants and the operation is one of integers
/// that can be computed here; 64 bits at most.
[[nodiscard]] std::optional<std::uint64_t> evaluate(const Instruction &instruction);

} // namespace softcuda::ir
