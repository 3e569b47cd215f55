// integer_division.h -- quotients and remainders of integers, fast in vectors and without traps.
#pragma once

#include "vector_math/emitter.h"

namespace softcuda::vector_math {

struct Division {
    Value *quotient, *remainder;
};

/// a / b and a % b as in NVIDIA's hardware: with zero both are all ones; the smallest integer
/// divided by -1 gives itself and 0. LLVM removes an unused result.
[[nodiscard]] Division divide(Emitter &e, Value *a, Value *b, Emitter::Sign sign);

} // namespace softcuda::vector_math
