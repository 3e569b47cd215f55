// families.h -- the emitters of per-lane operations, one for each family of instructions.
#pragma once

#include "ir/attributes.h"
#include "vector_math/emitter.h"

namespace softcuda::vector_math {

/// One operation on lanes of one width. For packed types (f16x2) the emitters get the element type
/// and twice as many lanes. Operands are integers of the type's width, except F32 and F64, which
/// are floats; shift amounts and similar operands are i32, predicates i1. Results may be in either
/// form.
struct Operation {
    ir::Opcode opcode;
    ir::Scalar type; ///< element type
    const ir::Attributes &attributes;
    llvm::ArrayRef<Value *> operands;
    std::uint32_t never_denormal = 0; ///< a bit for each operand that .ftz need not flush
};

using Results = llvm::SmallVector<Value *, 2>;

Value *emit_integer(Emitter &e, const Operation &op); ///< add ... dp2a on integers
Results emit_carry(Emitter &e, const Operation &op);  ///< add_carry, sub_borrow: sum, carry
Value *emit_logic(Emitter &e, const Operation &op);   ///< and ... prmt, popc ... szext
Value *emit_compare(Emitter &e, const Operation &op);
Value *emit_float(Emitter &e, const Operation &op); ///< f32 and f64
Value *emit_half(Emitter &e, const Operation &op);  ///< f16 and bf16
Value *emit_convert(Emitter &e, const Operation &op);
Value *emit_convert_pair(Emitter &e, const Operation &op);
Value *emit_convert_pack(Emitter &e, const Operation &op);

/// The approximate functions of f32, and rcp and rsqrt of f64. The caller flushes.
Value *emit_approximate(Emitter &e, ir::Opcode opcode, Value *x);
enum class Denormals { Kept, Flushed };
/// div.approx.f32; with Flushed neither operand is denormal.
Value *emit_approximate_division(Emitter &e, Value *a, Value *b, Denormals denormals);

/// min and max of floats of any width according to `nan` and `xorsign_abs`.
Value *emit_float_min_max(Emitter &e, const Operation &op, Value *a, Value *b);

/// Reports an operation, or a form of it, that no emitter supports. Never returns.
[[noreturn]] void refuse(const Operation &op, const char *why);

} // namespace softcuda::vector_math
