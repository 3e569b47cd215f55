// float.cpp -- arithmetic of f32 and f64.
#include "vector_math/families.h"
#include "vector_math/rounding.h"

namespace softcuda::vector_math {

namespace {

using ir::Opcode;

/// One number in all lanes, neither zero nor NaN: minimum and maximum with it are simple.
bool is_plain_constant(Value *value, bool zero_too) {
    const auto *constant = llvm::dyn_cast<llvm::Constant>(value);
    if (constant && constant->getType()->isVectorTy())
        constant = constant->getSplatValue();
    const auto *number = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
    if (!number || number->isNaN())
        return false;
    return !number->isZero() || (zero_too && !number->isNegative());
}

/// The NaN of an f64 operation: quiet.
Value *quieted(Emitter &e, Value *x) {
    Value *raw = e.as_int(x);
    Value *quiet = e.ir.CreateOr(raw, e.integer(raw, std::uint64_t{1} << 51));
    return e.ir.CreateSelect(e.is_nan(x), e.as_float(quiet), x);
}

/// Without xorsign. A number is preferred to NaN; -0 is less than +0. Of two NaNs, the last.
Value *pick(Emitter &e, bool minimum, Value *a, Value *b) {
    const auto is_better = [&](Value *x, Value *y) {
        return minimum ? e.ir.CreateFCmpOLT(x, y) : e.ir.CreateFCmpOGT(x, y);
    };
    // In max(x, +0), x = -0 returns the second operand, which is right.
    if (is_plain_constant(a, /*zero_too=*/!minimum))
        std::swap(a, b);
    if (is_plain_constant(b, /*zero_too=*/!minimum))
        return e.ir.CreateSelect(is_better(a, b), a, b);      // b if a is NaN or both are equal
    Value *result = e.ir.CreateSelect(is_better(b, a), b, a); // a if one is NaN
    // Equal numbers have equal bits, except zeros, of which `or` keeps -0 and `and` +0.
    Value *x = e.as_int(a), *y = e.as_int(b);
    Value *zero =
        e.ir.CreateBitCast(minimum ? e.ir.CreateOr(x, y) : e.ir.CreateAnd(x, y), a->getType());
    result = e.ir.CreateSelect(e.ir.CreateFCmpOEQ(a, b), zero, result);
    result = e.ir.CreateSelect(e.is_nan(a), b, result);
    return Emitter::bits(a) == 64 ? quieted(e, result) : result;
}

/// neg and abs of f64 are sums in the hardware: a NaN becomes quiet, with its own sign.
Value *change_sign(Emitter &e, Opcode opcode, Value *x) {
    Value *result = opcode == Opcode::Neg ? e.ir.CreateFNeg(x) : e.fabs(x);
    if (Emitter::bits(x) == 32)
        return result; // canonicalize_nan() does this
    return e.ir.CreateSelect(e.is_nan(x), quieted(e, x), result);
}

/// The range of a float's bits, without the sign, in a test of its class.
Value *test_class(Emitter &e, const Operation &op) {
    Value *x = op.operands[0];
    const bool single = Emitter::bits(x) == 32;
    Value *a = e.magnitude(x);
    Value *infinity = e.integer(a, single ? 0x7f80'0000 : 0x7ff0'0000'0000'0000);
    const std::uint64_t least_normal = single ? 0x0080'0000 : 0x0010'0000'0000'0000;
    const auto normal_above = [&](Value *limit) { // [least_normal, limit)
        Value *offset = e.ir.CreateSub(a, e.integer(a, least_normal));
        return e.ir.CreateICmpULT(offset, e.ir.CreateSub(limit, e.integer(a, least_normal)));
    };
    switch (op.attributes.test) {
    case ir::Test::Finite:
        return e.ir.CreateICmpULT(a, infinity);
    case ir::Test::Infinite:
        return e.ir.CreateICmpEQ(a, infinity);
    case ir::Test::Number:
        return e.ir.CreateICmpULE(a, infinity);
    case ir::Test::NotNumber:
        return e.ir.CreateICmpUGT(a, infinity);
    case ir::Test::Normal: // includes zero, as on an H200
        return e.ir.CreateOr(normal_above(infinity), e.ir.CreateICmpEQ(a, e.integer(a, 0)));
    case ir::Test::Subnormal: {
        Value *less = e.ir.CreateSub(a, e.integer(a, 1)); // zero wraps to the largest
        return e.ir.CreateICmpULT(less, e.integer(a, least_normal - 1));
    }
    }
    refuse(op, "unknown class of numbers");
}

/// 1 / sqrt(x) within 0.51 units in the last place, as hardware's. The quotient y of two rounded
/// operations has an error of up to 1.5 units; with the error e = 1 - x y^2, y + y e / 2 is better.
/// x y is used as an exact sum of two doubles. The step is no number if x is zero or infinite, and
/// y is right then.
Value *double_reciprocal_root(Emitter &e, Value *x) {
    const auto fma = [&](Value *a, Value *b, Value *c) {
        return arithmetic(e, FloatOp::Fma, ir::Rounding::Nearest, {a, b, c});
    };
    Value *y = e.ir.CreateFDiv(e.real(x, 1), e.unary(llvm::Intrinsic::sqrt, x));
    Value *high = e.ir.CreateFMul(x, y);
    Value *low = fma(x, y, e.ir.CreateFNeg(high));
    Value *error = fma(e.ir.CreateFNeg(high), y, e.real(x, 1));
    error = fma(e.ir.CreateFNeg(low), y, error);
    Value *refined = fma(e.ir.CreateFMul(y, e.real(y, 0.5)), error, y);
    return with_hardware_nan(e, e.ir.CreateSelect(e.is_nan(refined), y, refined), {x});
}

Value *divide(Emitter &e, const Operation &op, llvm::ArrayRef<Value *> x) {
    if (op.attributes.precision == ir::Precision::Approx && Emitter::bits(x[0]) == 32)
        return emit_approximate_division(e, x[0], x[1],
                                         op.attributes.ftz ? Denormals::Flushed : Denormals::Kept);
    return arithmetic(e, FloatOp::Div, op.attributes.rounding, x); // div.full may be this exact
}

Value *compute(Emitter &e, const Operation &op, llvm::ArrayRef<Value *> x) {
    const ir::Rounding rounding = op.attributes.rounding;
    const bool approximate = op.attributes.precision == ir::Precision::Approx;
    switch (op.opcode) {
    case Opcode::Add:
        return arithmetic(e, FloatOp::Add, rounding, x);
    case Opcode::Sub:
        return arithmetic(e, FloatOp::Sub, rounding, x);
    case Opcode::Mul:
        return arithmetic(e, FloatOp::Mul, rounding, x);
    case Opcode::Fma:
        return arithmetic(e, FloatOp::Fma, rounding, x);
    case Opcode::Div:
        return divide(e, op, x);
    case Opcode::Sqrt:
        return arithmetic(e, FloatOp::Sqrt, rounding, x); // sqrt.approx may be this exact
    case Opcode::Rcp:
        if (approximate)
            return emit_approximate(e, op.opcode, x[0]);
        return arithmetic(e, FloatOp::Div, rounding, {e.real(x[0], 1), x[0]});
    case Opcode::Neg:
    case Opcode::Abs:
        return change_sign(e, op.opcode, x[0]);
    case Opcode::Min:
    case Opcode::Max:
        return emit_float_min_max(e, op, x[0], x[1]);
    case Opcode::Copysign: // PTX: sign of the first, magnitude of the second
        return e.binary(llvm::Intrinsic::copysign, x[1], x[0]);
    case Opcode::Rsqrt:
        if (Emitter::bits(x[0]) == 64 &&
            !op.attributes.ftz) // only .ftz is truncated to the upper half
            return double_reciprocal_root(e, x[0]);
        return emit_approximate(e, op.opcode, x[0]);
    case Opcode::Sin:
    case Opcode::Cos:
    case Opcode::Lg2:
    case Opcode::Ex2:
    case Opcode::Tanh:
        return emit_approximate(e, op.opcode, x[0]);
    default:
        refuse(op, "not an operation of floats");
    }
}

/// True if a result may be denormal although no operand is.
bool may_underflow(Opcode opcode) {
    switch (opcode) {
    case Opcode::Neg:
    case Opcode::Abs:
    case Opcode::Min:
    case Opcode::Max:
    case Opcode::Copysign:
    case Opcode::Sqrt:
    case Opcode::Rsqrt:
        return false;
    default:
        return true;
    }
}

/// True if rounding may turn a number slightly below the normal ones into a normal one.
bool may_round_to_normal(const Operation &op) {
    if (op.opcode == Opcode::Mul || op.opcode == Opcode::Fma)
        return true;
    const ir::Rounding rounding = op.attributes.rounding;
    return op.opcode == Opcode::Div && op.attributes.precision == ir::Precision::Exact &&
           (rounding == ir::Rounding::Up || rounding == ir::Rounding::Down);
}

/// .ftz on a result. Hardware tests the result in 24 bits without a lower limit of the exponents:
/// 2^-126 that was rounded up from a smaller number is flushed, too. The same operation on numbers
/// 2^64 times as large shows this.
Value *flush_result(Emitter &e, const Operation &op, llvm::ArrayRef<Value *> operands,
                    Value *result) {
    if (!may_round_to_normal(op))
        return e.flush(result);
    llvm::SmallVector<Value *, 3> large(operands.begin(), operands.end());
    Value *factor = e.real(result, 0x1p64);
    large[0] = e.ir.CreateFMul(large[0], factor);
    if (op.opcode == Opcode::Fma)
        large[2] = e.ir.CreateFMul(large[2], factor);
    Value *size = e.fabs(compute(e, op, large));
    Value *tiny = e.ir.CreateFCmpOLT(size, e.real(size, 0x1p-62));
    Value *zero = e.as_float(e.sign_bit(result));
    return e.ir.CreateSelect(tiny, zero, result);
}

} // namespace

Value *emit_float_min_max(Emitter &e, const Operation &op, Value *a, Value *b) {
    const bool minimum = op.opcode == Opcode::Min;
    Value *nan = e.ir.CreateFCmpUNO(a, b);
    Value *result = nullptr;
    if (op.attributes.xorsign_abs) {
        Value *sign = e.ir.CreateXor(e.sign_bit(a), e.sign_bit(b));
        result = pick(e, minimum, e.fabs(a), e.fabs(b));
        Value *both = e.ir.CreateOr(e.as_int(result), sign);
        result = e.ir.CreateBitCast(both, a->getType());
    } else {
        result = pick(e, minimum, a, b);
    }
    return op.attributes.nan ? e.ir.CreateSelect(nan, e.nan_like(a), result) : result;
}

Value *emit_float(Emitter &e, const Operation &op) {
    if (op.opcode == Opcode::Testp)
        return test_class(e, op);
    llvm::SmallVector<Value *, 3> operands(op.operands.begin(), op.operands.end());
    const bool flush = op.attributes.ftz && Emitter::bits(operands[0]) == 32;
    if (flush)
        for (unsigned i = 0; i < operands.size(); ++i)
            if (!(op.never_denormal >> i & 1))
                operands[i] = e.flush(operands[i]);
    Value *result = compute(e, op, operands);
    if (flush && may_underflow(op.opcode))
        result = flush_result(e, op, operands, result);
    return op.attributes.saturate ? e.saturate(result) : result;
}

} // namespace softcuda::vector_math
