// keep_signalling_nans.h -- a pass that avoids minima and maxima that change NaNs.
#pragma once

#include "jit/llvm.h"

namespace softcuda::jit {

/// LLVM turns a comparison and a select into a minimum or maximum if one value is a constant:
///
///     select(x < 1, x, 1)      minimum(x, 1)
///
/// It ignores signalling NaNs: for one of them, the left side is 1. On processors whose minimum is
/// the NaN (VectorFacts::quiets_min_max), this pass lets the select choose between integers, which
/// LLVM leaves alone. No later pass may remove the bitcasts, as InstCombine does.
class KeepSignallingNansPass : public llvm::PassInfoMixin<KeepSignallingNansPass> {
  public:
    llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace softcuda::jit
