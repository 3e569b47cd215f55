// interleave_warps.h -- a pass that interleaves several warps to hide latencies.
#pragma once

#include "jit/llvm.h"

namespace softcuda::jit {

class Target;

/// Marks a loop over warps whose relative order cannot be observed: it is between two barriers,
/// without atomics, calls, or accesses that may fail. `latch` is its back edge.
void mark_warp_loop(llvm::BranchInst &latch);

/// In a chain of dependent operations, such as the multiply-adds of a sum, each operation takes
/// several cycles. The processor could execute other operations meanwhile, but it reaches the
/// instructions of other warps too late.
///
///     for w:  s = fma(a0, b0, s)          for w, w + 1:  s = fma(a0, b0, s)
///             s = fma(a1, b1, s)                         t = fma(c0, b0, t)
///             ...                                        s = fma(a1, b1, s) ...
///
/// Interleaves as many warps as hide the latency and fit the registers. For marked loops of one
/// basic block.
class InterleaveWarpsPass : public llvm::PassInfoMixin<InterleaveWarpsPass> {
  public:
    explicit InterleaveWarpsPass(const Target &target) : target_(&target) {}

    llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);

  private:
    const Target *target_;
};

} // namespace softcuda::jit
