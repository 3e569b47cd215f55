// kernel_argument.cpp -- parses declarations of arguments.
#include <pycuda/kernel_argument.h>

#include "compile/source/source_text.h"

#include <stdexcept>

namespace pycuda {
namespace {

using namespace compile_detail;

[[noreturn]] void refuse(std::string_view declaration, const char *why) {
    throw std::invalid_argument("cannot read the argument \"" + std::string(declaration) +
                                "\": " + why);
}

/// Removes the last word, which is the name, and returns it.
std::string_view take_name(std::string_view &text) {
    const std::string_view name = word_before(text, text.size());
    text = trimmed(text.substr(0, text.size() - name.size()));
    return name;
}

/// Removes "* const __restrict__" and similar text; returns the number of stars.
int take_stars(std::string_view &text) {
    int stars = 0;
    for (bool found = true; found;) {
        found = false;
        for (std::string_view word :
             {"const", "volatile", "__restrict__", "__restrict", "restrict"})
            if (word_before(text, text.size()) == word && text.find('*') != none) {
                text = trimmed(text.substr(0, text.size() - word.size()));
                found = true;
            }
        if (text.ends_with('*')) {
            text = trimmed(text.substr(0, text.size() - 1));
            found = true;
            ++stars;
        }
    }
    return stars;
}

KernelArgument parse_one(std::string_view declaration) {
    std::string_view text = trimmed(declaration);
    int depth = 0;
    while (text.ends_with(']')) { // float x[]
        text = trimmed(text.substr(0, text.rfind('[')));
        ++depth;
    }
    const std::string_view name = take_name(text);
    depth += take_stars(text);
    if (name.empty() || text.empty())
        refuse(trimmed(declaration), "expected a type and a name");
    if (depth > 1)
        refuse(trimmed(declaration), "expected an array of numbers or structs, not of pointers");
    return {depth ? KernelArgument::Kind::Vector : KernelArgument::Kind::Scalar, std::string(text),
            std::string(name), 0};
}

} // namespace

std::vector<KernelArgument> parse_kernel_arguments(std::string_view declarations) {
    std::vector<KernelArgument> arguments;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t at = 0; at <= declarations.size(); ++at) {
        const char c = at < declarations.size() ? declarations[at] : ',';
        depth += (c == '<' || c == '(') - (c == '>' || c == ')');
        if (c != ',' || (depth != 0 && at < declarations.size()))
            continue;
        std::string_view one = declarations.substr(begin, at - begin);
        begin = at + 1;
        if (!(trimmed(one).empty() && at == declarations.size() && arguments.empty()))
            arguments.push_back(parse_one(one));
    }
    return arguments;
}

} // namespace pycuda
