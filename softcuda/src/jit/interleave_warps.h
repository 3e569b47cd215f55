// interleave_warps.h -- a pass that runs several warps at a time where one alone waits for itself.
#pragma once

#include "jit/llvm.h"

namespace softcuda::jit {

class Target;

/// Marks a loop over warps none of which can tell in which order their instructions run: between
/// two barriers, without atomics, calls, or accesses that may fail. `latch` is its way back.
void mark_warp_loop(llvm::BranchInst &latch);

/// A chain of dependent operations, say a sum's multiply-adds, takes several cycles for each, in
/// which a processor could do some more; it sees other warps' too late or not at all.
///
///     for w:  s = fma(a0, b0, s)          for w, w + 1:  s = fma(a0, b0, s)
///             s = fma(a1, b1, s)                         t = fma(c0, b0, t)
///             ...                                        s = fma(a1, b1, s) ...
///
/// Takes as many warps as hide the latency and the registers have room for. For marked loops of
/// one block.
class InterleaveWarpsPass : public llvm::PassInfoMixin<InterleaveWarpsPass> {
  public:
    explicit InterleaveWarpsPass(const Target &target) : target_(&target) {}

    llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);

  private:
    const Target *target_;
};

} // namespace softcuda::jit
