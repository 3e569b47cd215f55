// truth_table.h -- logic functions of three operands with few and, or, xor and not.
#pragma once

#include "vector_math/emitter.h"

#include <cstdint>

namespace softcuda::vector_math {

/// The function of a, b, c whose truth table is `table`, for the operand bits 0xF0, 0xCC, 0xAA:
/// lop3's.
[[nodiscard]] Value *emit_truth_table(Emitter &e, std::uint8_t table, Value *a, Value *b, Value *c);

} // namespace softcuda::vector_math
