// constant_table.h -- loads the vector constants of a function with many of them from one table.
#pragma once

#include "jit/llvm.h"

namespace softcuda::jit {

/// If the module's functions have many different vector constants, puts them into one constant
/// variable, and replaces their uses by loads. Returns true if it did.
///
///     %b = add <4 x i32> %a, <i32 0, i32 3, i32 6, i32 9>
///
///     @constants = private constant <{ <4 x i32>, ... }> <{ <4 x i32> <i32 0, ...>, ... }>
///     %c = load <4 x i32>, ptr @constants, !invariant.load
///     %b = add <4 x i32> %a, %c
///
/// LLVM compares each constant that it adds to a function's constant pool with all those before,
/// bit by bit if the types differ: quadratic time. The machine code is the same, because such a
/// load is an operand of the instruction in both cases.
bool tabulate_constants(llvm::Module &module);

} // namespace softcuda::jit
