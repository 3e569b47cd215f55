// lexer.cpp -- converts PTX text to tokens.
#include "ptx/lexer.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace softcuda::ptx {

namespace {

enum CharClass : std::uint8_t { Other, Blank, WordStart, Digit };

constexpr std::array<std::uint8_t, 256> make_classes() {
    std::array<std::uint8_t, 256> table{};
    for (char c : {' ', '\t', '\r', '\n', '\f', '\v'})
        table[static_cast<unsigned char>(c)] = Blank;
    for (int c = 'a'; c <= 'z'; ++c)
        table[c] = table[c - 'a' + 'A'] = WordStart;
    for (char c : {'_', '$', '%'})
        table[static_cast<unsigned char>(c)] = WordStart;
    for (int c = '0'; c <= '9'; ++c)
        table[c] = Digit;
    return table;
}

constexpr std::array<std::uint8_t, 256> classes = make_classes();

bool is_blank(char c) { return classes[static_cast<unsigned char>(c)] == Blank; }
bool is_digit(char c) { return classes[static_cast<unsigned char>(c)] == Digit; }
bool is_word_start(char c) { return classes[static_cast<unsigned char>(c)] == WordStart; }
bool is_word(char c) { return classes[static_cast<unsigned char>(c)] >= WordStart && c != '%'; }

/// The value of a digit in any radix up to 16; 16 if it is none.
unsigned digit_value(char c) {
    if (is_digit(c))
        return c - '0';
    char lower = c | 0x20;
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 16;
}

std::string shown(char c) {
    auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f)
        return std::string("`") + c + "`";
    constexpr char digits[] = "0123456789abcdef";
    return std::string("byte 0x") + digits[byte >> 4] + digits[byte & 15];
}

} // namespace

Token Lexer::token(TokenKind kind, std::size_t begin) const {
    Token result;
    result.kind = kind;
    result.location.offset = static_cast<std::uint32_t>(begin);
    result.text = text_.substr(begin, position_ - begin);
    return result;
}

Token Lexer::invalid(std::size_t begin, std::string message) {
    diagnostics_.error({static_cast<std::uint32_t>(begin)}, std::move(message));
    return token(TokenKind::Invalid, begin);
}

void Lexer::skip_line() {
    std::size_t end = text_.find('\n', position_);
    position_ = end == std::string_view::npos ? text_.size() : end;
}

void Lexer::skip_block_comment() {
    std::size_t end = text_.find("*/", position_ + 2);
    if (end == std::string_view::npos) {
        diagnostics_.error({static_cast<std::uint32_t>(position_)}, "comment has no end: no `*/`");
        position_ = text_.size();
    } else {
        position_ = end + 2;
    }
}

void Lexer::skip_blanks() {
    for (;;) {
        while (position_ < text_.size() && is_blank(text_[position_]))
            ++position_;
        if (at(position_) == '/' && at(position_ + 1) == '/')
            skip_line();
        else if (at(position_) == '/' && at(position_ + 1) == '*')
            skip_block_comment();
        else
            return;
    }
}

std::size_t Lexer::end_of_word(std::size_t position) const {
    while (position < text_.size() && is_word(text_[position]))
        ++position;
    return position;
}

Token Lexer::next() {
    skip_blanks();
    std::size_t begin = position_;
    if (begin == text_.size())
        return token(TokenKind::End, begin);
    char c = text_[begin];
    if (is_word_start(c) && (c != '%' || is_word(at(begin + 1)))) {
        position_ = end_of_word(begin + 1);
        return token(TokenKind::Identifier, begin);
    }
    if (is_digit(c) || (c == '.' && is_digit(at(begin + 1)) && !is_word_start(at(begin + 2))))
        return number();
    if (c == '.' && is_word(at(begin + 1))) {
        position_ = end_of_word(begin + 1);
        while (at(position_) == ':' && at(position_ + 1) == ':')
            position_ = end_of_word(position_ + 2);
        return token(TokenKind::Dotted, begin);
    }
    if (c == '"')
        return string();
    return punctuator();
}

std::string_view Lexer::extend_opcode(const Token &start) {
    while (at(position_) == '.' && is_word(at(position_ + 1))) {
        position_ = end_of_word(position_ + 1);
        while (at(position_) == ':' && at(position_ + 1) == ':')
            position_ = end_of_word(position_ + 2);
    }
    return text_.substr(start.location.offset, position_ - start.location.offset);
}

