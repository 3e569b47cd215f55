// emitter.h -- an IR builder for values that may be scalars or vectors of lanes.
#pragma once

#include "ir/types.h"
#include "jit/llvm.h"
#include "jit/target.h"

#include <cstdint>
#include <functional>

namespace softcuda::vector_math {

using llvm::Value;

/// The builder of the emitters of all families. Every value is a scalar or a <n x T>; the methods
/// keep the shape of their first argument.
class Emitter {
  public:
    Emitter(llvm::IRBuilderBase &builder, const jit::Target &processor)
        : ir(builder), target(processor) {}

    llvm::IRBuilderBase &ir;
    const jit::Target &target;

    // Types. Lanes: 0 for a scalar.
    [[nodiscard]] static unsigned lanes(const Value *value);
    [[nodiscard]] static unsigned bits(const Value *value); ///< of one lane
    /// `element`, repeated for the lanes of `like`.
    [[nodiscard]] static llvm::Type *shaped(const Value *like, llvm::Type *element);
    [[nodiscard]] llvm::Type *int_type(const Value *like, unsigned bits) const;
    [[nodiscard]] llvm::Type *float_type(const Value *like, unsigned bits) const; ///< 16, 32, 64
    /// The LLVM type of a register class, in the shape of `like`.
    [[nodiscard]] llvm::Type *class_type(const Value *like, ir::Type type) const;

    // Constants in every lane.
    [[nodiscard]] Value *integer(const Value *like, std::uint64_t value) const; ///< of like's type
    [[nodiscard]] Value *integer(const Value *like, unsigned bits, std::uint64_t value) const;
    [[nodiscard]] Value *real(const Value *like, double value) const; ///< of like's type
    [[nodiscard]] Value *truth(const Value *like, bool value) const;  ///< i1

    // The same bits with another type.
    [[nodiscard]] Value *as_int(Value *value);
    [[nodiscard]] Value *as_float(Value *value);
    [[nodiscard]] Value *as_class(Value *value, ir::Type type);
    /// A value of packed halves as twice (or k times) as many lanes of `bits` bits, and back.
    [[nodiscard]] Value *split_lanes(Value *value, unsigned bits);
    [[nodiscard]] Value *join_lanes(Value *value, unsigned lanes, unsigned bits);

    enum class Sign : bool { Unsigned, Signed };
    [[nodiscard]] static Sign sign_of(ir::Scalar type) {
        return ir::is_signed(type) ? Sign::Signed : Sign::Unsigned;
    }
    /// An integer widened or truncated to `bits`.
    [[nodiscard]] Value *resize(Value *value, unsigned bits, Sign sign = Sign::Unsigned);

    // Intrinsics overloaded on the type of the arguments.
    [[nodiscard]] Value *unary(llvm::Intrinsic::ID id, Value *a);
    [[nodiscard]] Value *binary(llvm::Intrinsic::ID id, Value *a, Value *b);
    [[nodiscard]] Value *ternary(llvm::Intrinsic::ID id, Value *a, Value *b, Value *c);
    /// An intrinsic with fixed types.
    [[nodiscard]] Value *call(llvm::Intrinsic::ID id, llvm::ArrayRef<Value *> arguments);

    // Bits of floats.
    [[nodiscard]] Value *magnitude(Value *value); ///< |value| as an integer
    [[nodiscard]] Value *sign_bit(Value *value);  ///< the sign bit at its position, as an integer
    [[nodiscard]] Value *is_nan(Value *value);    ///< of floats
    [[nodiscard]] Value *nan_like(Value *value); ///< NVIDIA's NaN: all bits are one except the sign
    [[nodiscard]] Value *flush(Value *value);    ///< denormals to zero of the same sign
    [[nodiscard]] Value *relu(Value *value);     ///< negative numbers and -0 to 0; NaN stays
    [[nodiscard]] Value *saturate(Value *value); ///< to [0, 1]; NaN and -0 to 0
    [[nodiscard]] Value *fabs(Value *value) { return unary(llvm::Intrinsic::fabs, value); }

    /// Calls `emit` on pieces of exactly `width` lanes and joins the results: for processor
    /// intrinsics, which exist in one width. Scalars and short vectors are padded with zeros.
    [[nodiscard]] Value *by_chunks(unsigned width, llvm::ArrayRef<Value *> arguments,
                                   llvm::function_ref<Value *(llvm::ArrayRef<Value *>)> emit);

    [[nodiscard]] llvm::Module &module() const { return *ir.GetInsertBlock()->getModule(); }
};

} // namespace softcuda::vector_math
