// instructions.h -- instructions of vector registers for which LLVM has no operation that all
// processors share.
//
// Values have exactly the lanes that one instruction processes. Some functions exist only where
// target/vector_facts.h says so; elsewhere they are never called.
#pragma once

#include "target/vector_facts.h"

#include <cstdint>
#include <llvm/ADT/ArrayRef.h>
#include <string>

namespace llvm {
class CallInst;
class IRBuilderBase;
class Value;
} // namespace llvm

namespace softcuda::target {

enum class FloatOp : std::uint8_t { Add, Sub, Mul, Div, Fma, Sqrt };
/// The numbers of FE_TONEAREST ... in `softcuda_fma` (jit/code.cpp).
enum class Direction : std::uint8_t { Nearest, Down, Up, Zero };

/// The lanes of rounded(), of floats or doubles with `bits` bits.
[[nodiscard]] unsigned rounded_lanes(const VectorFacts &facts, unsigned bits);
/// `op` rounded in a direction. The processor's mode is the standard one before and after. Fma:
/// where facts.fuses.
[[nodiscard]] llvm::Value *rounded(llvm::IRBuilderBase &builder, const VectorFacts &facts,
                                   FloatOp op, Direction direction,
                                   llvm::ArrayRef<llvm::Value *> operands);

/// The lanes of truncate_to_word().
[[nodiscard]] unsigned truncated_lanes(const VectorFacts &facts, unsigned bits);
/// Floats or doubles to 32-bit integers; out of range 0x80000000 (signed) or 0xffffffff (unsigned,
/// where facts.converts_unsigned).
[[nodiscard]] llvm::Value *truncate_to_word(llvm::IRBuilderBase &builder, const VectorFacts &facts,
                                            llvm::Value *value, bool to_signed);

inline constexpr unsigned kEstimateLanes = 16;
/// 1 / x and 1 / sqrt(x) of floats with a relative error below 2^-14.
[[nodiscard]] llvm::Value *estimate_reciprocal(llvm::IRBuilderBase &builder, llvm::Value *x);
[[nodiscard]] llvm::Value *estimate_root(llvm::IRBuilderBase &builder, llvm::Value *x);
/// x * 2^floor(n) of floats, rounded once.
[[nodiscard]] llvm::Value *scale(llvm::IRBuilderBase &builder, llvm::Value *x, llvm::Value *n);

/// 32-bit integers: x, -x or 0, as `of` is positive, negative or 0. Whole registers.
[[nodiscard]] llvm::Value *negate_by_sign(llvm::IRBuilderBase &builder, llvm::Value *x,
                                          llvm::Value *of);
/// Moves the lanes of `part`, a whole register of 32- or 64-bit integers, that `active` selects to
/// the front; the others are poison.
[[nodiscard]] llvm::Value *compress(llvm::IRBuilderBase &builder, llvm::Value *part,
                                    llvm::Value *active);
/// <16 x i32>: the elements of `low` and `high` at the indices (modulo 32).
[[nodiscard]] llvm::Value *permute_two(llvm::IRBuilderBase &builder, llvm::Value *low,
                                       llvm::Value *high, llvm::Value *indices);

/// A store of an i32 or an i64 that stays where it is, although LLVM may move other accesses across
/// it.
[[nodiscard]] llvm::CallInst *store_in_place(llvm::IRBuilderBase &builder, llvm::Value *value,
                                             llvm::Value *place);
/// Calls `function`_preserving (preserving_calls.cpp) with up to six integers or pointers.
[[nodiscard]] llvm::CallInst *call_preserving(llvm::IRBuilderBase &builder,
                                              const std::string &function,
                                              llvm::ArrayRef<llvm::Value *> arguments);

} // namespace softcuda::target
