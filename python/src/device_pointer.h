// device_pointer.h -- device addresses and streams as Python code passes them.
#pragma once

#include "bindings.h"

#include <pycuda/stream.h>

#include <cuda.h>

#include <optional>

namespace pycuda::python {

/// The address in a device allocation (plain, managed, pooled), in an int or anything with
/// __index__ (PointerHolderBase, numpy integers), or in an object with `gpudata` or
/// __cuda_array_interface__. Throws TypeError for anything else; `what` names the parameter.
CUdeviceptr device_address(nb::handle object, const char *what);

/// The same; empty where the object is no device pointer.
std::optional<CUdeviceptr> find_device_address(nb::handle object);

/// None (the thread's current stream), a Stream, or an object with __cuda_stream__.
StreamRef stream_ref(nb::handle object);

} // namespace pycuda::python
