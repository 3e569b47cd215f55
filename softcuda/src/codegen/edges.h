// edges.h -- masks of lanes and values of phis on an edge of the control flow (warp/mask_plan.h).
#pragma once

#include "codegen/warp_emitter.h"

namespace softcuda::codegen {

/// For each edge of a basic block with a divergent branch: the lanes that take it. Null for other
/// edges.
[[nodiscard]] llvm::SmallVector<llvm::Value *, 4> edge_masks(WarpEmitter &w,
                                                             const ir::Block *block);
/// Sets the target's phis to their values from here in the lanes of `edge_mask`.
void join_values(WarpEmitter &w, const warp::Edge &edge, llvm::Value *edge_mask);

} // namespace softcuda::codegen
