// launch_config.h -- a launch with attributes, in the driver's form.
#pragma once

#include "call.h"
#include "default_stream.h"

#include <limits>

namespace softcudart {

/// The driver's number of bytes of shared memory has 32 bits. Throws Failure(invalid value).
inline unsigned driver_bytes(std::size_t shared_bytes) {
    require(shared_bytes <= std::numeric_limits<unsigned>::max());
    return static_cast<unsigned>(shared_bytes);
}

/// Refers to the attributes of `config`, which have the same bytes in both APIs.
/// Throws Failure(invalid value).
inline CUlaunchConfig driver_config(const cudaLaunchConfig_t &config) {
    CUlaunchConfig same{};
    same.gridDimX = config.gridDim.x;
    same.gridDimY = config.gridDim.y;
    same.gridDimZ = config.gridDim.z;
    same.blockDimX = config.blockDim.x;
    same.blockDimY = config.blockDim.y;
    same.blockDimZ = config.blockDim.z;
    same.sharedMemBytes = driver_bytes(config.dynamicSmemBytes);
    same.hStream = stream_of(config.stream);
    same.attrs = as<CUlaunchAttribute *>(config.attrs);
    same.numAttrs = config.numAttrs;
    return same;
}

} // namespace softcudart
