// widen_masks.h -- a pass that passes masks from block to block as bytes.
#pragma once

#include "jit/llvm.h"

namespace softcuda::jit {

/// A <32 x i1> that is used outside its basic block becomes a <32 x i8> of 0 and -1.
///
/// Without masked accesses, LLVM keeps a mask with more than 16 lanes in a register for each lane
/// between two basic blocks, so that a phi of masks is 32 phis, and each use puts the lanes
/// together again:
///
///     %m = phi <32 x i1> [zeroinitializer, %a], [%c, %b]        32 registers or stack slots
///
///     %w = phi <32 x i8> [zeroinitializer, %a], [%s, %b]        2 registers; %s = sext %c
///     %m = icmp slt <32 x i8> %w, zeroinitializer               no instruction: the signs are read
class WidenMasksPass : public llvm::PassInfoMixin<WidenMasksPass> {
  public:
    llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace softcuda::jit