Token Lexer::number() {
    if (at(position_) == '0') {
        switch (at(position_ + 1) | 0x20) {
        case 'f':
            return float_bits(TokenKind::Float32, 8);
        case 'd':
            return float_bits(TokenKind::Float64, 16);
        case 'x':
            return radix_integer(16, position_ + 2);
        case 'b':
            return radix_integer(2, position_ + 2);
        default:
            break;
        }
    }
    std::size_t end = position_;
    while (is_digit(at(end)))
        ++end;
    char after = at(end);
    if (after == '.' || (after | 0x20) == 'e')
        return decimal();
    bool octal = at(position_) == '0' && end > position_ + 1;
    return radix_integer(octal ? 8 : 10, position_);
}

Token Lexer::radix_integer(unsigned radix, std::size_t digits_at) {
    std::size_t begin = position_;
    std::uint64_t value = 0;
    bool overflow = false;
    position_ = digits_at;
    for (unsigned digit; (digit = digit_value(at(position_))) < radix; ++position_) {
        overflow |= value > (std::numeric_limits<std::uint64_t>::max() - digit) / radix;
        value = value * radix + digit;
    }
    bool empty = position_ == digits_at;
    bool has_suffix = at(position_) == 'U';
    position_ += has_suffix;
    if (empty || is_word(at(position_))) {
        position_ = end_of_word(position_);
        return invalid(begin, "`" + std::string(text_.substr(begin, position_ - begin)) +
                                  "` is not a number");
    }
    if (overflow)
        return invalid(begin, "`" + std::string(text_.substr(begin, position_ - begin)) +
                                  "` does not fit in 64 bits");
    Token result = token(TokenKind::Integer, begin);
    result.value = value;
    result.is_unsigned = has_suffix || value >> 63 != 0;
    return result;
}

Token Lexer::float_bits(TokenKind kind, std::size_t digits) {
    std::size_t begin = position_;
    std::uint64_t bits = 0;
    position_ += 2;
    std::size_t count = 0;
    for (unsigned digit; (digit = digit_value(at(position_))) < 16; ++position_, ++count)
        bits = bits << 4 | digit;
    if (count != digits || is_word(at(position_))) {
        position_ = end_of_word(position_);
        return invalid(begin, "`" + std::string(text_.substr(begin, position_ - begin)) +
                                  "` is not a floating-point constant: expected " +
                                  std::to_string(digits) + " hexadecimal digits");
    }
    Token result = token(kind, begin);
    result.value = bits;
    return result;
}

Token Lexer::decimal() {
    std::size_t begin = position_;
    double value = 0;
    const char *first = text_.data() + begin;
    auto [end, error] = std::from_chars(first, text_.data() + text_.size(), value);
    // Too small is zero and too large infinity, as for a compiler that rounds.
    if (error == std::errc::result_out_of_range) {
        std::string_view digits(first, end - first);
        std::size_t exponent = digits.find_first_of("eE");
        bool tiny = exponent == std::string_view::npos ? digits.front() == '0'
                                                       : digits[exponent + 1] == '-';
        value = tiny ? 0.0 : HUGE_VAL;
    }
    position_ = end - text_.data();
    if (is_word(at(position_))) {
        position_ = end_of_word(position_);
        return invalid(begin, "`" + std::string(text_.substr(begin, position_ - begin)) +
                                  "` is not a number");
    }
    Token result = token(TokenKind::Float64, begin);
    result.value = std::bit_cast<std::uint64_t>(value);
    return result;
}

Token Lexer::string() {
    std::size_t begin = position_;
    std::size_t end = begin + 1;
    while (end < text_.size() && text_[end] != '"' && text_[end] != '\n')
        end += text_[end] == '\\' && at(end + 1) != '\n' ? 2 : 1;
    if (at(end) != '"') {
        position_ = std::min(end, text_.size());
        return invalid(begin, "string has no end: expected `\"` on the same line");
    }
    position_ = end + 1;
    Token result = token(TokenKind::String, begin);
    result.text = text_.substr(begin + 1, end - begin - 1);
    return result;
}

Token Lexer::punctuator() {
    std::size_t begin = position_;
    constexpr std::string_view doubles[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
    std::string_view two = text_.substr(begin, 2);
    for (std::string_view known : doubles)
        if (two == known) {
            position_ += 2;
            return token(TokenKind::Punctuator, begin);
        }
    position_ += 1;
    constexpr std::string_view singles = "(){}[]<>,;:@!|+-*/%&^~=?";
    if (singles.find(text_[begin]) == std::string_view::npos)
        return invalid(begin, "unexpected " + shown(text_[begin]));
    return token(TokenKind::Punctuator, begin);
}

} // namespace softcuda::ptx
