// declaration.cpp -- variables and parameters.
#include "ptx/declaration.h"

#include "ptx/expression.h"
#include "ptx/initializer.h"

#include <bit>
#include <limits>

namespace softcuda::ptx {

namespace {

constexpr std::uint64_t max_bytes = std::uint64_t{1} << 47; // no address space has more
constexpr std::size_t max_dimensions = 16;
constexpr std::uint64_t max_alignment = 1 << 20;

struct SpaceName {
    std::string_view text;
    Space space;
};

constexpr SpaceName spaces[] = {
    {".reg", Space::Reg},     {".global", Space::Global}, {".shared", Space::Shared},
    {".local", Space::Local}, {".const", Space::Const},   {".param", Space::Param},
    {".tex", Space::Tex},
};

const SpaceName *space_named(const Token &token) {
    for (const SpaceName &candidate : spaces)
        if (token.is(candidate.text))
            return &candidate;
    return nullptr;
}

ScalarType type_named(const Token &token) {
    static const std::unordered_map<std::string_view, ScalarType> types = {
#define SCALAR_TYPE(name, text, bits, type_class) {"." text, ScalarType::name},
#include "ptx/types.def"
    };
    auto found = types.find(token.text);
    return found == types.end() || !token.is(TokenKind::Dotted) ? ScalarType::None : found->second;
}

/// Reads the parts of declarations; one object reads one declaration.
class DeclarationParser {
  public:
    explicit DeclarationParser(Context &context) : context_(context), tokens_(context.tokens) {}

    /// The state space and what follows up to the name, in any order.
    void head() {
        pattern_.location = tokens_.location();
        const SpaceName *space = space_named(tokens_.current());
        if (space == nullptr)
            tokens_.fail_expected("a state space");
        tokens_.take();
        pattern_.space = space->space;
        if (pattern_.space == Space::Const && tokens_.at("["))
            tokens_.fail(tokens_.location(),
                         "constant banks are not supported (PTX 2.2 removed them)");
        while (tokens_.at(TokenKind::Dotted))
            attribute();
        if (pattern_.type == ScalarType::None)
            tokens_.fail_expected("a type");
        check_type();
    }

    /// A name with its dimensions.
    Variable declarator() {
        Variable variable = pattern_;
        Token name = tokens_.expect(TokenKind::Identifier, "a name");
        variable.name = name.text;
        variable.location = name.location;
        dimensions(variable);
        if (!variable.explicit_alignment)
            variable.alignment =
                static_cast<std::uint32_t>(std::bit_ceil(variable.element_bytes()));
        return variable;
    }

    RegisterDeclaration register_declarator() {
        Token name = tokens_.expect(TokenKind::Identifier, "a register's name");
        RegisterDeclaration declared{name.text, name.location, pattern_.type, pattern_.vector};
        if (tokens_.accept("<")) {
            declared.is_range = true;
            declared.count = static_cast<std::uint32_t>(tokens_.expect_integer(
                "the number of registers", std::numeric_limits<std::uint32_t>::max() - 1));
            tokens_.expect(">");
        }
        return declared;
    }

    Variable &pattern() { return pattern_; }

  private:
    void attribute() {
        SourceLocation where = tokens_.location();
        if (tokens_.accept(".align")) {
            pattern_.alignment = alignment();
            pattern_.explicit_alignment = true;
        } else if (tokens_.accept(".v2")) {
            pattern_.vector = 2;
        } else if (tokens_.accept(".v4")) {
            pattern_.vector = 4;
        } else if (tokens_.accept(".v8")) {
            pattern_.vector = 8;
        } else if (tokens_.accept(".attribute")) {
            attribute_list();
        } else if (tokens_.accept(".ptr")) {
            pointer();
        } else if (ScalarType type = type_named(tokens_.current()); type != ScalarType::None) {
            if (pattern_.type != ScalarType::None)
                tokens_.fail(where, "a variable has one type, got a second type: " +
                                        describe(tokens_.current()));
            tokens_.take();
            pattern_.type = type;
        } else {
            tokens_.fail_expected("a type");
        }
    }

