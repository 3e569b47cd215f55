// elementwise_approx.cpp -- compares the approximate functions with double, within the manual's
// error bounds.
//
// Bounds of the PTX manual: rcp 1 ulp; sqrt 2^-23 relative; rsqrt 2^-22.9 relative; div.approx 2
// ulp, and zero for divisors above 2^126; div.full 2 ulp; ex2 2 ulp; lg2 2^-22 absolute in (0.5,
// 2), else relative; sin and cos 2^-20.5 absolute in [-2 pi, 2 pi]; tanh 2^-11 relative. f16: ex2
// 2^-9.9, tanh 2^-10.987; bf16: ex2 2^-7, tanh 2^-8.
#include "elementwise_cases.h"

#include <cfenv>
#include <cmath>

namespace test {

namespace {

using softcuda::ir::Precision;

double flushed(double x, bool ftz) {
    return ftz && x != 0 && std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x;
}

/// Error in units in the last place of the expected float.
double ulps(double got, double wanted) {
    const int exponent = std::max(wanted == 0 ? -126 : std::ilogb(wanted), -126);
    return std::fabs(got - wanted) / std::ldexp(1.0, exponent - 23);
}

using Near = std::function<bool(Inputs in, double got, double wanted)>;
using Function = std::function<double(std::span<const double>)>;

Near within_ulps(double bound) {
    return [=](Inputs, double got, double wanted) { return ulps(got, wanted) <= bound; };
}

Near within_relative(double bound) {
    return [=](Inputs, double got, double wanted) {
        return std::fabs(got - wanted) <= bound * std::max(std::fabs(wanted), 0x1p-126);
    };
}

struct Approximations {
    std::vector<Case> cases;

    /// f32, with and without .ftz. If the exact result is not finite, ours must not be.
    void add(Opcode opcode, unsigned operands, Function exact, Near near,
             Precision precision = Precision::Approx) {
        for (const bool ftz : {false, true}) {
            Case c{opcode, {}, std::vector<Type>(operands, Type::F32), {Type::F32}, {}};
            c.attributes.type = Scalar::F32;
            c.attributes.precision = precision;
            c.attributes.ftz = ftz;
            const auto compute = [=](Inputs in) {
                std::vector<double> x;
                for (const Bits bits : in)
                    x.push_back(flushed(as_float(bits), ftz));
                return exact(x);
            };
            c.reference = [=](Inputs in, Bits *out) {
                out[0] = bits_of(static_cast<float>(flushed(static_cast<float>(compute(in)), ftz)));
            };
            c.accept = [=](Inputs in, Bits got, Bits wanted) {
                const double value = as_float(got), exactly = compute(in);
                if (std::isnan(value) || std::isnan(exactly))
                    return false;
                // Special results, and the signs of zeros, must be exact.
                if (std::isinf(as_float(wanted)) || exactly == 0)
                    return std::isfinite(exactly) && std::fabs(exactly) > 0x1.fffff0p127 &&
                           std::fabs(value) >= 0x1.fffff0p127;
                if (ftz && std::fabs(exactly) < 0x1.00001p-126 && value == 0)
                    return true;
                return near(in, value, exactly);
            };
            cases.push_back(std::move(c));
        }
    }

    /// Only the upper 32 bits of a double are read and written.
    void add_double(Opcode opcode, std::function<double(double)> exact) {
        Case c{opcode, {}, {Type::F64}, {Type::F64}, {}};
        c.attributes.type = Scalar::F64;
        c.attributes.precision = Precision::Approx;
        c.attributes.ftz = true;
        c.reference = [=](Inputs in, Bits *out) {
            const double x = as_double(in[0]);
            out[0] = bits_of(exact(std::fabs(x) < 0x1p-1022 ? std::copysign(0.0, x) : x));
        };
        c.accept = [](Inputs in, Bits got, Bits wanted) {
            const double value = as_double(got), exactly = as_double(wanted);
            if (got & 0xffffffff)
                return false;
            if (std::isnan(as_double(in[0]))) // a NaN whose upper half is that of an infinity
                return (in[0] >> 32 & 0x7fffffff) == 0x7ff00000;
            if (std::fabs(exactly) < 0x1p-1021)
                return std::fabs(value) <= std::fabs(exactly) * (1 + 0x1p-18);
            return std::fabs(value - exactly) <= 0x1p-18 * std::fabs(exactly);
        };
        cases.push_back(c);
    }

