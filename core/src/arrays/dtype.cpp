// dtype.cpp -- the table of types, and NumPy's type promotion.
#include <pycuda/dtype.h>

#include <array>

namespace pycuda {
namespace {

struct TypeRow {
    TypeClass type_class;
    std::uint8_t size;
    std::string_view numpy_name;
    std::string_view cuda_name;
};

constexpr std::array<TypeRow, scalar_type_count + 1> rows = {{
    {TypeClass::Bool, 1, "bool", "bool"},
    {TypeClass::Signed, 1, "int8", "signed char"},
    {TypeClass::Unsigned, 1, "uint8", "unsigned char"},
    {TypeClass::Signed, 2, "int16", "short"},
    {TypeClass::Unsigned, 2, "uint16", "unsigned short"},
    {TypeClass::Signed, 4, "int32", "int"},
    {TypeClass::Unsigned, 4, "uint32", "unsigned"},
    {TypeClass::Signed, 8, "int64", "long long"},
    {TypeClass::Unsigned, 8, "uint64", "unsigned long long"},
    {TypeClass::Float, 2, "float16", "array_half"},
    {TypeClass::Float, 2, "bfloat16", "array_bfloat16"},
    {TypeClass::Float, 4, "float32", "float"},
    {TypeClass::Float, 8, "float64", "double"},
    {TypeClass::Complex, 8, "complex64", "array_complex<float>"},
    {TypeClass::Complex, 16, "complex128", "array_complex<double>"},
    {TypeClass::Opaque, 0, "void", ""},
}};

const TypeRow &row(ScalarType type) noexcept { return rows[static_cast<std::size_t>(type)]; }

ScalarType signed_of_size(std::size_t size) noexcept {
    return size == 1   ? ScalarType::Int8
           : size == 2 ? ScalarType::Int16
           : size == 4 ? ScalarType::Int32
           : size == 8
               ? ScalarType::Int64
               : ScalarType::Float64; // no integer type holds both uint64 and negative numbers
}

ScalarType promote_integers(ScalarType a, ScalarType b) noexcept {
    const std::size_t a_size = item_size(a), b_size = item_size(b);
    if (type_class(a) == type_class(b))
        return a_size >= b_size ? a : b;
    const bool a_signed = type_class(a) == TypeClass::Signed;
    const std::size_t signed_size = a_signed ? a_size : b_size;
    const std::size_t unsigned_size = a_signed ? b_size : a_size;
    return signed_of_size(signed_size > unsigned_size ? signed_size : 2 * unsigned_size);
}

ScalarType promote_floats(ScalarType a, ScalarType b) noexcept {
    if (item_size(a) == 2 && item_size(b) == 2)
        return a == b ? a : ScalarType::Float32; // float16 and bfloat16
    return item_size(a) >= item_size(b) ? a : b;
}

/// The promoted type of two different numeric types.
ScalarType promote_distinct(ScalarType a, ScalarType b) noexcept {
    if (is_bool(a) || is_bool(b))
        return is_bool(a) ? b : a;
    if (is_integer(a) && is_integer(b))
        return promote_integers(a, b);
    if (is_complex(a) || is_complex(b))
        return complex_type(promote(real_type(a), real_type(b)));
    if (is_float(a) && is_float(b))
        return promote_floats(a, b);
    return promote_floats(is_float(a) ? a : float_type(a), is_float(b) ? b : float_type(b));
}

/// float16 from int8 with bfloat16 gives bfloat16, not float32.
ScalarType promote_uncached(ScalarType a, ScalarType b) noexcept {
    if (a == b)
        return a;
    const bool small_integer =
        (is_integer(a) && item_size(a) == 1) || (is_integer(b) && item_size(b) == 1);
    if (small_integer && (a == ScalarType::BFloat16 || b == ScalarType::BFloat16))
        return ScalarType::BFloat16;
    return promote_distinct(a, b);
}

using PromotionTable = std::array<std::array<ScalarType, scalar_type_count>, scalar_type_count>;

bool can_cast_safely(ScalarType from, ScalarType to) noexcept {
    return from == to || promote(from, to) == to;
}

/// The order of kinds: bool, integers, floats, complex. A same-kind cast never goes to a lower
/// kind.
int kind_rank(ScalarType type) noexcept {
    switch (type_class(type)) {
    case TypeClass::Bool:
        return 0;
    case TypeClass::Unsigned:
        return 1;
    case TypeClass::Signed:
        return 2;
    case TypeClass::Float:
        return 3;
    default:
        return 4;
    }
}

} // namespace

TypeClass type_class(ScalarType type) noexcept { return row(type).type_class; }
std::size_t item_size(ScalarType type) noexcept { return row(type).size; }
std::string_view numpy_name(ScalarType type) noexcept { return row(type).numpy_name; }
std::string_view cuda_name(ScalarType type) noexcept { return row(type).cuda_name; }

ScalarType real_type(ScalarType type) noexcept {
    return type == ScalarType::Complex64    ? ScalarType::Float32
           : type == ScalarType::Complex128 ? ScalarType::Float64
                                            : type;
}

ScalarType complex_type(ScalarType type) noexcept {
    if (is_complex(type))
        return type;
    return item_size(float_type(type)) <= 4 ? ScalarType::Complex64 : ScalarType::Complex128;
}

ScalarType float_type(ScalarType type) noexcept {
    if (!is_bool(type) && !is_integer(type))
        return type;
    const std::size_t size = item_size(type);
    return size == 1 ? ScalarType::Float16 : size == 2 ? ScalarType::Float32 : ScalarType::Float64;
}

ScalarType promote(ScalarType a, ScalarType b) noexcept {
    return a == b ? a : promote_uncached(a, b);
}

ScalarType promote_weak(ScalarType type, TypeClass weak) noexcept {
    if (weak == TypeClass::Bool)
        return type;
    if (weak == TypeClass::Signed)
        return is_bool(type) ? ScalarType::Int64 : type;
    if (weak == TypeClass::Float)
        return is_bool(type) || is_integer(type) ? ScalarType::Float64 : type;
    return is_complex(type) ? type : is_float(type) ? complex_type(type) : ScalarType::Complex128;
}

bool can_cast(ScalarType from, ScalarType to, Casting casting) noexcept {
    if (from == to || casting == Casting::Unsafe)
        return true;
    if (from == ScalarType::Opaque || to == ScalarType::Opaque || casting == Casting::No)
        return false;
    if (casting == Casting::Safe)
        return can_cast_safely(from, to);
    return kind_rank(from) <= kind_rank(to);
}

std::string_view casting_name(Casting casting) noexcept {
    constexpr std::string_view names[] = {"no", "safe", "same_kind", "unsafe"};
    return names[static_cast<std::size_t>(casting)];
}

std::string DType::name() const {
    if (name_ != nullptr)
        return name_;
    return is_opaque() ? "void" + std::to_string(8 * size_) : std::string(numpy_name(type_));
}

} // namespace pycuda
