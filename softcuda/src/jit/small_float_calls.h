// small_float_calls.h -- functions that LLVM calls for single halves if the processor has no
// instruction.
#pragma once

#include "jit/code.h"

#include <span>

namespace softcuda::jit {

[[nodiscard]] std::span<const RuntimeFunction> small_float_calls();

} // namespace softcuda::jit
