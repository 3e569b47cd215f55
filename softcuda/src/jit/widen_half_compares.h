// widen_half_compares.h -- a pass around a fault of LLVM's.
#pragma once

#include "jit/llvm.h"

namespace softcuda::jit {

/// Compares halves as floats, which are the same numbers. LLVM 19 compares what it should not where
/// a comparison of halves under a mask takes its first operand from the stack: the operands change
/// places, as the instruction's form wants it, and the predicate stays (X86InstrInfo's commuting of
/// VCMPPHZrrik, unlike VCMPPSZrrik). Comparisons for which the order does not matter stay as they
/// are. Nothing may run behind this that makes them narrow again, as InstCombine does.
class WidenHalfComparesPass : public llvm::PassInfoMixin<WidenHalfComparesPass> {
  public:
    llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace softcuda::jit
