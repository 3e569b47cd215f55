// device_code.h -- the CUDA C++ that generated kernels start with.
#pragma once

#include <pycuda/dtype.h>

#include <span>
#include <string>

namespace pycuda {

/// Types, conversions and functions, as far as kernels of these types need them: what is not
/// there does not have to be compiled.
std::string device_prelude(std::span<const ScalarType> types);

/// The type to compute in: float for the 16-bit floats, else the type itself.
std::string compute_name(ScalarType type);

} // namespace pycuda
