// find_extremes.h -- a pass that makes minima and maxima of exchanges.
#pragma once

#include "jit/llvm.h"

namespace softcuda::jit {

/// Sorting networks compare two lanes' keys and exchange them. As written that is a comparison, a
/// mask made of it and of who sorts upwards, the mask moved to the other lane, and two selections:
///
///     a = {k0 k1 k2 k3}, b = {k1 k0 k3 k2}      lanes 0 and 2 act, the second pair sorts downwards
///     c = (a > b) ^ {0 . 1 .}
///     r = select({c0 0 c2 0}, b, a);  s = select({0 c0 0 c2}, b, r)
///
/// Each lane of s is the lower or the higher of its a and b:
///
///     s = select({0 1 1 0}, max(a, b), min(a, b))
class FindExtremesPass : public llvm::PassInfoMixin<FindExtremesPass> {
  public:
    llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace softcuda::jit
