// expression.cpp -- PTX's constant expressions, evaluated while they are read.
//
// Integers are 64 bits wide and wrap. An operation is unsigned if one side is; comparisons and
// logic give signed 0 or 1. Floating-point constants are doubles. A single `0f...` constant keeps
// its type and its bits.
#include "ptx/expression.h"

#include <bit>
#include <limits>
#include <string>

namespace softcuda::ptx {

namespace {

constexpr unsigned max_depth = 64;

Constant make_integer(std::uint64_t bits, bool is_unsigned) {
    return {Constant::Kind::Integer, is_unsigned, bits};
}

Constant make_double(double value) {
    return {Constant::Kind::Float64, false, std::bit_cast<std::uint64_t>(value)};
}

double as_double(const Constant &constant) {
    switch (constant.kind) {
    case Constant::Kind::Float32:
        return std::bit_cast<float>(static_cast<std::uint32_t>(constant.bits));
    case Constant::Kind::Float64:
        return std::bit_cast<double>(constant.bits);
    case Constant::Kind::Integer:
        break;
    }
    return constant.is_unsigned ? static_cast<double>(constant.bits)
                                : static_cast<double>(constant.signed_value());
}

struct Operator {
    std::string_view text;
    unsigned precedence; ///< larger binds tighter
};

constexpr Operator operators[] = {
    {"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5},  {"==", 6},
    {"!=", 6}, {"<", 7},  {"<=", 7}, {">", 7},  {">=", 7}, {"<<", 8},
    {">>", 8}, {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10},
};

const Operator *operator_at(const TokenStream &tokens) {
    if (!tokens.at(TokenKind::Punctuator))
        return nullptr;
    for (const Operator &candidate : operators)
        if (tokens.at(candidate.text))
            return &candidate;
    return nullptr;
}

class ExpressionParser {
  public:
    explicit ExpressionParser(TokenStream &tokens) : tokens_(tokens) {}

    Constant conditional() {
        Constant condition = binary(1);
        if (!tokens_.accept("?"))
            return condition;
        Level level(*this);
        Constant yes = conditional();
        tokens_.expect(":");
        Constant no = conditional();
        return as_truth(condition) ? yes : no;
    }

  private:
    /// Counts the nesting while it lives.
    struct Level {
        explicit Level(ExpressionParser &parser) : parser(parser) {
            if (++parser.depth_ > max_depth)
                parser.tokens_.fail(parser.tokens_.location(),
                                    "constant expression is nested deeper than " +
                                        std::to_string(max_depth) + " levels");
        }
        ~Level() { --parser.depth_; }
        ExpressionParser &parser;
    };

    static bool as_truth(const Constant &constant) {
        return constant.is_integer() ? constant.bits != 0 : as_double(constant) != 0;
    }

    Constant binary(unsigned least) {
        Constant left = unary();
        for (;;) {
            const Operator *found = operator_at(tokens_);
            if (found == nullptr || found->precedence < least)
                return left;
            SourceLocation where = tokens_.take().location;
            Level level(*this);
            left = apply(where, found->text, left, binary(found->precedence + 1));
        }
    }

    Constant unary() {
        Level level(*this);
        SourceLocation where = tokens_.location();
        if (tokens_.accept("+"))
            return unary();
        if (tokens_.accept("-"))
            return negate(unary());
        if (tokens_.accept("!"))
            return make_integer(!as_truth(unary()), false);
        if (tokens_.accept("~")) {
            Constant operand = unary();
            need_integer(where, "~", operand);
            return make_integer(~operand.bits, operand.is_unsigned);
        }
        return primary();
    }

    static Constant negate(Constant operand) {
        if (operand.is_integer())
            return make_integer(0 - operand.bits, operand.is_unsigned);
        std::uint64_t sign = operand.kind == Constant::Kind::Float32 ? std::uint64_t{1} << 31
                                                                     : std::uint64_t{1} << 63;
        operand.bits ^= sign;
        return operand;
    }

    Constant primary() {
        if (tokens_.accept("("))
            return parenthesised();
        const Token &token = tokens_.current();
        if (token.is(TokenKind::Identifier) && token.text == "WARP_SZ") {
            tokens_.take();
            return make_integer(32, false);
        }
        Constant::Kind kind;
        if (token.is(TokenKind::Integer))
            kind = Constant::Kind::Integer;
        else if (token.is(TokenKind::Float32))
            kind = Constant::Kind::Float32;
        else if (token.is(TokenKind::Float64))
            kind = Constant::Kind::Float64;
        else
            tokens_.fail_expected("a constant");
        Token taken = tokens_.take();
        return {kind, taken.is_unsigned, taken.value};
    }

    Constant parenthesised() {
        if (tokens_.at(".s64") || tokens_.at(".u64")) {
            bool to_unsigned = tokens_.take().is(".u64");
            tokens_.expect(")");
            Constant operand = unary();
            if (!operand.is_integer())
                return make_integer(to_integer(as_double(operand), to_unsigned), to_unsigned);
            return make_integer(operand.bits, to_unsigned);
        }
        Constant value = conditional();
        tokens_.expect(")");
        return value;
    }

    /// Truncates. Out-of-range values become the nearest representable value, and NaN becomes zero.
    static std::uint64_t to_integer(double value, bool to_unsigned) {
        constexpr double two_63 = 9223372036854775808.0;
        if (value != value)
            return 0;
        if (to_unsigned)
            return value <= 0              ? 0
                   : value >= 2.0 * two_63 ? std::numeric_limits<std::uint64_t>::max()
                                           : static_cast<std::uint64_t>(value);
        std::int64_t whole = value >= two_63    ? std::numeric_limits<std::int64_t>::max()
                             : value <= -two_63 ? std::numeric_limits<std::int64_t>::min()
                                                : static_cast<std::int64_t>(value);
        return static_cast<std::uint64_t>(whole);
    }

    void need_integer(SourceLocation where, std::string_view operation, const Constant &operand) {
        if (!operand.is_integer())
            tokens_.fail(where, "`" + std::string(operation) + "` needs integers, got a float");
    }

    Constant apply(SourceLocation where, std::string_view operation, const Constant &left,
                   const Constant &right) {
        if (operation == "&&")
            return make_integer(as_truth(left) && as_truth(right), false);
        if (operation == "||")
            return make_integer(as_truth(left) || as_truth(right), false);
        if (!left.is_integer() || !right.is_integer())
            return apply_float(where, operation, as_double(left), as_double(right));
        bool is_unsigned = left.is_unsigned || right.is_unsigned;
        if (operation == "/" || operation == "%")
            return divide(where, operation, left, right, is_unsigned);
        if (operation == "<<" || operation == ">>")
            return shift(operation, left, right);
        return apply_integer(operation, left.bits, right.bits, is_unsigned);
    }

    static Constant shift(std::string_view operation, const Constant &left, const Constant &right) {
        std::uint64_t amount = right.bits;
        if (operation == "<<")
            return make_integer(amount > 63 ? 0 : left.bits << amount, left.is_unsigned);
        if (left.is_unsigned)
            return make_integer(amount > 63 ? 0 : left.bits >> amount, true);
        std::int64_t shifted = left.signed_value() >> (amount > 63 ? 63 : amount);
        return make_integer(static_cast<std::uint64_t>(shifted), false);
    }

    Constant divide(SourceLocation where, std::string_view operation, const Constant &left,
                    const Constant &right, bool is_unsigned) {
        if (right.bits == 0)
            tokens_.fail(where, "division by zero in a constant expression");
        bool quotient = operation == "/";
        if (is_unsigned)
            return make_integer(quotient ? left.bits / right.bits : left.bits % right.bits, true);
        std::int64_t a = left.signed_value(), b = right.signed_value();
        if (b == -1) // the most negative number has no opposite
            return make_integer(quotient ? 0 - left.bits : 0, false);
        return make_integer(static_cast<std::uint64_t>(quotient ? a / b : a % b), false);
    }

    static Constant apply_integer(std::string_view operation, std::uint64_t a, std::uint64_t b,
                                  bool is_unsigned) {
        auto x = static_cast<std::int64_t>(a), y = static_cast<std::int64_t>(b);
        bool less = is_unsigned ? a < b : x < y;
        bool greater = is_unsigned ? a > b : x > y;
        if (operation == "==")
            return make_integer(a == b, false);
        if (operation == "!=")
            return make_integer(a != b, false);
        if (operation == "<")
            return make_integer(less, false);
        if (operation == "<=")
            return make_integer(!greater, false);
        if (operation == ">")
            return make_integer(greater, false);
        if (operation == ">=")
            return make_integer(!less, false);
        std::uint64_t bits = operation == "+"   ? a + b
                             : operation == "-" ? a - b
                             : operation == "*" ? a * b
                             : operation == "&" ? (a & b)
                             : operation == "|" ? (a | b)
                                                : (a ^ b);
        return make_integer(bits, is_unsigned);
    }

    Constant apply_float(SourceLocation where, std::string_view operation, double a, double b) {
        if (operation == "+")
            return make_double(a + b);
        if (operation == "-")
            return make_double(a - b);
        if (operation == "*")
            return make_double(a * b);
        if (operation == "/")
            return make_double(a / b);
        if (operation == "==")
            return make_integer(a == b, false);
        if (operation == "!=")
            return make_integer(a != b, false);
        if (operation == "<")
            return make_integer(a < b, false);
        if (operation == "<=")
            return make_integer(a <= b, false);
        if (operation == ">")
            return make_integer(a > b, false);
        if (operation == ">=")
            return make_integer(a >= b, false);
        tokens_.fail(where, "`" + std::string(operation) + "` needs integers, got a float");
    }

    TokenStream &tokens_;
    unsigned depth_ = 0;
};

} // namespace

bool begins_constant(const TokenStream &tokens) {
    switch (tokens.current().kind) {
    case TokenKind::Integer:
    case TokenKind::Float32:
    case TokenKind::Float64:
        return true;
    case TokenKind::Identifier:
        return tokens.current().text == "WARP_SZ";
    case TokenKind::Punctuator:
        return tokens.at("(") || tokens.at("-") || tokens.at("+") || tokens.at("~") ||
               tokens.at("!");
    default:
        return false;
    }
}

Constant parse_constant(TokenStream &tokens) { return ExpressionParser(tokens).conditional(); }

Constant parse_integer_constant(TokenStream &tokens) {
    SourceLocation where = tokens.location();
    Constant constant = parse_constant(tokens);
    if (!constant.is_integer())
        tokens.fail(where, "expected an integer constant, got a floating-point one");
    return constant;
}

} // namespace softcuda::ptx
