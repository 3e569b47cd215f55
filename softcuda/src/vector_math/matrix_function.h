// matrix_function.h -- the function that multiplies the fragments of a warp.
#pragma once

#include "jit/llvm.h"
#include "jit/target.h"

namespace softcuda::ir {
struct Instruction;
} // namespace softcuda::ir

namespace softcuda::vector_math {

/// `void f(ptr d, ptr operands)` for one form of mma; created when a module first uses it. Both
/// pointers are to arrays of registers, each of 32 lanes: `operands` has A's, B's, C's, and for
/// mma.sp the metadata.
[[nodiscard]] llvm::Function *matrix_function(llvm::Module &module, const jit::Target &target,
                                              const ir::Instruction &instruction);

} // namespace softcuda::vector_math
