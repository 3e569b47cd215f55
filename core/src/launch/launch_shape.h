// launch_shape.h -- the grid and the block of a launch in a struct of the driver.
#pragma once

#include <pycuda/launch.h>

namespace pycuda::detail {

/// Sets the grid, the block and the dynamic shared memory of a CUlaunchConfig or a
/// CUDA_KERNEL_NODE_PARAMS.
template <class Struct> void set_launch_shape(Struct &to, const LaunchConfig &config) {
    to.gridDimX = config.grid.x;
    to.gridDimY = config.grid.y;
    to.gridDimZ = config.grid.z;
    to.blockDimX = config.block.x;
    to.blockDimY = config.block.y;
    to.blockDimZ = config.block.z;
    to.sharedMemBytes = config.shared_bytes;
}

} // namespace pycuda::detail
