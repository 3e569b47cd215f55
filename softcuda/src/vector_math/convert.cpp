// convert.cpp -- cvt between all integer and floating-point types.
//
// A value passes through one of three forms: an integer of its own width, a float, or a double.
// Each step except the last is exact, or rounds to odd before a last step to far fewer bits.
#include "target/code/instructions.h"
#include "vector_math/families.h"
#include "vector_math/rounding.h"
#include "vector_math/small_float.h"

#include <cassert>
#include <cmath>

namespace softcuda::vector_math {

namespace {

using ir::Rounding;
using ir::Scalar;
using Sign = Emitter::Sign;

// Integers.

/// Limited to the range of the destination, still in the source's type.
Value *saturate_integer(Emitter &e, Value *value, Scalar from, Scalar to) {
    const unsigned bits = ir::bits(to);
    const bool to_signed = ir::is_signed(to), from_signed = ir::is_signed(from);
    const std::uint64_t largest = ~std::uint64_t{0} >> (64 - bits + (to_signed ? 1 : 0));
    const unsigned from_magnitude = ir::bits(from) - (from_signed ? 1 : 0);
    if (from_magnitude > bits - (to_signed ? 1 : 0))
        value = e.binary(from_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, value,
                         e.integer(value, largest));
    if (!from_signed)
        return value;
    if (!to_signed)
        return e.binary(llvm::Intrinsic::smax, value, e.integer(value, 0));
    if (ir::bits(from) > bits)
        return e.binary(llvm::Intrinsic::smax, value, e.integer(value, ~largest));
    return value;
}

Value *integer_to_integer(Emitter &e, const Operation &op, Value *value) {
    const Scalar from = op.attributes.source_type, to = op.attributes.type;
    if (op.attributes.saturate)
        value = saturate_integer(e, value, from, to);
    return e.resize(value, ir::bits(to), Emitter::sign_of(from));
}

// Integers to floats.

Value *integer_to_real(Emitter &e, Value *value, Sign sign, unsigned float_bits) {
    llvm::Type *type = e.float_type(value, float_bits);
    return sign == Sign::Signed ? e.ir.CreateSIToFP(value, type) : e.ir.CreateUIToFP(value, type);
}

/// A 64-bit integer as two doubles that sum to it exactly.
struct Halves {
    Value *high, *low;
};

Halves split_integer(Emitter &e, Value *value, Sign sign) {
    Value *low = e.ir.CreateAnd(value, e.integer(value, 0xffff'ffff));
    Value *high = sign == Sign::Signed ? e.ir.CreateAShr(value, 32) : e.ir.CreateLShr(value, 32);
    Value *real = integer_to_real(e, high, Sign::Signed, 64); // below 2^32: signed is sufficient
    return {e.ir.CreateFMul(real, e.real(real, 0x1p32)), integer_to_real(e, low, Sign::Signed, 64)};
}

Value *integer_to_double(Emitter &e, Value *value, Sign sign, Rounding rounding) {
    if (Emitter::bits(value) <= 32 || !is_directed(rounding))
        return integer_to_real(e, value, sign, 64);
    const Halves halves = split_integer(e, value, sign);
    return arithmetic(e, FloatOp::Add, rounding, {halves.high, halves.low});
}

/// As a double that is odd if it is inexact.
Value *integer_to_double_odd(Emitter &e, Value *value, Sign sign) {
    if (Emitter::bits(value) <= 32)
        return integer_to_real(e, value, sign, 64);
    const Halves halves = split_integer(e, value, sign);
    return add_odd(e, halves.high, halves.low);
}

Value *integer_to_small(Emitter &e, Value *value, Sign sign, const SmallFormat &format,
                        Rounding rounding) {
    if (&format != &kHalf)
        return narrow(e, to_single_odd(e, integer_to_double_odd(e, value, sign)), format, rounding);
    // Beyond 2^17 all are larger than f16's largest number; up to there float has integers exactly.
    const bool is_signed = sign == Sign::Signed;
    if (Emitter::bits(value) > 17) {
        value = e.binary(is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, value,
                         e.integer(value, 1 << 17));
        if (is_signed)
            value = e.binary(llvm::Intrinsic::smax, value,
                             e.integer(value, static_cast<std::uint64_t>(-(1 << 17))));
    }
    return narrow(e, integer_to_real(e, value, sign, 32), format, rounding);
}

Value *integer_to_float(Emitter &e, const Operation &op, Value *value) {
    const Sign sign = Emitter::sign_of(op.attributes.source_type);
    const Rounding rounding = op.attributes.rounding;
    if (const SmallFormat *format = small_format(op.type))
        return integer_to_small(e, value, sign, *format, rounding);
    if (op.type == Scalar::F64)
        return integer_to_double(e, value, sign, rounding);
    if (!is_directed(rounding))
        return integer_to_real(e, value, sign, 32);
    return to_single(e, integer_to_double_odd(e, value, sign), rounding);
}

// Floats to integers.

Value *round_to_integral(Emitter &e, Value *value, Rounding rounding) {
    switch (rounding) {
    case Rounding::IntNearest:
        return e.unary(llvm::Intrinsic::roundeven, value);
    case Rounding::IntZero:
        return e.unary(llvm::Intrinsic::trunc, value);
    case Rounding::IntDown:
        return e.unary(llvm::Intrinsic::floor, value);
    case Rounding::IntUp:
        return e.unary(llvm::Intrinsic::ceil, value);
    default:
        return value;
    }
}

/// 2^k in value's type.
Value *power(Emitter &e, Value *value, unsigned k) {
    return e.real(value, std::ldexp(1.0, static_cast<int>(k)));
}

/// Floats or doubles to 32-bit integers in vectors, with the processor's conversion: out of range
/// it returns 0x80000000 (signed) or 0xffffffff (unsigned).
Value *truncate_to_word(Emitter &e, Value *value, Sign sign) {
    const target::VectorFacts &facts = e.target.facts();
    const unsigned lanes = target::truncated_lanes(facts, Emitter::bits(value));
    return e.by_chunks(lanes, value, [&](llvm::ArrayRef<Value *> pieces) {
        return target::truncate_to_word(e.ir, facts, pieces[0], sign == Sign::Signed);
    });
}

/// Floats to the nearest 32-bit integers; NaN becomes 0.
Value *single_to_word(Emitter &e, Value *value, Sign sign) {
    if (sign ==
        Sign::Unsigned) { // with NaN and negatives set to 0, all ones is the saturated result
        Value *zero = e.real(value, 0);
        Value *positive = e.ir.CreateSelect(e.ir.CreateFCmpOGT(value, zero), value, zero);
        return truncate_to_word(e, positive, sign);
    }
    Value *result = truncate_to_word(e, value, sign);
    Value *above = e.ir.CreateFCmpOGE(value, e.real(value, 0x1p31));
    result = e.ir.CreateSelect(above, e.integer(result, 0x7fff'ffff), result);
    return e.ir.CreateSelect(e.is_nan(value), e.integer(result, 0), result);
}

/// The same of doubles, whose NaN become 0x80000000. That is what the signed conversion gives for
/// them and for what is below the range.
Value *double_to_word(Emitter &e, Value *value, Sign sign) {
    if (sign == Sign::Signed) {
        Value *largest = e.real(value, 0x7fff'ffff);
        Value *above = e.ir.CreateFCmpOGT(value, largest);
        return truncate_to_word(e, e.ir.CreateSelect(above, largest, value), sign);
    }
    Value *zero = e.real(value, 0);
    Value *positive = e.ir.CreateSelect(e.ir.CreateFCmpOGT(value, zero), value, zero);
    Value *result = truncate_to_word(e, positive, sign);
    return e.ir.CreateSelect(e.is_nan(value), e.integer(result, 0x8000'0000), result);
}

bool has_word_conversion(Emitter &e, Value *value, unsigned bits, Sign sign) {
    const target::VectorFacts &facts = e.target.facts();
    return Emitter::lanes(value) && bits == 32 &&
           (Emitter::bits(value) == 32 ? facts.truncates_singles : facts.truncates_doubles) &&
           (sign == Sign::Signed || facts.converts_unsigned);
}

/// As below, with a processor's conversions that saturate, and give 0 for NaN.
Value *saturated(Emitter &e, Value *value, unsigned bits, Sign sign, bool nan_is_zero) {
    llvm::Type *type = e.int_type(value, bits);
    Value *result = e.ir.CreateIntrinsic(sign == Sign::Signed ? llvm::Intrinsic::fptosi_sat
                                                              : llvm::Intrinsic::fptoui_sat,
                                         {type, value->getType()}, {value});
    if (nan_is_zero)
        return result;
    Value *top = e.integer(result, std::uint64_t{1} << (bits - 1));
    return e.ir.CreateSelect(e.is_nan(value), top, result);
}

/// Floats, truncated, as integers of `bits` bits, the nearest ones if they are out of range. NaN
/// gives the hardware's result: zero, or only the top bit if 64-bit values are involved.
Value *integral_to_integer(Emitter &e, Value *value, unsigned bits, Sign sign, bool nan_is_zero) {
    if (has_word_conversion(e, value, bits, sign)) {
        assert(nan_is_zero == (Emitter::bits(value) == 32));
        return Emitter::bits(value) == 32 ? single_to_word(e, value, sign)
                                          : double_to_word(e, value, sign);
    }
    const bool is_signed = sign == Sign::Signed;
    if (e.target.facts().saturates)
        return saturated(e, value, bits, sign, nan_is_zero);
    const unsigned work = std::max(bits, 32u); // the processor's conversions start at 32 bits
    llvm::Type *type = e.int_type(value, work);
    const unsigned magnitude = is_signed ? bits - 1 : bits;
    Value *high = power(e, value, magnitude);
    Value *low = is_signed ? e.ir.CreateFNeg(high) : e.real(value, 0);
    Value *above = e.ir.CreateFCmpOGE(value, high), *below = e.ir.CreateFCmpOLT(value, low);
    Value *inside = e.ir.CreateAnd(e.ir.CreateFCmpOLT(value, high), e.ir.CreateFCmpOGE(value, low));
    Value *safe = e.ir.CreateSelect(inside, value, e.real(value, 0));
    // Below 32 bits a signed conversion covers all unsigned values, and is an instruction on every
    // processor.
    Value *result =
        is_signed || bits < work ? e.ir.CreateFPToSI(safe, type) : e.ir.CreateFPToUI(safe, type);
    const std::uint64_t largest = ~std::uint64_t{0} >> (64 - magnitude);
    result = e.ir.CreateSelect(above, e.integer(result, largest), result);
    if (is_signed)
        result = e.ir.CreateSelect(below, e.integer(result, ~largest), result);
    if (!nan_is_zero)
        result = e.ir.CreateSelect(e.is_nan(value),
                                   e.integer(result, std::uint64_t{1} << (bits - 1)), result);
    return e.resize(result, bits);
}

/// The source as a float or double, exactly; a small format as float.
Value *real_source(Emitter &e, const Operation &op, Value *value) {
    if (const SmallFormat *format = small_format(op.attributes.source_type))
        return widen(e, value, *format);
    Value *real = e.as_float(value);
    return op.attributes.ftz && Emitter::bits(real) == 32 ? e.flush(real) : real;
}

Value *float_to_integer(Emitter &e, const Operation &op, Value *value) {
    Value *real = real_source(e, op, value);
    if (op.attributes.rounding != Rounding::IntZero) // the conversion truncates
        real = round_to_integral(e, real, op.attributes.rounding);
    const unsigned bits = ir::bits(op.type);
    const bool nan_is_zero = op.attributes.source_type != Scalar::F64 && bits != 64;
    return integral_to_integer(e, real, bits, Emitter::sign_of(op.type), nan_is_zero);
}

// Floats to floats.

/// The largest finite number of f16 or bf16.
double largest_number(const SmallFormat &format) {
    const int exponent = static_cast<int>((1u << (format.exponent - 1)) - 1);
    return std::ldexp(2 - std::ldexp(1.0, -static_cast<int>(format.mantissa)), exponent);
}

/// .satfinite: a number larger than the largest one becomes the largest. Narrowing does not change
/// it, because numbers of the destination are not rounded; NaN stays NaN. For the other formats the
/// narrowing does this.
Value *limit_to_finite(Emitter &e, Value *real, Scalar type) {
    const SmallFormat *format = small_format(type);
    if (!format || format->bits == 8)
        return real;
    const double largest = largest_number(*format);
    Value *high = e.real(real, largest), *low = e.real(real, -largest);
    real = e.ir.CreateSelect(e.ir.CreateFCmpOGT(real, high), high, real);
    return e.ir.CreateSelect(e.ir.CreateFCmpOLT(real, low), low, real);
}

/// cvt.f16.f64 alone keeps the sign and the first bits of a NaN, and makes it quiet. `narrowed` is
/// the result for numbers.
Value *with_kept_nan(Emitter &e, Value *narrowed, Value *real) {
    Value *raw = e.as_int(real);
    Value *sign = e.ir.CreateAnd(e.ir.CreateLShr(raw, 48), e.integer(raw, 0x8000));
    Value *payload = e.ir.CreateAnd(e.ir.CreateLShr(raw, 42), e.integer(raw, 0x1ff));
    Value *kept = e.ir.CreateOr(e.ir.CreateOr(sign, payload), e.integer(raw, 0x7e00));
    return e.ir.CreateSelect(e.is_nan(real), e.resize(kept, 16), narrowed);
}

/// `real` (float or double) rounded to the destination.
Value *to_destination(Emitter &e, const Operation &op, Value *real) {
    const Rounding rounding = op.attributes.rounding;
    const bool wide = Emitter::bits(real) == 64;
    if (const SmallFormat *format = small_format(op.type)) {
        Value *narrowed = narrow(e, wide ? to_single_odd(e, real) : real, *format, rounding);
        return wide && op.type == Scalar::F16 ? with_kept_nan(e, narrowed, real) : narrowed;
    }
    if (op.type == Scalar::F64)
        return wide ? real : e.ir.CreateFPExt(real, e.float_type(real, 64));
    Value *single = wide ? to_single(e, real, rounding) : real;
    if (op.type == Scalar::TF32)
        return narrow_tf32(e, single, rounding, op.attributes.satfinite);
    return op.attributes.ftz ? e.flush(single) : single;
}

Value *float_to_float(Emitter &e, const Operation &op, Value *value) {
    Value *real = round_to_integral(e, real_source(e, op, value), op.attributes.rounding);
    // Limits at 0 and 1 may come before rounding: both bounds are numbers of every type.
    if (op.attributes.relu)
        real = e.relu(real);
    if (op.attributes.saturate)
        real = e.saturate(real);
    if (op.attributes.satfinite)
        real = limit_to_finite(e, real, op.type);
    return to_destination(e, op, real);
}

} // namespace

Value *emit_convert(Emitter &e, const Operation &op) {
    const bool from_float = ir::is_floating(op.attributes.source_type);
    const bool to_float = ir::is_floating(op.type);
    Value *value = op.operands[0];
    if (from_float)
        return to_float ? float_to_float(e, op, value) : float_to_integer(e, op, value);
    if (!to_float)
        return integer_to_integer(e, op, value);
    Value *real = integer_to_float(e, op, value);
    if (!op.attributes.saturate)
        return real;
    // The limits are exact on the result: 0 and 1 are numbers of every type.
    if (const SmallFormat *format = small_format(op.type))
        return narrow(e, e.saturate(widen(e, real, *format)), *format, Rounding::Nearest);
    return e.saturate(real);
}

Value *emit_convert_pair(Emitter &e, const Operation &op) {
    const SmallFormat *format = small_format(op.attributes.type);
    if (!format)
        refuse(op, "cvt to pairs makes f16x2, bf16x2, e4m3x2 and e5m2x2");
    Value *parts[2];
    for (unsigned i = 0; i < 2; ++i) {
        Value *real = real_source(e, op, op.operands[i]);
        if (op.attributes.relu)
            real = e.relu(real);
        if (op.attributes.satfinite)
            real = limit_to_finite(e, real, op.attributes.type);
        parts[i] = e.resize(narrow(e, real, *format, op.attributes.rounding), 2 * format->bits);
    }
    return e.ir.CreateOr(e.ir.CreateShl(parts[0], format->bits),
                         parts[1]); // the first is the high half
}

/// cvt.pack.sat: a and b, limited to `type`, above the low half of c (or alone, for 16-bit types).
Value *emit_convert_pack(Emitter &e, const Operation &op) {
    const Scalar to = op.attributes.type;
    const unsigned bits = ir::bits(to);
    const auto clamped = [&](Value *value) {
        return e.resize(e.resize(saturate_integer(e, value, Scalar::S32, to), bits), 32);
    };
    Value *pair =
        e.ir.CreateOr(e.ir.CreateShl(clamped(op.operands[0]), bits), clamped(op.operands[1]));
    if (bits == 16)
        return pair;
    Value *rest = e.ir.CreateShl(op.operands[2], 2 * bits);
    return e.ir.CreateOr(rest, pair);
}

} // namespace softcuda::vector_math
