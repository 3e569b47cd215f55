// launch.cpp -- launches of kernels, also with <<<>>>, and of host functions.
#include "default_stream.h"
#include "device.h"
#include "launch_config.h"
#include "per_thread.h"
#include "program.h"

#include <vector>

namespace softcudart {
namespace {

/// The arguments between <<< and >>>, until the kernel's stub reads them.
struct Configuration {
    dim3 grid;
    dim3 block;
    std::size_t shared_bytes;
    cudaStream_t stream;
};

thread_local std::vector<Configuration> configurations;

bool fits(const dim3 &size, int device, const CUdevice_attribute (&limits)[3]) {
    const unsigned sizes[] = {size.x, size.y, size.z};
    for (int i = 0; i < 3; i++)
        if (sizes[i] == 0 || sizes[i] > static_cast<unsigned>(attribute_of(device, limits[i])))
            return false;
    return true;
}

bool is_possible(const dim3 &grid, const dim3 &block) {
    const int device = current_device();
    const auto threads = std::uint64_t{block.x} * block.y * block.z;
    return fits(grid, device,
                {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
                 CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z}) &&
           fits(block, device,
                {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
                 CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z}) &&
           threads <= static_cast<unsigned>(
                          attribute_of(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
}

/// The driver's "invalid value" corresponds to several errors of this API.
void check_launch(CUresult result, const dim3 &grid, const dim3 &block) {
    require(result != CUDA_ERROR_INVALID_VALUE || is_possible(grid, block),
            cudaErrorInvalidConfiguration);
    check(result);
}

cudaError_t launch(const void *symbol, const dim3 &grid, const dim3 &block, void **arguments,
                   std::size_t shared_bytes, cudaStream_t stream) {
    return with_context([&] {
        check_launch(cuLaunchKernel(function_of(symbol), grid.x, grid.y, grid.z, block.x, block.y,
                                    block.z, driver_bytes(shared_bytes), stream_of(stream),
                                    arguments, nullptr),
                     grid, block);
    });
}

} // namespace
} // namespace softcudart

using namespace softcudart;

// The result is not an error: compiled code calls the stub only if it is 0.
CUDART_EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes,
                                                   cudaStream_t stream) {
    return guarded([&] { configurations.push_back({grid, block, shared_bytes, stream}); });
}

CUDART_EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block,
                                                     std::size_t *shared_bytes, void *stream) {
    return guarded([&] {
        require(!configurations.empty(), cudaErrorMissingConfiguration);
        require_non_null(grid, block, shared_bytes, stream);
        const Configuration &last = configurations.back();
        *grid = last.grid;
        *block = last.block;
        *shared_bytes = last.shared_bytes;
        *static_cast<cudaStream_t *>(stream) = last.stream;
        configurations.pop_back();
    });
}

cudaError_t cudaLaunchKernel(const void *symbol, dim3 grid, dim3 block, void **arguments,
                             std::size_t shared_bytes, cudaStream_t stream) {
    return launch(symbol, grid, block, arguments, shared_bytes, stream);
}

CUDART_EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                                             void **arguments, std::size_t shared_bytes,
                                             cudaStream_t stream) {
    return launch(kernel, grid, block, arguments, shared_bytes, stream);
}
CUDART_DEFINE_PER_THREAD(__cudaLaunchKernel, __cudaLaunchKernel_ptsz)

cudaError_t cudaLaunchCooperativeKernel(const void *symbol, dim3 grid, dim3 block, void **arguments,
                                        std::size_t shared_bytes, cudaStream_t stream) {
    return with_context([&] {
        check_launch(cuLaunchCooperativeKernel(function_of(symbol), grid.x, grid.y, grid.z, block.x,
                                               block.y, block.z, driver_bytes(shared_bytes),
                                               stream_of(stream), arguments),
                     grid, block);
    });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *symbol,
                                void **arguments) {
    return with_context([&] {
        require_non_null(config);
        const CUlaunchConfig same = driver_config(*config);
        check_launch(cuLaunchKernelEx(&same, function_of(symbol), arguments, nullptr),
                     config->gridDim, config->blockDim);
    });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data) {
    return forward<cuLaunchHostFunc>(stream_of(stream), function, data);
}
