// device_code.h -- the CUDA C++ that generated kernels start with.
#pragma once

#include <pycuda/array_operation.h>
#include <pycuda/dtype.h>

#include <concepts>
#include <string>
#include <string_view>

namespace pycuda {

/// `kernel` behind the types, conversions and functions that it uses. Other parts are left out,
/// because they would have to be compiled.
std::string with_prelude(std::string_view kernel);

/// The type to compute in: float for the 16-bit floats, else the type itself.
std::string compute_name(ScalarType type);

/// Whether kernels use loops instead of a copy of the code for each element: the thread's choice
/// (kernel_choice.h), else true if threads are lanes of a CPU.
bool is_rolled();

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
