// called_blends.h -- blends of values in memory become calls, in large functions.
#pragma once

#include "jit/llvm.h"

namespace softcuda::jit {

class Target;

/// In a function with many basic blocks, values that are live across many of them are kept in
/// memory (promote-slots), and each branch blends them there:
///
///     %old = load volatile %slot
///     %new = select %mask, %value, %old       becomes   call @blend(%mask, %value, %slot)
///     store volatile %new, %slot
///
/// Of a value of four registers or more, LLVM takes a sixth of the time for the call. The function
/// preserves all registers.
void call_blends(llvm::Module &module, const Target &target);

} // namespace softcuda::jit
