// device_pointer.h -- converts Python objects to device addresses and streams.
#pragma once

#include "support/bindings.h"

#include <pycuda/stream.h>
#include <pycuda/work.h>

#include <cuda.h>

#include <optional>

namespace pycuda::python {

/// Whether a piece of work reads memory, or changes it.
enum class Access { Read, Write };

/// The address of a device allocation (plain, managed, pooled), the value of an int or of an object
/// with __index__ (PointerHolderBase, numpy integers), or the address of an object with `gpudata`
/// or __cuda_array_interface__. Throws TypeError for other objects; `what` names the parameter.
/// Throws ValueError if read-only memory would be changed.
CUdeviceptr device_address(nb::handle object, const char *what, Access access = Access::Read);

/// As device_address(); empty if the object is not a device pointer.
std::optional<CUdeviceptr> find_device_address(nb::handle object);

/// As above, for `work` in the scope of which the address is used: follows the stream of another
/// library's array, and records the use of the memory.
CUdeviceptr device_address(nb::handle object, const char *what, Work &work, Access access);
std::optional<CUdeviceptr> find_device_address(nb::handle object, const char *what, Work &work,
                                               Access access);

/// Adds the context of device memory, of an array, of the block of an array, or of an Array of the
/// driver to the context of a piece of work. Other objects have none.
void add_context(WorkContext &context, nb::handle object);

/// For None (the thread's current stream), a Stream, or an object with __cuda_stream__.
StreamRef stream_ref(nb::handle object);

} // namespace pycuda::python
