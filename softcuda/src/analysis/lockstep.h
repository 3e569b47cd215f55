// lockstep.h -- kernels whose warps all reach the barriers in the same order.
#pragma once

#include "analysis/cfg.h"
#include "ir/ir.h"

#include <vector>

namespace softcuda::analysis {

struct Lockstep {
    /// True if no branch on which threads of a thread block may diverge leads to a block-wide
    /// barrier on one side. Then all warps always wait at the same barrier.
    ///
    ///     for (int t = 0; t < n; ++t) { ... __syncthreads(); }    n is a parameter: in lockstep
    ///     if (i >= n) return;  ...  __syncthreads();              i differs: not
    bool holds = false;
    /// By Value::id, if it holds: values that are the same for all threads of a block.
    std::vector<bool> same;
};

/// True for special registers with one value for all threads of a thread block.
[[nodiscard]] bool is_same_for_block(ir::Special special);
/// True if a value is computed from parameters and such registers by a few operations, and so is
/// the same for all threads of a thread block. No other analysis is needed.
[[nodiscard]] bool is_same_in_block(const ir::Value *value);

[[nodiscard]] Lockstep find_lockstep(const ir::Function &function,
                                     const DominatorTree &post_dominators);

} // namespace softcuda::analysis
