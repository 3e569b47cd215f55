// lane_access.h -- gathers and scatters that the processor has no instruction for.
//
// LLVM takes a masked gather or scatter that the processor does not have apart into a branch for
// each lane: 64 basic blocks for one access of a warp. These have none, or, where code is to be
// short, a loop over the active lanes.
#pragma once

#include "codegen/address.h"

namespace softcuda::codegen {

/// The fewest bytes that processors with AVX-512 gather and scatter.
inline constexpr unsigned kLeastGathered = 4;

/// <32 x element>: what the active lanes read `extra` bytes behind their places, by one load for
/// each lane; 0 in the others, which read a constant.
[[nodiscard]] llvm::Value *gather_singly(WarpEmitter &w, const Address &address,
                                         llvm::Type *element, unsigned extra);

/// The same of elements of 1 and 2 bytes, cut out of the aligned words that hold them.
[[nodiscard]] llvm::Value *gather_from_words(WarpEmitter &w, const Address &address,
                                             llvm::Type *element, unsigned extra);

/// Stores the active lanes' values, from the first lane on: of several at one place the last one
/// stays. The other lanes store to a place of their own.
void scatter_singly(WarpEmitter &w, const Address &address, llvm::Value *values, unsigned extra);

} // namespace softcuda::codegen
