// float_semantics.cpp -- floats of 16, 32 and 64 bits, computed by the host's own arithmetic.
//
// f32 and f64 are the host's types, in the rounding mode of the operation. f16 and bf16 are
// computed as doubles that are rounded *to odd*: an inexact result gets a lowest bit of one.
// Rounding such a double again to fewer bits gives the same result as one exact rounding. This file
// is compiled with -frounding-math; volatile variables keep an operation between the changes of the
// mode.
#include "ir/float_semantics.h"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <utility>

namespace softcuda::ir {

namespace {

using Bits = std::uint64_t;
using Inputs = std::span<const std::uint64_t>;
using Found = std::optional<Bits>;
using Wide = __int128;

// ---- numbers and their bits -----------------------------------------------------------------

struct HalfFormat {
    int exponent_bits, mantissa_bits;
};
constexpr HalfFormat kF16{5, 10}, kBf16{8, 7};
constexpr Bits kHalfNan = 0x7fff, kFloatNan = 0x7fffffff;

const HalfFormat &half_format(Scalar type) { return type == Scalar::F16 ? kF16 : kBf16; }
bool is_half(Scalar type) { return type == Scalar::F16 || type == Scalar::BF16; }
bool is_known(Scalar type) { return is_half(type) || type == Scalar::F32 || type == Scalar::F64; }

float as_float(Bits value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value)); }
double as_double(Bits value) { return std::bit_cast<double>(value); }
Bits bits_of(float value) {
    return std::isnan(value) ? kFloatNan : std::bit_cast<std::uint32_t>(value);
}
Bits bits_of(double value) { return std::bit_cast<Bits>(value); }

double half_value(const HalfFormat &format, Bits value) {
    const int bias = (1 << (format.exponent_bits - 1)) - 1;
    const Bits mantissa = value & ((Bits{1} << format.mantissa_bits) - 1);
    const int largest = (1 << format.exponent_bits) - 1;
    const int exponent = static_cast<int>(value >> format.mantissa_bits) & largest;
    const double sign = (value >> 15 & 1) != 0 ? -1 : 1;
    if (exponent == largest)
        return mantissa ? std::numeric_limits<double>::quiet_NaN()
                        : sign * std::numeric_limits<double>::infinity();
    const double fraction = std::ldexp(static_cast<double>(mantissa), -format.mantissa_bits);
    return sign *
           (exponent ? std::ldexp(1 + fraction, exponent - bias) : std::ldexp(fraction, 1 - bias));
}

/// Whether a magnitude between two neighbours goes to the upper one.
bool rounds_up(double rest, bool odd, bool negative, int mode) {
    switch (mode) {
    case FE_TONEAREST:
        return rest > 0.5 || (rest == 0.5 && odd);
    case FE_UPWARD:
        return rest > 0 && !negative;
    case FE_DOWNWARD:
        return rest > 0 && negative;
    default:
        return false;
    }
}

Bits half_bits(const HalfFormat &format, double value, int mode) {
    if (std::isnan(value))
        return kHalfNan;
    const int bias = (1 << (format.exponent_bits - 1)) - 1;
    const bool negative = std::signbit(value);
    const Bits sign = negative ? 0x8000 : 0;
    const Bits infinity = ((Bits{1} << format.exponent_bits) - 1) << format.mantissa_bits;
    const double size = std::fabs(value);
    if (std::isinf(size))
        return sign | infinity;
    // In units of the last place, which carry into the exponent by themselves.
    const int exponent = size == 0 ? 1 - bias : std::max(std::ilogb(size), 1 - bias);
    const double units = std::ldexp(size, format.mantissa_bits - exponent);
    double whole = std::floor(units);
    if (rounds_up(units - whole, std::fmod(whole, 2) == 1, negative, mode))
        whole += 1;
    const double total =
        static_cast<double>(static_cast<Bits>(exponent + bias - 1) << format.mantissa_bits) + whole;
    if (total < static_cast<double>(infinity))
        return sign | static_cast<Bits>(total);
    const bool stays = mode == FE_TOWARDZERO || (mode == FE_UPWARD && negative) ||
                       (mode == FE_DOWNWARD && !negative);
    return sign | (stays ? infinity - 1 : infinity);
}

double real(Bits value, Scalar type) {
    if (type == Scalar::F64)
        return as_double(value);
    return type == Scalar::F32 ? as_float(value) : half_value(half_format(type), value & 0xffff);
}

