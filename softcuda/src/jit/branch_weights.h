// branch_weights.h -- states how likely the branches of a function with many basic blocks are.
#pragma once

#include "jit/llvm.h"

namespace softcuda::jit {

/// Gives each conditional branch that stays in its loop equal weights, if it has none, in functions
/// with many basic blocks. For a branch without weights LLVM's estimate follows the phis behind the
/// condition through the whole loop: quadratic time, three times in a compilation.
void weigh_branches(llvm::Module &module);

} // namespace softcuda::jit
