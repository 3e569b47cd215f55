// elementwise_half.cpp -- reference results of f16 and bf16: exact arithmetic, rounded once.
//
// Operands are small enough that products are exact in double. Sums are rounded to odd. Rounding
// them to 11 or 8 bits then gives the rounded exact sum.
#include "elementwise_cases.h"

#include <bit>
#include <cfenv>
#include <cmath>

namespace test {

namespace {

using softcuda::ir::Compare;

double odd_sum(double a, double b) {
    std::fesetround(FE_TOWARDZERO);
    std::feclearexcept(FE_INEXACT);
    volatile double x = a, y = b;
    volatile double sum = x + y;
    const bool inexact = std::fetestexcept(FE_INEXACT) != 0;
    std::fesetround(FE_TONEAREST);
    // When rounding towards zero, an exact zero has the sign of round-to-nearest: +0 unless both
    // are -0.
    return inexact ? as_double(bits_of(static_cast<double>(sum)) | 1) : static_cast<double>(sum);
}

struct Halves {
    std::vector<Case> cases;
    using Compute = std::function<double(std::span<const double>)>;

    static Scalar scalar(const Format &format) {
        return format.mantissa_bits == 10 ? Scalar::F16 : Scalar::BF16;
    }

    static double flushed(const Format &format, double x, bool ftz) {
        const double least = format.mantissa_bits == 10 ? 0x1p-14 : 0x1p-126;
        return ftz && x != 0 && std::fabs(x) < least ? std::copysign(0.0, x) : x;
    }

    /// One element's result bits.
    static Bits element(const Format &format, const Attributes &a, const Compute &compute,
                        std::span<const Bits> in) {
        std::vector<double> x;
        for (const Bits bits : in)
            x.push_back(flushed(format, value_of(format, bits & 0xffff), a.ftz));
        double result = compute(x);
        // Values this close to 2^-14 round to 2^-14 with 11 bits and no exponent limit.
        if (a.ftz && std::fabs(result) < 0x1p-14 * (1 - 0x1p-12))
            result = std::copysign(0.0, result);
        if (a.relu && result <= 0)
            result = 0;
        if (a.saturate)
            result = !(result > 0) ? 0 : std::min(result, 1.0);
        return round_to(format, result, FE_TONEAREST);
    }

    /// The operation on one element and on two packed.
    void add(Opcode opcode, const Format &format, unsigned operands, Attributes attributes,
             const Compute &compute) {
        Case one{opcode, attributes, std::vector<Type>(operands, Type::I16), {Type::I16}, {}};
        one.attributes.type = scalar(format);
        one.kinds.assign(operands, scalar(format));
        one.reference = [=](Inputs in, Bits *out) {
            out[0] = element(format, attributes, compute, in);
        };
        Case two{opcode, attributes, std::vector<Type>(operands, Type::I32), {Type::I32}, {}};
        two.attributes.type = scalar(format) == Scalar::F16 ? Scalar::F16x2 : Scalar::BF16x2;
        two.kinds.assign(operands, two.attributes.type);
        two.reference = [=](Inputs in, Bits *out) {
            std::vector<Bits> low, high;
            for (const Bits bits : in) {
                low.push_back(bits & 0xffff);
                high.push_back(bits >> 16 & 0xffff);
            }
            out[0] = element(format, attributes, compute, low) |
                     element(format, attributes, compute, high) << 16;
        };
        cases.push_back(std::move(one));
        cases.push_back(std::move(two));
    }

    void add_arithmetic(const Format &format) {
        for (const bool ftz : {false, true})
            for (const bool saturate : {false, true}) {
                if (format.mantissa_bits == 7 && (ftz || saturate))
                    continue;
                Attributes a;
                a.ftz = ftz;
                a.saturate = saturate;
                add(Opcode::Add, format, 2, a, [](auto x) { return odd_sum(x[0], x[1]); });
                add(Opcode::Sub, format, 2, a, [](auto x) { return odd_sum(x[0], -x[1]); });
                add(Opcode::Mul, format, 2, a, [](auto x) { return x[0] * x[1]; });
                add(Opcode::Fma, format, 3, a, [](auto x) { return odd_sum(x[0] * x[1], x[2]); });
            }
        Attributes relu;
        relu.relu = true;
        add(Opcode::Fma, format, 3, relu, [](auto x) { return odd_sum(x[0] * x[1], x[2]); });
        add(Opcode::Neg, format, 1, {}, [](auto x) { return -x[0]; });
        add(Opcode::Abs, format, 1, {}, [](auto x) { return std::fabs(x[0]); });
    }

    void add_min_max(const Format &format, bool minimum, bool nan) {
        Attributes a;
        a.nan = nan;
        add(minimum ? Opcode::Min : Opcode::Max, format, 2, a, [=](auto x) {
            if (nan && (std::isnan(x[0]) || std::isnan(x[1])))
                return double(NAN);
            if (std::isnan(x[0]) || std::isnan(x[1]))
                return std::isnan(x[0]) ? x[1] : x[0];
            if (x[0] == 0 && x[1] == 0)
                return std::signbit(x[0]) == minimum ? x[0] : x[1];
            return minimum ? std::min(x[0], x[1]) : std::max(x[0], x[1]);
        });
    }

    void add_comparisons(const Format &format) {
        for (const Compare how : {Compare::Eq, Compare::Lt, Compare::Geu, Compare::Nan}) {
            Case c{Opcode::Compare, {}, {Type::I16, Type::I16}, {Type::I1}, {}};
            c.attributes.type = scalar(format);
            c.attributes.compare = how;
            c.kinds.assign(2, scalar(format));
            c.reference = [=](Inputs in, Bits *out) {
                const double a = value_of(format, in[0] & 0xffff);
                const double b = value_of(format, in[1] & 0xffff);
                out[0] = how == Compare::Eq    ? a == b
                         : how == Compare::Lt  ? a < b
                         : how == Compare::Geu ? !(a < b)
                                               : std::isnan(a) || std::isnan(b);
            };
            cases.push_back(c);
        }
    }
};

} // namespace

std::vector<Case> half_cases() {
    Halves t;
    for (const Format &format : {kF16, kBf16}) {
        t.add_arithmetic(format);
        for (const bool minimum : {false, true})
            for (const bool nan : {false, true})
                t.add_min_max(format, minimum, nan);
        t.add_comparisons(format);
    }
    return t.cases;
}

} // namespace test
