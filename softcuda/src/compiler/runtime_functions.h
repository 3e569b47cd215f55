// runtime_functions.h -- the functions that generated code may call, by name.
#pragma once

#include "jit/code.h"

#include <span>

namespace softcuda::compiler {

[[nodiscard]] std::span<const jit::RuntimeFunction> runtime_functions();

} // namespace softcuda::compiler
