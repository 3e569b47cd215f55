// cleanup.h -- destroys driver objects from destructors.
#pragma once

#include <pycuda/context.h>
#include <pycuda/handle.h>

#include <cuda.h>

namespace pycuda::detail {

/// Prints one line for a failed `result`. Prints nothing if the context or the driver has ended,
/// and for errors of earlier kernels, which were already thrown.
void report_cleanup(const char *function, CUresult result) noexcept;

} // namespace pycuda::detail
