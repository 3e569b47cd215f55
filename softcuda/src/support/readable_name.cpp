// readable_name.cpp -- demangles names of the Itanium C++ ABI.
#include "support/readable_name.h"

#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace softcuda {
namespace {

/// The position of the '(' of the parameter list, which matches the last ')'; npos if there is
/// none.
std::size_t parameter_list_of(const std::string &demangled) {
    int depth = 0;
    for (std::size_t at = demangled.size(); at-- > 0;) {
        depth += demangled[at] == ')' ? 1 : demangled[at] == '(' ? -1 : 0;
        if (demangled[at] == '(' && depth == 0)
            return at;
    }
    return std::string::npos;
}

} // namespace

std::string demangled(const std::string &linker_name) {
    if (!linker_name.starts_with("_Z")) // "i" would be int
        return linker_name;
    int status = 0;
    const std::unique_ptr<char, void (*)(void *)> text(
        abi::__cxa_demangle(linker_name.c_str(), nullptr, nullptr, &status), std::free);
    return text ? text.get() : linker_name;
}

std::string readable_name(const std::string &linker_name) {
    const std::string text = demangled(linker_name);
    if (text == linker_name)
        return linker_name;
    const std::string name = text.substr(0, parameter_list_of(text));
    // The demangled name of a template begins with the type of the result.
    return name.starts_with("void ") ? name.substr(5) : name;
}

} // namespace softcuda
