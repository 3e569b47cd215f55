// packed_store.h -- stores of a warp's active lanes to adjacent places, without gaps.
//
// A kernel that keeps some elements of an array stores them so:
//
//     votes = ballot(keep); if (keep) out[first + popc(votes & lower_lanes)] = x
//
//     lane       0   1   2   3   4   5   6   7
//     keep       0   1   1   0   1   0   0   1
//     place          0   1       2           3
//
// The processor's scatter takes longer than packing the active lanes' values in a register, which
// is then stored under a mask of its first elements.
#pragma once

#include "codegen/address.h"

namespace softcuda::codegen {

/// Whether the processor packs elements of this size, and a test for such places is worthwhile.
[[nodiscard]] bool may_pack(const WarpEmitter &w, const Address &address, unsigned count);

/// i1: the address of each active lane is that of the first active lane plus the number of active
/// lanes between them times the access's size.
[[nodiscard]] llvm::Value *turns_out_packed(WarpEmitter &w, const Address &address);

/// Stores the active lanes of `values`, if the test above was true.
void store_packed(WarpEmitter &w, const Address &address, llvm::Value *values);

} // namespace softcuda::codegen
