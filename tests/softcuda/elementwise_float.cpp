// elementwise_float.cpp -- reference results of f32 and f64: the host's arithmetic in each rounding
// mode.
#include "elementwise_cases.h"

#include <cfenv>
#include <cmath>
#include <limits>

namespace test {

namespace {

using softcuda::ir::Compare;
using softcuda::ir::Rounding;
using softcuda::ir::Test;

/// Runs `compute` in a rounding mode of <cfenv>; the volatile results prevent reordering.
template <typename Float, typename Compute> Float in_mode(int mode, Compute compute) {
    std::fesetround(mode);
    volatile Float result = compute();
    std::fesetround(FE_TONEAREST);
    return result;
}

constexpr std::pair<Rounding, int> kModes[] = {{Rounding::Nearest, FE_TONEAREST},
                                               {Rounding::Zero, FE_TOWARDZERO},
                                               {Rounding::Down, FE_DOWNWARD},
                                               {Rounding::Up, FE_UPWARD}};

template <typename Float> Float value(Bits bits) {
    if constexpr (sizeof(Float) == 4)
        return as_float(bits);
    else
        return as_double(bits);
}

template <typename Float> Float flushed(Float x, bool ftz) {
    const bool denormal = x != 0 && std::fabs(x) < std::numeric_limits<Float>::min();
    return ftz && denormal ? std::copysign(Float(0), x) : x;
}

template <typename Float> struct Floats {
    static constexpr bool single = sizeof(Float) == 4;
    static constexpr Scalar scalar = single ? Scalar::F32 : Scalar::F64;
    static constexpr Type type = single ? Type::F32 : Type::F64;
    using Compute = std::function<Float(std::span<const Float>)>;

    std::vector<Case> &cases;

    Case &add(Opcode opcode, unsigned operands, Attributes attributes, Compute compute,
              int mode = FE_TONEAREST) {
        attributes.type = scalar;
        Case c{opcode, attributes, std::vector<Type>(operands, type), {type}, {}};
        const bool ftz = attributes.ftz, saturate = attributes.saturate;
        c.reference = [=](Inputs in, Bits *out) {
            std::vector<Float> x;
            for (const Bits bits : in)
                x.push_back(flushed(value<Float>(bits), ftz));
            Float result = in_mode<Float>(mode, [&] { return compute(x); });
            result = ftz ? flushed_result(opcode, mode, compute, x, result) : result;
            if (saturate)
                result = !(result > 0) ? 0 : result < 1 ? result : 1;
            out[0] = bits_of(result);
        };
        cases.push_back(std::move(c));
        return cases.back();
    }

    /// A product or quotient is flushed if its rounding to 24 bits without an exponent limit is
    /// subnormal. The operation on larger numbers computes this rounding.
    static Float flushed_result(Opcode opcode, int mode, const Compute &compute,
                                std::vector<Float> x, Float result) {
        if (opcode != Opcode::Mul && opcode != Opcode::Fma && opcode != Opcode::Div)
            return flushed(result, true);
        x[0] *= Float(0x1p64);
        if (opcode == Opcode::Fma)
            x[2] *= Float(0x1p64);
        const Float large = in_mode<Float>(mode, [&] { return compute(x); });
        return std::fabs(large) < Float(0x1p-62) ? std::copysign(Float(0), result) : result;
    }

    /// One operation in all rounding modes, with .ftz and .sat.
    void add_rounded(Opcode opcode, unsigned operands, Compute compute) {
        for (const auto &[rounding, mode] : kModes) {
            Attributes attributes;
            attributes.rounding = rounding;
            add(opcode, operands, attributes, compute, mode);
            if (!single)
                continue;
            attributes.ftz = true;
            add(opcode, operands, attributes, compute, mode);
            attributes.saturate = true;
            add(opcode, operands, attributes, compute, mode);
        }
    }

    void add_arithmetic() {
        add_rounded(Opcode::Add, 2, [](auto x) { return x[0] + x[1]; });
        add_rounded(Opcode::Sub, 2, [](auto x) { return x[0] - x[1]; });
        add_rounded(Opcode::Mul, 2, [](auto x) { return x[0] * x[1]; });
        add_rounded(Opcode::Div, 2, [](auto x) { return x[0] / x[1]; });
        add_rounded(Opcode::Fma, 3, [](auto x) { return std::fma(x[0], x[1], x[2]); });
        add_rounded(Opcode::Sqrt, 1, [](auto x) { return std::sqrt(x[0]); });
        add_rounded(Opcode::Rcp, 1, [](auto x) { return 1 / x[0]; });
    }

    static Float pick(bool minimum, Float a, Float b) {
        if (std::isnan(a))
            return b;
        if (std::isnan(b))
            return a;
        if (a == 0 && b == 0)
            return std::signbit(a) == minimum ? a : b;
        return (a < b) == minimum ? a : b;
    }

    void add_min_max(Opcode opcode, bool ftz, bool nan, bool xorsign) {
        Attributes attributes;
        attributes.ftz = ftz;
        attributes.nan = nan;
        attributes.xorsign_abs = xorsign;
        const bool minimum = opcode == Opcode::Min;
        const auto compute = [=](std::span<const Float> x) {
            if (nan && (std::isnan(x[0]) || std::isnan(x[1])))
                return std::numeric_limits<Float>::quiet_NaN();
            if (!xorsign)
                return pick(minimum, x[0], x[1]);
            const Float size = pick(minimum, std::fabs(x[0]), std::fabs(x[1]));
            return std::signbit(x[0]) != std::signbit(x[1]) ? -size : size;
        };
        add(opcode, 2, attributes, compute);
        for (const Float constant : {Float(0), -Float(0), Float(1), Float(NAN)})
            for (const unsigned operand : {0u, 1u})
                add(opcode, 2, attributes, compute).constants[operand] = bits_of(constant);
    }

    void add_signs() {
        for (const bool ftz : {false, true}) {
            if (ftz && !single)
                continue;
            Attributes attributes;
            attributes.ftz = ftz;
            add(Opcode::Neg, 1, attributes, [](auto x) { return -x[0]; });
            add(Opcode::Abs, 1, attributes, [](auto x) { return std::fabs(x[0]); });
        }
        add(Opcode::Copysign, 2, {}, [](auto x) { return std::copysign(x[1], x[0]); });
    }

    void add_tests() {
        const auto test = [this](Test which, std::function<bool(Float)> reference) {
            Case c{Opcode::Testp, {}, {type}, {Type::I1}, {}};
            c.attributes.type = scalar;
            c.attributes.test = which;
            c.reference = [=](Inputs in, Bits *out) { out[0] = reference(value<Float>(in[0])); };
            cases.push_back(c);
        };
        test(Test::Finite, [](Float x) { return std::isfinite(x); });
        test(Test::Infinite, [](Float x) { return std::isinf(x); });
        test(Test::Number, [](Float x) { return !std::isnan(x); });
        test(Test::NotNumber, [](Float x) { return std::isnan(x); });
        test(Test::Normal, [](Float x) { return std::isnormal(x) || x == 0; });
        test(Test::Subnormal, [](Float x) { return std::fpclassify(x) == FP_SUBNORMAL; });
    }

    static bool compared(Compare how, Float a, Float b) {
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

    void add_comparisons(bool ftz) {
        for (unsigned i = 0; i < 14; ++i) {
            Case c{Opcode::Compare, {}, {type, type}, {Type::I1}, {}};
            c.attributes.type = scalar;
            c.attributes.compare = static_cast<Compare>(i);
            c.attributes.ftz = ftz;
            c.reference = [=](Inputs in, Bits *out) {
                out[0] = compared(static_cast<Compare>(i), flushed(value<Float>(in[0]), ftz),
                                  flushed(value<Float>(in[1]), ftz));
            };
            cases.push_back(c);
        }
    }

    void add_all() {
        add_arithmetic();
        for (const Opcode opcode : {Opcode::Min, Opcode::Max})
            add_min_max(opcode, false, false, false);
        if (single)
            for (const Opcode opcode : {Opcode::Min, Opcode::Max}) {
                add_min_max(opcode, true, false, false);
                add_min_max(opcode, false, true, false);
                add_min_max(opcode, false, false, true);
                add_min_max(opcode, true, true, true);
            }
        add_signs();
        add_tests();
        add_comparisons(false);
        if (single)
            add_comparisons(true);
    }
};

} // namespace

std::vector<Case> float_cases() {
    std::vector<Case> cases;
    Floats<float>{cases}.add_all();
    Floats<double>{cases}.add_all();
    return cases;
}

} // namespace test
