// strided_window.h -- lanes whose places lie so close together that all between them is accessed.
//
//     x[2 * lane]        a . b . c . d .        some wide loads, and permutations
//     x[lane ^ 1]        b a d c                one of each
//
// A store reads what lies between and writes it back, which only memory allows that no other thread
// writes: shared memory; elsewhere it leaves it out. Which accesses are made so is planned in
// warp/access_plan.h.
#pragma once

#include "codegen/address.h"

namespace softcuda::codegen {

/// i1: all between the lanes' places may be accessed.
[[nodiscard]] llvm::Value *may_access_windows(WarpEmitter &w, const Address &address,
                                              const warp::AccessPlan &plan);

/// <32 x element>; where that condition holds.
[[nodiscard]] llvm::Value *load_windows(WarpEmitter &w, const Address &address,
                                        const warp::AccessPlan &plan, llvm::Type *element);
void store_windows(WarpEmitter &w, const Address &address, const warp::AccessPlan &plan,
                   llvm::Value *values);

} // namespace softcuda::codegen
