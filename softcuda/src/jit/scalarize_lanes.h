// scalarize_lanes.h -- a pass that computes lanes one by one if they are loaded and stored one by
// one.
#pragma once

#include "jit/llvm.h"

namespace softcuda::jit {

/// Lanes whose addresses are far apart are loaded and stored separately. Between a load and a store
/// each lane is inserted into a vector and extracted again, which takes longer than one or two
/// operations on the lane itself:
///
///     v = insert(v0, load a0, 0) ...          s0 = load a0
///     w = add(v, c)                           t0 = add(s0, c0)
///     store extract(w, 0), a0 ...             store t0, a0 ...
///
/// Changes vectors only if all of their uses change, so that nothing is computed twice.
class ScalarizeLanesPass : public llvm::PassInfoMixin<ScalarizeLanesPass> {
  public:
    llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace softcuda::jit
