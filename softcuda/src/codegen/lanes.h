// lanes.h -- a value of a warp as generated code holds it: bases, offsets, and what may go wrong.
#pragma once

#include "analysis/shape.h"
#include "ir/ir.h"
#include "jit/llvm.h"

namespace softcuda::codegen {

using analysis::kLanes;

/// The value in the first lane of each group, and how the others differ from it (shape.h).
struct Lanes {
    llvm::Value *base = nullptr; ///< <groups x T>, or a scalar T where groups is 1
    analysis::Shape shape;
    /// Only where shape.checked: an i1 that is true if the offsets do not hold, and what then has
    /// to be added to base + offset in each lane, a <32 x T>.
    llvm::Value *wrapped = nullptr;
    llvm::Value *correction = nullptr;
};

[[nodiscard]] llvm::Type *scalar_type(llvm::LLVMContext &context, ir::Type type);
/// T for one lane, <lanes x T> for more.
[[nodiscard]] llvm::Type *lane_type(llvm::LLVMContext &context, ir::Type type, unsigned lanes);
[[nodiscard]] llvm::Type *with_lanes(llvm::Type *scalar, unsigned lanes);
[[nodiscard]] llvm::Constant *constant(llvm::LLVMContext &context, const ir::Value &value);

/// <32 x iN> of a pattern's offsets, or their values in the first lanes of `groups` groups.
[[nodiscard]] llvm::Constant *offset_vector(llvm::Type *scalar, const analysis::Shape &shape,
                                            unsigned groups = kLanes);

/// The same value in `groups` groups, at least as many as it has itself: its bases there. A checked
/// value stays one, so its correction is not in them.
[[nodiscard]] llvm::Value *refined_bases(llvm::IRBuilderBase &builder, const Lanes &lanes,
                                         unsigned groups);
/// The value itself in the first lanes of `groups` groups, at least as many as it has: exact, with
/// any correction in it.
[[nodiscard]] llvm::Value *first_lanes(llvm::IRBuilderBase &builder, const Lanes &lanes,
                                       unsigned groups);
/// The value in all lanes.
[[nodiscard]] llvm::Value *all_lanes(llvm::IRBuilderBase &builder, const Lanes &lanes);

/// Lanes `first` to `first + count` of a vector.
[[nodiscard]] llvm::Value *lane_range(llvm::IRBuilderBase &builder, llvm::Value *vector,
                                      unsigned first, unsigned count);
/// Vectors of one width, a power of two of them, one behind the other.
[[nodiscard]] llvm::Value *concatenate(llvm::IRBuilderBase &builder,
                                       llvm::ArrayRef<llvm::Value *> parts);

/// Widens a value of one lane per group to `lanes` lanes by repetition.
[[nodiscard]] llvm::Value *repeat(llvm::IRBuilderBase &builder, llvm::Value *value, unsigned groups,
                                  unsigned lanes);

} // namespace softcuda::codegen
