// device_pointer.h -- converts Python objects to device addresses and streams.
#pragma once

#include "bindings.h"

#include <pycuda/stream.h>

#include <cuda.h>

#include <optional>

namespace pycuda::python {

/// The address of a device allocation (plain, managed, pooled), the value of an int or of an object
/// with __index__ (PointerHolderBase, numpy integers), or the address of an object with `gpudata`
/// or __cuda_array_interface__. Throws TypeError for other objects; `what` names the parameter.
CUdeviceptr device_address(nb::handle object, const char *what);

/// As device_address(); empty if the object is not a device pointer.
std::optional<CUdeviceptr> find_device_address(nb::handle object);

/// For None (the thread's current stream), a Stream, or an object with __cuda_stream__.
StreamRef stream_ref(nb::handle object);

} // namespace pycuda::python
