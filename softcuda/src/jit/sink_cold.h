// sink_cold.h -- a pass that moves computations to the cold blocks that use them.
#pragma once

#include "jit/llvm.h"

namespace softcuda::jit {

/// Cold blocks are basic blocks that, according to branch weights, are rarely executed. A value
/// that only cold blocks use (mostly the exact address for a check that may fail) is computed in
/// each of these blocks instead, where it costs neither time nor registers. So is a value that one
/// other block behind a branch uses, too. LLVM's sinking only moves values with a single user.
class SinkColdPass : public llvm::PassInfoMixin<SinkColdPass> {
  public:
    llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace softcuda::jit