    std::uint32_t alignment() {
        SourceLocation where = tokens_.location();
        std::uint64_t value = tokens_.expect_integer("the alignment", max_alignment);
        if (!std::has_single_bit(value))
            tokens_.fail(where,
                         "alignment is " + std::to_string(value) + ", expected a power of two");
        return static_cast<std::uint32_t>(value);
    }

    void attribute_list() {
        tokens_.expect("(");
        do {
            if (tokens_.accept(".managed")) {
                pattern_.managed = true;
            } else if (tokens_.accept(".unified")) {
                tokens_.expect("(");
                parse_integer_constant(tokens_);
                tokens_.expect(",");
                parse_integer_constant(tokens_);
                tokens_.expect(")");
            } else {
                tokens_.fail_expected("`.managed` or `.unified`");
            }
        } while (tokens_.accept(","));
        tokens_.expect(")");
    }

    void pointer() {
        PointerInfo info;
        if (const SpaceName *space = space_named(tokens_.current())) {
            tokens_.take();
            info.space = space->space;
        }
        if (tokens_.accept(".align"))
            info.alignment = alignment();
        pattern_.pointer = info;
    }

    void check_type() {
        TypeClass type_class = class_of(pattern_.type);
        bool in_registers = pattern_.space == Space::Reg;
        if (type_class == TypeClass::SubByte ||
            (pattern_.type == ScalarType::Pred && !in_registers))
            tokens_.fail(tokens_.location(), "`." + std::string(name_of(pattern_.type)) +
                                                 "` is not the type of a variable");
        if (pattern_.vector > 1 && pattern_.type == ScalarType::Pred)
            tokens_.fail(tokens_.location(), "a vector of predicates is not allowed");
    }

    void dimensions(Variable &variable) {
        std::uint64_t elements = 1;
        while (tokens_.at("[")) {
            SourceLocation where = tokens_.take().location;
            std::uint64_t size = 0;
            if (!tokens_.at("]")) {
                Constant constant = parse_integer_constant(tokens_);
                size = constant.bits;
                if (!constant.is_unsigned && constant.signed_value() < 0)
                    tokens_.fail(where, "array size is negative");
            } else if (!variable.dimensions.empty()) {
                tokens_.fail(where, "only the first dimension may have no size");
            }
            tokens_.expect("]");
            if (variable.dimensions.size() == max_dimensions)
                tokens_.fail(where, "more than " + std::to_string(max_dimensions) + " dimensions");
            if (size > max_bytes / variable.element_bytes() / elements)
                tokens_.fail(where,
                             "`" + std::string(variable.name) + "` is larger than 2^47 bytes");
            elements *= size == 0 ? 1 : size;
            variable.dimensions.push_back(size);
        }
    }

    Context &context_;
    TokenStream &tokens_;
    Variable pattern_;
};

} // namespace

bool is_state_space(const Token &token) {
    return token.is(TokenKind::Dotted) && space_named(token) != nullptr;
}

void parse_variables(Context &context, Linkage linkage,
                     const std::function<void(Variable &&)> &declare) {
    DeclarationParser parser(context);
    parser.head();
    parser.pattern().linkage = linkage;
    do {
        Variable variable = parser.declarator();
        if (context.tokens.accept("="))
            parse_initializer(context, variable);
        declare(std::move(variable));
    } while (context.tokens.accept(","));
    context.tokens.expect(";");
}

void parse_registers(Context &context,
                     const std::function<void(const RegisterDeclaration &)> &declare) {
    DeclarationParser parser(context);
    parser.head();
    do
        declare(parser.register_declarator());
    while (context.tokens.accept(","));
    context.tokens.expect(";");
}

std::vector<Variable> parse_parameters(Context &context) {
    std::vector<Variable> parameters;
    context.tokens.expect("(");
    if (context.tokens.accept(")"))
        return parameters;
    do {
        DeclarationParser parser(context);
        parser.head();
        parameters.push_back(parser.declarator());
    } while (context.tokens.accept(","));
    context.tokens.expect(")");
    return parameters;
}

} // namespace softcuda::ptx
