// half.h -- rounding to the 16-bit floating-point types, which GCC 12 lacks.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace pycuda::detail {

/// To IEEE binary16, to nearest even.
inline std::uint16_t to_half(double value) noexcept {
    const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
    double magnitude = std::fabs(value);
    if (std::isnan(value))
        return sign | 0x7e00;
    if (magnitude >= 65520.0) // halfway between the largest and what would come next
        return sign | 0x7c00;
    int exponent = -14; // subnormals share the smallest exponent
    if (magnitude >= 0x1p-14)
        exponent = std::ilogb(magnitude);
    // In units of the last place; nearbyint rounds to even, and a carry runs into the exponent.
    auto units = static_cast<std::uint16_t>(std::nearbyint(std::scalbn(magnitude, 10 - exponent)));
    return static_cast<std::uint16_t>(sign | (((exponent + 14) << 10) + units));
}

/// To bfloat16, to nearest even.
inline std::uint16_t to_bfloat16(float value) noexcept {
    auto bits = std::bit_cast<std::uint32_t>(value);
    if (std::isnan(value))
        return static_cast<std::uint16_t>(bits >> 16 | 0x40);
    bits += 0x7fff + (bits >> 16 & 1);
    return static_cast<std::uint16_t>(bits >> 16);
}

} // namespace pycuda::detail
