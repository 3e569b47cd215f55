// half_test.cpp -- rounding to the 16-bit floating-point types.
#include "launch/half.h"

#include <gtest/gtest.h>

#include <limits>

namespace pycuda::detail {
namespace {

double from_half(std::uint16_t bits) {
    int exponent = bits >> 10 & 31;
    double mantissa = bits & 1023;
    double magnitude =
        exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
    return bits & 0x8000 ? -magnitude : magnitude;
}

TEST(Half, ConvertsEachHalfAndBackWithoutChange) {
    for (unsigned bits = 0; bits < 0x10000; ++bits)
        if ((bits & 0x7c00) != 0x7c00) {
            ASSERT_EQ(to_half(from_half(static_cast<std::uint16_t>(bits))), bits);
        }
}

TEST(Half, RoundsHalfwayToEven) {
    for (std::uint16_t bits = 0; bits < 0x7bff; ++bits) {
        double low = from_half(bits);
        double high = from_half(bits + 1);
        double middle = (low + high) / 2;
        ASSERT_EQ(to_half(middle), bits % 2 == 0 ? bits : bits + 1) << bits;
        ASSERT_EQ(to_half(std::nextafter(middle, low)), bits);
        ASSERT_EQ(to_half(std::nextafter(middle, high)), bits + 1);
    }
}

TEST(Half, HasInfinitiesAndNan) {
    EXPECT_EQ(to_half(65519.99), 0x7bff);
    EXPECT_EQ(to_half(65520), 0x7c00);
    EXPECT_EQ(to_half(-1e300), 0xfc00);
    EXPECT_EQ(to_half(std::numeric_limits<double>::quiet_NaN()) & 0x7e00, 0x7e00);
}

TEST(BFloat16, RoundsHalfwayToEven) {
    EXPECT_EQ(to_bfloat16(1.0f), 0x3f80);
    EXPECT_EQ(to_bfloat16(0x1.01p0f), 0x3f80); // halfway between two, down to even
    EXPECT_EQ(to_bfloat16(0x1.03p0f), 0x3f82); // halfway between two, up to even
    EXPECT_EQ(to_bfloat16(-0x1.0101p0f), 0xbf81);
    EXPECT_EQ(to_bfloat16(std::numeric_limits<float>::max()), 0x7f80);
    EXPECT_EQ(to_bfloat16(std::numeric_limits<float>::quiet_NaN()) & 0x7fc0, 0x7fc0);
}

} // namespace
} // namespace pycuda::detail
