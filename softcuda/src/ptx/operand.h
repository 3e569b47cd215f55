// operand.h -- the operands of an instruction: registers, constants, addresses, names.
#pragma once

#include "ptx/modifiers.h"
#include "support/source.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace softcuda::ptx {

inline constexpr std::uint32_t no_index = ~0u;

enum class SymbolKind : std::uint8_t {
    None,
    Global,    ///< Module::variables
    Local,     ///< Function::variables
    Parameter, ///< Function::parameters
    Return,    ///< Function::returns
    Function,  ///< Module::functions
};

/// A named thing with an address.
struct SymbolRef {
    SymbolKind kind = SymbolKind::None;
    std::uint32_t index = no_index;
    explicit operator bool() const { return kind != SymbolKind::None; }
    bool operator==(const SymbolRef &) const = default;
};

enum class SpecialRegister : std::uint8_t {
#define SPECIAL_REGISTER(name, text, type, count) name,
#include "ptx/special_registers.def"
};

/// With the `%`: "%tid".
std::string_view name_of(SpecialRegister special);
ScalarType type_of(SpecialRegister special);
/// True for those with `.x`, `.y`, `.z` and `.w`.
bool has_components(SpecialRegister special);

/// The selected part of a register: `.x` of a vector, or a video instruction's `.b2`.
enum class Component : std::uint8_t {
    None,
    X,
    Y,
    Z,
    W,
    B0,
    B1,
    B2,
    B3,
    H0,
    H1,
    Bytes,  ///< several, as in `.b3210`: Operand::lanes
    Halves, ///< several, as in `.h10`: Operand::lanes
};

enum class OperandKind : std::uint8_t {
    None,            ///< left out (the fourth operand of a call without prototype)
    Register,        ///< `%r1`, `%v.x`, `!%p1`, `%r1+4`: index, component, negated, integer (added)
    Sink,            ///< `_`: the result is not wanted
    SpecialRegister, ///< `%tid.x`: special, component; `%envreg2`: index 2
    Integer,         ///< `-1`, `WARP_SZ`, `2*3+1`: integer, to be cut to the width of its use
    Float32,         ///< `0f3F800000`: bits in `integer`
    Float64,         ///< `0d...`, `1.5`: bits in `integer`
    Symbol,          ///< `buffer`, `buffer+4`, `f`: symbol, integer (byte offset)
    Address,         ///< `[%rd1+8]`, `[buffer]`, `[64]`: index or symbol or neither, integer;
                     ///< `buffer[%r1+2]`: symbol, index (counts elements), integer (bytes)
    Vector,          ///< `{%f1, _, 0f00000000}`: elements
    Pair,            ///< `%p1|%p2`: elements
    List,            ///< `(%r1, param0)` of a call: elements
    Tuple,           ///< `[%rd1, {%f1, %f2}]`, `[tex, sampler, {...}]`: elements
    Label,           ///< index in Function::labels
    BranchTargets,   ///< index in Function::target_lists, of brx.idx
    CallTargets,     ///< index in Function::target_lists, of an indirect call
    Prototype,       ///< index in Function::prototypes
};

/// One operand. OperandKind describes the members that each kind uses.
struct Operand {
    OperandKind kind = OperandKind::None;
    Component component = Component::None;
    bool negated = false;     ///< `!` before a predicate
    bool is_unsigned = false; ///< an Integer written with U or too large to be signed
    SpecialRegister special{};
    bool subscripted = false;    ///< a Symbol written `buffer[2]` or `buffer[%r1]`
    std::uint8_t lane_count = 0; ///< digits of `.b3210`
    std::uint16_t lanes = 0;     ///< its digits, 4 bits each, the last written one lowest
    SymbolRef symbol;
    std::uint32_t index = no_index; ///< register, label, list ... by kind
    SourceLocation location;
    std::uint64_t integer = 0; ///< value, byte offset, or the bits of a float
    std::span<const Operand> elements;

    bool is(OperandKind wanted) const { return kind == wanted; }
    /// An Address whose base is a register.
    bool has_register_base() const {
        return kind == OperandKind::Address && index != no_index && !symbol;
    }
    /// A Symbol or an Address whose element is indexed by a register.
    bool has_register_subscript() const { return subscripted && index != no_index; }
    std::int64_t signed_integer() const { return static_cast<std::int64_t>(integer); }
};

/// `@%p1` or `@!%p1`; without register: always.
struct Guard {
    std::uint32_t reg = no_index;
    bool negated = false;
    explicit operator bool() const { return reg != no_index; }
};

} // namespace softcuda::ptx
