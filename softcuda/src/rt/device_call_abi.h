// device_call_abi.h -- the runtime function behind calls of the CUDA runtime in device code, which
// generated code calls by name like those of kernel_abi.h.
#pragma once

#include "rt/kernel_abi.h"

extern "C" {

/// For the lanes in `mask`: `call` is a DeviceCall's number, `arguments` are the generic addresses
/// of each lane's words. Writes the results of the function, usually a cudaError_t, to `results`.
void scu_device_call(softcuda::rt::WorkerState *, const softcuda::rt::LaunchFrame *,
                     std::uint32_t call, const std::uint64_t *arguments, std::uint32_t mask,
                     std::uint64_t *results);
}
