// source_text.h -- reads C++ source without a compiler: comments, strings, directives.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pycuda::compile_detail {

inline constexpr std::size_t none = std::string_view::npos;

/// Whether a character can be in a name or a number. `$` can, as in GCC and nvcc.
[[nodiscard]] constexpr bool is_word(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$';
}

[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_space(char c) noexcept {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/// The position of the first character from `at` on that is no space.
[[nodiscard]] std::size_t skip_space(std::string_view text, std::size_t at) noexcept;
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;

/// The word that begins at `at`, and the word before `end`, without the spaces after it. Empty if
/// another character is there.
[[nodiscard]] std::string_view word_at(std::string_view text, std::size_t at) noexcept;
[[nodiscard]] std::string_view word_before(std::string_view text, std::size_t end) noexcept;

/// Without the three bytes with which some editors begin a file in UTF-8. GCC and nvcc ignore them,
/// NVRTC reports an unrecognized token.
[[nodiscard]] constexpr std::string_view without_byte_order_mark(std::string_view text) noexcept {
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

/// Cuts the first line from a text. Returns the line without its end.
std::string_view take_line(std::string_view &text) noexcept;

/// Calls `visit(position, word)` for each word of a text.
template <class Visit> void for_each_word(std::string_view text, Visit visit) {
    for (std::size_t at = 0; at < text.size();) {
        const std::string_view word = word_at(text, at);
        if (!word.empty())
            visit(at, word);
        at += std::max<std::size_t>(word.size(), 1);
    }
}

/// Calls `visit(position)` for each place where `word` is a whole word of a text.
template <class Visit>
void for_each_place(std::string_view text, std::string_view word, Visit visit) {
    for (std::size_t at = text.find(word); at != none; at = text.find(word, at + word.size()))
        if ((at == 0 || !is_word(text[at - 1])) && word_at(text, at).size() == word.size())
            visit(at);
}
[[nodiscard]] bool has_word(std::string_view text, std::string_view word);

/// Calls `visit` for each part of `text` between separators.
template <class Visit>
void for_each_piece(std::string_view text, std::string_view separators, Visit visit) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of(separators), text.size());
        if (end > 0)
            visit(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

[[nodiscard]] bool has_any(const auto &words, std::string_view word) {
    return std::ranges::find(words, word) != std::end(words);
}

[[nodiscard]] bool says_any(std::string_view text, const auto &phrases) {
    return std::ranges::any_of(
        phrases, [text](std::string_view phrase) { return text.find(phrase) != none; });
}

void replace_all(std::string &text, std::string_view word, std::string_view by);

/// Replaces the part [begin, end) of a text by another.
struct Edit {
    std::size_t begin, end;
    std::string text;
};

/// The text after edits that do not overlap; empty if there are none.
[[nodiscard]] std::optional<std::string> edited(std::string_view text, std::vector<Edit> edits);

/// The source with every comment, and the inside of every string and character literal,
/// replaced by spaces. Same length, same line breaks, so that positions carry over:
///
///     f("a{b", 'x'); // {        becomes
///     f("   ", ' ');
[[nodiscard]] std::string blank_comments_and_strings(std::string_view source);

/// The source with the letters of names that are not ASCII, as in `float größe`, in the form
/// `gr\u00f6\u00dfe`; nothing if there are none. Comments and literals stay.
[[nodiscard]] std::optional<std::string> with_names_in_ascii(std::string_view source);

/// The position of the bracket that closes the one at `open`, or npos. Brackets of all kinds count
/// alike.
[[nodiscard]] std::size_t closing_bracket(std::string_view blanked, std::size_t open) noexcept;

/// One `#include`, `#include_next`, `#import` or `__has_include`.
struct IncludeDirective {
    enum class Form { Quoted, Angled, Computed };
    Form form = Form::Quoted;
    std::string name;           ///< empty for Computed (`#include MACRO`)
    std::size_t line_begin = 0; ///< position of the first character of its line
    std::size_t line_end = 0;   ///< position of that line's '\n', or the source's end
    bool only_asks = false;     ///< `__has_include`: the file is looked for, not read
    bool only_once = false;     ///< `#import`, GCC's include that is ignored the second time
};

/// Every include of the source, including those in parts that `#if` disables. `blanked` is
/// blank_comments_and_strings(source).
[[nodiscard]] std::vector<IncludeDirective> find_includes(std::string_view source,
                                                          std::string_view blanked);

} // namespace pycuda::compile_detail
