// token_stream.cpp -- the tokens of a module, one at a time.
#include "ptx/token_stream.h"

namespace softcuda::ptx {

TokenStream::TokenStream(const SourceText &source, Diagnostics &diagnostics)
    : lexer_(source, diagnostics), diagnostics_(diagnostics) {
    current_ = lexer_.next();
}

Token TokenStream::take() {
    Token token = current_;
    current_ = lexer_.next();
    return token;
}

bool TokenStream::accept(std::string_view text) {
    if (!current_.is(text))
        return false;
    current_ = lexer_.next();
    return true;
}

Token TokenStream::expect(std::string_view text) {
    if (!current_.is(text))
        fail_expected("`" + std::string(text) + "`");
    return take();
}

Token TokenStream::expect(TokenKind kind, std::string_view what) {
    if (!current_.is(kind))
        fail_expected(what);
    return take();
}

std::uint64_t TokenStream::expect_integer(std::string_view what, std::uint64_t limit) {
    Token token = expect(TokenKind::Integer, what);
    if (token.value > limit)
        fail(token.location, std::string(what) + " is " + std::to_string(token.value) +
                                 ", expected at most " + std::to_string(limit));
    return token.value;
}

std::string_view TokenStream::take_opcode() {
    std::string_view spelling = lexer_.extend_opcode(current_);
    current_ = lexer_.next();
    return spelling;
}

void TokenStream::fail_expected(std::string_view what) {
    if (current_.is(TokenKind::Invalid))
        throw ParseStopped{}; // the lexer has already reported the error
    fail(current_.location, "expected " + std::string(what) + ", got " + describe(current_));
}

void TokenStream::fail(SourceLocation where, std::string message, std::string note) {
    diagnostics_.error(where, std::move(message), std::move(note));
    throw ParseStopped{};
}

void TokenStream::skip_statement() {
    while (!at(TokenKind::End) && !at("}")) {
        if (at("{")) {
            skip_block();
            return;
        }
        if (take().is(";"))
            return;
    }
}

void TokenStream::skip_block() {
    std::size_t depth = 0;
    while (!at(TokenKind::End)) {
        Token token = take();
        depth += token.is("{");
        if (token.is("}") && --depth == 0)
            return;
    }
}

std::string describe(const Token &token) {
    if (token.is(TokenKind::End))
        return "the end of the text";
    if (token.is(TokenKind::String))
        return "a string";
    constexpr std::size_t longest = 60;
    std::string text(token.text.substr(0, longest));
    return "`" + text + (token.text.size() > longest ? "...`" : "`");
}

} // namespace softcuda::ptx
