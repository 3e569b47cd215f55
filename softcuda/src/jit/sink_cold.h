// sink_cold.h -- a pass that moves computations to the rare places which alone need them.
#pragma once

#include "jit/llvm.h"

namespace softcuda::jit {

/// Rare places are the blocks that branch weights say are hardly ever entered. What is computed
/// outside of them for them alone -- exact addresses for a check that may fail, mostly -- is
/// computed in each of them instead, where it costs neither time nor registers. LLVM's own sinking
/// only moves what one place uses.
class SinkColdPass : public llvm::PassInfoMixin<SinkColdPass> {
  public:
    llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace softcuda::jit
