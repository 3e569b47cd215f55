// lower.h -- PTX to IR: the entry of the middle of the compiler.
#pragma once

#include "ir/ir.h"
#include "ptx/ast.h"
#include "support/diagnostics.h"

#include <memory>

namespace softcuda::ir {

/// Lowers all kernels of a parsed module, with the functions that they call, and its variables.
/// What cannot be lowered (an instruction that the software device does not have, a function or
/// variable without definition, too much shared memory) is an error in `diagnostics` at its place;
/// then the result is null.
/// Kernels are in the order in which the source defines them. Nothing is simplified yet: the
/// compiler's list of passes (compiler/pipeline.cpp) begins with what cleans this up.
/// For a debugger, calls stay calls, and DebugValue operations say which value a variable has.
enum class Purpose : std::uint8_t { Speed, Debugging };
/// What the text itself asks for: NVRTC's -G writes `debug` behind the target.
[[nodiscard]] inline Purpose purpose_of(const ptx::Module &source) {
    return source.target.debug ? Purpose::Debugging : Purpose::Speed;
}
[[nodiscard]] std::unique_ptr<Module> lower(const ptx::Module &source, Diagnostics &diagnostics,
                                            Purpose purpose = Purpose::Speed);

/// What the name of the `ordinal`-th kernel stands for in code: a number that is no address and
/// that no other function has.
[[nodiscard]] constexpr std::uint64_t kernel_address(std::size_t ordinal) {
    return (std::uint64_t{1} << 40) + std::uint64_t{ordinal} * 16;
}

} // namespace softcuda::ir
