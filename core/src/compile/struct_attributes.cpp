// struct_attributes.cpp -- moves attributes after a struct, which NVRTC and nvcc interpret
// differently.
#include "struct_attributes.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "source_text.h"

namespace pycuda::compile_detail {
namespace {

constexpr std::size_t none = std::string_view::npos;

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)); }

struct Range {
    std::size_t begin = 0, end = 0;
    bool empty() const { return begin == end; }
};

/// The word at `at`, without the spaces before it; empty if there is none.
Range word_at(std::string_view text, std::size_t at) {
    while (at < text.size() && is_space(text[at]))
        ++at;
    std::size_t end = at;
    while (end < text.size() && is_word(text[end]))
        ++end;
    return {at, end};
}

/// The word before `end`, without the spaces after it.
Range word_before(std::string_view text, std::size_t end) {
    while (end > 0 && is_space(text[end - 1]))
        --end;
    std::size_t begin = end;
    while (begin > 0 && is_word(text[begin - 1]))
        --begin;
    return {begin, end};
}

/// The position after the ')' that closes the '(' at `open`; `none` if it is not closed.
std::size_t after_parentheses(std::string_view text, std::size_t open) {
    int depth = 0;
    for (std::size_t at = open; at < text.size(); ++at) {
        depth += (text[at] == '(') - (text[at] == ')');
        if (depth == 0)
            return at + 1;
    }
    return none;
}

/// The position of the '{' that matches the '}' at `close`, or `none`.
std::size_t opening_brace(std::string_view text, std::size_t close) {
    int depth = 0;
    for (std::size_t at = close + 1; at-- > 0;) {
        depth += (text[at] == '}') - (text[at] == '{');
        if (depth == 0)
            return at;
    }
    return none;
}

/// The position for an attribute of the struct whose body opens at `open`: after the keyword.
/// `none` if the body is not that of a struct.
std::size_t place_for_attribute(std::string_view text, std::size_t open) {
    Range word = word_before(text, open);
    for (int words = 0; words < 2 && !word.empty(); ++words) {
        const std::string_view name = text.substr(word.begin, word.end - word.begin);
        if (name == "struct" || name == "union")
            return word.end;
        word = word_before(text, word.begin);
    }
    return none;
}

/// An attribute with its argument, after a closing brace. An unknown name is a macro if a declared
/// name follows it.
Range attribute_behind(std::string_view text, std::size_t close) {
    const Range word = word_at(text, close + 1);
    const Range next = word_at(text, word.end);
    if (word.empty() || !next.empty() || next.begin >= text.size() || text[next.begin] != '(')
        return {};
    const std::size_t end = after_parentheses(text, next.begin);
    if (end == none)
        return {};
    const std::string_view name = text.substr(word.begin, word.end - word.begin);
    const bool is_known = name == "__align__" || name == "__attribute__";
    return is_known || !word_at(text, end).empty() ? Range{word.begin, end} : Range{};
}

struct Edit {
    std::size_t at;
    std::size_t length;
    std::string text;
};

std::string blanks_for(std::string_view text) {
    std::string blanks(text);
    for (char &c : blanks)
        c = c == '\n' ? '\n' : ' ';
    return blanks;
}

std::string on_one_line(std::string_view text) {
    std::string line = " " + std::string(text);
    std::ranges::replace(line, '\n', ' ');
    return line;
}

} // namespace

std::optional<std::string> move_struct_attributes(std::string_view text) {
    if (text.find("struct") == none && text.find("union") == none)
        return std::nullopt;
    const std::string blanked = blank_comments_and_strings(text);
    std::vector<Edit> edits;
    for (std::size_t close = blanked.find('}'); close != none;
         close = blanked.find('}', close + 1)) {
        const Range attribute = attribute_behind(blanked, close);
        if (attribute.empty())
            continue;
        const std::size_t open = opening_brace(blanked, close);
        const std::size_t place = open == none ? none : place_for_attribute(blanked, open);
        if (place == none)
            continue;
        const std::string_view moved(blanked.data() + attribute.begin,
                                     attribute.end - attribute.begin);
        edits.push_back({place, 0, on_one_line(moved)});
        edits.push_back({attribute.begin, moved.size(), blanks_for(moved)});
    }
    if (edits.empty())
        return std::nullopt;
    std::ranges::sort(edits, std::ranges::greater(),
                      &Edit::at); // from the end, so that earlier positions stay valid
    std::string result(text);
    for (const Edit &edit : edits)
        result.replace(edit.at, edit.length, edit.text);
    return result;
}

} // namespace pycuda::compile_detail
