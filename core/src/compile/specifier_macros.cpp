// specifier_macros.cpp -- macros that stand for specifiers of functions.
#include "specifier_macros.h"

#include <algorithm>

#include "source_text.h"

namespace pycuda::compile_detail {
namespace {

constexpr std::size_t none = std::string_view::npos;

constexpr std::string_view words_of_the_device[] = {"__global__", "__device__", "__constant__",
                                                    "__shared__", "__managed__"};
constexpr std::string_view words_of_the_host[] = {
    "__host__", "inline",       "static",        "extern",         "__inline__",
    "__inline", "__noinline__", "__attribute__", "noinline",       "always_inline",
    "unused",   "noexcept",     "__forceinline", "__forceinline__"};

bool has_any(const auto &words, std::string_view word) {
    return std::ranges::find(words, word) != std::end(words);
}

/// Cuts the first word from a text; empty at its end.
std::string_view next_word(std::string_view &text) {
    std::size_t begin = 0;
    while (begin < text.size() && !is_word(text[begin]))
        ++begin;
    std::size_t end = begin;
    while (end < text.size() && is_word(text[end]))
        ++end;
    const std::string_view word = text.substr(begin, end - begin);
    text.remove_prefix(end);
    return word;
}

} // namespace

void SpecifierMacros::add(std::string_view blanked) {
    for (std::size_t at = blanked.find("define"); at != none; at = blanked.find("define", at + 1)) {
        const std::size_t begin = blanked.rfind('\n', at) + 1; // 0 in the first line
        const std::size_t first = blanked.find_first_not_of(" \t", begin);
        std::size_t end = std::min(blanked.find('\n', at), blanked.size());
        while (end > at && end < blanked.size() && blanked[end - 1] == '\\')
            end = std::min(blanked.find('\n', end + 1), blanked.size());
        if (blanked[first] == '#')
            add_line(blanked.substr(first + 1, end - first - 1));
    }
}

void SpecifierMacros::add_line(std::string_view line) {
    if (next_word(line) != "define")
        return;
    const std::string_view name = next_word(line);
    const bool has_parameters = line.starts_with('(');
    bool is_host = !has_parameters && !name.empty();
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
        if (is_for_device(word)) {
            device_.emplace(name);
            return;
        }
        is_host &= has_any(words_of_the_host, word) || is_for_host(word);
    }
    if (is_host)
        host_.emplace(name);
}

bool SpecifierMacros::is_for_device(std::string_view word) const {
    return has_any(words_of_the_device, word) || device_.contains(word);
}

bool SpecifierMacros::is_for_host(std::string_view word) const {
    return host_.contains(word) && !device_.contains(word);
}

} // namespace pycuda::compile_detail
