// primary_context.h -- a new start for the context that a process shares on a device.
#pragma once

#include <pycuda/device.h>

namespace pycuda {

/// Destroys everything in the device's primary context, also after the fault of a kernel, which
/// leaves a context that runs no kernels. Objects of the context are refused from then on; they
/// free nothing. The next use of the primary context gets a new one. Other libraries of the process
/// lose their objects as well.
void reset_primary_context(const Device &device);

} // namespace pycuda
