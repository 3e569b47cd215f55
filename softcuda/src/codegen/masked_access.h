// masked_access.h -- some lanes' places side by side, on processors that have no access for that.
#pragma once

#include "codegen/warp_emitter.h"

namespace softcuda::codegen {

/// Neighbouring lanes' places in memory, one behind the other.
struct Row {
    llvm::Value *pointer; ///< of the first lane
    unsigned first, size; ///< lanes; a power of two of them
    llvm::Type *element;  ///< in memory
    unsigned bytes;       ///< of an element
    unsigned count;       ///< elements for each lane

    [[nodiscard]] llvm::Type *type() const { return with_lanes(element, size * count); }
};

/// Loads the active lanes' elements; the others are zero.
[[nodiscard]] llvm::Value *load_row(WarpEmitter &w, const Row &row);
void store_row(WarpEmitter &w, const Row &row, llvm::Value *all);

} // namespace softcuda::codegen
