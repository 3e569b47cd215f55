// edges.h -- what lanes take along an edge of the control flow (warp/mask_plan.h).
#pragma once

#include "codegen/warp_emitter.h"

namespace softcuda::codegen {

/// By edge of a basic block whose lanes may part: the lanes that take it. Null where none can.
[[nodiscard]] llvm::SmallVector<llvm::Value *, 4> edge_masks(WarpEmitter &w,
                                                             const ir::Block *block);
/// Gives the target's phis what they take from here in the lanes of `edge_mask`.
void join_values(WarpEmitter &w, const warp::Edge &edge, llvm::Value *edge_mask);

} // namespace softcuda::codegen
