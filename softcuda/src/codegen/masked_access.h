// masked_access.h -- rows of some adjacent lanes, for processors without masked accesses for them.
#pragma once

#include "codegen/lane_access.h"

namespace softcuda::codegen {

/// Adjacent memory of neighbouring lanes, one after another.
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

/// The same with one vector over the lanes for each of a lane's elements.
[[nodiscard]] Values load_elements(WarpEmitter &w, const Row &row);
void store_elements(WarpEmitter &w, const Row &row, llvm::ArrayRef<llvm::Value *> values);

} // namespace softcuda::codegen
