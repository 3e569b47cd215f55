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
[[nodiscard]] std::unique_ptr<Module> lower(const ptx::Module &source, Diagnostics &diagnostics);

} // namespace softcuda::ir
