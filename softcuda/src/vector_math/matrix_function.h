// matrix_function.h -- the function that multiplies the fragments of a warp.
#pragma once

#include "ir/ir.h"
#include "jit/llvm.h"
#include "jit/target.h"

namespace softcuda::vector_math {

/// `void f(ptr d, ptr operands)` for one form of mma; made when a module first asks for it. Both
/// pointers lead to arrays of registers, each of 32 lanes: `operands` holds A's, B's, C's, and of
/// mma.sp the metadata.
[[nodiscard]] llvm::Function *matrix_function(llvm::Module &module, const jit::Target &target,
                                              const ir::Instruction &instruction);

} // namespace softcuda::vector_math
