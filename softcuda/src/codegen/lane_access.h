// lane_access.h -- gathers and scatters that the processor has no instruction for.
//
// LLVM splits a masked gather or scatter that the processor does not have into a branch for each
// lane: 64 basic blocks for one access of a warp. These functions emit no branches, or, if the code
// must be short, a loop over the active lanes.
#pragma once

#include "codegen/address.h"

namespace softcuda::codegen {

/// The smallest element in bytes that processors with AVX-512 gather and scatter.
inline constexpr unsigned kLeastGathered = 4;

/// <32 x element>: the values that the active lanes read `extra` bytes after their addresses, with
/// one load for each lane; 0 in the others, which read a constant.
[[nodiscard]] llvm::Value *gather_singly(WarpEmitter &w, const Address &address,
                                         llvm::Type *element, unsigned extra);

using Values = llvm::SmallVector<llvm::Value *, 4>;

/// `count` vectors <32 x element>: the adjacent elements that few_lanes() read; 0 in the others.
[[nodiscard]] Values gather_few(WarpEmitter &w, const Address &address, llvm::Type *element,
                                unsigned count, llvm::ArrayRef<unsigned> lanes);

/// Whether gather_rows() and scatter_rows() support such elements, and are faster than gathers and
/// scatters of single elements.
[[nodiscard]] bool has_lane_rows(const WarpEmitter &w, unsigned bytes, unsigned count);

/// `count` vectors <32 x element>: the adjacent elements that the active lanes read at their
/// addresses, with one or two loads for each lane; 0 in the others.
[[nodiscard]] Values gather_rows(WarpEmitter &w, const Address &address, llvm::Type *element,
                                 unsigned count);

/// The same as gather_singly() for elements of 1 and 2 bytes, extracted from the aligned words that
/// contain them.
[[nodiscard]] llvm::Value *gather_from_words(WarpEmitter &w, const Address &address,
                                             llvm::Type *element, unsigned extra);

/// `count` elements of 1 or 2 bytes from the words of each lane that contain them, and the reverse.
[[nodiscard]] Values split_words(WarpEmitter &w, const Values &words, llvm::Type *element,
                                 unsigned count);
[[nodiscard]] Values make_words(WarpEmitter &w, const Values &elements);

/// Stores the active lanes' values in the order of the lanes: of several at one address the last
/// one stays. The other lanes store to a dummy address.
void scatter_singly(WarpEmitter &w, const Address &address, llvm::Value *values, unsigned extra);

/// The same with adjacent elements: `count` vectors <32 x element>, and one or two stores for each
/// lane.
void scatter_rows(WarpEmitter &w, const Address &address, llvm::ArrayRef<llvm::Value *> values);

/// Stores adjacent elements of all lanes, without masks: `places` is <32 x i64>, the address of
/// each lane's first element. `values`: one vector over the lanes for each element of 4 or 8 bytes,
/// whole pieces of 16 bytes. Some lanes at a time store all their elements.
void store_columns(WarpEmitter &w, llvm::Value *places, llvm::ArrayRef<llvm::Value *> values);

} // namespace softcuda::codegen
