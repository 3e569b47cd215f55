// element.h -- the element types of mixed-precision calls, and their conversion.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softlib {

/// The numbers of NVIDIA's cudaDataType that calls may have.
enum class ElementType {
    Float32 = 0,
    Float64 = 1,
    Float16 = 2,
    Int8 = 3,
    Complex64 = 4,
    Complex128 = 5,
    Complex32 = 6, ///< two Float16
    Uint8 = 8,
    Int32 = 10,
    BFloat16 = 14,
    ComplexBFloat16 = 15,
    Float8E4M3 = 28,
    Float8E5M2 = 29,
};

/// The bytes of an element; 0 for an unknown type.
[[nodiscard]] std::size_t size_of(ElementType type) noexcept;
[[nodiscard]] bool is_complex_type(ElementType type) noexcept;

/// An element as a float or a double, and back, rounded to the nearest even value. Integers
/// saturate. Complex types are converted as twice as many real elements.
void widen(ElementType from, const void *source, float *to, std::int64_t count);
void widen(ElementType from, const void *source, double *to, std::int64_t count);
void narrow_to(ElementType to, const float *source, void *target, std::int64_t count);
void narrow_to(ElementType to, const double *source, void *target, std::int64_t count);

/// An IEEE half-precision number.
struct Half {
    std::uint16_t bits;
    [[nodiscard]] float value() const noexcept;
    static Half from(float value) noexcept;
};

} // namespace softlib
