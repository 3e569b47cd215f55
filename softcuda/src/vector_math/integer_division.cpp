// integer_division.cpp -- integer division through floating point.
//
// Processors have no vector integer division. For integers below 2^32 the quotient comes from one
// multiplication by a reciprocal in double that is a little too large:
//
//     q = trunc(a * r),   r = (1 + 2^-50) / b rounded,   so  1/b < r < 1/b * (1 + 2^-49)
//
// a * r, rounded, is then at least a/b (a/b itself rounds to no larger number) and less than a/b +
// 2^32/b * 2^-48 < a/b + 1/b, while the next integer above a/b is at least 1/b away: the truncation
// is exact. 16-bit integers use float in the same way. A divisor that is equal in all lanes has one
// scalar reciprocal, which moves out of loops.
//
// 64-bit quotients take two such steps from below, and a last correction by one.
#include "vector_math/integer_division.h"

#include "jit/splat.h"

namespace softcuda::vector_math {

namespace {

using Sign = Emitter::Sign;

bool is_constant_divisor(Value *b) {
    const auto *constant = llvm::dyn_cast<llvm::Constant>(b);
    if (!constant)
        return false;
    if (constant->getType()->isVectorTy())
        constant = constant->getSplatValue();
    const auto *integer = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant);
    return integer && !integer->isZero() && !integer->isMinusOne();
}

/// factor / b in lanes like `b`; one scalar division if all lanes are equal.
Value *reciprocal(Emitter &e, Value *b, unsigned float_bits, double factor) {
    Value *splat = Emitter::lanes(b) ? jit::splat_value(b) : nullptr;
    Value *divisor = splat ? splat : b;
    Value *real = e.ir.CreateUIToFP(divisor, e.float_type(divisor, float_bits));
    Value *result = e.ir.CreateFDiv(e.real(real, factor), real);
    return splat ? e.ir.CreateVectorSplat(Emitter::lanes(b), result) : result;
}

/// A double in [0, 2^32) to u32. If only the signed conversion exists, adding 2^52 leaves the
/// integer in the low bits instead.
Value *truncate_to_u32(Emitter &e, Value *value) {
    if (e.target.facts().converts_unsigned || !Emitter::lanes(value))
        return e.ir.CreateFPToUI(value, e.int_type(value, 32));
    Value *whole = e.unary(llvm::Intrinsic::floor, value);
    Value *shifted = e.ir.CreateFAdd(whole, e.real(value, 0x1p52));
    return e.resize(e.as_int(shifted), 32);
}

/// Unsigned, at most 32 bits, vectors.
Value *small_quotient(Emitter &e, Value *a, Value *b) {
    const bool narrow = Emitter::bits(a) <= 16;
    const unsigned float_bits = narrow ? 32 : 64;
    // The next doubles (floats) but a few above 1.
    Value *r = reciprocal(e, b, float_bits, narrow ? 1 + 0x1p-21 : 1 + 0x1p-50);
    Value *q = e.ir.CreateFMul(e.ir.CreateUIToFP(a, r->getType()), r);
    if (narrow)
        return e.resize(e.ir.CreateFPToSI(q, e.int_type(a, 32)), Emitter::bits(a));
    return truncate_to_u32(e, q);
}

/// Unsigned 64-bit vectors, with conversions of vectors. Each estimate is at most the true quotient
/// of the remainder, because the factor below one exceeds all roundings; after the first at most b
/// + 2^15 remains, after the second less than 2 b.
Value *wide_quotient(Emitter &e, Value *a, Value *b) {
    Value *r = reciprocal(e, b, 64, 1 - 0x1p-50);
    const auto estimate = [&](Value *rest) {
        Value *q = e.ir.CreateFMul(e.ir.CreateUIToFP(rest, r->getType()), r);
        return e.ir.CreateFPToUI(q, a->getType());
    };
    Value *first = estimate(a);
    Value *rest = e.ir.CreateSub(a, e.ir.CreateMul(first, b));
    Value *second = estimate(rest);
    rest = e.ir.CreateSub(rest, e.ir.CreateMul(second, b));
    Value *last = e.ir.CreateZExt(e.ir.CreateICmpUGE(rest, b), a->getType());
    return e.ir.CreateAdd(e.ir.CreateAdd(first, second), last);
}

/// b is not zero in the relevant lanes; other lanes may return anything but must not trap.
Value *unsigned_quotient(Emitter &e, Value *a, Value *b) {
    const bool vector = Emitter::lanes(a) != 0;
    if (vector && Emitter::bits(a) <= 32)
        return small_quotient(e, a, b);
    if (vector && e.target.facts().converts_long)
        return wide_quotient(e, a, b);
    Value *safe = e.ir.CreateSelect(e.ir.CreateICmpEQ(b, e.integer(b, 0)), e.integer(b, 1), b);
    return e.ir.CreateUDiv(e.ir.CreateFreeze(a), e.ir.CreateFreeze(safe));
}

Value *signed_quotient(Emitter &e, Value *a, Value *b) {
    const auto absolute = [&](Value *value) -> Value * {
        Value *splat = Emitter::lanes(value) ? jit::splat_value(value) : nullptr;
        Value *number = splat ? splat : value;
        number = e.ir.CreateIntrinsic(llvm::Intrinsic::abs, {number->getType()},
                                      {number, e.ir.getFalse()});
        return splat ? e.ir.CreateVectorSplat(Emitter::lanes(value), number) : number;
    };
    Value *negative = e.ir.CreateICmpSLT(e.ir.CreateXor(a, b), e.integer(a, 0));
    Value *q = unsigned_quotient(e, absolute(a), absolute(b));
    return e.ir.CreateSelect(negative, e.ir.CreateNeg(q), q);
}

} // namespace

Division divide(Emitter &e, Value *a, Value *b, Sign sign) {
    const bool is_signed = sign == Sign::Signed;
    if (is_constant_divisor(b)) { // LLVM multiplies by a constant and shifts
        Value *q = is_signed ? e.ir.CreateSDiv(a, b) : e.ir.CreateUDiv(a, b);
        return {q, e.ir.CreateSub(a, e.ir.CreateMul(q, b))};
    }
    Value *zero = e.ir.CreateICmpEQ(b, e.integer(b, 0));
    Value *q = is_signed ? signed_quotient(e, a, b) : unsigned_quotient(e, a, b);
    q = e.ir.CreateSelect(zero, e.integer(a, ~std::uint64_t{0}), q);
    Value *rest = e.ir.CreateSub(a, e.ir.CreateMul(q, b));
    return {q, e.ir.CreateSelect(zero, e.integer(a, ~std::uint64_t{0}), rest)};
}

} // namespace softcuda::vector_math
