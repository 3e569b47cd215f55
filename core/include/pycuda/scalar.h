// scalar.h -- one number on the host as an operand: a Python number, or a number with a type.
#pragma once

#include <pycuda/dtype.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace pycuda {

/// A Python int or float does not fit into the required type.
class ScalarOverflow : public std::overflow_error {
    using std::overflow_error::overflow_error;
};

/// A number with a type, or a weak number (a Python bool, int, float or complex), whose type
/// follows from the arrays of the operation.
class Scalar {
  public:
    Scalar() noexcept = default; ///< the bool false

    /// A Python int.
    static Scalar weak(std::int64_t value) noexcept {
        return integer(value, true, ScalarType::Int64);
    }
    /// A Python int that needs 64 bits without a sign.
    static Scalar weak(std::uint64_t value) noexcept {
        return large(value, true, ScalarType::UInt64);
    }
    /// A Python int of more than 64 bits, as the nearest double, which is infinite for an int
    /// that no double holds: a number for floats and complex numbers. Its type() is int64.
    static Scalar weak_beyond_64_bits(double nearest) noexcept;
    /// A Python float.
    static Scalar weak(double value) noexcept { return real(value, true, ScalarType::Float64); }
    /// A Python complex.
    static Scalar weak(double re, double im) noexcept {
        return complex(re, im, true, ScalarType::Complex128);
    }
    /// Reads a value of `type` from memory.
    static Scalar from_bytes(ScalarType type, const void *bytes) noexcept;
    /// A bool, which is not weak.
    static Scalar of_bool(bool value) noexcept { return integer(value, false, ScalarType::Bool); }
    /// A NumPy scalar of this type.
    static Scalar of(double value, ScalarType type) noexcept { return real(value, false, type); }

    /// Whether the type of an array wins in an operation with this scalar.
    bool is_weak() const noexcept { return weak_; }
    /// The type; for a weak number, the default type of its class: int64, float64, complex128.
    ScalarType type() const noexcept { return type_; }
    /// The class of a weak number: Signed, Float or Complex.
    TypeClass weak_class() const noexcept {
        return kind_ == Kind::Complex ? TypeClass::Complex
               : kind_ == Kind::Real  ? TypeClass::Float
                                      : TypeClass::Signed;
    }
    /// Whether the number, or the real part of a complex one, is less than 0.
    bool is_negative() const noexcept { return as_double() < 0; }
    /// Whether this is a Python int that no type of integers holds.
    bool is_beyond_64_bits() const noexcept { return kind_ == Kind::HugeInteger; }
    /// Whether an integer fits into `type`; true for other numbers.
    bool fits(ScalarType type) const noexcept;
    /// Throws if NumPy cannot assign the number to an element of `type`: ScalarOverflow for a float
    /// out of the range of an integer type, std::invalid_argument for NaN.
    void check_assignable(ScalarType type) const;
    /// The value as `type`, at most 16 bytes. Throws ScalarOverflow if a weak integer does not fit
    /// into an integer type.
    void write(ScalarType type, void *bytes) const;

  private:
    enum class Kind : std::uint8_t { Integer, LargeInteger, HugeInteger, Real, Complex };
    static Scalar integer(std::int64_t value, bool weak, ScalarType type) noexcept;
    static Scalar large(std::uint64_t value, bool weak, ScalarType type) noexcept;
    static Scalar real(double value, bool weak, ScalarType type) noexcept;
    static Scalar complex(double re, double im, bool weak, ScalarType type) noexcept;

    double as_double() const noexcept;
    std::string text() const;

    Kind kind_ = Kind::Integer;
    bool weak_ = false;
    ScalarType type_ = ScalarType::Bool;
    std::int64_t integer_ = 0; ///< the bits of a LargeInteger
    double re_ = 0;            ///< also of a HugeInteger
    double im_ = 0;
};

} // namespace pycuda
