// lexer.h -- PTX text to tokens.
//
// Dots have several meanings in PTX: `.global` is a directive or state space, `add.s32` is an
// opcode with modifiers, and `%tid.x` is a register with a component. The lexer returns identifiers
// and dotted words as separate tokens. opcode() reads to the end of an opcode; the parser calls it
// if it expects an opcode.
#pragma once

#include "support/diagnostics.h"
#include "support/source.h"

#include <cstdint>
#include <string_view>

namespace softcuda::ptx {

enum class TokenKind : std::uint8_t {
    End,
    Identifier, ///< `add`, `%r1`, `$L_3`, `_`
    Dotted,     ///< `.global`, `.shared::cta`, with the dot
    Integer,    ///< value; is_unsigned
    Float32,    ///< `0f3F800000`: its bits in value
    Float64,    ///< `0d...` and decimal: the bits of a double in value
    String,     ///< text without the quotes
    Punctuator, ///< text: one of ( ) { } [ ] < > , ; : @ ! | + - * / % & ^ ~ = ? or << >> <= >= ==
                ///< != && ||
    Invalid,    ///< already reported
};

struct Token {
    TokenKind kind = TokenKind::End;
    bool is_unsigned = false;
    SourceLocation location;
    std::string_view text;
    std::uint64_t value = 0;

    bool is(TokenKind wanted) const { return kind == wanted; }
    bool is(std::string_view wanted) const {
        return text == wanted && kind != TokenKind::String && kind != TokenKind::End;
    }
};

class Lexer {
  public:
    Lexer(const SourceText &source, Diagnostics &diagnostics)
        : text_(source.text()), diagnostics_(diagnostics) {}

    Token next();

    /// The text from `start`, an Identifier that was just read, to the end of its dotted words:
    /// `ld` becomes `ld.global.L1::no_allocate.v4.f32`.
    std::string_view extend_opcode(const Token &start);

    /// True if the very next byte, without a blank between, is `c`.
    bool next_byte_is(char c) const { return position_ < text_.size() && text_[position_] == c; }

  private:
    void skip_blanks();
    void skip_block_comment();
    void skip_line();
    Token number();
    Token radix_integer(unsigned radix, std::size_t digits_at);
    Token float_bits(TokenKind kind, std::size_t digits);
    Token decimal();
    Token string();
    Token punctuator();
    Token token(TokenKind kind, std::size_t begin) const;
    Token invalid(std::size_t begin, std::string message);
    char at(std::size_t position) const { return position < text_.size() ? text_[position] : '\0'; }
    std::size_t end_of_word(std::size_t position) const;

    std::string_view text_;
    Diagnostics &diagnostics_;
    std::size_t position_ = 0;
};

} // namespace softcuda::ptx
