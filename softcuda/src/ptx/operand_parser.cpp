// operand_parser.cpp -- parses operands.
#include "ptx/operand_parser.h"

#include "ptx/expression.h"
#include "ptx/special_registers.h"

#include <charconv>
#include <optional>

namespace softcuda::ptx {

namespace {

const SpecialRow *special_row(std::string_view name) {
    static const std::unordered_map<std::string_view, const SpecialRow *> rows = [] {
        std::unordered_map<std::string_view, const SpecialRow *> made;
        for (const SpecialRow &row : special_rows)
            made.emplace(row.name, &row);
        return made;
    }();
    auto found = rows.find(name);
    return found == rows.end() ? nullptr : found->second;
}

Operand integer_operand(const Constant &constant, SourceLocation where) {
    Operand operand;
    operand.kind = constant.kind == Constant::Kind::Integer   ? OperandKind::Integer
                   : constant.kind == Constant::Kind::Float32 ? OperandKind::Float32
                                                              : OperandKind::Float64;
    operand.is_unsigned = constant.is_unsigned;
    operand.integer = constant.bits;
    operand.location = where;
    return operand;
}

Operand empty_operand(OperandKind kind, SourceLocation where) {
    Operand operand;
    operand.kind = kind;
    operand.location = where;
    return operand;
}

/// `.x` or `.r` to X, and so on; nothing for other words.
std::optional<Component> vector_component(std::string_view word) {
    constexpr std::string_view xyzw = "xyzw", rgba = "rgba";
    if (word.size() != 2)
        return std::nullopt;
    std::size_t index = std::min(xyzw.find(word[1]), rgba.find(word[1]));
    if (index == std::string_view::npos)
        return std::nullopt;
    return static_cast<Component>(static_cast<std::size_t>(Component::X) + index);
}

} // namespace

/// The operands from `begin` on, none of which may be an element that a register chooses.
std::span<Operand> OperandParser::finish(std::size_t begin) {
    for (std::size_t i = begin; i < pending_.size(); i++)
        refuse_register_subscript(pending_[i]);
    return keep(begin);
}

void OperandParser::refuse_register_subscript(const Operand &operand) {
    if (operand.has_register_subscript())
        tokens_.fail(operand.location, "an element indexed by a register is allowed in loads and "
                                       "stores only; its address cannot be an operand");
}

std::span<Operand> OperandParser::keep(std::size_t begin) {
    std::span<const Operand> made(pending_.data() + begin, pending_.size() - begin);
    std::span<Operand> kept = module_.arena.copy(made);
    pending_.resize(begin);
    return kept;
}

std::span<Operand> OperandParser::operands() {
    pending_.clear();
    if (!tokens_.at(";")) {
        do {
            Operand next = operand();
            pending_.push_back(next);
        } while (tokens_.accept(","));
    }
    return keep(0);
}

Operand OperandParser::operand() {
    if (tokens_.at("["))
        return bracketed();
    if (tokens_.at("{"))
        return with_pair(vector());
    Operand made = simple();
    // ptxas adds a constant to a source register, as in an address.
    if (made.is(OperandKind::Register) && made.component == Component::None && !made.negated &&
        tokens_.at("+"))
        offset(made);
    return made;
}

Operand OperandParser::simple() {
    SourceLocation where = tokens_.location();
    if (tokens_.at(TokenKind::Identifier) && tokens_.current().text != "WARP_SZ")
        return with_pair(named());
    if (tokens_.at("!") || tokens_.at("-"))
        return negated();
    if (begins_constant(tokens_))
        return integer_operand(parse_constant(tokens_), where);
    tokens_.fail_expected("an operand");
}

/// `!%p1`, `-%r1` (video), `-1`, `!0`.
Operand OperandParser::negated() {
    SourceLocation where = tokens_.location();
    bool is_minus = tokens_.take().is("-");
    if (tokens_.at(TokenKind::Identifier) && tokens_.current().text != "WARP_SZ") {
        Operand operand = named();
        operand.negated = true;
        operand.location = where;
        return operand;
    }
    Constant constant = parse_constant(tokens_);
    if (!is_minus) {
        if (!constant.is_integer())
            tokens_.fail(where, "`!` needs an integer or a predicate, got a float");
        constant.bits = constant.bits == 0;
    } else if (constant.is_integer()) {
        constant.bits = 0 - constant.bits;
    } else {
        constant.bits ^= std::uint64_t{1} << (constant.kind == Constant::Kind::Float32 ? 31 : 63);
    }
    return integer_operand(constant, where);
}

Operand OperandParser::with_pair(Operand first) {
    if (!tokens_.at("|"))
        return first;
    Operand pair = empty_operand(OperandKind::Pair, first.location);
    tokens_.take();
    std::size_t begin = pending_.size();
    pending_.push_back(first);
    if (!tokens_.at(TokenKind::Identifier))
        tokens_.fail_expected("a predicate after `|`");
    Operand second = named();
    pending_.push_back(second);
    pair.elements = finish(begin);
    return pair;
}

/// An identifier with an optional component, offset or subscript: `%r1`, `%v.x`, `%tid.x`,
/// `buffer+4`, `buffer[2]`, `_`.
Operand OperandParser::named() {
    bool has_component = tokens_.followed_directly_by('.');
    Token name = tokens_.take();
    Operand operand = empty_operand(OperandKind::Register, name.location);
    if (name.text == "_") {
        operand.kind = OperandKind::Sink;
        return operand;
    }
    if (name.text.front() == '%' && special_register(name, operand)) {
        if (has_component && !has_components(operand.special))
            tokens_.fail(name.location, "`" + std::string(name.text) + "` has no components");
        if (has_component)
            component(operand, true);
        return operand;
    }
    Meaning meaning = scope_.find(name);
    switch (meaning.kind) {
    case Meaning::Kind::Register:
        operand.index = meaning.index;
        if (has_component)
            component(operand, scope_.function().registers[meaning.index].vector > 1);
        else if (scope_.function().registers[meaning.index].vector > 1)
            return whole_vector(operand);
        return operand;
    case Meaning::Kind::Symbol:
        operand.kind = OperandKind::Symbol;
        operand.symbol = meaning.symbol;
        if (tokens_.at("["))
            subscript(operand);
        offset(operand);
        return operand;
    case Meaning::Kind::Prototype:
        operand.kind = OperandKind::Prototype;
        break;
    case Meaning::Kind::BranchTargets:
        operand.kind = OperandKind::BranchTargets;
        break;
    case Meaning::Kind::CallTargets:
        operand.kind = OperandKind::CallTargets;
        break;
    case Meaning::Kind::RegisterRange:
        tokens_.fail(name.location, "`" + std::string(name.text) + "` is not a register");
    }
    operand.index = meaning.index;
    return operand;
}

/// A vector register without a component is the vector of its components.
Operand OperandParser::whole_vector(Operand component) {
    Operand result = empty_operand(OperandKind::Vector, component.location);
    std::size_t begin = pending_.size();
    const unsigned count = scope_.function().registers[component.index].vector;
    for (unsigned i = 0; i < count; i++) {
        component.component = static_cast<Component>(static_cast<unsigned>(Component::X) + i);
        pending_.push_back(component);
    }
    result.elements = finish(begin);
    return result;
}

bool OperandParser::special_register(const Token &name, Operand &operand) {
    const SpecialRow *row = special_row(name.text);
    if (row != nullptr && !row->is_numbered()) {
        operand.kind = OperandKind::SpecialRegister;
        operand.special = row->special;
        return true;
    }
    std::size_t digits = name.text.find_last_not_of("0123456789") + 1;
    row = special_row(name.text.substr(0, digits));
    if (row == nullptr || !row->is_numbered() || digits == name.text.size())
        return false;
    unsigned number = row->count;
    std::from_chars(name.text.data() + digits, name.text.data() + name.text.size(), number);
    if (number >= row->count)
        tokens_.fail(name.location, "there is no `" + std::string(name.text) + "`: the last is `" +
                                        std::string(row->name) + std::to_string(row->count - 1) +
                                        "`");
    operand.kind = OperandKind::SpecialRegister;
    operand.special = row->special;
    operand.index = number;
    return true;
}

void OperandParser::component(Operand &operand, bool four_lanes) {
    Token token = tokens_.expect(TokenKind::Dotted, "a component");
    if (!four_lanes) {
        selector(operand, token);
        return;
    }
    std::optional<Component> found = vector_component(token.text);
    if (!found)
        tokens_.fail(token.location, "there is no component `" + std::string(token.text) +
                                         "`: expected `.x`, `.y`, `.z` or `.w`");
    operand.component = *found;
}

/// `.b0`, `.h1`, `.b3210`, `.h10` of video instructions.
void OperandParser::selector(Operand &operand, const Token &token) {
    std::string_view word = token.text.substr(1);
    bool bytes = word.front() == 'b';
    std::string_view digits = word.substr(1);
    if ((word.front() != 'b' && word.front() != 'h') || digits.empty() || digits.size() > 4 ||
        digits.find_first_not_of("01234567") != std::string_view::npos)
        tokens_.fail(token.location,
                     "a scalar register has no component `" + std::string(token.text) + "`");
    if (digits.size() == 1) {
        unsigned lane = digits[0] - '0';
        if (lane >= (bytes ? 4u : 2u))
            tokens_.fail(token.location, "there is no `" + std::string(token.text) + "`");
        auto first = static_cast<unsigned>(bytes ? Component::B0 : Component::H0);
        operand.component = static_cast<Component>(first + lane);
        return;
    }
    operand.component = bytes ? Component::Bytes : Component::Halves;
    operand.lane_count = static_cast<std::uint8_t>(digits.size());
    for (char digit : digits)
        operand.lanes = static_cast<std::uint16_t>(operand.lanes << 4 | (digit - '0'));
}

void OperandParser::offset(Operand &operand) {
    if (tokens_.at("+") || tokens_.at("-"))
        operand.integer += parse_integer_constant(tokens_).bits;
}

/// `buffer[2]`, `buffer[%r1]`, `buffer[%r1+2]`: the address of an element.
void OperandParser::subscript(Operand &operand) {
    SourceLocation where = tokens_.take().location;
    const Variable *variable = module_.variable(scope_.function(), operand.symbol);
    if (variable == nullptr)
        tokens_.fail(where, "a function cannot be indexed");
    std::uint64_t index = 0;
    if (tokens_.at(TokenKind::Identifier) && tokens_.current().text.front() == '%') {
        if (variable->space == Space::Param)
            tokens_.fail(where, "the index of a parameter's element must be a constant");
        operand.index = scope_.find_register(tokens_.take());
        const Register &reg = scope_.function().registers[operand.index];
        const TypeClass kind = class_of(reg.type);
        const bool is_integer =
            kind == TypeClass::Bits || kind == TypeClass::Unsigned || kind == TypeClass::Signed;
        const unsigned bits = bits_of(reg.type);
        if (reg.vector > 1 || !is_integer || (bits != 32 && bits != 64))
            tokens_.fail(where,
                         "expected a constant or an integer register of 32 or 64 bits as an index");
        if (tokens_.at("+") || tokens_.at("-"))
            index = parse_integer_constant(tokens_).bits;
    } else {
        index = parse_integer_constant(tokens_).bits;
    }
    tokens_.expect("]");
    operand.integer += index * variable->element_bytes();
    operand.subscripted = true;
}

Operand OperandParser::vector() {
    Operand result = empty_operand(OperandKind::Vector, tokens_.location());
    tokens_.expect("{");
    std::size_t begin = pending_.size();
    do {
        Operand element = simple();
        pending_.push_back(element);
    } while (tokens_.accept(","));
    tokens_.expect("}");
    result.elements = finish(begin);
    return result;
}

/// `[%rd1+8]`, `[buffer]`, `[64]`, or a tuple: `[tex, {%f1, %f2}]`.
Operand OperandParser::bracketed() {
    SourceLocation where = tokens_.location();
    tokens_.expect("[");
    Operand base = simple();
    if (base.is(OperandKind::Register))
        offset(base);
    if (tokens_.accept("]")) {
        tokens_.accept(".unified"); // a hint about the address that changes no result
        bool addressable = base.is(OperandKind::Register) || base.is(OperandKind::Symbol) ||
                           base.is(OperandKind::Integer);
        if (!addressable || base.negated || base.component != Component::None)
            tokens_.fail(base.location,
                         "expected a register, a variable or a number as an address");
        base.kind = OperandKind::Address;
        base.location = where;
        return base;
    }
    Operand tuple = empty_operand(OperandKind::Tuple, where);
    std::size_t begin = pending_.size();
    pending_.push_back(base);
    while (tokens_.accept(",")) {
        Operand element = tokens_.at("{") ? vector() : simple();
        pending_.push_back(element);
    }
    tokens_.expect("]");
    tuple.elements = finish(begin);
    return tuple;
}

/// `(%r1, param0)`
Operand OperandParser::list() {
    Operand result = empty_operand(OperandKind::List, tokens_.location());
    tokens_.expect("(");
    std::size_t begin = pending_.size();
    if (!tokens_.at(")")) {
        do {
            Operand element = simple();
            pending_.push_back(element);
        } while (tokens_.accept(","));
    }
    tokens_.expect(")");
    result.elements = finish(begin);
    return result;
}

std::span<Operand> OperandParser::branch_operands() {
    pending_.clear();
    Token name = tokens_.expect(TokenKind::Identifier, "a label");
    pending_.push_back(empty_operand(OperandKind::Label, name.location));
    std::span<Operand> made = finish(0);
    scope_.refer_to_label(name, &made[0].index);
    return made;
}

Operand OperandParser::name_alone() {
    if (!tokens_.at(TokenKind::Identifier))
        tokens_.fail_expected("a name");
    return named();
}

std::span<Operand> OperandParser::indexed_branch_operands() {
    pending_.clear();
    Operand index = simple();
    pending_.push_back(index);
    tokens_.expect(",");
    Operand targets = name_alone();
    if (!targets.is(OperandKind::BranchTargets))
        tokens_.fail(targets.location, "expected the name of a .branchtargets list");
    pending_.push_back(targets);
    return finish(0);
}

std::span<Operand> OperandParser::call_operands() {
    pending_.clear();
    SourceLocation where = tokens_.location();
    Operand results = empty_operand(OperandKind::List, where);
    if (tokens_.at("(")) {
        results = list();
        tokens_.expect(",");
    }
    Operand callee = name_alone();
    Operand arguments = empty_operand(OperandKind::List, callee.location);
    Operand prototype = empty_operand(OperandKind::None, callee.location);
    bool more = tokens_.accept(",");
    if (more && tokens_.at("(")) {
        arguments = list();
        more = tokens_.accept(",");
    }
    if (more)
        prototype = name_alone();
    for (const Operand &operand : {results, callee, arguments, prototype})
        pending_.push_back(operand);
    return finish(0);
}

} // namespace softcuda::ptx
