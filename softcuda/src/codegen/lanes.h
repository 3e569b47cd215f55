// lanes.h -- a value of a warp in generated code: bases, offsets, and a possible correction.
#pragma once

#include "analysis/shape.h"
#include "ir/ir.h"
#include "jit/llvm.h"

namespace softcuda::codegen {

using analysis::kLanes;

/// The value in the first lane of each group, and the offsets of the other lanes (shape.h).
struct Lanes {
    llvm::Value *base = nullptr; ///< <groups x T>, or a scalar T if groups is 1
    analysis::Shape shape;
    /// Only if shape.checked: an i1 that is true if the offsets are wrong, and the number that must
    /// then be added to base + offset in each lane, a <32 x T>.
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

/// The same value in `groups` groups, at least as many as it has: its bases in them. A checked
/// value remains checked, so its correction is not in them.
[[nodiscard]] llvm::Value *refined_bases(llvm::IRBuilderBase &builder, const Lanes &lanes,
                                         unsigned groups);
/// The exact value in the first lanes of `groups` groups, at least as many as it has, including a
/// correction.
[[nodiscard]] llvm::Value *first_lanes(llvm::IRBuilderBase &builder, const Lanes &lanes,
                                       unsigned groups);
/// The value in all lanes.
[[nodiscard]] llvm::Value *all_lanes(llvm::IRBuilderBase &builder, const Lanes &lanes);

/// Exact lanes minus the values of the pattern.
[[nodiscard]] llvm::Value *correction_to(llvm::IRBuilderBase &builder, const Lanes &lanes,
                                         llvm::Value *exact);

/// Lanes `first` to `first + count` of a vector.
[[nodiscard]] llvm::Value *lane_range(llvm::IRBuilderBase &builder, llvm::Value *vector,
                                      unsigned first, unsigned count);
/// Vectors of one width, one after another.
[[nodiscard]] llvm::Value *concatenate(llvm::IRBuilderBase &builder,
                                       llvm::ArrayRef<llvm::Value *> parts);

/// Widens a value of one lane per group to `lanes` lanes by repetition.
[[nodiscard]] llvm::Value *repeat(llvm::IRBuilderBase &builder, llvm::Value *value, unsigned groups,
                                  unsigned lanes);

} // namespace softcuda::codegen
