// approx_math.cpp -- ex2, lg2, sin, cos, tanh, rcp, rsqrt: the functions of NVIDIA's special
// function unit, in vectors.
//
// Each function is within the error that the PTX manual allows and has its special values; bounds
// and measured errors are in tests/softcuda/elementwise_approx.cpp. Inputs and results are not
// flushed here: the caller does this for .ftz.
//
// Polynomials are minimax fits (Remez) on the interval that each function reduces its argument to.
#include "target/code/instructions.h"
#include "vector_math/families.h"
#include "vector_math/rounding.h"

#include <cmath>
#include <span>

namespace softcuda::vector_math {

namespace {

using ir::Opcode;

/// a * b + c with one rounding or two, whichever is faster.
Value *multiply_add(Emitter &e, Value *a, Value *b, Value *c) {
    if (e.target.facts().fuses)
        return e.ternary(llvm::Intrinsic::fma, a, b, c);
    return e.ir.CreateFAdd(e.ir.CreateFMul(a, b), c);
}

Value *fma(Emitter &e, Value *a, Value *b, Value *c) {
    return arithmetic(e, FloatOp::Fma, ir::Rounding::Nearest, {a, b, c});
}

/// c[0] + c[1] x + c[2] x^2 + ..., with Horner's method.
Value *polynomial(Emitter &e, Value *x, std::span<const float> c) {
    Value *sum = e.real(x, c.back());
    for (std::size_t i = c.size() - 1; i-- > 0;)
        sum = multiply_add(e, sum, x, e.real(x, c[i]));
    return sum;
}

/// Vectors start from estimates of 14 bits if the processor has them; scalars use a division.
bool has_estimates(Emitter &e, Value *x) {
    return e.target.facts().estimates && Emitter::lanes(x) >= 8;
}

Value *estimate(Emitter &e, Value *x, Value *(*one)(llvm::IRBuilderBase &, Value *)) {
    return e.by_chunks(target::kEstimateLanes, x,
                       [&](llvm::ArrayRef<Value *> pieces) { return one(e.ir, pieces[0]); });
}

/// 1 / x. One Newton step from the estimate y: the error of y + y (1 - x y) is the square of y's.
/// If the step is not a number (x zero or infinite, y denormal or infinite), y itself is right.
Value *reciprocal(Emitter &e, Value *x) {
    if (!has_estimates(e, x))
        return e.ir.CreateFDiv(e.real(x, 1), x);
    Value *y = estimate(e, x, target::estimate_reciprocal);
    Value *error = fma(e, e.ir.CreateFNeg(x), y, e.real(x, 1));
    Value *refined = fma(e, y, error, y);
    return e.ir.CreateSelect(e.is_nan(refined), y, refined);
}

/// 1 / sqrt(x), in the same way: y + y/2 (1 - x y^2).
Value *reciprocal_root(Emitter &e, Value *x) {
    if (!has_estimates(e, x))
        return e.ir.CreateFDiv(e.real(x, 1), e.unary(llvm::Intrinsic::sqrt, x));
    Value *y = estimate(e, x, target::estimate_root);
    Value *product = e.ir.CreateFMul(x, y);
    Value *error = fma(e, e.ir.CreateFNeg(product), y, e.real(x, 1));
    Value *refined = fma(e, e.ir.CreateFMul(y, e.real(y, 0.5)), error, y);
    return e.ir.CreateSelect(e.is_nan(refined), y, refined);
}

/// x * 2^n for x near 1 and integral n in [-160, 130] (floats), rounded once: multiplies by two
/// powers of two; the first product is a normal number.
Value *scale(Emitter &e, Value *x, Value *n) {
    if (e.target.facts().estimates && Emitter::lanes(x))
        return e.by_chunks(target::kEstimateLanes, {x, n}, [&](llvm::ArrayRef<Value *> pieces) {
            return target::scale(e.ir, pieces[0], pieces[1]);
        });
    // For NaN this is any integer, which does not matter in a product with NaN.
    Value *all = e.ir.CreateFreeze(e.ir.CreateFPToSI(n, e.int_type(n, 32)));
    Value *half = e.ir.CreateAShr(all, 1);
    const auto power = [&](Value *exponent) {
        Value *biased = e.ir.CreateAdd(exponent, e.integer(exponent, 127));
        return e.as_float(e.ir.CreateShl(biased, 23));
    };
    return e.ir.CreateFMul(e.ir.CreateFMul(x, power(half)), power(e.ir.CreateSub(all, half)));
}

/// 2^x = 2^n 2^r, n the nearest integer. |r| <= 1/2; the fit's error is 2^-29.
Value *exp2(Emitter &e, Value *x) {
    static constexpr float fit[] = {0x1.000000p+0f, 0x1.62e430p-1f,  0x1.ebfbdap-3f, 0x1.c6aed4p-5f,
                                    0x1.3b2dbcp-7f, 0x1.5f456ap-10f, 0x1.41d334p-13f};
    // Beyond these all results are infinity or zero. NaN stays NaN, here and in all later steps.
    Value *lowest = e.real(x, -160), *highest = e.real(x, 130);
    Value *inside = e.ir.CreateSelect(e.ir.CreateFCmpOLT(x, lowest), lowest, x);
    inside = e.ir.CreateSelect(e.ir.CreateFCmpOGT(inside, highest), highest, inside);
    Value *n = e.unary(llvm::Intrinsic::roundeven, inside);
    Value *r = e.ir.CreateFSub(inside, n);
    return scale(e, polynomial(e, r, fit), n);
}

/// log2 x = k + log2 m, m in [sqrt(1/2), sqrt(2)); log2 m = f P(f) with f = m - 1, exact.
Value *log2(Emitter &e, Value *x) {
    static constexpr float fit[] = {0x1.715474p+0f,  -0x1.71546ap-1f, 0x1.ec7676p-2f,
                                    -0x1.7160a0p-2f, 0x1.269938p-2f,  -0x1.e88d3cp-3f,
                                    0x1.bcb056p-3f,  -0x1.ae342ap-3f, 0x1.016d08p-3f};
    // Denormals first become normal.
    Value *small = e.ir.CreateFCmpOLT(x, e.real(x, 0x1p-126));
    Value *normal = e.ir.CreateSelect(small, e.ir.CreateFMul(x, e.real(x, 0x1p24)), x);
    Value *raw = e.as_int(normal);
    // Counted from sqrt(1/2), the exponent field is k.
    Value *root = e.integer(raw, 0x3f3504f3);
    Value *k = e.ir.CreateAShr(e.ir.CreateSub(raw, root), 23);
    Value *m = e.as_float(e.ir.CreateSub(raw, e.ir.CreateShl(k, 23)));
    Value *f = e.ir.CreateFSub(m, e.real(m, 1));
    Value *exponent = e.ir.CreateSIToFP(k, x->getType());
    exponent = e.ir.CreateSelect(small, e.ir.CreateFSub(exponent, e.real(x, 24)), exponent);
    Value *result = multiply_add(e, f, polynomial(e, f, fit), exponent);
    // Zero gives -infinity, infinity gives infinity, all negative numbers and NaN give NaN.
    Value *zero = e.real(x, 0), *infinity = e.real(x, HUGE_VAL);
    Value *ordinary = e.ir.CreateAnd(e.ir.CreateFCmpOGT(x, zero), e.ir.CreateFCmpOLT(x, infinity));
    Value *special = e.ir.CreateSelect(e.ir.CreateFCmpOEQ(x, infinity), infinity, e.nan_like(x));
    special = e.ir.CreateSelect(e.ir.CreateFCmpOEQ(x, zero), e.real(x, -HUGE_VAL), special);
    return e.ir.CreateSelect(ordinary, result, special);
}

enum class Wave : unsigned { Sine = 0, Cosine = 1 };

/// With n the nearest integer to x / (pi/2) and r = x - n pi/2 (pi/2 as the sum of two floats), the
/// result is +-sin r or +-cos r, depending on n modulo 4. Hardware reduces the argument in float,
/// too: for large |x| only the range [-1, 1] is guaranteed.
Value *wave(Emitter &e, Value *x, Wave which) {
    static constexpr float sine[] = {0x1.000000p+0f, -0x1.55553ep-3f, 0x1.1105a2p-7f,
                                     -0x1.98d968p-13f};
    static constexpr float cosine[] = {0x1.000000p+0f, -0x1.000000p-1f, 0x1.555538p-5f,
                                       -0x1.6c06bcp-10f, 0x1.98d8f6p-16f};
    Value *n = e.unary(llvm::Intrinsic::roundeven, e.ir.CreateFMul(x, e.real(x, 0x1.45f306p-1)));
    Value *r = fma(e, n, e.real(x, -0x1.921fb6p+0), x);
    r = fma(e, n, e.real(x, 0x1.777a5cp-25), r);
    // Without a reduction r is x; -0 must keep its sign.
    r = e.ir.CreateSelect(e.ir.CreateFCmpOEQ(n, e.real(n, 0)), x, r);
    // If n is so large that r is out of range, any r in range is allowed; NaN stays NaN.
    const double limit = 0x1.95p-1;
    r = e.ir.CreateSelect(e.ir.CreateFCmpOGT(r, e.real(r, limit)), e.real(r, limit), r);
    r = e.ir.CreateSelect(e.ir.CreateFCmpOLT(r, e.real(r, -limit)), e.real(r, -limit), r);
    Value *square = e.ir.CreateFMul(r, r);
    Value *of_sine = e.ir.CreateFMul(r, polynomial(e, square, sine));
    Value *of_cosine = polynomial(e, square, cosine);

    Value *countable = e.ir.CreateFCmpOLT(e.fabs(n), e.real(n, 0x1p30));
    Value *quadrant =
        e.ir.CreateFPToSI(e.ir.CreateSelect(countable, n, e.real(n, 0)), e.int_type(n, 32));
    quadrant = e.ir.CreateAdd(quadrant, e.integer(quadrant, static_cast<unsigned>(which)));
    Value *odd =
        e.ir.CreateICmpNE(e.ir.CreateAnd(quadrant, e.integer(quadrant, 1)), e.integer(quadrant, 0));
    Value *result = e.ir.CreateSelect(odd, of_cosine, of_sine);
    Value *sign = e.ir.CreateShl(e.ir.CreateAnd(quadrant, e.integer(quadrant, 2)), 30);
    return e.as_float(e.ir.CreateXor(e.as_int(result), sign));
}

/// Near zero an odd polynomial; beyond, 1 - 2 / (e^2|x| + 1) with x's sign.
Value *hyperbolic_tangent(Emitter &e, Value *x) {
    static constexpr float fit[] = {0x1.fffffep-1f, -0x1.5552a6p-2f, 0x1.1097a4p-3f,
                                    -0x1.aad0bap-5f, 0x1.fb194cp-7f};
    Value *square = e.ir.CreateFMul(x, x);
    Value *near = e.ir.CreateFMul(x, polynomial(e, square, fit));
    Value *size = e.fabs(x);
    Value *power = exp2(e, e.ir.CreateFMul(size, e.real(x, 0x1.715476p+1))); // 2 / ln 2
    Value *fraction = reciprocal(e, e.ir.CreateFAdd(power, e.real(x, 1)));
    Value *far = multiply_add(e, fraction, e.real(x, -2), e.real(x, 1));
    far = e.binary(llvm::Intrinsic::copysign, far, x);
    return e.ir.CreateSelect(e.ir.CreateFCmpOLT(size, e.real(x, 0.6)), near, far);
}

/// The upper half of a double, with a lower half of zero: rcp and rsqrt .approx.ftz.f64 read and
/// write only this half. Denormals count as zeros.
Value *upper_half(Emitter &e, Value *x) {
    Value *raw = e.as_int(x);
    Value *cut = e.ir.CreateAnd(raw, e.integer(raw, 0xffff'ffff'0000'0000));
    return e.flush(e.as_float(cut));
}

Value *seed_64(Emitter &e, Opcode opcode, Value *x) {
    Value *input = upper_half(e, x);
    if (opcode == Opcode::Rsqrt)
        input = e.unary(llvm::Intrinsic::sqrt, input);
    Value *result = upper_half(e, e.ir.CreateFDiv(e.real(input, 1), input));
    Value *nan = e.as_float(e.integer(e.as_int(x), 0x7fff'ffff'0000'0000));
    return e.ir.CreateSelect(e.is_nan(result), nan, result);
}

} // namespace

Value *emit_approximate(Emitter &e, Opcode opcode, Value *x) {
    if (Emitter::bits(x) == 64)
        return seed_64(e, opcode, x);
    switch (opcode) {
    case Opcode::Rcp:
        return reciprocal(e, x);
    case Opcode::Rsqrt:
        return reciprocal_root(e, x);
    case Opcode::Sin:
        return wave(e, x, Wave::Sine);
    case Opcode::Cos:
        return wave(e, x, Wave::Cosine);
    case Opcode::Lg2:
        return log2(e, x);
    case Opcode::Tanh:
        return hyperbolic_tangent(e, x);
    default:
        return exp2(e, x);
    }
}

Value *emit_approximate_division(Emitter &e, Value *a, Value *b, Denormals denormals) {
    // Defined as a * (1/b). If b is so large that 1/b is denormal, the manual flushes it: the
    // quotient is then 0, or NaN for an infinite a.
    if (denormals == Denormals::Flushed)
        return e.ir.CreateFMul(a, e.flush(reciprocal(e, b)));
    // A denormal b has a quotient although it may have no reciprocal.
    Value *large = e.ir.CreateFCmpOGT(e.fabs(b), e.real(b, 0x1p126));
    Value *zero = e.binary(llvm::Intrinsic::copysign, e.real(b, 0), b);
    return e.ir.CreateSelect(large, e.ir.CreateFMul(a, zero), e.ir.CreateFDiv(a, b));
}

} // namespace softcuda::vector_math
