// elementwise_convert.cpp -- reference results of cvt between all types.
#include "elementwise_cases.h"

#include <algorithm>
#include <cfenv>
#include <cmath>

namespace test {

namespace {

using softcuda::ir::Rounding;
using Wide = __int128;

constexpr Scalar kIntegers[] = {Scalar::U8,  Scalar::S8,  Scalar::U16, Scalar::S16,
                                Scalar::U32, Scalar::S32, Scalar::U64, Scalar::S64};

constexpr std::pair<Rounding, int> kModes[] = {{Rounding::Nearest, FE_TONEAREST},
                                               {Rounding::Zero, FE_TOWARDZERO},
                                               {Rounding::Down, FE_DOWNWARD},
                                               {Rounding::Up, FE_UPWARD}};
constexpr std::pair<Rounding, int> kIntegralModes[] = {{Rounding::IntNearest, FE_TONEAREST},
                                                       {Rounding::IntZero, FE_TOWARDZERO},
                                                       {Rounding::IntDown, FE_DOWNWARD},
                                                       {Rounding::IntUp, FE_UPWARD}};

const Format &format_of(Scalar type) { return type == Scalar::F16 ? kF16 : kBf16; }

Wide number(Bits bits, Scalar type) {
    const unsigned width = softcuda::ir::bits(type);
    const Wide value = static_cast<Wide>(bits & ~Bits{0} >> (64 - width));
    const bool negative = softcuda::ir::is_signed(type) && (bits >> (width - 1) & 1);
    return negative ? value - (Wide{1} << width) : value;
}

std::pair<Wide, Wide> range(Scalar type) {
    const unsigned width = softcuda::ir::bits(type);
    if (softcuda::ir::is_signed(type))
        return {-(Wide{1} << (width - 1)), (Wide{1} << (width - 1)) - 1};
    return {0, (Wide{1} << width) - 1};
}

double real(Bits bits, Scalar type) {
    if (type == Scalar::F64)
        return as_double(bits);
    return type == Scalar::F32 ? as_float(bits) : value_of(format_of(type), bits & 0xffff);
}

double flushed(double x, bool ftz) {
    return ftz && x != 0 && std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x;
}

float to_single(double x, int mode) {
    std::fesetround(mode);
    volatile double in = x;
    volatile float out = static_cast<float>(in);
    std::fesetround(FE_TONEAREST);
    return out;
}

/// A double as the bits of a floating-point type.
Bits rounded(double x, Scalar type, int mode) {
    if (type == Scalar::F64)
        return bits_of(x);
    if (type == Scalar::F32)
        return bits_of(to_single(x, mode));
    return round_to(format_of(type), x, mode);
}

/// The integer as a double, rounded to odd, so that it can be rounded again to fewer bits.
double odd_double(Wide value) {
    std::fesetround(FE_TOWARDZERO);
    std::feclearexcept(FE_INEXACT);
    volatile double high = static_cast<double>(static_cast<std::int64_t>(value >> 32)) * 0x1p32;
    volatile double low = static_cast<double>(static_cast<std::uint32_t>(value));
    volatile double sum = high + low;
    const bool inexact = std::fetestexcept(FE_INEXACT) != 0;
    std::fesetround(FE_TONEAREST);
    return inexact ? as_double(bits_of(static_cast<double>(sum)) | 1) : static_cast<double>(sum);
}

Bits integer_to_real(Wide value, Scalar type, int mode) {
    if (type != Scalar::F64)
        return rounded(odd_double(value), type, mode);
    std::fesetround(mode);
    volatile double high = static_cast<double>(static_cast<std::int64_t>(value >> 32)) * 0x1p32;
    volatile double low = static_cast<double>(static_cast<std::uint32_t>(value));
    volatile double sum = high + low;
    std::fesetround(FE_TONEAREST);
    return bits_of(static_cast<double>(sum) == 0 ? 0.0 : static_cast<double>(sum));
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

struct Conversions {
    std::vector<Case> cases;

    Case &add(Scalar from, Scalar to, Attributes attributes, std::function<Bits(Bits)> reference) {
        attributes.type = to;
        attributes.source_type = from;
        const Bits mask = ~Bits{0} >> (64 - softcuda::ir::bits(to));
        Case c{Opcode::Convert, attributes, {register_class(from)}, {register_class(to)}, {}};
        c.kinds = {from};
        c.reference = [=](Inputs in, Bits *out) { out[0] = reference(in[0]) & mask; };
        cases.push_back(std::move(c));
        return cases.back();
    }

    void integer_to_integer(Scalar from, Scalar to) {
        add(from, to, {}, [=](Bits x) { return static_cast<Bits>(number(x, from)); });
        Attributes saturate;
        saturate.saturate = true;
        add(from, to, saturate, [=](Bits x) {
            const auto [low, high] = range(to);
            return static_cast<Bits>(std::clamp(number(x, from), low, high));
        });
    }

    void integer_to_float(Scalar from, Scalar to) {
        for (const auto &[rounding, mode] : kModes) {
            if (mode != FE_TONEAREST && softcuda::ir::bits(from) < 32)
                continue;
            Attributes a;
            a.rounding = rounding;
            add(from, to, a,
                [=, mode = mode](Bits x) { return integer_to_real(number(x, from), to, mode); });
        }
    }

    void float_to_integer(Scalar from, Scalar to, bool ftz) {
        for (const auto &[rounding, mode] : kIntegralModes) {
            Attributes a;
            a.rounding = rounding;
            a.ftz = ftz;
            add(from, to, a, [=, mode = mode](Bits x) {
                const double value = integral(flushed(real(x, from), ftz), mode);
                const unsigned width = softcuda::ir::bits(to);
                if (std::isnan(value))
                    return from == Scalar::F64 || width == 64 ? Bits{1} << (width - 1) : Bits{0};
                const auto [low, high] = range(to);
                if (value >= std::ldexp(1.0, 100) || value <= -std::ldexp(1.0, 100))
                    return static_cast<Bits>(value > 0 ? high : low);
                return static_cast<Bits>(std::clamp(static_cast<Wide>(value), low, high));
            });
        }
    }

    void float_to_float(Scalar from, Scalar to, std::pair<Rounding, int> mode, bool ftz,
                        bool saturate, bool relu) {
        Attributes a;
        a.rounding = mode.first;
        a.ftz = ftz;
        a.saturate = saturate;
        a.relu = relu;
        add(from, to, a, [=](Bits x) {
            double value = real(x, from);
            // The sign and the first bits of a NaN are kept, as on an H200.
            if (from == Scalar::F64 && to == Scalar::F16 && std::isnan(value) && !saturate)
                return (x >> 48 & 0x8000) | 0x7e00 | (x >> 42 & 0x1ff);
            if (from == Scalar::F32)
                value = flushed(value, ftz);
            if (relu && value <= 0)
                value = 0;
            Bits bits = rounded(value, to, mode.second);
            if (to == Scalar::F32)
                bits = bits_of(static_cast<float>(flushed(as_float(bits), ftz)));
            const double result = real(bits, to);
            return saturate ? rounded(result > 0 ? std::min(result, 1.0) : 0, to, FE_TONEAREST)
                            : bits;
        });
    }

    void float_to_integral_float(Scalar type, bool ftz) {
        for (const auto &[rounding, mode] : kIntegralModes) {
            Attributes a;
            a.rounding = rounding;
            a.ftz = ftz;
            add(type, type, a, [=, mode = mode](Bits x) {
                return rounded(integral(flushed(real(x, type), ftz), mode), type, FE_TONEAREST);
            });
        }
    }

    void pairs(Scalar to, const Format &format, bool relu) {
        for (const auto &[rounding, mode] : kModes) {
            Attributes a;
            a.rounding = rounding;
            a.relu = relu;
            a.type = to;
            a.source_type = Scalar::F32;
            a.satfinite = format.bits == 8;
            Case c{Opcode::ConvertPair, a, {Type::F32, Type::F32}, {register_class(to)}, {}};
            c.reference = [=, mode = mode](Inputs in, Bits *out) {
                const auto part = [&](Bits bits) {
                    const double value = as_float(bits);
                    return round_to(format, relu && value <= 0 ? 0 : value, mode);
                };
                out[0] = part(in[0]) << format.bits | part(in[1]);
            };
            if (mode == FE_TONEAREST || (mode == FE_TOWARDZERO && format.bits == 16))
                cases.push_back(c);
        }
    }

    void tf32() {
        Attributes a;
        a.rounding = Rounding::NearestAway;
        add(Scalar::F32, Scalar::TF32, a, [](Bits x) {
            // A NaN is truncated, as on an H200.
            return (std::isnan(as_float(x)) ? x : x + 0x1000) & ~Bits{0x1fff};
        });
    }

    void packs() {
        for (const Scalar to : {Scalar::U16, Scalar::S16, Scalar::U8, Scalar::S8}) {
            Case c{Opcode::ConvertPack, {}, std::vector<Type>(3, Type::I32), {Type::I32}, {}};
            c.attributes.type = to;
            c.attributes.source_type = Scalar::S32;
            c.reference = [=](Inputs in, Bits *out) {
                const unsigned width = softcuda::ir::bits(to);
                const auto part = [&](Bits bits) {
                    const auto [low, high] = range(to);
                    return static_cast<Bits>(std::clamp(number(bits, Scalar::S32), low, high)) &
                           ~Bits{0} >> (64 - width);
                };
                out[0] = part(in[0]) << width | part(in[1]);
                if (width == 8)
                    out[0] |= (in[2] & 0xffff) << 16;
            };
            cases.push_back(c);
        }
    }

    void floats_to_floats() {
        const std::pair<Rounding, int> exact{Rounding::None, FE_TONEAREST};
        for (const auto &mode : kModes) {
            float_to_float(Scalar::F64, Scalar::F32, mode, false, false, false);
            float_to_float(Scalar::F64, Scalar::F32, mode, true, false, false);
            float_to_float(Scalar::F64, Scalar::F16, mode, false, false, false);
            float_to_float(Scalar::F64, Scalar::BF16, mode, false, false, false);
            for (const Scalar half : {Scalar::F16, Scalar::BF16}) {
                float_to_float(Scalar::F32, half, mode, false, false, false);
                float_to_float(Scalar::F32, half, mode, false, false, true);
                float_to_float(Scalar::F32, half, mode, true, true, false);
            }
        }
        for (const Scalar half : {Scalar::F16, Scalar::BF16})
            for (const Scalar to : {Scalar::F32, Scalar::F64})
                float_to_float(half, to, exact, false, false, false);
        float_to_float(Scalar::F32, Scalar::F64, exact, false, false, false);
        float_to_float(Scalar::F32, Scalar::F64, exact, true, false, false);
        float_to_float(Scalar::F32, Scalar::F32, exact, true, true, false);
        for (const Scalar type : {Scalar::F16, Scalar::F32, Scalar::F64})
            float_to_integral_float(type, false);
        float_to_integral_float(Scalar::F32, true);
    }
};

} // namespace

std::vector<Case> convert_cases() {
    Conversions t;
    for (const Scalar from : kIntegers) {
        for (const Scalar to : kIntegers)
            t.integer_to_integer(from, to);
        for (const Scalar to : {Scalar::F16, Scalar::BF16, Scalar::F32, Scalar::F64})
            t.integer_to_float(from, to);
    }
    for (const Scalar to : kIntegers) {
        for (const Scalar from : {Scalar::F16, Scalar::BF16, Scalar::F32, Scalar::F64})
            t.float_to_integer(from, to, false);
        t.float_to_integer(Scalar::F32, to, true);
    }
    t.floats_to_floats();
    for (const bool relu : {false, true}) {
        t.pairs(Scalar::F16x2, kF16, relu);
        t.pairs(Scalar::BF16x2, kBf16, relu);
        t.pairs(Scalar::E4M3x2, kFp8E4m3, relu);
        t.pairs(Scalar::E5M2x2, kFp8E5m2, relu);
    }
    t.tf32();
    t.packs();
    return t.cases;
}

} // namespace test
