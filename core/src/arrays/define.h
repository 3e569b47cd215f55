// define.h -- the macros by which the text of a generated kernel chooses parts of its .cuh file.
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

} // namespace pycuda
