// half_fma.h -- the fused multiply-add of f16 on processors that compute in float.
#pragma once

#include "vector_math/emitter.h"

namespace softcuda::vector_math {

/// True for vectors on a processor with float's fma and f16 conversions, but without f16
/// arithmetic.
[[nodiscard]] bool has_half_fma(const Emitter &e, const Value *a);

/// a * b + c of f16, rounded once; NaN becomes NVIDIA's. Operands and result are vectors of 16-bit
/// integers. The code ends in another basic block than it begins in.
[[nodiscard]] Value *emit_half_fma(Emitter &e, Value *a, Value *b, Value *c);

} // namespace softcuda::vector_math
