// flow_kept.h -- the analyses that a pass preserves if it does not change the control flow.
#pragma once

#include "jit/llvm.h"

namespace softcuda::jit {

inline llvm::PreservedAnalyses flow_kept(bool changed) {
    if (!changed)
        return llvm::PreservedAnalyses::all();
    llvm::PreservedAnalyses kept;
    kept.preserveSet<llvm::CFGAnalyses>();
    return kept;
}

} // namespace softcuda::jit
