// watch.h -- what checked kernels tell before they do it (rt/watch.h); nothing in all others.
#pragma once

#include "codegen/address.h"

namespace softcuda::codegen {

/// For what the runtime does for the instruction: three rt::WatchSite, of a load, a store and an
/// atomic; null where the kernel is not checked.
llvm::Value *watch_sites(WarpEmitter &w, const ir::Instruction &i);
/// Before a load, store or atomic. `values`: what all lanes store, <32 x element> each; may be
/// empty.
void watch_access(WarpEmitter &w, const ir::Instruction &i, const Address &address,
                  llvm::ArrayRef<llvm::Value *> values = {});
void watch_fence(WarpEmitter &w, const ir::Instruction &i);
void watch_free(WarpEmitter &w, const ir::Instruction &i);
void watch_copy_group(WarpEmitter &w, const ir::Instruction &i);
/// At an exchange, __syncwarp() included, when the lanes in the mask have met.
void watch_meeting(WarpEmitter &w, const ir::Instruction &i);
/// Before a barrier of the block.
void watch_barrier(WarpEmitter &w, const ir::Instruction &i);

// In the loops over warps: a thread block begins; a warp arrives at a barrier; all warps of the
// block, or those that have arrived, pass one.
void watch_block(KernelEmitter &kernel);
void watch_arrival(KernelEmitter &kernel);
void watch_pass(KernelEmitter &kernel, bool all);

} // namespace softcuda::codegen
