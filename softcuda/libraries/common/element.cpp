// element.cpp -- conversions between element types.
#include "element.h"

#include "failure.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace softlib {
namespace {

struct BFloat {
    std::uint16_t bits;
    [[nodiscard]] float value() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
    static BFloat from(float value) {
        const auto word = std::bit_cast<std::uint32_t>(value);
        if (value != value)
            return {static_cast<std::uint16_t>((word >> 16) | 0x40)};
        return {static_cast<std::uint16_t>((word + 0x7fff + ((word >> 16) & 1)) >> 16)};
    }
};

/// A number of 8 bits: `mantissa` bits of fraction. E4M3 has no infinity and one NaN; E5M2 has
/// both as IEEE has them. Values that are too large saturate.
template <int mantissa> struct Float8 {
    std::uint8_t bits;

    static constexpr int bias = mantissa == 3 ? 7 : 15;
    static constexpr float largest = mantissa == 3 ? 448.0F : 57344.0F;

    [[nodiscard]] float value() const {
        const int exponent = (bits & 0x7f) >> mantissa;
        const int fraction = bits & ((1 << mantissa) - 1);
        float size = 0;
        if (mantissa == 3 && (bits & 0x7f) == 0x7f)
            size = std::numeric_limits<float>::quiet_NaN();
        else if (mantissa == 2 && exponent == 31)
            size = fraction != 0 ? std::numeric_limits<float>::quiet_NaN()
                                 : std::numeric_limits<float>::infinity();
        else if (exponent == 0)
            size = std::ldexp(static_cast<float>(fraction), 1 - bias - mantissa);
        else
            size = std::ldexp(static_cast<float>(fraction + (1 << mantissa)),
                              exponent - bias - mantissa);
        return (bits & 0x80) != 0 ? -size : size;
    }
    static Float8 from(float value) {
        const auto sign = static_cast<std::uint8_t>(std::signbit(value) ? 0x80 : 0);
        if (value != value)
            return {static_cast<std::uint8_t>(sign | 0x7f)};
        const float size = std::min(std::fabs(value), largest);
        int exponent = 0;
        std::frexp(size, &exponent); // size = f * 2^exponent, 0.5 <= f < 1
        const int unit = std::max(exponent - 1, 1 - bias) - mantissa;
        const auto steps = static_cast<int>(std::nearbyint(std::ldexp(size, -unit)));
        // Steps above 2^mantissa carry into the exponent's bits.
        const int field = unit + mantissa + bias - 1;
        return {static_cast<std::uint8_t>(sign | ((field << mantissa) + steps))};
    }
};

template <class T> struct Plain {
    T number;
    [[nodiscard]] auto value() const { return number; }
    template <class Wide> static Plain from(Wide value) {
        if constexpr (std::is_integral_v<T>) {
            if (value != value)
                return {0};
            const double rounded = std::nearbyint(static_cast<double>(value));
            return {static_cast<T>(std::clamp(rounded,
                                              static_cast<double>(std::numeric_limits<T>::min()),
                                              static_cast<double>(std::numeric_limits<T>::max())))};
        } else {
            return {static_cast<T>(value)};
        }
    }
};

/// Calls `action` with a value of the struct that converts elements of this type.
template <class Action> void with_type(ElementType type, Action action) {
    switch (type) {
    case ElementType::Float32:
    case ElementType::Complex64:
        return action(Plain<float>{});
    case ElementType::Float64:
    case ElementType::Complex128:
        return action(Plain<double>{});
    case ElementType::Float16:
    case ElementType::Complex32:
        return action(Half{});
    case ElementType::BFloat16:
    case ElementType::ComplexBFloat16:
        return action(BFloat{});
    case ElementType::Int8:
        return action(Plain<std::int8_t>{});
    case ElementType::Uint8:
        return action(Plain<std::uint8_t>{});
    case ElementType::Int32:
        return action(Plain<std::int32_t>{});
    case ElementType::Float8E4M3:
        return action(Float8<3>{});
    case ElementType::Float8E5M2:
        return action(Float8<2>{});
    }
    throw Failure(statuses.not_supported, "an unknown element type");
}

template <class Wide>
void widen_to(ElementType from, const void *source, Wide *to, std::int64_t count) {
    with_type(from, [&]<class Element>(Element) {
        const auto *elements = static_cast<const Element *>(source);
        for (std::int64_t i = 0; i < count; ++i)
            to[i] = static_cast<Wide>(elements[i].value());
    });
}

template <class Wide>
void narrow_from(ElementType to, const Wide *source, void *target, std::int64_t count) {
    with_type(to, [&]<class Element>(Element) {
        auto *elements = static_cast<Element *>(target);
        for (std::int64_t i = 0; i < count; ++i) {
            if constexpr (requires { Element::from(source[i]).number; })
                elements[i] = Element::from(source[i]);
            else
                elements[i] = Element::from(static_cast<float>(source[i]));
        }
    });
}

} // namespace

float Half::value() const noexcept {
    // The exponent's bias differs by 112; a product with 2^112 also normalises small numbers.
    const std::uint32_t word = (bits & 0x7fffU) << 13;
    const float scaled = std::bit_cast<float>(word) * 0x1p112F;
    std::uint32_t result = std::bit_cast<std::uint32_t>(scaled);
    if ((bits & 0x7c00) == 0x7c00)
        result = word | 0x7f800000U;
    return std::bit_cast<float>(result | (bits & 0x8000U) << 16);
}

Half Half::from(float value) noexcept {
    const auto word = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>((word >> 16) & 0x8000U);
    const std::uint32_t size = word & 0x7fffffffU;
    if (size > 0x7f800000U)
        return {static_cast<std::uint16_t>(sign | 0x7e00U | ((size >> 13) & 0x3ffU))};
    if (size >= 0x477ff000U) // rounds to infinity
        return {static_cast<std::uint16_t>(sign | 0x7c00U)};
    if (size < 0x38800000U) { // zero or subnormal: the addition rounds
        const float shifted = std::bit_cast<float>(size) + 0.5F;
        return {static_cast<std::uint16_t>(sign |
                                           (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000U))};
    }
    const std::uint32_t rounded = size - 0x38000000U + 0xfffU + ((size >> 13) & 1U);
    return {static_cast<std::uint16_t>(sign | (rounded >> 13))};
}

std::size_t size_of(ElementType type) noexcept {
    switch (type) {
    case ElementType::Int8:
    case ElementType::Uint8:
    case ElementType::Float8E4M3:
    case ElementType::Float8E5M2:
        return 1;
    case ElementType::Float16:
    case ElementType::BFloat16:
        return 2;
    case ElementType::Float32:
    case ElementType::Int32:
    case ElementType::Complex32:
    case ElementType::ComplexBFloat16:
        return 4;
    case ElementType::Float64:
    case ElementType::Complex64:
        return 8;
    case ElementType::Complex128:
        return 16;
    }
    return 0;
}

bool is_complex_type(ElementType type) noexcept {
    return type == ElementType::Complex32 || type == ElementType::Complex64 ||
           type == ElementType::Complex128 || type == ElementType::ComplexBFloat16;
}

void widen(ElementType from, const void *source, float *to, std::int64_t count) {
    widen_to(from, source, to, count);
}
void widen(ElementType from, const void *source, double *to, std::int64_t count) {
    widen_to(from, source, to, count);
}
void narrow_to(ElementType to, const float *source, void *target, std::int64_t count) {
    narrow_from(to, source, target, count);
}
void narrow_to(ElementType to, const double *source, void *target, std::int64_t count) {
    narrow_from(to, source, target, count);
}

} // namespace softlib
