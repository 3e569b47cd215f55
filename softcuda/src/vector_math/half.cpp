// half.cpp -- arithmetic of f16 and bf16, each result rounded once.
//
// If the processor has arithmetic of f16, f16 is a type of the processor. Without it, and always
// for bf16, operands are widened to float:
//   - sums, differences and products are rounded first to 24 bits and then to 11 (8). As 24 is at
//     least 2 * 11 + 2, this equals one rounding (Figueroa). Denormals are no problem: sums that
//     small are exact; products of f16 are always exact in float, and products of bf16 that float
//     cannot represent are below half the smallest bf16 or still exact down to 2^-149.
//   - fma has no such bound. The product is exact (22 bits in float; bf16's 16 bits in double, for
//     its exponents), the sum is rounded to odd, and then to the format. half_fma.h is faster.
#include "vector_math/families.h"
#include "vector_math/half_fma.h"
#include "vector_math/rounding.h"
#include "vector_math/small_float.h"

namespace softcuda::vector_math {

namespace {

using ir::Opcode;

bool is_native(Emitter &e, const SmallFormat &format) {
    return &format == &kHalf && e.target.facts().computes_half;
}

/// Whether this value is the processor's f16 type instead of a float.
bool is_half(const Value *x) { return Emitter::bits(x) == 16; }

Value *fma_half(Emitter &e, const SmallFormat &format, llvm::ArrayRef<Value *> x) {
    if (is_half(x[0]))
        return e.ternary(llvm::Intrinsic::fma, x[0], x[1], x[2]);
    if (&format == &kHalf)
        return add_odd(e, e.ir.CreateFMul(x[0], x[1]), x[2]);
    llvm::Type *wide = e.float_type(x[0], 64);
    Value *product = e.ir.CreateFMul(e.ir.CreateFPExt(x[0], wide), e.ir.CreateFPExt(x[1], wide));
    return to_single_odd(e, add_odd(e, product, e.ir.CreateFPExt(x[2], wide)));
}

Value *approximate_half(Emitter &e, Opcode opcode, Value *x) {
    Value *wide = e.ir.CreateFPExt(x, e.float_type(x, 32));
    Value *result = emit_approximate(e, opcode, wide);
    return e.ir.CreateFPTrunc(result, x->getType());
}

/// In floats of the format (native) or in float.
Value *compute(Emitter &e, const Operation &op, const SmallFormat &format,
               llvm::ArrayRef<Value *> x) {
    switch (op.opcode) {
    case Opcode::Add:
        return e.ir.CreateFAdd(x[0], x[1]);
    case Opcode::Sub:
        return e.ir.CreateFSub(x[0], x[1]);
    case Opcode::Mul:
        return e.ir.CreateFMul(x[0], x[1]);
    case Opcode::Fma:
        return fma_half(e, format, x);
    case Opcode::Min:
    case Opcode::Max:
        return emit_float_min_max(e, op, x[0], x[1]);
    case Opcode::Ex2:
    case Opcode::Tanh:
        return is_half(x[0]) ? approximate_half(e, op.opcode, x[0])
                             : emit_approximate(e, op.opcode, x[0]);
    default:
        refuse(op, "not an operation of f16 and bf16");
    }
}

Value *finish(Emitter &e, const Operation &op, const SmallFormat &format, Value *result) {
    if (op.attributes.relu)
        result = e.relu(result);
    if (op.attributes.saturate)
        result = e.saturate(result);
    if (!is_half(result))
        return narrow(e, result, format, ir::Rounding::Nearest);
    Value *raw = e.as_int(result);
    return e.ir.CreateSelect(e.is_nan(result), e.integer(raw, format.nan), raw);
}

/// neg and abs: arithmetic in the hardware, which returns its own NaN here, too.
Value *change_sign(Emitter &e, const Operation &op, const SmallFormat &format, Value *raw) {
    Value *size = e.magnitude(raw);
    Value *result = size;
    if (op.opcode == Opcode::Neg)
        result = e.ir.CreateXor(raw, e.integer(raw, 0x8000));
    const std::uint32_t infinity = format.overflow;
    Value *nan = e.ir.CreateICmpUGT(size, e.integer(size, infinity));
    return e.ir.CreateSelect(nan, e.integer(raw, format.nan), result);
}

/// Numbers that are less than 2^-14 in eleven bits without a lower limit of the exponents.
Value *flush_half(Emitter &e, Value *x) {
    Value *tiny = e.ir.CreateFCmpOLT(e.fabs(x), e.real(x, 0x1p-14 * (1 - 0x1p-12)));
    return e.ir.CreateSelect(tiny, e.as_float(e.sign_bit(x)), x);
}

} // namespace

Value *emit_half(Emitter &e, const Operation &op) {
    const SmallFormat &format = *small_format(op.type);
    const bool flush = op.attributes.ftz && &format == &kHalf; // bf16 has no .ftz
    const auto flushed = [&](Value *raw) {
        return flush ? e.as_int(e.flush(e.as_float(raw))) : raw;
    };
    llvm::SmallVector<Value *, 3> operands;
    for (Value *operand : op.operands)
        operands.push_back(flushed(operand));
    if (op.opcode == Opcode::Neg || op.opcode == Opcode::Abs)
        return change_sign(e, op, format, operands[0]);
    const bool plain = !flush && !op.attributes.relu && !op.attributes.saturate;
    if (op.opcode == Opcode::Fma && plain && &format == &kHalf && has_half_fma(e, operands[0]))
        return emit_half_fma(e, operands[0], operands[1], operands[2]);
    if (!flush) {
        for (Value *&operand : operands)
            operand = is_native(e, format) ? e.as_float(operand) : widen(e, operand, format);
        return finish(e, op, format, compute(e, op, format, operands));
    }
    for (Value *&operand : operands)
        operand = widen(e, operand, format);
    Value *result = flush_half(e, compute(e, op, format, operands));
    return finish(e, op, format, result);
}

} // namespace softcuda::vector_math
