// cuda_array.h -- CUDA arrays as Python passes them.
#pragma once

#include "bindings.h"

#include <pycuda/cuda_array.h>

namespace pycuda::python {

/// The CUDA array behind a pycuda.driver.Array. Throws TypeError for anything else, and Error for
/// one that was freed.
CUarray cuda_array_of(nb::handle object, const char *what);

} // namespace pycuda::python
