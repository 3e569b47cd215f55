// source_tokens.h -- the tokens of a user's text, and the macros that it and the options define.
//
// Questions about a text are answered from its tokens, with macros replaced by their bodies. So
// comments, strings and parts of longer names do not count, and a macro hides nothing.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pycuda {

struct Token {
    enum class Kind { Name, Number, Literal, Sign, Include };
    Kind kind = Kind::Sign;
    std::string text;

    bool is(std::string_view wanted) const noexcept { return text == wanted; }
    bool is_name() const noexcept { return kind == Kind::Name; }
};
using Tokens = std::vector<Token>;

/// The tokens of a text. Its directives are left out, but for #include, which is one token.
Tokens tokens_of(std::string_view text);

bool has_name(const Tokens &tokens, std::string_view name);
bool has_name_from(const Tokens &tokens, std::string_view start);

/// Macros that the user defines, for the texts of one kernel.
class UserMacros {
  public:
    /// Takes the definitions (-DX=1, -D X, --define-macro=X) out of `options`. Names that C++
    /// reserves, such as __CUDA_NO_HALF_CONVERSIONS__, stay: they select what system headers
    /// declare.
    void take_from(std::vector<std::string> &options);
    /// Adds the macros of the #define lines of a text.
    void add(std::string_view text);

    /// `text` between #define and #undef of the options' macros that it uses. The rest of a source
    /// is outside, so that a macro of the options changes the user's own texts only. An empty text
    /// stays empty.
    std::string within(std::string_view text) const { return within(text, text); }
    /// As above, where only the part `users` of `text` is the user's.
    std::string within(std::string_view text, std::string_view users) const;
    /// #undef for the macros of the texts.
    std::string forget() const;

    /// A macro for the texts, unless a definition of the user's has its name.
    std::string otherwise(std::string_view name, std::string_view parameters,
                          std::string_view body) const;

    /// The tokens, with names of macros replaced by the tokens of the macros' bodies.
    Tokens expand(const Tokens &tokens) const;
    bool any_of_options() const noexcept { return !options_.empty(); }
    /// Whether `name` is a macro, or a parameter of a macro.
    bool rename(std::string_view name) const noexcept;
    /// Whether a macro joins tokens by ##, so that names may arise that no text shows.
    bool paste() const noexcept { return pastes_; }

  private:
    void define(std::string_view definition);
    std::set<std::string_view> options_in(std::string_view text) const;
    void expand_into(Tokens &result, const Token &token, std::set<std::string> &open) const;

    struct Option {
        std::string name, definition; ///< "X", "X 1"
    };
    std::vector<Option> options_;
    std::map<std::string, Tokens, std::less<>> bodies_; ///< of all definitions of a name
    std::set<std::string, std::less<>> parameters_;
    std::set<std::string, std::less<>> of_texts_;
    bool pastes_ = false;
};

/// #undef for all names of `own`, a part of a source after a header that may define any macro.
std::string undefine_names(std::string_view own);

} // namespace pycuda
