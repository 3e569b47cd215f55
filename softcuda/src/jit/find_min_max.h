// find_min_max.h -- a pass that converts exchanges to min and max.
#pragma once

#include "jit/llvm.h"

namespace softcuda::jit {

/// Sorting networks compare the keys of two lanes and exchange them. The source computes a
/// comparison, a mask from the comparison and the lane's direction, the mask shuffled to the other
/// lane, and two selects:
///
///     a = {k0 k1 k2 k3}, b = {k1 k0 k3 k2}      lanes 0 and 2 compare, the second pair sorts
///     downwards c = (a > b) ^ {0 . 1 .} r = select({c0 0 c2 0}, b, a);  s = select({0 c0 0 c2}, b,
///     r)
///
/// Each lane of s is the minimum or the maximum of its a and b:
///
///     s = select({0 1 1 0}, max(a, b), min(a, b))
class FindMinMaxPass : public llvm::PassInfoMixin<FindMinMaxPass> {
  public:
    llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace softcuda::jit
