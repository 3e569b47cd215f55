// integer_division.h -- quotients and remainders of integers, fast in vectors and never a trap.
#pragma once

#include "vector_math/emitter.h"

namespace softcuda::vector_math {

struct Division {
    Value *quotient, *remainder;
};

/// a / b and a % b as NVIDIA's hardware gives them: by zero both are all ones; the smallest
/// integer divided by -1 gives itself and 0. What is not used is removed by optimisation.
[[nodiscard]] Division divide(Emitter &e, Value *a, Value *b, Emitter::Sign sign);

} // namespace softcuda::vector_math