// ---- rounding -------------------------------------------------------------------------------

int mode_of(Rounding rounding) {
    switch (rounding) {
    case Rounding::Zero:
    case Rounding::IntZero:
        return FE_TOWARDZERO;
    case Rounding::Down:
    case Rounding::IntDown:
        return FE_DOWNWARD;
    case Rounding::Up:
    case Rounding::IntUp:
        return FE_UPWARD;
    default:
        return FE_TONEAREST;
    }
}

bool is_integral(Rounding rounding) {
    return rounding == Rounding::IntNearest || rounding == Rounding::IntZero ||
           rounding == Rounding::IntDown || rounding == Rounding::IntUp;
}

template <typename Float, typename Compute> Float in_mode(int mode, Compute compute) {
    std::fesetround(mode);
    volatile Float result = compute();
    std::fesetround(FE_TONEAREST);
    return result;
}

/// A double rounded to odd.
template <typename Compute> double to_odd(Compute compute) {
    std::fesetround(FE_TOWARDZERO);
    std::feclearexcept(FE_INEXACT);
    volatile double result = compute();
    const bool inexact = std::fetestexcept(FE_INEXACT) != 0;
    std::fesetround(FE_TONEAREST);
    const double cut = result;
    return inexact ? as_double(bits_of(cut) | 1) : cut;
}

float to_single(double value, int mode) {
    volatile double in = value;
    return in_mode<float>(mode, [&] { return static_cast<float>(in); });
}

Bits rounded(double value, Scalar type, int mode) {
    if (type == Scalar::F64)
        return bits_of(value);
    if (type == Scalar::F32)
        return bits_of(to_single(value, mode));
    return half_bits(half_format(type), value, mode);
}

template <typename Float> Float flushed(Float x, bool ftz) {
    const bool denormal = x != 0 && std::fabs(x) < static_cast<Float>(0x1p-126);
    return ftz && denormal ? std::copysign(Float(0), x) : x;
}

// ---- arithmetic of f32 and f64 --------------------------------------------------------------

template <typename Float> struct Operands {
    volatile Float x[3];
};

template <typename Float> Float arithmetic(Opcode opcode, const Operands<Float> &in) {
    switch (opcode) {
    case Opcode::Add:
        return in.x[0] + in.x[1];
    case Opcode::Sub:
        return in.x[0] - in.x[1];
    case Opcode::Mul:
        return in.x[0] * in.x[1];
    case Opcode::Div:
        return in.x[0] / in.x[1];
    case Opcode::Fma:
        return std::fma(Float(in.x[0]), Float(in.x[1]), Float(in.x[2]));
    case Opcode::Sqrt:
        return std::sqrt(Float(in.x[0]));
    default: // Rcp
        return 1 / in.x[0];
    }
}

float with_hardware_nan(float result, const Operands<float> &) { return result; }

