// launch_request.cpp -- checks the request of a launch, and packs its arguments.
#include "device/cluster.h"
#include "device/context.h"
#include "device/device.h"
#include "device/error.h"
#include "device/launch.h"
#include "device/occupancy.h"

#include <climits>
#include <cstring>

namespace softcuda::device {
namespace {

void check_extents(const Function &function, const LaunchRequest &request) {
    const DeviceLimits &limits = function.module().context().device().limits();
    const compiler::KernelInfo &info = function.info();
    require(product(request.grid) > 0 && product(request.block) > 0, CUDA_ERROR_INVALID_VALUE);
    require(request.grid[0] <= INT_MAX && request.grid[1] <= 65535 && request.grid[2] <= 65535,
            CUDA_ERROR_INVALID_VALUE);
    require(request.block[0] <= 1024 && request.block[1] <= 1024 && request.block[2] <= 64 &&
                product(request.block) <= limits.threads_per_block,
            CUDA_ERROR_INVALID_VALUE);
    require(product(request.block) <= info.max_threads, CUDA_ERROR_INVALID_VALUE);
    for (std::size_t i = 0; i < 3; i++)
        require(info.required_block[i] == 0 || info.required_block[i] == request.block[i],
                CUDA_ERROR_INVALID_VALUE);
    require(request.dynamic_shared_bytes <= function.max_dynamic_shared() &&
                std::uint64_t{request.dynamic_shared_bytes} + info.static_shared_bytes <=
                    limits.shared_per_block_optin,
            CUDA_ERROR_INVALID_VALUE);
    if (!request.cooperative)
        return;
    const std::uint64_t resident = std::uint64_t{blocks_per_multiprocessor(
                                       function, static_cast<unsigned>(product(request.block)),
                                       request.dynamic_shared_bytes)} *
                                   function.module().context().device().multiprocessors();
    require(product(request.grid) <= resident, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

/// Copies CU_LAUNCH_PARAM_BUFFER_POINTER and _SIZE from a list that ends with CU_LAUNCH_PARAM_END.
void copy_from_extra(void **extra, std::byte *to, std::size_t bytes) {
    const void *buffer = nullptr;
    std::size_t size = 0;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            size = *static_cast<const std::size_t *>(extra[1]);
        else
            throw Error(CUDA_ERROR_INVALID_VALUE);
    }
    require((buffer && size >= bytes) || bytes == 0, CUDA_ERROR_INVALID_VALUE);
    std::memcpy(to, buffer, bytes);
}

void copy_parameters(const compiler::KernelInfo &info, const LaunchRequest &request, std::byte *to,
                     std::size_t bytes) {
    if (info.parameters.empty())
        return;
    require((request.parameters == nullptr) != (request.extra == nullptr),
            CUDA_ERROR_INVALID_VALUE);
    if (request.extra)
        return copy_from_extra(request.extra, to, bytes);
    for (std::size_t i = 0; i < info.parameters.size(); i++) {
        require(request.parameters[i] != nullptr, CUDA_ERROR_INVALID_VALUE);
        std::memcpy(to + info.parameters[i].offset, request.parameters[i], info.parameters[i].size);
    }
}

} // namespace

void check_launch(const Function &function, const LaunchRequest &request) {
    require(function.info().parameter_bytes <= kLargestParameters, CUDA_ERROR_INVALID_VALUE);
    check_extents(function, request);
    static_cast<void>(cluster_of(function, request));
}

void copy_arguments(const Function &function, const LaunchRequest &request,
                    std::span<std::byte> to) {
    copy_parameters(function.info(), request, to.data(), to.size());
}

} // namespace softcuda::device
