// lower.h -- lowers PTX to IR.
#pragma once

#include "ir/ir.h"
#include "ptx/ast.h"
#include "support/diagnostics.h"

#include <memory>

namespace softcuda::ir {

/// Lowers all kernels of a parsed module, with the functions that they call, and its variables.
/// Errors are added to `diagnostics` at their locations (an unsupported instruction, an undefined
/// function or variable, too much shared memory); the result is then null. Kernels are in the order
/// of their definitions. The code is not simplified: the first passes of compiler/pipeline.cpp do
/// that. For a debugger, calls are not inlined, and DebugValue operations record the values of
/// variables.
enum class Purpose : std::uint8_t { Speed, Debugging };
/// The setting in the text: NVRTC's -G writes `debug` after the target.
[[nodiscard]] inline Purpose purpose_of(const ptx::Module &source) {
    return source.target.debug ? Purpose::Debugging : Purpose::Speed;
}
[[nodiscard]] std::unique_ptr<Module> lower(const ptx::Module &source, Diagnostics &diagnostics,
                                            Purpose purpose = Purpose::Speed);

/// The distance from one function's address to the next. Addresses of functions are numbers, not
/// places in memory.
inline constexpr std::uint64_t kFunctionStep = 16;

/// The address of the `ordinal`-th kernel, from the begin of the variable of
/// GlobalVariable::Content::Functions.
[[nodiscard]] constexpr std::uint64_t kernel_offset(std::size_t ordinal) {
    return (std::uint64_t{ordinal} + 1) * kFunctionStep;
}

} // namespace softcuda::ir
