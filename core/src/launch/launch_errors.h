// launch_errors.h -- what a launch does besides the driver's call.
#pragma once

#include <pycuda/launch.h>

#include <cuda.h>

namespace pycuda::detail {

/// Throws the Error of a failed launch, with the exceeded limit if there is one.
[[noreturn]] void throw_launch_error(const Function &function, const LaunchConfig &config,
                                     CUresult result);

/// True if PYCUDA_LAUNCH_BLOCKING is set: each launch waits for its kernel.
extern const bool launch_blocking;

/// Waits for a kernel that was just launched; the error of a failed one names it.
void wait_after_launch(const Function &function, StreamRef stream);

} // namespace pycuda::detail
