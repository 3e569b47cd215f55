// device_code.h -- the CUDA C++ that generated kernels start with.
#pragma once

#include <pycuda/array_operation.h>
#include <pycuda/dtype.h>

#include <span>
#include <string>
#include <string_view>

namespace pycuda {

/// Types, conversions and functions that `kernel`, the text that follows, needs for these types.
/// Unused parts are left out, because they would have to be compiled.
std::string device_prelude(std::span<const ScalarType> types, std::string_view kernel);

/// The type to compute in: float for the 16-bit floats, else the type itself.
std::string compute_name(ScalarType type);

/// Whether kernels use loops instead of a copy of the code for each element: the thread's choice
/// (kernel_choice.h), else true if threads are lanes of a CPU.
bool is_rolled();

} // namespace pycuda
