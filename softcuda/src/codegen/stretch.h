// stretch.h -- lanes whose places lie so close together that all between them is accessed at once.
//
//     x[2 * lane]        a . b . c . d .        some wide loads, and permutations
//     x[lane ^ 1]        b a d c                one of each
//
// A store reads what lies between and writes it back, which only memory allows that no other thread
// writes: shared memory; elsewhere it leaves it out.
#pragma once

#include "codegen/address.h"

#include <optional>

namespace softcuda::codegen {

/// For a group of lanes: the place of lane i is base + first + index[i] * bytes.
struct Stretch {
    std::int64_t first = 0; ///< bytes
    unsigned length = 0;    ///< elements, the gaps included
    llvm::SmallVector<unsigned, kLanes> index;
};

/// How an access of one element of `bytes` bytes a lane is stretches, one a group; nothing if it is
/// not, or if single accesses are as fast. The places of a store have to differ.
using Stretches = llvm::SmallVector<Stretch, 4>;
[[nodiscard]] std::optional<Stretches> find_stretches(const WarpEmitter &w, const Address &address,
                                                      unsigned bytes, bool store);

/// i1: all between the lanes' places may be accessed.
[[nodiscard]] llvm::Value *may_access_stretches(WarpEmitter &w, const Address &address,
                                                const Stretches &stretches);

/// <32 x element>; where that condition holds.
[[nodiscard]] llvm::Value *load_stretches(WarpEmitter &w, const Address &address,
                                          const Stretches &stretches, llvm::Type *element);
void store_stretches(WarpEmitter &w, const Address &address, const Stretches &stretches,
                     llvm::Value *values);

} // namespace softcuda::codegen
