// text_cursor.cpp -- reads one line of the IR's text form, word by word.
#include "ir/text_cursor.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>

namespace softcuda::ir {

namespace {

bool in_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '.';
}

std::string_view word_at(std::string_view text) {
    std::size_t length = 0;
    while (length < text.size() && in_word(text[length]))
        length++;
    return text.substr(0, length);
}

template <typename Number> bool read_number(std::string_view text, Number &out, int base = 10) {
    const char *end = text.data() + text.size();
    std::from_chars_result result{};
    if constexpr (std::is_floating_point_v<Number>)
        result = std::from_chars(text.data(), end, out);
    else
        result = std::from_chars(text.data(), end, out, base);
    return result.ec == std::errc{} && result.ptr == end;
}

} // namespace

void TextCursor::fail(const std::string &what) const {
    throw TextError{"line " + std::to_string(number_) + ": " + what +
                    (rest_.empty() ? "" : ", at: " + std::string(rest_))};
}

void TextCursor::skip_blanks() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_[0])))
        rest_.remove_prefix(1);
}

bool TextCursor::at_end() {
    skip_blanks();
    return rest_.empty();
}

void TextCursor::end() {
    if (!at_end())
        fail("expected the end of the line");
}

bool TextCursor::peek(char c) {
    skip_blanks();
    return !rest_.empty() && rest_[0] == c;
}

bool TextCursor::peek_word(std::string_view word) {
    skip_blanks();
    return word_at(rest_) == word || rest_.empty();
}

bool TextCursor::peek_constant() {
    skip_blanks();
    Type type;
    std::string_view first = word_at(rest_);
    return from_text(first, type) && rest_.size() > first.size() && rest_[first.size()] == ' ';
}

bool TextCursor::accept(char c) {
    if (!peek(c))
        return false;
    rest_.remove_prefix(1);
    return true;
}

void TextCursor::expect(char c) {
    if (!accept(c))
        fail(std::string("expected ") + c);
}

std::string_view TextCursor::word() {
    skip_blanks();
    std::string_view found = word_at(rest_);
    if (found.empty())
        fail("expected a word");
    rest_.remove_prefix(found.size());
    return found;
}

std::int64_t TextCursor::number() {
    bool negative = accept('-');
    std::string_view digits = word();
    std::uint64_t value = 0;
    if (!read_number(digits, value))
        fail("expected a number, found " + std::string(digits));
    return static_cast<std::int64_t>(negative ? 0 - value : value);
}

std::uint64_t TextCursor::unsigned_after(std::string_view wanted) {
    if (word() != wanted)
        fail("expected " + std::string(wanted));
    return static_cast<std::uint64_t>(number());
}

std::int64_t TextCursor::offset() {
    if (accept('+'))
        return number();
    return peek('-') ? number() : 0;
}

std::string_view TextCursor::quoted() {
    expect('"');
    std::size_t length = rest_.find('"');
    if (length == rest_.npos)
        fail("a \" is missing");
    std::string_view found = rest_.substr(0, length);
    rest_.remove_prefix(length + 1);
    return found;
}

std::vector<std::byte> TextCursor::hex_bytes() {
    std::string_view digits = word();
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i < digits.size(); i += 2) {
        unsigned byte = 0;
        if (!read_number(digits.substr(i, 2), byte, 16) || i + 1 == digits.size())
            fail("expected bytes in hexadecimal");
        bytes.push_back(static_cast<std::byte>(byte));
    }
    return bytes;
}

std::uint64_t TextCursor::constant_bits(Type type) {
    bool negative = accept('-');
    std::string_view digits = word();
    std::uint64_t bits = 0;
    if (digits.starts_with("0x")) {
        if (negative || !read_number(digits.substr(2), bits, 16))
            fail("expected bits in hexadecimal");
        return bits;
    }
    if (!is_float(type)) {
        if (!read_number(digits, bits))
            fail("expected a constant, found " + std::string(digits));
        return negative ? 0 - bits : bits;
    }
    // 1e+20: the sign of the exponent ends a word.
    std::string whole{negative ? "-" : ""};
    whole += digits;
    if (whole.ends_with('e') && (peek('+') || peek('-'))) {
        whole += rest_[0];
        rest_.remove_prefix(1);
        whole += word();
        whole.erase(std::remove(whole.begin(), whole.end(), '+'), whole.end());
    }
    if (type == Type::F32) {
        float value = 0;
        if (!read_number(std::string_view(whole), value))
            fail("expected a constant, found " + whole);
        return std::bit_cast<std::uint32_t>(value);
    }
    double value = 0;
    if (!read_number(std::string_view(whole), value))
        fail("expected a constant, found " + whole);
    return std::bit_cast<std::uint64_t>(value);
}

std::string_view TextCursor::until_dot() {
    skip_blanks();
    std::string_view found = rest_.substr(0, rest_.find('.'));
    rest_.remove_prefix(found.size());
    return found;
}

} // namespace softcuda::ir
