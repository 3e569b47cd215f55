// rounding.h -- floating-point arithmetic in every rounding mode.
#pragma once

#include "target/code/instructions.h"
#include "vector_math/emitter.h"

namespace softcuda::vector_math {

using target::FloatOp;

/// `op` on floats or doubles, rounded once with mode `rounding` (None: to nearest). No flushing.
[[nodiscard]] Value *arithmetic(Emitter &e, FloatOp op, ir::Rounding rounding,
                                llvm::ArrayRef<Value *> arguments);

/// A result of doubles with the hardware's NaN, on processors that choose another: that of the
/// first operand which is one, quieted, or 0xfff8000000000000.
[[nodiscard]] Value *with_hardware_nan(Emitter &e, Value *result, llvm::ArrayRef<Value *> operands);

/// True for the modes other than to nearest.
[[nodiscard]] bool is_directed(ir::Rounding rounding);

/// Doubles rounded once to floats.
[[nodiscard]] Value *to_single(Emitter &e, Value *value, ir::Rounding rounding);

/// Rounding to odd: an inexact result gets its last bit set. A second rounding to a format with at
/// least two bits fewer then equals one rounding of the exact value.
[[nodiscard]] Value *to_single_odd(Emitter &e, Value *value);
[[nodiscard]] Value *add_odd(Emitter &e, Value *a, Value *b);

/// Moves `rounded` (a float type's bits, sign and magnitude) by one unit if rounding to nearest
/// went to the wrong side: `below` and `above` are the lanes in which it is below or above the
/// exact value.
[[nodiscard]] Value *correct_direction(Emitter &e, Value *rounded, Value *below, Value *above,
                                       ir::Rounding rounding);

} // namespace softcuda::vector_math
