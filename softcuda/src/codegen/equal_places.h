// equal_places.h -- lanes that access one address, one group of lanes after another.
#pragma once

#include "codegen/warp_emitter.h"

namespace softcuda::codegen {

/// What is done with the active lanes, lowest first.
struct EqualPlaces {
    llvm::Value *numbers; ///< <32 x iN>: the lanes' addresses
    /// The address of a lane, which is an i32.
    llvm::function_ref<llvm::Value *(llvm::Value *lane)> number;
    /// For a lane and all lanes at its address; their bits are an i32.
    llvm::function_ref<void(llvm::Value *lane, llvm::Value *same)> together;
    /// For a lane by itself.
    llvm::function_ref<void(llvm::Value *lane)> alone;
};

/// Lanes at one address are handled together, as long as they are several: the comparison of all
/// lanes takes as long as one locked instruction. Then the remaining lanes are handled one by one.
///
///     addresses     a b a a b c a a     together a a a a a, alone b b c
void for_equal_places(WarpEmitter &w, const EqualPlaces &places);

/// <32 x i32>: how many of the lanes whose bits are set in an i32 are before each lane.
[[nodiscard]] llvm::Value *lanes_before(WarpEmitter &w, llvm::Value *bits);

} // namespace softcuda::codegen
