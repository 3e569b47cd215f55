// initializer.cpp -- reads the initialiser of a variable.
//
// Lists nest as the dimensions do. What is written becomes (offset, bits) pairs of the values that
// are not zero, so that neither `x[1000000000] = {1}` nor a table of zeros takes memory.
#include "ptx/initializer.h"

#include "ptx/expression.h"

#include <bit>

namespace softcuda::ptx {

namespace {

class InitializerParser {
  public:
    InitializerParser(Context &context, Variable &variable)
        : context_(context), tokens_(context.tokens), variable_(variable),
          extents_(variable.dimensions) {
        if (variable.vector > 1)
            extents_.push_back(variable.vector);
    }

    void parse() {
        variable_.initialized = true;
        if (class_of(variable_.type) == TypeClass::Opaque && variable_.dimensions.empty()) {
            properties();
            return;
        }
        std::uint64_t written = extents_.empty() ? (scalar(0), 1) : list(0, 0);
        if (!variable_.dimensions.empty() && variable_.dimensions[0] == 0)
            variable_.dimensions[0] = written;
    }

  private:
    /// `{ ... }` for the dimension `level`, whose first scalar is number `first`. Gives the number
    /// of its elements.
    std::uint64_t list(std::size_t level, std::uint64_t first) {
        bool open = level == 0 && extents_[0] == 0;
        bool innermost = level + 1 == extents_.size();
        std::uint64_t stride = 1;
        for (std::size_t inner = level + 1; inner < extents_.size(); ++inner)
            stride *= extents_[inner];
        tokens_.expect("{");
        std::uint64_t count = 0;
        while (!tokens_.at("}")) {
            if (!open && count == extents_[level])
                tokens_.fail(tokens_.location(),
                             "`" + std::string(variable_.name) + "` has " +
                                 std::to_string(extents_[level]) +
                                 " elements in this dimension, got more values");
            std::uint64_t at = first + count * stride;
            if (innermost)
                scalar(at);
            else
                list(level + 1, at);
            ++count;
            if (!tokens_.accept(","))
                break;
        }
        if (open && count == 0)
            tokens_.fail_expected("a value");
        tokens_.expect("}");
        return count;
    }

    void scalar(std::uint64_t element) {
        InitialValue value;
        value.offset = element * bytes_of(variable_.type);
        if (tokens_.at(TokenKind::Identifier) && !begins_constant(tokens_)) {
            address(value);
        } else {
            SourceLocation where = tokens_.location();
            Constant constant = parse_constant(tokens_);
            if (tokens_.accept("("))
                masked_address(where, constant, value);
            else
                value.bits = convert(where, constant);
        }
        if (value.bits != 0 || value.symbol)
            variable_.initial.push_back(value);
    }

    /// `0xff00(symbol)`: one byte of an address.
    void masked_address(SourceLocation where, const Constant &mask, InitialValue &value) {
        auto byte = static_cast<unsigned>(std::countr_zero(mask.bits)) / 8;
        if (!mask.is_integer() || mask.bits == 0 || mask.bits != std::uint64_t{0xff} << (8 * byte))
            tokens_.fail(where, "mask of an address must be one byte: 0xFF, 0xFF00, ...");
        address(value);
        value.mask_byte = static_cast<std::uint8_t>(byte);
        tokens_.expect(")");
    }

    /// `symbol`, `generic(symbol)`, either with `+ constant` after it.
    void address(InitialValue &value) {
        SourceLocation where = tokens_.location();
        value.generic = tokens_.at("generic") && tokens_.followed_directly_by('(');
        if (value.generic) {
            tokens_.take();
            tokens_.expect("(");
        }
        Token name = tokens_.expect(TokenKind::Identifier, "a constant or the name of a variable");
        const NameTable::Found *found = context_.names.find(name.text);
        if (found == nullptr || found->meaning.kind != Meaning::Kind::Symbol || found->scope != 0)
            tokens_.fail(name.location, "`" + std::string(name.text) +
                                            "` is not a variable or function of the module");
        value.symbol = found->meaning.symbol;
        if (tokens_.at("+") || tokens_.at("-"))
            value.bits = parse_integer_constant(tokens_).bits;
        if (value.generic) {
            tokens_.expect(")");
            if (tokens_.at("+") || tokens_.at("-"))
                value.bits += parse_integer_constant(tokens_).bits;
        }
        bool is_byte = bytes_of(variable_.type) == 1;
        if (bytes_of(variable_.type) < 4 && !is_byte)
            tokens_.fail(where, "an address does not fit in `." +
                                    std::string(name_of(variable_.type)) + "`");
    }

    /// The bits that a constant has as a value of the variable's type.
    std::uint64_t convert(SourceLocation where, const Constant &constant) {
        TypeClass type_class = class_of(variable_.type);
        unsigned bits = bits_of(variable_.type);
        if (constant.is_integer() && type_class != TypeClass::Float)
            return bits >= 64 ? constant.bits : constant.bits & ((std::uint64_t{1} << bits) - 1);
        if (bits != 32 && bits != 64)
            tokens_.fail(where, "`." + std::string(name_of(variable_.type)) +
                                    "` cannot be initialised with this constant");
        if (type_class != TypeClass::Float && type_class != TypeClass::Bits)
            tokens_.fail(where, "expected an integer for `." +
                                    std::string(name_of(variable_.type)) + "`, got a float");
        if (bits == 32 && constant.kind == Constant::Kind::Float32)
            return constant.bits;
        double value = number(constant);
        return bits == 32 ? std::bit_cast<std::uint32_t>(static_cast<float>(value))
                          : std::bit_cast<std::uint64_t>(value);
    }

    static double number(const Constant &constant) {
        if (constant.kind == Constant::Kind::Float32)
            return std::bit_cast<float>(static_cast<std::uint32_t>(constant.bits));
        if (constant.kind == Constant::Kind::Float64)
            return std::bit_cast<double>(constant.bits);
        return constant.is_unsigned ? static_cast<double>(constant.bits)
                                    : static_cast<double>(constant.signed_value());
    }

    /// `{ filter_mode = nearest, addr_mode_0 = wrap }`
    void properties() {
        tokens_.expect("{");
        while (!tokens_.at("}")) {
            Token name = tokens_.expect(TokenKind::Identifier, "the name of a property");
            tokens_.expect("=");
            if (!tokens_.at(TokenKind::Identifier) && !tokens_.at(TokenKind::Integer))
                tokens_.fail_expected("the value of a property");
            variable_.properties.push_back({name.text, tokens_.take().text});
            if (!tokens_.accept(","))
                break;
        }
        tokens_.expect("}");
    }

    Context &context_;
    TokenStream &tokens_;
    Variable &variable_;
    std::vector<std::uint64_t> extents_; ///< the dimensions, and the vector as the innermost
};

} // namespace

void parse_initializer(Context &context, Variable &variable) {
    InitializerParser(context, variable).parse();
}

} // namespace softcuda::ptx
