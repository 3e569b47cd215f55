// device_complex.h -- functions of complex numbers for generated kernels, in CUDA C++.
#pragma once

namespace pycuda {

/// In parts, each behind a line `//: name` of the function that needs it.
extern const char *const device_complex_functions;

} // namespace pycuda
