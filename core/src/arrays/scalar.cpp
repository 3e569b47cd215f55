// scalar.cpp -- numbers of the host, and their conversion to the bytes of any type.
#include <pycuda/scalar.h>

#include "launch/half.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>

namespace pycuda {
namespace {

template <class T> T load(const void *bytes) noexcept {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

template <class T> void store(void *bytes, T value) noexcept {
    std::memcpy(bytes, &value, sizeof value);
}

double half_value(std::uint16_t bits) noexcept {
    const int exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
    const double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 0x1f)
        return fraction ? std::numeric_limits<double>::quiet_NaN()
                        : sign * std::numeric_limits<double>::infinity();
    return sign *
           (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25));
}

float bfloat16_value(std::uint16_t bits) noexcept {
    return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

} // namespace

Scalar Scalar::integer(std::int64_t value, bool weak, ScalarType type) noexcept {
    Scalar scalar;
    scalar.kind_ = Kind::Integer;
    scalar.weak_ = weak;
    scalar.type_ = type;
    scalar.integer_ = value;
    return scalar;
}

Scalar Scalar::large(std::uint64_t value, bool weak, ScalarType type) noexcept {
    Scalar scalar = integer(static_cast<std::int64_t>(value), weak, type);
    if (scalar.integer_ < 0)
        scalar.kind_ = Kind::LargeInteger;
    return scalar;
}

Scalar Scalar::weak_beyond_64_bits(double nearest) noexcept {
    Scalar scalar = integer(0, true, ScalarType::Int64);
    scalar.kind_ = Kind::HugeInteger;
    scalar.re_ = nearest;
    return scalar;
}

Scalar Scalar::real(double value, bool weak, ScalarType type) noexcept {
    return complex(value, 0, weak, type);
}

Scalar Scalar::complex(double re, double im, bool weak, ScalarType type) noexcept {
    Scalar scalar;
    scalar.kind_ = is_complex(type) ? Kind::Complex : Kind::Real;
    scalar.weak_ = weak;
    scalar.type_ = type;
    scalar.re_ = re;
    scalar.im_ = im;
    return scalar;
}

Scalar Scalar::from_bytes(ScalarType type, const void *bytes) noexcept {
    if (is_integer(type)) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, bytes, item_size(type));
        if (type_class(type) == TypeClass::Unsigned)
            return large(bits, false, type);
        const std::size_t unused = 64 - 8 * item_size(type);
        return integer(static_cast<std::int64_t>(bits << unused) >> unused, false, type);
    }
    switch (type) {
    case ScalarType::Bool:
        return of_bool(load<unsigned char>(bytes) != 0);
    case ScalarType::Float16:
        return real(half_value(load<std::uint16_t>(bytes)), false, type);
    case ScalarType::BFloat16:
        return real(bfloat16_value(load<std::uint16_t>(bytes)), false, type);
    case ScalarType::Float32:
        return real(load<float>(bytes), false, type);
    case ScalarType::Float64:
        return real(load<double>(bytes), false, type);
    case ScalarType::Complex64: {
        const auto parts = load<std::array<float, 2>>(bytes);
        return complex(parts[0], parts[1], false, type);
    }
    case ScalarType::Complex128: {
        const auto parts = load<std::array<double, 2>>(bytes);
        return complex(parts[0], parts[1], false, type);
    }
    default:
        return {};
    }
}

double Scalar::as_double() const noexcept {
    if (kind_ == Kind::Integer)
        return static_cast<double>(integer_);
    if (kind_ == Kind::LargeInteger)
        return static_cast<double>(static_cast<std::uint64_t>(integer_));
    return re_;
}

bool Scalar::fits(ScalarType type) const noexcept {
    if (kind_ == Kind::Real || kind_ == Kind::Complex)
        return true;
    if (!is_integer(type))
        return true;
    const bool is_signed = type_class(type) == TypeClass::Signed;
    const std::size_t bits = 8 * item_size(type);
    if (kind_ != Kind::Integer)
        return kind_ == Kind::LargeInteger && !is_signed && bits == 64;
    const std::int64_t beyond = integer_ >> (is_signed ? bits - 1 : bits % 64);
    if (is_signed) // the bits beyond the type are copies of the sign
        return beyond == 0 || beyond == -1;
    return integer_ >= 0 && (bits == 64 || beyond == 0);
}

void Scalar::check_assignable(ScalarType type) const {
    if (!weak_ || kind_ != Kind::Real || !is_integer(type))
        return;
    if (std::isnan(re_))
        throw std::invalid_argument("cannot convert float NaN to " + std::string(numpy_name(type)));
    // Both bounds are zero or powers of two, so they are exact as doubles.
    const bool is_signed = type_class(type) == TypeClass::Signed;
    const int bits = static_cast<int>(8 * item_size(type));
    const double high = std::ldexp(1.0, is_signed ? bits - 1 : bits);
    const double whole = std::trunc(re_);
    if (whole < (is_signed ? -high : 0.0) || whole >= high)
        throw ScalarOverflow("Python float " + std::to_string(re_) + " out of bounds for " +
                             std::string(numpy_name(type)));
}

std::string Scalar::text() const {
    if (kind_ == Kind::Integer)
        return std::to_string(integer_);
    if (kind_ == Kind::LargeInteger)
        return std::to_string(static_cast<std::uint64_t>(integer_));
    char digits[32];
    std::snprintf(digits, sizeof digits, "%g", re_);
    return kind_ == Kind::HugeInteger ? "of more than 64 bits, about " + std::string(digits)
                                      : std::string(digits);
}

void Scalar::write(ScalarType type, void *bytes) const {
    if (weak_ && !fits(type))
        throw ScalarOverflow("Python integer " + text() + " out of bounds for " +
                             std::string(numpy_name(type)));
    if (kind_ == Kind::HugeInteger && std::isinf(re_) && !is_bool(type))
        throw ScalarOverflow("int too large to convert to float");
    const bool integral = kind_ == Kind::Integer || kind_ == Kind::LargeInteger;
    const double number = as_double();
    if (is_bool(type))
        return store<unsigned char>(bytes, integral ? integer_ != 0 : re_ != 0 || im_ != 0);
    if (is_integer(type)) { // the low bytes of the two's complement
        std::int64_t value = integral ? integer_
                             : type == ScalarType::UInt64 && number >= 0
                                 ? static_cast<std::int64_t>(static_cast<std::uint64_t>(number))
                                 : static_cast<std::int64_t>(number);
        std::memcpy(bytes, &value, item_size(type));
        return;
    }
    switch (type) {
    case ScalarType::Float16:
        return store(bytes, detail::to_half(number));
    case ScalarType::BFloat16:
        return store(bytes, detail::to_bfloat16(static_cast<float>(number)));
    case ScalarType::Float32:
        return store(bytes, static_cast<float>(number));
    case ScalarType::Float64:
        return store(bytes, number);
    case ScalarType::Complex64:
        return store(bytes, std::array{static_cast<float>(number), static_cast<float>(im_)});
    default:
        return store(bytes, std::array{number, im_});
    }
}

} // namespace pycuda
