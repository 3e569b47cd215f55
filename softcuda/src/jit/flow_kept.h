// flow_kept.h -- what a pass that leaves branches and blocks alone reports.
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
