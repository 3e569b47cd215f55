// check_operand.cpp -- checks one operand against its rule.
//
// PTX's agreement of types: .bN takes anything of N bits; .uN and .sN take each other and .bN;
// .fN takes .fN and .bN. Loads, stores and conversions also take registers wider than the type.
#include "ptx/check_operand.h"

#include <limits>

namespace softcuda::ptx {

namespace {

bool is_integer(TypeClass type_class) {
    return type_class == TypeClass::Unsigned || type_class == TypeClass::Signed ||
           type_class == TypeClass::Bits;
}

std::string dotted(ScalarType type) { return "." + std::string(name_of(type)); }

/// The register type of a vector's or a matrix's element type: tf32 is .b32.
bool is_packed(TypeClass type_class) {
    return type_class == TypeClass::PackedFloat || type_class == TypeClass::PackedInteger ||
           type_class == TypeClass::NarrowFloat;
}

std::string describe(const Operand &operand) {
    switch (operand.kind) {
    case OperandKind::Register:
        return "a register";
    case OperandKind::Sink:
        return "`_`";
    case OperandKind::SpecialRegister:
        return "a special register";
    case OperandKind::Integer:
        return "an integer constant";
    case OperandKind::Float32:
    case OperandKind::Float64:
        return "a floating-point constant";
    case OperandKind::Symbol:
        return "the name of a variable or function";
    case OperandKind::Address:
        return "an address";
    case OperandKind::Vector:
        return "a vector";
    case OperandKind::Pair:
        return "a pair `a|b`";
    case OperandKind::List:
        return "a list";
    case OperandKind::Tuple:
        return "an address of several parts";
    case OperandKind::Label:
        return "a label";
    case OperandKind::BranchTargets:
    case OperandKind::CallTargets:
        return "a list of targets";
    case OperandKind::Prototype:
        return "a prototype";
    case OperandKind::None:
        break;
    }
    return "nothing";
}

Mismatch expected(const Operand &operand, std::string_view what) {
    return {operand.location, "expected " + std::string(what) + ", got " + describe(operand)};
}

} // namespace

bool register_fits(ScalarType actual, ScalarType expected, bool relaxed) {
    if (actual == expected)
        return true;
    unsigned have = bits_of(actual), want = bits_of(expected);
    TypeClass given = class_of(actual), wanted = class_of(expected);
    if (given == TypeClass::Predicate || wanted == TypeClass::Predicate)
        return false;
    if (relaxed ? have < want : have != want)
        return false;
    switch (wanted) {
    case TypeClass::Bits:
        return true;
    case TypeClass::Unsigned:
    case TypeClass::Signed:
        return is_integer(given);
    case TypeClass::Float:
        // 16-bit floats and tf32 live in integer registers as well as in .bN.
        if (want == 16 || expected == ScalarType::TF32)
            return is_integer(given) || have == want;
        return given == TypeClass::Bits;
    default:
        return is_packed(wanted) && (is_integer(given) || is_packed(given));
    }
}

std::string OperandChecker::register_text(const Operand &operand) const {
    const Register &reg = function_.registers[operand.index];
    return "`" + reg.name() + "` is " + (reg.vector > 1 ? "a vector of " : "") + dotted(reg.type);
}

/// Whether `%r1+4` is allowed: a source of a whole number, as st and add have.
bool OperandChecker::may_add(const OperandRule &rule, const Operand &operand,
                             ScalarType type) const {
    const bool is_source = rule.shape == OperandShape::Source ||
                           rule.shape == OperandShape::SourceOrSymbol ||
                           (rule.shape == OperandShape::Vector && !rule.is_destination);
    return is_source && is_integer(class_of(type)) &&
           is_integer(class_of(function_.registers[operand.index].type));
}

std::optional<Mismatch> OperandChecker::check(const OperandRule &rule, const Operand &operand,
                                              unsigned position) const {
    ScalarType type = resolve(rule.type, modifiers_, module_.address_bits);
    if (operand.is(OperandKind::Register) && operand.integer != 0 && !may_add(rule, operand, type))
        return Mismatch{operand.location, "a constant can be added to an integer source only"};
    switch (rule.shape) {
    case OperandShape::Destination:
        if (!operand.is(OperandKind::Register) && !(rule.may_sink && operand.is(OperandKind::Sink)))
            return expected(operand, "a register of type " + dotted(type));
        return check_value(rule, operand, type);
    case OperandShape::DestinationPair:
    case OperandShape::PredicatePair:
        return check_pair(rule, operand);
    case OperandShape::Source:
    case OperandShape::Video:
        return check_value(rule, operand, type);
    case OperandShape::SourceOrSymbol:
        return operand.is(OperandKind::Symbol) ? check_symbol(operand, type)
                                               : check_value(rule, operand, type);
    case OperandShape::Predicate:
        return check_predicate(rule, operand);
    case OperandShape::Address:
        return check_address(operand, position);
    case OperandShape::Texture:
        return check_texture(operand);
    case OperandShape::Tensor:
        return check_tensor(operand);
    case OperandShape::Vector:
        return check_vector(rule, operand);
    case OperandShape::Packed:
        return check_packed(rule, operand);
    case OperandShape::Sink:
        return operand.is(OperandKind::Sink) ? std::nullopt
                                             : std::optional(expected(operand, "`_`"));
    case OperandShape::Immediate:
        return check_immediate(rule, operand);
    case OperandShape::Label:
    case OperandShape::Targets:
    case OperandShape::Call:
        break; // the parser has seen to these
    }
    return std::nullopt;
}

std::optional<Mismatch> OperandChecker::check_value(const OperandRule &rule, const Operand &operand,
                                                    ScalarType type) const {
    switch (operand.kind) {
    case OperandKind::Register:
        return check_register(rule, operand, type);
    case OperandKind::Sink:
        if (rule.may_sink)
            return std::nullopt;
        return Mismatch{operand.location, "`_` is not allowed here"};
    case OperandKind::SpecialRegister:
        return check_special(operand, type);
    case OperandKind::Integer:
    case OperandKind::Float32:
    case OperandKind::Float64:
        if (operand.negated || rule.shape == OperandShape::Destination)
            return expected(operand, "a register");
        return check_constant(operand, type);
    default:
        return expected(operand, "a register or constant of type " + dotted(type));
    }
}

std::optional<Mismatch> OperandChecker::check_register(const OperandRule &rule,
                                                       const Operand &operand,
                                                       ScalarType type) const {
    const Register &reg = function_.registers[operand.index];
    bool video = rule.shape == OperandShape::Video;
    bool negatable = rule.negatable || video ||
                     (type == ScalarType::Pred && rule.shape != OperandShape::Destination);
    if (operand.negated && !negatable)
        return Mismatch{operand.location, "a negated register is not allowed here"};
    bool selects = operand.component >= Component::B0;
    if (selects && !video)
        return Mismatch{operand.location,
                        "parts of a register are allowed in video instructions only"};
    if (reg.vector > 1 && operand.component == Component::None)
        return Mismatch{operand.location,
                        register_text(operand) + ", expected a scalar " + dotted(type)};
    bool either_size = rule.type.source == OperandType::Source::Address &&
                       register_fits(reg.type, ScalarType::U32, false);
    if (!either_size && !register_fits(reg.type, type, rule.relaxed))
        return Mismatch{operand.location, register_text(operand) + ", expected " + dotted(type) +
                                              (rule.relaxed ? " or wider" : "")};
    return std::nullopt;
}

std::optional<Mismatch> OperandChecker::check_constant(const Operand &operand,
                                                       ScalarType type) const {
    bool is_float = !operand.is(OperandKind::Integer);
    TypeClass type_class = class_of(type);
    unsigned bits = bits_of(type);
    switch (type_class) {
    case TypeClass::Float:
        if (bits < 32 || type == ScalarType::TF32)
            return Mismatch{operand.location, dotted(type) + " has no constants",
                            "put the bits in a register with mov.b16 or mov.b32"};
        if (!is_float)
            return expected(operand, "a " + dotted(type) + " register or floating-point constant");
        return std::nullopt;
    case TypeClass::Unsigned:
    case TypeClass::Signed:
        if (is_float)
            return expected(operand, "a register or integer constant of type " + dotted(type));
        break;
    case TypeClass::Bits:
    case TypeClass::Predicate:
        break;
    default:
        return expected(operand, "a register of type " + dotted(type));
    }
    unsigned own_bits = operand.is(OperandKind::Float32) ? 32 : 64;
    if (is_float && bits != own_bits)
        return Mismatch{operand.location, "a constant of " + std::to_string(own_bits) +
                                              " bits, expected " + dotted(type)};
    // An integer too large for the type is cut to its width, as ptxas does.
    return std::nullopt;
}

/// Special registers are read by mov and cvt only. mov.u16 of a 32-bit one is a legacy of PTX 1.
std::optional<Mismatch> OperandChecker::check_special(const Operand &operand,
                                                      ScalarType type) const {
    std::string name = "`" + std::string(name_of(operand.special)) + "`";
    if (opcode_ != Opcode::Mov && opcode_ != Opcode::Cvt)
        return Mismatch{operand.location, "only mov can read special registers",
                        "copy " + name + " to a register with mov first"};
    if (operand.component == Component::None && has_components(operand.special))
        return Mismatch{operand.location,
                        name + " is a vector: expected a component, such as `.x`"};
    ScalarType actual = type_of(operand.special);
    bool legacy = has_components(operand.special) && bits_of(type) == 16;
    bool fits = is_integer(class_of(type)) && (legacy || bits_of(type) == bits_of(actual));
    if (opcode_ == Opcode::Cvt || fits || actual == type ||
        (operand.special == SpecialRegister::Gridid && bits_of(type) == 32))
        return std::nullopt;
    return Mismatch{operand.location,
                    name + " is " + dotted(actual) + ", expected " + dotted(type)};
}

std::optional<Mismatch> OperandChecker::check_symbol(const Operand &operand,
                                                     ScalarType type) const {
    if (!is_integer(class_of(type)) || bits_of(type) < 32)
        return Mismatch{operand.location, "an address does not fit in " + dotted(type)};
    const Variable *variable = module_.variable(function_, operand.symbol);
    if (opcode_ == Opcode::Cvta && variable != nullptr &&
        variable->space != plain_space(modifiers_.space))
        return Mismatch{operand.location, "`" + std::string(variable->name) +
                                              "` is in another state space than the instruction"};
    return std::nullopt;
}

std::optional<Mismatch> OperandChecker::check_pair(const OperandRule &rule,
                                                   const Operand &operand) const {
    OperandRule one = rule;
    one.shape = OperandShape::Destination;
    ScalarType type = resolve(rule.type, modifiers_, module_.address_bits);
    if (!operand.is(OperandKind::Pair)) {
        if (!operand.is(OperandKind::Register) && !(rule.may_sink && operand.is(OperandKind::Sink)))
            return expected(operand, "a register of type " + dotted(type));
        return check_value(one, operand, type);
    }
    one.may_sink = true;
    if (Result wrong = check_value(one, operand.elements[0], type))
        return wrong;
    return check_value(one, operand.elements[1], ScalarType::Pred);
}

std::optional<Mismatch> OperandChecker::check_predicate(const OperandRule &rule,
                                                        const Operand &operand) const {
    if (operand.is(OperandKind::Integer))
        return std::nullopt;
    if (!operand.is(OperandKind::Register))
        return expected(operand, "a predicate");
    return check_register(rule, operand, ScalarType::Pred);
}

std::optional<Mismatch> OperandChecker::check_address(const Operand &operand,
                                                      unsigned position) const {
    if (!operand.is(OperandKind::Address))
        return expected(operand, "an address in brackets");
    Space space = plain_space(modifiers_.space);
    if (position == 1 && modifiers_.source_space == SourceSpace::Global)
        space = Space::Global;
    if (position == 1 && modifiers_.source_space == SourceSpace::SharedCta)
        space = Space::Shared;
    if (operand.has_register_base()) {
        const Register &reg = function_.registers[operand.index];
        unsigned bits = bits_of(reg.type);
        if (reg.vector > 1 || !is_integer(class_of(reg.type)) || (bits != 32 && bits != 64))
            return Mismatch{operand.location, "the address " + register_text(operand) +
                                                  ", expected an integer of 32 or 64 bits"};
        return std::nullopt;
    }
    if (!operand.symbol)
        return std::nullopt;
    const Variable *variable = module_.variable(function_, operand.symbol);
    if (variable == nullptr)
        return Mismatch{operand.location, "a function's code cannot be read or written"};
    Space actual = variable->space;
    bool generic_parameter = space == Space::None && actual == Space::Param;
    if (generic_parameter || (space != Space::None && actual != space && actual != Space::Tex))
        return Mismatch{operand.location, "`" + std::string(variable->name) +
                                              "` is in another state space than the instruction"};
    return std::nullopt;
}

unsigned OperandChecker::count_of(const OperandRule &rule) const {
    switch (rule.count_rule) {
    case CountRule::Fixed:
        return rule.count;
    case CountRule::FromVector:
        return modifiers_.vector_width();
    case CountRule::FromMatrix:
        return modifiers_.matrix_count == MatrixCount::X4   ? 4
               : modifiers_.matrix_count == MatrixCount::X2 ? 2
                                                            : 1;
    case CountRule::FromGroup:
        return modifiers_.group_columns() / (modifiers_.type() == ScalarType::F16 ? 4 : 2);
    case CountRule::Any:
        break;
    }
    return 0;
}

std::optional<Mismatch> OperandChecker::check_vector(const OperandRule &rule,
                                                     const Operand &operand) const {
    ScalarType type = resolve(rule.type, modifiers_, module_.address_bits);
    if (operand.is(OperandKind::Pair) && rule.has_pair) {
        OperandRule predicate = rule;
        predicate.shape = OperandShape::Destination;
        predicate.may_sink = true;
        if (Result wrong = check_vector(rule, operand.elements[0]))
            return wrong;
        return check_value(predicate, operand.elements[1], ScalarType::Pred);
    }
    unsigned count = count_of(rule);
    if (operand.is(OperandKind::Vector)) {
        if (count != 0 && operand.elements.size() != count)
            return Mismatch{operand.location, "expected a vector of " + std::to_string(count) +
                                                  ", got one of " +
                                                  std::to_string(operand.elements.size())};
        return check_elements(rule, operand, type);
    }
    if (operand.is(OperandKind::SpecialRegister) && count == 4 &&
        operand.component == Component::None && has_components(operand.special))
        return std::nullopt;
    if (operand.is(OperandKind::Register) && operand.component == Component::None && count > 1 &&
        function_.registers[operand.index].vector == count &&
        register_fits(function_.registers[operand.index].type, type, rule.relaxed))
        return std::nullopt;
    if (count > 1 || rule.count_rule == CountRule::Fixed ||
        rule.count_rule == CountRule::FromMatrix)
        return expected(operand, "a vector of " + std::to_string(count));
    OperandRule scalar = rule;
    scalar.shape = rule.is_destination ? OperandShape::Destination : OperandShape::Source;
    return check_value(scalar, operand, type);
}

std::optional<Mismatch> OperandChecker::check_elements(const OperandRule &rule,
                                                       const Operand &operand,
                                                       ScalarType type) const {
    OperandRule element = rule;
    element.shape = rule.is_destination ? OperandShape::Destination : OperandShape::Source;
    element.may_sink = rule.is_destination;
    for (const Operand &part : operand.elements)
        if (Result wrong = check_value(element, part, type))
            return wrong;
    return std::nullopt;
}

/// mov's scalar, or a vector of 2 or 4 whose elements make up the scalar's bits.
std::optional<Mismatch> OperandChecker::check_packed(const OperandRule &rule,
                                                     const Operand &operand) const {
    OperandRule scalar = rule;
    scalar.shape = rule.is_destination ? OperandShape::Destination : OperandShape::Source;
    if (!operand.is(OperandKind::Vector))
        return check_value(scalar, operand, modifiers_.type());
    std::size_t count = operand.elements.size();
    unsigned bits = bits_of(modifiers_.type());
    ScalarType part = bits == count * 8    ? ScalarType::B8
                      : bits == count * 16 ? ScalarType::B16
                      : bits == count * 32 ? ScalarType::B32
                      : bits == count * 64 ? ScalarType::B64
                                           : ScalarType::None;
    if ((count != 2 && count != 4) || part == ScalarType::None)
        return Mismatch{operand.location, "a vector of " + std::to_string(count) +
                                              " does not fit into " + dotted(modifiers_.type())};
    return check_elements(rule, operand, part);
}

std::optional<Mismatch> OperandChecker::check_texture(const Operand &operand) const {
    bool is_query = modifiers_.query != TextureQuery::None;
    if (operand.is(OperandKind::Address) && is_query)
        return std::nullopt;
    if (!operand.is(OperandKind::Tuple) || is_query)
        return expected(operand, is_query ? "a texture or surface in brackets"
                                          : "a texture or surface and its coordinates in brackets");
    std::size_t count = operand.elements.size();
    if (count > 3)
        return Mismatch{operand.location,
                        "expected a texture, an optional sampler, and coordinates"};
    for (const Operand &handle : operand.elements.first(count - 1)) {
        bool is_name = handle.is(OperandKind::Symbol);
        bool is_handle = handle.is(OperandKind::Register) &&
                         bits_of(function_.registers[handle.index].type) == 64;
        if (!is_name && !is_handle)
            return expected(handle, "the name of a texture or a 64-bit handle");
    }
    return check_coordinates(operand.elements.back());
}

/// `[map, {x, y}]`: a generic address, and a coordinate for each dimension.
std::optional<Mismatch> OperandChecker::check_tensor(const Operand &operand) const {
    if (!operand.is(OperandKind::Tuple) || operand.elements.size() != 2)
        return expected(operand, "a tensor map and coordinates in brackets");
    const Operand &map = operand.elements[0], &place = operand.elements[1];
    const bool is_address =
        map.is(OperandKind::Register) && bits_of(function_.registers[map.index].type) == 64;
    if (!is_address && !map.is(OperandKind::Symbol))
        return expected(map, "the address of a tensor map in a 64-bit register");
    OperandRule rule;
    rule.shape = OperandShape::Vector;
    rule.type = {OperandType::Source::Named, 0, ScalarType::B32};
    rule.count = static_cast<std::uint8_t>(modifiers_.dimensions());
    return check_vector(rule, place);
}

std::optional<Mismatch> OperandChecker::check_coordinates(const Operand &operand) const {
    std::size_t wanted = 4;
    switch (modifiers_.geometry) {
    case Geometry::D1:
        wanted = 1;
        break;
    case Geometry::D2:
    case Geometry::A1d:
        wanted = 2;
        break;
    default:
        break; // the fourth is not checked if three are enough
    }
    std::size_t count = operand.is(OperandKind::Vector) ? operand.elements.size() : 1;
    if (operand.is(OperandKind::Register) && operand.component == Component::None)
        count = function_.registers[operand.index].vector;
    if (count != wanted)
        return Mismatch{operand.location, "expected " + std::to_string(wanted) +
                                              " coordinates, got " + std::to_string(count)};
    OperandRule rule;
    rule.shape = OperandShape::Source;
    auto check_one = [&](const Operand &part) -> Result {
        if (part.is(OperandKind::Register) && bits_of(function_.registers[part.index].type) == 32)
            return std::nullopt;
        return check_value(rule, part, ScalarType::B32);
    };
    if (!operand.is(OperandKind::Vector))
        return operand.is(OperandKind::Register) ? std::nullopt : check_one(operand);
    for (const Operand &part : operand.elements)
        if (Result wrong = check_one(part))
            return wrong;
    return std::nullopt;
}

std::optional<Mismatch> OperandChecker::check_immediate(const OperandRule &rule,
                                                        const Operand &operand) const {
    if (!operand.is(OperandKind::Integer))
        return expected(operand, "an integer constant");
    std::int64_t value = operand.signed_integer();
    bool too_large = operand.is_unsigned && operand.integer >> 63 != 0;
    if (!too_large && value >= rule.low && value <= rule.high)
        return std::nullopt;
    return Mismatch{
        operand.location,
        (operand.is_unsigned ? std::to_string(operand.integer) : std::to_string(value)) +
            " is out of range: expected " + std::to_string(rule.low) +
            (rule.low == rule.high ? "" : " to " + std::to_string(rule.high))};
}

} // namespace softcuda::ptx
