// strided_window.h -- lanes so close together in memory that everything between them is accessed.
//
//     x[2 * lane]        a . b . c . d .        some wide loads, and permutations
//     x[lane ^ 1]        b a d c                one of each
//
// A store reads the memory between the lanes' elements and writes it back, which is only allowed in
// memory that no other thread writes: shared memory; for other memory it skips the gaps.
// warp/access_plan.h plans which accesses use this.
#pragma once

#include "codegen/address.h"

namespace softcuda::codegen {

/// i1: all memory between the lanes' addresses may be accessed.
[[nodiscard]] llvm::Value *may_access_windows(WarpEmitter &w, const Address &address,
                                              const warp::AccessPlan &plan);

/// <32 x element>; if that condition is true.
[[nodiscard]] llvm::Value *load_windows(WarpEmitter &w, const Address &address,
                                        const warp::AccessPlan &plan, llvm::Type *element);
void store_windows(WarpEmitter &w, const Address &address, const warp::AccessPlan &plan,
                   llvm::Value *values);

} // namespace softcuda::codegen
