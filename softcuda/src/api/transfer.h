// transfer.h -- how copies and fills are handed to a stream.
#pragma once

#include "api/call.h"
#include "device/copy.h"

namespace softcuda::api {

enum class Wait { No, UntilDone };

/// Checks the copy, puts it into `stream` of the current context and, where asked to, waits for it.
CUresult start_copy(const device::Copy &copy, device::Side destination, device::Side source,
                    CUstream stream, Wait wait) noexcept;
CUresult start_fill(const device::Fill &fill, CUstream stream, Wait wait) noexcept;

} // namespace softcuda::api
