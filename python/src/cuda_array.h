// cuda_array.h -- access to the CUDA arrays in Python objects.
#pragma once

#include "bindings.h"

#include <pycuda/cuda_array.h>

namespace pycuda::python {

/// The CUDA array in a pycuda.driver.Array. Throws TypeError for other objects, and Error if the
/// array was freed.
CUarray cuda_array_of(nb::handle object, const char *what);

} // namespace pycuda::python
