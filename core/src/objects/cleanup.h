// cleanup.h -- giving objects back to the driver from destructors.
#pragma once

#include <pycuda/context.h>
#include <pycuda/handle.h>

#include <cuda.h>

namespace pycuda::detail {

/// Prints one line where `result` is a failure that says something new. Silent about contexts and
/// drivers that are gone, and about errors of earlier kernels, which were thrown before.
void report_cleanup(const char *function, CUresult result) noexcept;

} // namespace pycuda::detail