    /// All bits of a double, without .ftz. `bound`: in units in the last place.
    void add_exact_double(Opcode opcode, std::function<long double(long double)> exact,
                          long double bound) {
        Case c{opcode, {}, {Type::F64}, {Type::F64}, {}};
        c.attributes.type = Scalar::F64;
        c.attributes.precision = Precision::Approx;
        c.reference = [=](Inputs in, Bits *out) {
            out[0] = bits_of(static_cast<double>(exact(as_double(in[0]))));
        };
        c.accept = [=](Inputs in, Bits got, Bits) {
            const long double exactly = exact(as_double(in[0]));
            const long double unit = std::ldexp(1.0L, std::ilogb(exactly) - 52);
            return std::fabs(as_double(got) - exactly) <= bound * unit;
        };
        cases.push_back(c);
    }

    void add_half(Opcode opcode, const Format &format, Scalar type, double bound,
                  std::function<double(double)> exact) {
        Case c{opcode, {}, {Type::I16}, {Type::I16}, {}};
        c.attributes.type = type;
        c.attributes.precision = Precision::Approx;
        c.kinds = {type};
        c.reference = [=](Inputs in, Bits *out) {
            out[0] = round_to(format, exact(value_of(format, in[0] & 0xffff)), FE_TONEAREST);
        };
        c.accept = [=](Inputs, Bits got, Bits wanted) {
            const double value = value_of(format, got), exactly = value_of(format, wanted);
            return std::fabs(value - exactly) <=
                   bound * std::max(std::fabs(exactly), type == Scalar::F16 ? 0x1p-14 : 0x1p-126);
        };
        cases.push_back(c);
    }
};

/// The manual's error bound for lg2: absolute near one, else relative.
bool near_log2(Inputs in, double got, double wanted) {
    const double x = as_float(in[0]);
    const double bound = x > 0.5 && x < 2 ? 0x1p-22 : 0x1p-22 * std::fabs(wanted);
    return std::fabs(got - wanted) <= bound;
}

/// Beyond 2 pi, the manual's error bound grows with the argument; for large arguments, only the
/// range is guaranteed.
bool near_wave(Inputs in, double got, double wanted) {
    const double x = std::fabs(as_float(in[0]));
    if (x > 1000)
        return std::fabs(got) <= 1;
    return std::fabs(got - wanted) <= (x <= 6.2832 ? 0x1.6a09e6p-21 : 0x1.3b2c48p-15);
}

double divided(std::span<const double> x) {
    if (std::fabs(x[1]) > 0x1p126 && std::isfinite(x[1])) // the reciprocal is flushed
        return std::isinf(x[0]) || std::isnan(x[0])
                   ? NAN
                   : std::copysign(0.0, x[0]) * std::copysign(1.0, x[1]);
    return x[0] / x[1];
}

} // namespace

std::vector<Case> approx_cases() {
    Approximations t;
    t.add(Opcode::Rcp, 1, [](auto x) { return 1 / x[0]; }, within_ulps(1));
    t.add(Opcode::Sqrt, 1, [](auto x) { return std::sqrt(x[0]); }, within_relative(0x1p-23));
    t.add(
        Opcode::Rsqrt, 1, [](auto x) { return 1 / std::sqrt(x[0]); },
        within_relative(0x1.1249ecp-23)); // 2^-22.9
    t.add(Opcode::Ex2, 1, [](auto x) { return std::exp2(x[0]); }, within_ulps(2));
    t.add(Opcode::Lg2, 1, [](auto x) { return std::log2(x[0]); }, near_log2);
    t.add(Opcode::Sin, 1, [](auto x) { return std::sin(x[0]); }, near_wave);
    t.add(Opcode::Cos, 1, [](auto x) { return std::cos(x[0]); }, near_wave);
    t.add(Opcode::Tanh, 1, [](auto x) { return std::tanh(x[0]); }, within_relative(0x1p-11));
    t.add(Opcode::Div, 2, divided, within_ulps(2));
    t.add(Opcode::Div, 2, [](auto x) { return x[0] / x[1]; }, within_ulps(2), Precision::Full);
    t.add_double(Opcode::Rcp, [](double x) { return 1 / x; });
    t.add_double(Opcode::Rsqrt, [](double x) { return 1 / std::sqrt(x); });
    // The programming guide allows 1 ulp, and an H200 stays below 0.51.
    t.add_exact_double(Opcode::Rsqrt, [](long double x) { return 1 / std::sqrt(x); }, 0.51L);
    const auto exp2 = [](double x) { return std::exp2(x); };
    const auto tanh = [](double x) { return std::tanh(x); };
    t.add_half(Opcode::Ex2, kF16, Scalar::F16, 0x1.12p-10, exp2); // 2^-9.9
    t.add_half(Opcode::Ex2, kBf16, Scalar::BF16, 0x1p-7, exp2);
    t.add_half(Opcode::Tanh, kF16, Scalar::F16, 0x1.02p-11, tanh); // 2^-10.987
    t.add_half(Opcode::Tanh, kBf16, Scalar::BF16, 0x1p-8, tanh);
    return t.cases;
}

} // namespace test
