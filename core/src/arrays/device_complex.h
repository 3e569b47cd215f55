// device_complex.h -- functions of complex numbers for generated kernels, in CUDA C++.
#pragma once

namespace pycuda {

/// The text is divided into parts. The line `//: name` before a part names the function that needs
/// it.
extern const char *const device_complex_functions;

} // namespace pycuda
