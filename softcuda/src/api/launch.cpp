// launch.cpp -- kernel launches.
#include "device/launch.h"
#include "api/default_stream.h"
#include "api/handles.h"

using namespace softcuda;
using device::Context;
using device::LaunchRequest;

namespace {

CUresult launch(CUfunction handle, const LaunchRequest &request, CUstream stream) {
    return api::outside_host_function(stream, [&](Context &context) {
        std::shared_ptr<device::Function> keep = api::find_function(handle);
        device::Function &function = *keep;
        device::launch(*api::find_stream(context, stream), function, std::move(keep), request);
    });
}

/// Applies the attributes of a launch. Throws Error for an unknown attribute that would change the
/// launch's effect.
void read_attributes(const CUlaunchConfig &config, LaunchRequest &request) {
    device::require(config.numAttrs == 0 || config.attrs, CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < config.numAttrs; i++) {
        CUlaunchAttribute &attribute = config.attrs[i];
        switch (attribute.id) {
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
            request.cluster = {attribute.value.clusterDim.x, attribute.value.clusterDim.y,
                               attribute.value.clusterDim.z};
            break;
        case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
            request.cooperative = attribute.value.cooperative != 0;
            break;
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
            request.programmatic = attribute.value.programmaticStreamSerializationAllowed != 0;
            break;
        case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
            if (attribute.value.deviceUpdatableKernelNode.deviceUpdatable != 0)
                request.updatable = &attribute.value.deviceUpdatableKernelNode.devNode;
            break;
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
            throw device::Error(CUDA_ERROR_NOT_SUPPORTED);
        default:
            break; // only affects speed
        }
    }
}

} // namespace

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                        unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                        unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                        void **parameters, void **extra) {
    const LaunchRequest request = {.grid = {grid_x, grid_y, grid_z},
                                   .block = {block_x, block_y, block_z},
                                   .dynamic_shared_bytes = shared_bytes,
                                   .parameters = parameters,
                                   .extra = extra};
    return launch(function, request, stream);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                   unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                   unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                                   void **parameters) {
    const LaunchRequest request = {.grid = {grid_x, grid_y, grid_z},
                                   .block = {block_x, block_y, block_z},
                                   .dynamic_shared_bytes = shared_bytes,
                                   .parameters = parameters,
                                   .cooperative = true};
    return launch(function, request, stream);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters,
                          void **extra) {
    return api::guarded([&] {
        api::require_non_null(config);
        LaunchRequest request = {.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                                 .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                                 .dynamic_shared_bytes = config->sharedMemBytes,
                                 .parameters = parameters,
                                 .extra = extra};
        read_attributes(*config, request);
        return launch(function, request, config->hStream);
    });
}
