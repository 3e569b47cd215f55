// small_float_calls.h -- what LLVM calls for single halves where the processor has no instruction.
#pragma once

#include "jit/code.h"

#include <span>

namespace softcuda::jit {

[[nodiscard]] std::span<const RuntimeFunction> small_float_calls();

} // namespace softcuda::jit
