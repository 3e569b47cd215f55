// small_float.cpp -- conversions between float and narrower formats.
//
// Rounding a float to a format with m stored mantissa bits, to nearest and ties to even, on the
// float's bits as an integer a (without the sign):
//
//   normal result     add 2^(22-m) - 1 + (bit 23-m of a), remove the low 23-m bits, and change the
//                     exponent's bias
//   denormal result   add a power of two so large that the float's own rounding is at the format's
//                     last place; the sum's low bits are the result
//
// bf16 has float's exponents and is simpler. Directed modes correct the
// result by one unit after comparing it, widened, with the exact value.
#include "vector_math/small_float.h"

#include "vector_math/rounding.h"

#include <cmath>

namespace softcuda::vector_math {

namespace {

using ir::Rounding;
using ir::Scalar;

unsigned bias(const SmallFormat &format) { return (1u << (format.exponent - 1)) - 1; }

bool uses_native_half(Emitter &e, const SmallFormat &format) {
    return format.mantissa == kHalf.mantissa && e.target.facts().converts_half;
}

/// |value|'s bits (i32) to the format's bits (i32), to nearest. No NaN.
Value *round_magnitude(Emitter &e, Value *a, const SmallFormat &format) {
    const unsigned drop = 23 - format.mantissa;
    Value *last = e.ir.CreateAnd(e.ir.CreateLShr(a, drop), e.integer(a, 1));
    Value *half = e.ir.CreateAdd(last, e.integer(a, (1u << (drop - 1)) - 1));
    Value *normal = e.ir.CreateLShr(e.ir.CreateAdd(a, half), drop);
    const unsigned rebias = 127 - bias(format);
    normal = e.ir.CreateSub(normal, e.integer(a, rebias << format.mantissa));
    // 2^k whose last place equals that of the format's denormals.
    const std::uint32_t magic = (rebias + 1 + drop) << 23;
    Value *shifted = e.ir.CreateFAdd(e.as_float(a), e.as_float(e.integer(a, magic)));
    Value *denormal = e.ir.CreateSub(e.as_int(shifted), e.integer(a, magic));
    Value *small = e.ir.CreateICmpULT(a, e.integer(a, (rebias + 1) << 23));
    Value *result = e.ir.CreateSelect(small, denormal, normal);
    Value *too_large = e.ir.CreateICmpUGT(result, e.integer(a, format.largest));
    return e.ir.CreateSelect(too_large, e.integer(a, format.overflow), result);
}

/// bf16 is the upper half of a float: the carry of rounding propagates through the exponent to
/// infinity, and the sign does not change.
Value *narrow_to_upper_half(Emitter &e, Value *value, const SmallFormat &format) {
    Value *raw = e.as_int(value);
    Value *last = e.ir.CreateAnd(e.ir.CreateLShr(raw, 16), e.integer(raw, 1));
    Value *sum = e.ir.CreateAdd(e.ir.CreateAdd(raw, e.integer(raw, 0x7fff)), last);
    Value *result = e.ir.CreateLShr(sum, 16);
    result = e.ir.CreateSelect(e.is_nan(value), e.integer(result, format.nan), result);
    return e.resize(result, format.bits);
}

/// To nearest, any input; integers of the format's width.
Value *narrow_to_nearest(Emitter &e, Value *value, const SmallFormat &format) {
    if (uses_native_half(e, format)) {
        Value *half = e.as_int(e.ir.CreateFPTrunc(value, e.float_type(value, 16)));
        // Tested in the halves, because a register has more of them.
        Value *nan = e.ir.CreateICmpUGT(e.magnitude(half), e.integer(half, format.overflow));
        return e.ir.CreateSelect(nan, e.integer(half, format.nan), half);
    }
    if (format.exponent == 8)
        return narrow_to_upper_half(e, value, format);
    Value *result = round_magnitude(e, e.magnitude(value), format);
    Value *sign = e.ir.CreateLShr(e.sign_bit(value), 32 - format.bits);
    result = e.ir.CreateOr(result, sign);
    result = e.ir.CreateSelect(e.is_nan(value), e.integer(result, format.nan), result);
    return e.resize(result, format.bits);
}

/// One unit of the format towards the exact value, in its own bits.
Value *correct_small(Emitter &e, Value *nearest, Value *exact, const SmallFormat &format,
                     Rounding rounding) {
    Value *back = widen(e, nearest, format);
    return correct_direction(e, nearest, e.ir.CreateFCmpOLT(back, exact),
                             e.ir.CreateFCmpOGT(back, exact), rounding);
}

} // namespace

const SmallFormat *small_format(Scalar type) {
    switch (type) {
    case Scalar::F16:
    case Scalar::F16x2:
        return &kHalf;
    case Scalar::BF16:
    case Scalar::BF16x2:
        return &kBfloat;
    case Scalar::E4M3:
    case Scalar::E4M3x2:
        return &kE4m3;
    case Scalar::E5M2:
    case Scalar::E5M2x2:
        return &kE5m2;
    default:
        return nullptr;
    }
}

Value *widen(Emitter &e, Value *value, const SmallFormat &format) {
    if (uses_native_half(e, format))
        return e.ir.CreateFPExt(e.as_float(value), e.float_type(value, 32));
    Value *raw = e.resize(value, 32);
    if (format.exponent == 8) // bf16 is a float's upper half
        return e.as_float(e.ir.CreateShl(raw, 16));
    Value *sign = e.ir.CreateShl(e.ir.CreateLShr(raw, format.bits - 1), 31);
    Value *a = e.ir.CreateAnd(raw, e.integer(raw, (1u << (format.bits - 1)) - 1));
    Value *moved = e.ir.CreateShl(a, 23 - format.mantissa);
    // As a float with the wrong bias; a multiplication corrects this, for denormals, too.
    const double scale = std::ldexp(1.0, static_cast<int>(127 - bias(format)));
    Value *scaled = e.ir.CreateFMul(e.as_float(moved), e.real(e.as_float(moved), scale));
    // E4M3 has no infinity and one NaN; the others follow IEEE.
    const std::uint32_t infinity = ((1u << format.exponent) - 1) << format.mantissa;
    const std::uint32_t first_special = format.mantissa == 3 ? format.nan : infinity;
    Value *special = e.ir.CreateICmpUGE(a, e.integer(a, first_special));
    Value *infinite = e.ir.CreateOr(moved, e.integer(a, 0x7f80'0000));
    moved = e.ir.CreateSelect(special, infinite, e.as_int(scaled));
    return e.as_float(e.ir.CreateOr(moved, sign));
}

Value *narrow(Emitter &e, Value *value, const SmallFormat &format, Rounding rounding) {
    Value *nearest = narrow_to_nearest(e, value, format);
    if (!is_directed(rounding))
        return nearest;
    return correct_small(e, nearest, value, format, rounding);
}

Value *narrow_tf32(Emitter &e, Value *value, Rounding rounding, bool finite) {
    constexpr unsigned drop = 13;
    Value *raw = e.as_int(value);
    Value *bias = e.integer(raw, 0); // towards zero
    if (rounding == Rounding::NearestAway)
        bias = e.integer(raw, 1u << (drop - 1));
    else if (rounding != Rounding::Zero)
        bias = e.ir.CreateAdd(e.ir.CreateAnd(e.ir.CreateLShr(raw, drop), e.integer(raw, 1)),
                              e.integer(raw, (1u << (drop - 1)) - 1));
    Value *rounded = e.ir.CreateAnd(e.ir.CreateAdd(raw, bias),
                                    e.integer(raw, ~((std::uint64_t{1} << drop) - 1)));
    // Infinity does not change: its mantissa is zero. NaN is truncated, even if this gives an
    // infinity, as in the hardware.
    Value *cut = e.ir.CreateAnd(raw, e.integer(raw, ~((std::uint64_t{1} << drop) - 1)));
    Value *result = e.ir.CreateSelect(e.is_nan(value), cut, rounded);
    if (finite) {
        Value *beyond = e.ir.CreateICmpUGE(e.magnitude(result), e.integer(raw, 0x7f80'0000));
        Value *less = e.ir.CreateSub(result, e.integer(raw, 1u << drop));
        result = e.ir.CreateSelect(beyond, less, result);
    }
    return e.as_float(result);
}

} // namespace softcuda::vector_math
