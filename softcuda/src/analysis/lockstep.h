// lockstep.h -- kernels whose warps all go from barrier to barrier in the same order.
#pragma once

#include "analysis/cfg.h"
#include "ir/ir.h"

#include <vector>

namespace softcuda::analysis {

struct Lockstep {
    /// True if no branch that threads of a block may take differently has a block-wide barrier on
    /// one of its ways: then all warps always wait at the same barrier, and nobody has to ask
    /// which.
    ///
    ///     for (int t = 0; t < n; ++t) { ... __syncthreads(); }    n is a parameter: in lockstep
    ///     if (i >= n) return;  ...  __syncthreads();              i differs: not
    bool holds = false;
    /// By Value::id, if it holds: values that are the same for all threads of a block.
    std::vector<bool> same;
};

/// True for special registers that all threads of a block read alike.
[[nodiscard]] bool is_same_for_block(ir::Special special);

[[nodiscard]] Lockstep find_lockstep(const ir::Function &function,
                                     const DominatorTree &post_dominators);

} // namespace softcuda::analysis
