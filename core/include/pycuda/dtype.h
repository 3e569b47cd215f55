// dtype.h -- the types of elements, and the promotion of two types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pycuda {

/// The types of elements, in the order of NumPy's dtype.num. Opaque is any other element, such as a
/// struct.
enum class ScalarType : std::uint8_t {
    Bool,
    Int8,
    UInt8,
    Int16,
    UInt16,
    Int32,
    UInt32,
    Int64,
    UInt64,
    Float16,
    BFloat16,
    Float32,
    Float64,
    Complex64,
    Complex128,
    Opaque,
};
inline constexpr int scalar_type_count = 15; ///< without Opaque

/// Families of types, lowest first: a Python int is weak against Float, a float against Complex.
enum class TypeClass : std::uint8_t { Bool, Signed, Unsigned, Float, Complex, Opaque };

/// The family of a type.
TypeClass type_class(ScalarType type) noexcept;
std::size_t item_size(ScalarType type) noexcept; ///< 0 for Opaque
/// NumPy's name of the type: "float32".
std::string_view numpy_name(ScalarType type) noexcept;
/// The name of the type in generated CUDA C++: "float", array_complex<float>.
std::string_view cuda_name(ScalarType type) noexcept;

/// True for Bool.
inline bool is_bool(ScalarType type) noexcept { return type == ScalarType::Bool; }
/// True for signed and unsigned integers, not for Bool.
inline bool is_integer(ScalarType type) noexcept {
    return type_class(type) == TypeClass::Signed || type_class(type) == TypeClass::Unsigned;
}
/// True for real floats, also those of 16 bits.
inline bool is_float(ScalarType type) noexcept { return type_class(type) == TypeClass::Float; }
/// True for Complex64 and Complex128.
inline bool is_complex(ScalarType type) noexcept { return type_class(type) == TypeClass::Complex; }

/// The promoted type of two types by NumPy's rules (NEP 50). Neither is Opaque.
ScalarType promote(ScalarType a, ScalarType b) noexcept;
/// As above for a Python number of class `weak` (Bool, Signed, Float or Complex). The array's type
/// wins if its class is the same or higher.
ScalarType promote_weak(ScalarType type, TypeClass weak) noexcept;
/// The type of the parts of a complex type; other types are returned unchanged.
ScalarType real_type(ScalarType type) noexcept;
ScalarType
complex_type(ScalarType type) noexcept; ///< the complex type whose parts have this real type
/// The type in which functions such as exp() are computed: float16 for integers of 1 byte, float32
/// for 2 bytes, float64 for larger integers. Other types are returned unchanged.
ScalarType float_type(ScalarType type) noexcept;

/// NumPy's casting rules.
enum class Casting { No, Safe, SameKind, Unsafe };
/// Whether the rule `casting` permits a conversion from one type to another, as numpy.can_cast().
bool can_cast(ScalarType from, ScalarType to, Casting casting) noexcept;
/// NumPy's name: "same_kind".
std::string_view casting_name(Casting casting) noexcept;

/// The type of an array's elements: a number, or opaque bytes of a given size (structs).
class DType {
  public:
    /// The type of a number.
    DType(ScalarType type) noexcept // NOLINT: a number's type is a dtype
        : type_(type), size_(static_cast<std::uint32_t>(pycuda::item_size(type))) {}
    /// Elements of this many bytes, which operations copy but do not compute with. `name` is the
    /// program's name of the type, for errors, and must stay valid; null if there is none.
    static DType opaque(std::size_t bytes, const char *name = nullptr) noexcept {
        DType type(ScalarType::Opaque);
        type.size_ = static_cast<std::uint32_t>(bytes);
        type.name_ = name;
        return type;
    }

    /// The type of the number; Opaque for structs.
    ScalarType scalar() const noexcept { return type_; }
    /// In bytes.
    std::size_t item_size() const noexcept { return size_; }
    /// True for elements that are not numbers.
    bool is_opaque() const noexcept { return type_ == ScalarType::Opaque; }
    /// As NumPy prints it: "float32", "datetime64[s]". "void64" for opaque elements without a name.
    std::string name() const;
    /// Equal types of equal size. Names of opaque elements do not count.
    bool operator==(const DType &other) const noexcept {
        return type_ == other.type_ && size_ == other.size_;
    }

  private:
    ScalarType type_;
    std::uint32_t size_;
    const char *name_ = nullptr; ///< of opaque elements
};

} // namespace pycuda
