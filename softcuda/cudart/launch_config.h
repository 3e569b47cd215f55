// launch_config.h -- a launch with attributes, in the driver's form.
#pragma once

#include "call.h"
#include "default_stream.h"

namespace softcudart {

/// Refers to the attributes of `config`, which have the same bytes in both APIs.
inline CUlaunchConfig driver_config(const cudaLaunchConfig_t &config) noexcept {
    CUlaunchConfig same{};
    same.gridDimX = config.gridDim.x;
    same.gridDimY = config.gridDim.y;
    same.gridDimZ = config.gridDim.z;
    same.blockDimX = config.blockDim.x;
    same.blockDimY = config.blockDim.y;
    same.blockDimZ = config.blockDim.z;
    same.sharedMemBytes = static_cast<unsigned>(config.dynamicSmemBytes);
    same.hStream = stream_of(config.stream);
    same.attrs = as<CUlaunchAttribute *>(config.attrs);
    same.numAttrs = config.numAttrs;
    return same;
}

} // namespace softcudart
