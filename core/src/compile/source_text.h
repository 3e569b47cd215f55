// source_text.h -- reads C++ source without a compiler: comments, strings, directives.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pycuda::compile_detail {

/// Whether a character can be in a name or a number. `$` can, as in GCC and nvcc.
[[nodiscard]] constexpr bool is_word(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$';
}

void replace_all(std::string &text, std::string_view word, std::string_view by);

/// The source with every comment, and the inside of every string and character literal,
/// replaced by spaces. Same length, same line breaks, so that positions carry over:
///
///     f("a{b", 'x'); // {        becomes
///     f("   ", ' ');
[[nodiscard]] std::string blank_comments_and_strings(std::string_view source);

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
