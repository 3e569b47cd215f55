// promote_slots.h -- a pass that makes SSA values of the stack slots that codegen/ keeps values in.
#pragma once

#include "jit/llvm.h"

namespace softcuda::jit {

/// Promotes each alloca that is only loaded and stored as a whole. Takes time in proportion to the
/// basic blocks in which slots are live; mem2reg, which SROA runs, visits for each slot all basic
/// blocks that its first store dominates.
class PromoteSlotsPass : public llvm::PassInfoMixin<PromoteSlotsPass> {
  public:
    llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace softcuda::jit
