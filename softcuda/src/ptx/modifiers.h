// modifiers.h -- the opcodes, types and modifiers of PTX.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace softcuda::ptx {

/// One operation, from instructions.def.
enum class Opcode : std::uint8_t {
#define OPCODE(name, keyword) name,
#include "ptx/instructions.def"
};

/// A fundamental type, from types.def. None if an instruction has no such type.
enum class ScalarType : std::uint8_t {
    None,
#define SCALAR_TYPE(name, text, bits, type_class) name,
#include "ptx/types.def"
};

enum class TypeClass : std::uint8_t {
    None,
    Unsigned,
    Signed,
    Float,
    Bits,
    Predicate,
    PackedFloat,
    PackedInteger,
    NarrowFloat, ///< 4, 6 and 8-bit floats: stored, converted, multiplied by mma, not computed with
    SubByte,     ///< matrix elements only
    Opaque,
};

/// Width of the whole type in bits: 32 for f16x2, 1 for pred, 0 for None.
unsigned bits_of(ScalarType type);
/// The size in bytes of a variable of the type; at least 1, but 0 for None.
unsigned bytes_of(ScalarType type);
TypeClass class_of(ScalarType type);
/// Without the dot: "u32".
std::string_view name_of(ScalarType type);
/// The first spelling of the operation: "cp.async.wait_all".
std::string_view name_of(Opcode opcode);

// The enums of modifiers.def: Rounding, Compare, Space, Order, Scope, ...
#define MODIFIER_ENUM(Type, field) enum class Type : std::uint8_t { None,
#define MODIFIER_VALUE(Type, Value, text) Value,
#define MODIFIER_ALIAS(Type, Value, text)
#define MODIFIER_END(Type)                                                                         \
    }                                                                                              \
    ;
#define MODIFIER_FLAG(field, text)
#include "ptx/modifiers.def"

/// The modifiers of an instruction. A member is None or false if the modifier is absent.
struct Modifiers {
    /// The types in the order in which they are written: cvt.f32.s64 has {F32, S64}.
    std::array<ScalarType, 4> types{};
    std::uint8_t type_count = 0;
#define MODIFIER_ENUM(Type, field) Type field = Type::None;
#define MODIFIER_VALUE(Type, Value, text)
#define MODIFIER_ALIAS(Type, Value, text)
#define MODIFIER_END(Type)
#define MODIFIER_FLAG(field, text) bool field = false;
#include "ptx/modifiers.def"

    /// The first type, which is the only one for most instructions.
    ScalarType type() const { return types[0]; }
    /// 1, 2, 4 or 8 elements.
    unsigned vector_width() const {
        return vector == VectorWidth::None ? 1 : 1u << static_cast<unsigned>(vector);
    }
    /// Of a tensor, 1 to 5.
    unsigned dimensions() const {
        return geometry >= Geometry::D1 && geometry <= Geometry::D5
                   ? 1 + static_cast<unsigned>(geometry) - static_cast<unsigned>(Geometry::D1)
                   : 0;
    }
    /// Columns of B and D of a wgmma, 8 to 256.
    unsigned group_columns() const {
        constexpr unsigned columns = 32; // so many for each k
        return group_shape == GroupShape::None
                   ? 0
                   : ((static_cast<unsigned>(group_shape) - 1) % columns + 1) * 8;
    }
    bool operator==(const Modifiers &) const = default;
};

/// `shared::cta` is `shared`, and both kinds of `param` are `param`: for code that does not care.
Space plain_space(Space space);

} // namespace softcuda::ptx
