// cuda_array.h -- access to the CUDA arrays in Python objects.
#pragma once

#include "support/bindings.h"

#include <pycuda/cuda_array.h>
#include <pycuda/texture.h>

namespace pycuda::python {

/// The CUDA array in a pycuda.driver.Array. Throws TypeError for other objects, and Error if the
/// array was freed.
CUarray cuda_array_of(nb::handle object, const char *what);

/// For a texture or a surface that keeps an Array, a MipmappedArray or device memory alive, which
/// the program may free all the same.
RequireMemory require_memory_of(nb::handle memory, const char *shown_by);

} // namespace pycuda::python
