// token_stream.h -- the tokens of a module, one at a time, and the recovery from syntax errors.
#pragma once

#include "ptx/lexer.h"

#include <string>
#include <string_view>

namespace softcuda::ptx {

/// Abandons an invalid statement. Thrown after the diagnostic was added, caught where the parser
/// can continue, and never leaves parse().
struct ParseStopped {};

class TokenStream {
  public:
    TokenStream(const SourceText &source, Diagnostics &diagnostics);

    const Token &current() const { return current_; }
    SourceLocation location() const { return current_.location; }
    bool at(std::string_view text) const { return current_.is(text); }
    bool at(TokenKind kind) const { return current_.is(kind); }
    /// True if nothing, not even a blank, is between the current token and the byte `c`.
    bool followed_directly_by(char c) const { return lexer_.next_byte_is(c); }

    /// Returns the current token and advances to the next one.
    Token take();
    /// Advances if the current token is `text`.
    bool accept(std::string_view text);
    Token expect(std::string_view text);
    /// `what` is the expected token in the message.
    Token expect(TokenKind kind, std::string_view what);
    static constexpr std::uint64_t max_u32 = 0xffffffff;
    /// A whole number without sign, at most `limit`.
    std::uint64_t expect_integer(std::string_view what, std::uint64_t limit);

    /// The current Identifier with all its dotted words; advances to the token after them.
    std::string_view take_opcode();

    /// Reports that `what` was expected at the current token, and abandons the statement.
    [[noreturn]] void fail_expected(std::string_view what);
    [[noreturn]] void fail(SourceLocation where, std::string message, std::string note = {});

    /// After an abandoned statement: past the next `;`, or to a `}`; past blocks in between.
    void skip_statement();
    /// At a `{`: past its `}`.
    void skip_block();

    Diagnostics &diagnostics() { return diagnostics_; }

  private:
    Lexer lexer_;
    Diagnostics &diagnostics_;
    Token current_;
};

/// How a token is named in messages: "`add`" or "the end of the text".
std::string describe(const Token &token);

} // namespace softcuda::ptx
