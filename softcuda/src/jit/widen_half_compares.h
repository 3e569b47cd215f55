// widen_half_compares.h -- a pass that avoids a bug of LLVM.
#pragma once

#include "jit/llvm.h"

namespace softcuda::jit {

/// Compares halves as floats, which gives the same results. LLVM 19 miscompiles a masked comparison
/// of halves whose first operand is on the stack: it exchanges the operands, as the instruction
/// requires, but not the predicate (X86InstrInfo's commuting of VCMPPHZrrik, unlike VCMPPSZrrik).
/// Comparisons for which the order does not matter are not changed. No later pass may narrow the
/// comparisons again, as InstCombine does.
class WidenHalfComparesPass : public llvm::PassInfoMixin<WidenHalfComparesPass> {
  public:
    llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace softcuda::jit