/// A NaN of doubles is that of the first operand which is one, quieted, or the negative one that
/// the hardware makes. Processors choose others.
double with_hardware_nan(double result, const Operands<double> &in) {
    if (!std::isnan(result))
        return result;
    for (const volatile double &x : in.x)
        if (const double operand = x; std::isnan(operand))
            return as_double(bits_of(operand) | Bits{1} << 51);
    return as_double(0xfff8'0000'0000'0000);
}

/// .ftz on a result: a product or quotient is flushed by what 24 bits without a lower end of the
/// exponents would hold. The operation on numbers 2^64 times as large shows that.
template <typename Float>
Float flushed_result(Opcode opcode, int mode, Operands<Float> in, Float result) {
    if (opcode != Opcode::Mul && opcode != Opcode::Fma && opcode != Opcode::Div)
        return flushed(result, true);
    in.x[0] = in.x[0] * Float(0x1p64);
    if (opcode == Opcode::Fma)
        in.x[2] = in.x[2] * Float(0x1p64);
    const Float large = in_mode<Float>(mode, [&] { return arithmetic(opcode, in); });
    return std::fabs(large) < Float(0x1p-62) ? std::copysign(Float(0), result) : result;
}

float quieted(float result) { return result; } // has one NaN
double quieted(double result) {
    return std::isnan(result) ? as_double(bits_of(result) | Bits{1} << 51) : result;
}

template <typename Float> Float smaller_or_larger(bool minimum, Float a, Float b) {
    if (std::isnan(a))
        return quieted(b);
    if (std::isnan(b))
        return a;
    if (a == 0 && b == 0)
        return std::signbit(a) == minimum ? a : b;
    return (a < b) == minimum ? a : b;
}

template <typename Float> Float min_max(const Instruction &i, Float a, Float b) {
    const bool minimum = i.is(Opcode::Min);
    if (i.attributes.nan && (std::isnan(a) || std::isnan(b)))
        return std::numeric_limits<Float>::quiet_NaN();
    if (!i.attributes.xorsign_abs)
        return smaller_or_larger(minimum, a, b);
    const Float size = smaller_or_larger(minimum, std::fabs(a), std::fabs(b));
    return std::signbit(a) != std::signbit(b) ? -size : size;
}

bool compared(Compare how, double a, double b) {
    const bool nan = std::isnan(a) || std::isnan(b);
    switch (how) {
    case Compare::Eq:
        return a == b;
    case Compare::Ne:
        return !nan && a != b;
    case Compare::Lt:
        return a < b;
    case Compare::Le:
        return a <= b;
    case Compare::Gt:
        return a > b;
    case Compare::Ge:
        return a >= b;
    case Compare::Equ:
        return nan || a == b;
    case Compare::Neu:
        return nan || a != b;
    case Compare::Ltu:
        return nan || a < b;
    case Compare::Leu:
        return nan || a <= b;
    case Compare::Gtu:
        return nan || a > b;
    case Compare::Geu:
        return nan || a >= b;
    case Compare::Num:
        return !nan;
    case Compare::Nan:
        return nan;
    }
    return false;
}

template <typename Float> bool tested(Test test, Float x) {
    switch (test) {
    case Test::Finite:
        return std::isfinite(x);
    case Test::Infinite:
        return std::isinf(x);
    case Test::Number:
        return !std::isnan(x);
    case Test::NotNumber:
        return std::isnan(x);
    case Test::Normal: // zero counts, as on an H200
        return std::isnormal(x) || x == 0;
    case Test::Subnormal:
        return std::fpclassify(x) == FP_SUBNORMAL;
    }
    return false;
}

bool is_exact_arithmetic(const Instruction &i) {
    switch (i.opcode) {
    case Opcode::Add:
    case Opcode::Sub:
    case Opcode::Mul:
    case Opcode::Fma:
        return true;
    case Opcode::Div:
    case Opcode::Sqrt:
    case Opcode::Rcp:
        return i.attributes.precision == Precision::Exact;
    default:
        return false;
    }
}

template <typename Float> Float saturated(Float x) { return !(x > 0) ? 0 : x < 1 ? x : 1; }

/// neg, abs: a NaN of f64 keeps its sign and becomes quiet.
template <typename Float> Found sign_changed(const Instruction &i, Float x) {
    if (std::isnan(x) && sizeof(Float) == 8)
        return bits_of(x) | Bits{1} << 51;
    return bits_of(i.is(Opcode::Neg) ? -x : std::fabs(x));
}

template <typename Float> Found on_native(const Instruction &i, Inputs bits) {
    const Attributes &a = i.attributes;
    const bool ftz = a.ftz && sizeof(Float) == 4;
    Operands<Float> in{};
    for (std::size_t n = 0; n < bits.size() && n < 3; ++n)
        in.x[n] = flushed(static_cast<Float>(real(bits[n], a.type)), ftz);
    switch (i.opcode) {
    case Opcode::Compare:
        return compared(a.compare, in.x[0], in.x[1]);
    case Opcode::Testp:
        return tested<Float>(a.test, static_cast<Float>(real(bits[0], a.type)));
    case Opcode::Neg:
    case Opcode::Abs:
        return sign_changed<Float>(i, in.x[0]);
    case Opcode::Copysign: {
        const unsigned top = sizeof(Float) * 8 - 1;
        const Bits sign = Bits{1} << top, rest = sign - 1;
        return (bits[0] & sign) | (bits[1] & rest);
    }
    case Opcode::Min:
    case Opcode::Max:
        return bits_of(min_max<Float>(i, in.x[0], in.x[1]));
    default:
        break;
    }
    if (!is_exact_arithmetic(i))
        return std::nullopt;
    const int mode = mode_of(a.rounding);
    Float result = in_mode<Float>(mode, [&] { return arithmetic(i.opcode, in); });
    result = with_hardware_nan(result, in);
    if (ftz)
        result = flushed_result(i.opcode, mode, in, result);
    return bits_of(a.saturate ? saturated(result) : result);
}

// ---- arithmetic of f16 and bf16 -------------------------------------------------------------

Found on_half(const Instruction &i, Scalar type, Inputs bits) {
    const Attributes &a = i.attributes;
    const HalfFormat &format = half_format(type);
    const bool ftz = a.ftz && type == Scalar::F16;
    auto cut = [&](double x) {
        return ftz && x != 0 && std::fabs(x) < 0x1p-14 ? std::copysign(0.0, x) : x;
    };
    volatile double x[3] = {};
    for (std::size_t n = 0; n < bits.size() && n < 3; ++n)
        x[n] = cut(half_value(format, bits[n] & 0xffff));
    double result = 0;
    switch (i.opcode) {
    case Opcode::Add:
        result = to_odd([&] { return x[0] + x[1]; });
        break;
    case Opcode::Sub:
        result = to_odd([&] { return x[0] - x[1]; });
        break;
    case Opcode::Mul:
        result = x[0] * x[1];
        break;
    case Opcode::Fma: {
        volatile double product = x[0] * x[1]; // exact
        result = to_odd([&] { return product + x[2]; });
        break;
    }
    case Opcode::Neg:
    case Opcode::Abs:
        return half_bits(format, i.is(Opcode::Neg) ? -x[0] : std::fabs(double(x[0])), FE_TONEAREST);
    case Opcode::Min:
    case Opcode::Max:
        result = min_max<double>(i, x[0], x[1]);
        break;
    case Opcode::Compare:
        return compared(a.compare, x[0], x[1]);
    default:
        return std::nullopt;
    }
    // Eleven bits without a lower limit of the exponents round such a number to 2^-14.
    if (ftz && std::fabs(result) < 0x1p-14 * (1 - 0x1p-12))
        result = std::copysign(0.0, result);
    if (a.relu && result <= 0)
        result = 0;
    return half_bits(format, a.saturate ? saturated(result) : result, mode_of(a.rounding));
}

// ---- conversions ----------------------------------------------------------------------------

Wide number(Bits value, Scalar type) {
    const unsigned width = bits(type);
    const auto low = static_cast<Wide>(width >= 64 ? value : value & ((Bits{1} << width) - 1));
    const bool negative = is_signed(type) && (value >> (width - 1) & 1) != 0;
    return negative ? low - (Wide{1} << width) : low;
}

/// An integer of up to 64 bits as the sum of two doubles that are exact.
struct Halves {
    volatile double high, low;
    explicit Halves(Wide value)
        : high(static_cast<double>(static_cast<std::int64_t>(value >> 32)) * 0x1p32),
          low(static_cast<double>(static_cast<std::uint32_t>(value))) {}
    double sum() const { return high + low; }
};

Bits from_integer(const Attributes &a, Bits value) {
    const Halves parts(number(value, a.source_type));
    const int mode = mode_of(a.rounding);
    if (a.type != Scalar::F64)
        return rounded(to_odd([&] { return parts.sum(); }), a.type, mode);
    const double sum = in_mode<double>(mode, [&] { return parts.sum(); });
    return bits_of(sum == 0 ? 0.0 : sum);
}

double integral(double x, int mode) {
    switch (mode) {
    case FE_TONEAREST:
        return std::nearbyint(x);
    case FE_TOWARDZERO:
        return std::trunc(x);
    case FE_DOWNWARD:
        return std::floor(x);
    default:
        return std::ceil(x);
    }
}

Bits to_integer(const Attributes &a, Bits value) {
    const bool ftz = a.ftz && a.source_type == Scalar::F32;
    const double x = integral(flushed(real(value, a.source_type), ftz), mode_of(a.rounding));
    const unsigned width = bits(a.type);
    if (std::isnan(x))
        return a.source_type == Scalar::F64 || width == 64 ? Bits{1} << (width - 1) : 0;
    const Wide high = (Wide{1} << (is_signed(a.type) ? width - 1 : width)) - 1;
    const Wide low = is_signed(a.type) ? -high - 1 : 0;
    if (std::fabs(x) >= 0x1p100)
        return static_cast<Bits>(x > 0 ? high : low);
    return static_cast<Bits>(std::clamp(static_cast<Wide>(x), low, high));
}

/// A conversion that rounds nothing and changes no format is a move: a NaN keeps its bits.
bool is_move(const Attributes &a) {
    const bool same = a.type == a.source_type || a.source_type == Scalar::BF16;
    return same && a.type == Scalar::F32 && !a.ftz && !a.saturate && !a.relu &&
           a.rounding == Rounding::None;
}

Bits between_floats(const Attributes &a, Bits value) {
    if (is_move(a))
        return a.source_type == Scalar::BF16 ? (value & 0xffff) << 16 : value;
    double x = real(value, a.source_type);
    if (a.source_type == Scalar::F32)
        x = flushed(x, a.ftz);
    if (is_integral(a.rounding))
        x = integral(x, mode_of(a.rounding));
    if (a.relu && x <= 0)
        x = 0;
    if (std::isnan(x) && a.source_type == Scalar::F64 && a.type == Scalar::F32 && !a.saturate)
        return std::bit_cast<std::uint32_t>(static_cast<float>(x)); // keeps what fits of the NaN
    if (std::isnan(x) && a.source_type == Scalar::F64 && a.type == Scalar::F16 && !a.saturate)
        return (value >> 48 & 0x8000) | 0x7e00 | (value >> 42 & 0x1ff); // the same
    Bits made = rounded(x, a.type, is_integral(a.rounding) ? FE_TONEAREST : mode_of(a.rounding));
    if (a.type == Scalar::F32)
        made = bits_of(flushed(as_float(made), a.ftz));
    return a.saturate ? rounded(saturated(real(made, a.type)), a.type, FE_TONEAREST) : made;
}

Found convert(const Attributes &a, Bits value) {
    if (a.type == Scalar::TF32 && a.source_type == Scalar::F32 &&
        a.rounding == Rounding::NearestAway && !a.relu && !a.satfinite)
        return (std::isnan(as_float(value)) ? value : value + 0x1000) & 0xffffe000; // NaN is cut
    const bool from = is_floating(a.source_type), to = is_floating(a.type);
    if ((from && !is_known(a.source_type)) || (to && !is_known(a.type)) || a.satfinite ||
        a.rounding == Rounding::NearestAway)
        return std::nullopt;
    if (!from)
        return a.saturate || a.relu ? Found() : from_integer(a, value);
    return to ? between_floats(a, value) : to_integer(a, value);
}

/// The first operand is the high part.
Found convert_pair(const Attributes &a, Inputs x) {
    const Scalar element = packed_element(a.type);
    if (!is_half(element) || a.source_type != Scalar::F32 || a.satfinite || a.saturate)
        return std::nullopt;
    auto part = [&](Bits value) {
        const double number = flushed(double{as_float(value)}, a.ftz);
        return half_bits(half_format(element), a.relu && number <= 0 ? 0 : number,
                         mode_of(a.rounding));
    };
    return part(x[0]) << 16 | part(x[1]);
}

Found on_type(const Instruction &i, Scalar type, Inputs x) {
    if (type == Scalar::F32)
        return on_native<float>(i, x);
    if (type == Scalar::F64)
        return on_native<double>(i, x);
    return is_half(type) ? on_half(i, type, x) : std::nullopt;
}

/// Two halves, each by itself.
Found on_packed(const Instruction &i, Scalar element, Inputs x) {
    if (!is_half(element) || i.is(Opcode::Compare) || x.size() > 3)
        return std::nullopt;
    Bits result = 0;
    for (const unsigned at : {0u, 16u}) {
        Bits pieces[3] = {};
        std::ranges::transform(x, pieces, [&](Bits value) { return value >> at & 0xffff; });
        const Found made = on_half(i, element, Inputs(pieces).first(x.size()));
        if (!made)
            return std::nullopt;
        result |= (*made & 0xffff) << at;
    }
    return result;
}

} // namespace

Found evaluate_floats(const Instruction &i, Inputs x) {
    const Attributes &a = i.attributes;
    if (i.is(Opcode::Convert))
        return convert(a, x[0]);
    if (i.is(Opcode::ConvertPair))
        return convert_pair(a, x);
    const Scalar element = packed_element(a.type);
    return element == Scalar::None ? on_type(i, a.type, x) : on_packed(i, element, x);
}

Found add_floats(Scalar type, bool ftz, Bits a, Bits b) {
    Instruction sum;
    sum.opcode = Opcode::Add;
    sum.attributes.type = type;
    sum.attributes.ftz = ftz;
    const Bits operands[] = {a, b};
    return evaluate_floats(sum, operands);
}

} // namespace softcuda::ir
