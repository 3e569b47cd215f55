// watch.h -- reports of checked kernels before their accesses (rt/watch.h); none in other kernels.
#pragma once

#include "codegen/address.h"

namespace softcuda::codegen {

/// For the runtime's work on the instruction: three rt::WatchSite, of a load, a store and an
/// atomic; null if the kernel is not checked.
llvm::Value *watch_sites(WarpEmitter &w, const ir::Instruction &i);
/// Before a load, store or atomic. `values`: the values that all lanes store, <32 x element> each;
/// may be empty.
void watch_access(WarpEmitter &w, const ir::Instruction &i, const Address &address,
                  llvm::ArrayRef<llvm::Value *> values = {});
void watch_fence(WarpEmitter &w, const ir::Instruction &i);
void watch_free(WarpEmitter &w, const ir::Instruction &i);
void watch_copy_group(WarpEmitter &w, const ir::Instruction &i);
/// At an exchange, including __syncwarp(), when the lanes in the mask have arrived.
void watch_meeting(WarpEmitter &w, const ir::Instruction &i);
/// Before a barrier of the block.
void watch_barrier(WarpEmitter &w, const ir::Instruction &i);

// In the loops over warps: a thread block begins; a warp arrives at a barrier; all warps of the
// block, or those that have arrived, pass one.
void watch_block(KernelEmitter &kernel);
void watch_arrival(KernelEmitter &kernel);
void watch_pass(KernelEmitter &kernel, bool all);

} // namespace softcuda::codegen
