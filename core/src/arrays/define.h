// define.h -- the macros and types by which a generated kernel chooses parts of its .cuh file.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace pycuda {

/// "#define NAME VALUE" and the end of the line.
inline std::string define(std::string_view name, std::string_view value) {
    return "#define " + std::string(name) + " " + std::string(value) + "\n";
}

/// The same for a number; true is 1.
template <std::integral Number> std::string define(std::string_view name, Number value) {
    return define(name, std::string_view(std::to_string(value)));
}

/// "typedef TYPE NAME;" and the end of the line.
inline std::string type_alias(std::string_view name, std::string_view type) {
    return "typedef " + std::string(type) + " " + std::string(name) + ";\n";
}

} // namespace pycuda
