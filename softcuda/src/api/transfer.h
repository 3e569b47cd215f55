// transfer.h -- checks copies and fills, and puts them into a stream.
#pragma once

#include "api/call.h"
#include "device/transfer.h"

namespace softcuda::api {

/// Checks the copy, puts it into `stream` of the current context and, if requested, waits for it.
CUresult start_copy(const device::Copy &copy, device::Side destination, device::Side source,
                    CUstream stream, device::Wait wait) noexcept;
CUresult start_fill(const device::Fill &fill, CUstream stream, device::Wait wait) noexcept;

/// The checked copy with these parameters. Throws Error.
[[nodiscard]] device::Copy checked_copy(const CUDA_MEMCPY3D &parameters);

} // namespace softcuda::api
