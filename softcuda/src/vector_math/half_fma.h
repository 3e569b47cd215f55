// half_fma.h -- the fused multiply-add of f16 on processors that compute in float.
#pragma once

#include "vector_math/emitter.h"

namespace softcuda::vector_math {

/// True for vectors on a processor with float's fma and conversions of f16, but no f16 of its own.
[[nodiscard]] bool has_half_fma(const Emitter &e, const Value *a);

/// a * b + c of f16, rounded once; NaN becomes NVIDIA's. Operands and result are vectors of 16-bit
/// integers. Ends in another basic block than it begins in.
[[nodiscard]] Value *emit_half_fma(Emitter &e, Value *a, Value *b, Value *c);

} // namespace softcuda::vector_math
