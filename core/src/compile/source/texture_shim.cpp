// texture_shim.cpp -- lets sources with `texture<>` and `surface<>` variables compile since
// CUDA 12.
#include "compile/source/texture_shim.h"

#include "compile/source/source_text.h"

namespace pycuda::compile_detail {
namespace {

/// The position after the '>' that closes the '<' at `open`; empty if it is not closed.
std::optional<std::size_t> after_arguments(std::string_view text, std::size_t open) {
    int depth = 0;
    for (std::size_t at = open; at < text.size(); ++at) {
        if (text[at] == '<')
            ++depth;
        else if (text[at] == '>' && --depth == 0)
            return at + 1;
        else if (text[at] == ';' || text[at] == '{')
            return std::nullopt;
    }
    return std::nullopt;
}

/// Whether the name of a variable, not of a parameter, and the end of its declarator follow.
bool declares_variable(std::string_view text, std::size_t at) {
    at = skip_space(text, at);
    const std::string_view name = word_at(text, at);
    if (name.empty())
        return false;
    at = skip_space(text, at + name.size());
    return at < text.size() && (text[at] == ';' || text[at] == '=' || text[at] == '(' ||
                                text[at] == '{' || text[at] == ',');
}

/// Whether the word at `at` begins the declaration of a variable at namespace scope.
bool begins_declaration(std::string_view text, std::size_t at, std::string_view word) {
    if (at > 0 && (is_word(text[at - 1]) || text[at - 1] == ':'))
        return false;
    const std::size_t open = skip_space(text, at + word.size());
    if (open >= text.size() || text[open] != '<')
        return false;
    const std::string_view before = word_before(text, at);
    if (before == "typedef" || before == "__constant__" || before == "__device__")
        return false;
    const std::size_t start = text.find_last_not_of(" \t\r\n", at == 0 ? 0 : at - 1);
    const bool in_list =
        at > 0 && before.empty() && start != none &&
        (text[start] == '(' || text[start] == ',' || text[start] == '<' || text[start] == '=');
    if (in_list)
        return false;
    const std::optional<std::size_t> end = after_arguments(text, open);
    return end && declares_variable(text, *end);
}

/// Removes `static`: the host could not find a `static` variable by its name.
void blank_static(std::string &source, std::string_view blanked, std::size_t at) {
    if (word_before(blanked, at) != "static")
        return;
    const std::size_t word = blanked.rfind("static", at);
    source.replace(word, 6, "      ");
}

/// Whether the source defines its own class with this name.
bool defines_class(std::string_view blanked, std::string_view word) {
    bool found = false;
    for_each_place(blanked, word, [&](std::size_t at) {
        const std::string_view before = word_before(blanked, at);
        found |= before == "class" || before == "struct";
    });
    return found;
}

} // namespace

std::optional<std::string> adapt_texture_declarations(std::string_view text) {
    const bool may_have = text.find("texture") != none || text.find("surface") != none;
    if (!may_have)
        return std::nullopt;
    const std::string blanked = blank_comments_and_strings(text);
    std::string adapted(text);
    bool found = false;
    // From the end, so that earlier positions stay valid.
    for (std::size_t at = blanked.size(); at-- > 0;) {
        for (std::string_view word : {"texture", "surface"}) {
            if (!std::string_view(blanked).substr(at).starts_with(word) ||
                !begins_declaration(blanked, at, word) || defines_class(blanked, word))
                continue;
            adapted.insert(at, "__constant__ ");
            blank_static(adapted, blanked, at);
            found = true;
        }
    }
    return found ? std::optional(std::move(adapted)) : std::nullopt;
}

void adapt_texture_references(CompileRequest &request) {
    std::optional<std::string> adapted = adapt_texture_declarations(request.source);
    if (!adapted)
        return;
    request.source = std::move(*adapted);
    request.options.insert(request.options.end(), {"-include", texture_reference_header});
}

} // namespace pycuda::compile_detail
