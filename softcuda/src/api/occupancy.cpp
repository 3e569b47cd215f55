// occupancy.cpp -- the number of blocks of a kernel that fit a multiprocessor.
#include "device/occupancy.h"
#include "api/handles.h"
#include "device/cluster.h"

#include <algorithm>
#include <climits>

using namespace softcuda;
using device::blocks_per_multiprocessor;
using device::Context;
using device::DeviceLimits;
using device::Function;

namespace {

constexpr unsigned kWarp = 32;
constexpr unsigned kFlags = CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE;

} // namespace

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction handle,
                                                              int threads,
                                                              std::size_t dynamic_shared,
                                                              unsigned int flags) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(blocks);
        device::require(threads > 0 && (flags & ~kFlags) == 0, CUDA_ERROR_INVALID_VALUE);
        *blocks = static_cast<int>(blocks_per_multiprocessor(
            *api::find_function(handle), static_cast<unsigned>(threads), dynamic_shared));
    });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction handle, int threads,
                                                     std::size_t dynamic_shared) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, handle, threads,
                                                                dynamic_shared, 0);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *min_grid, int *block, CUfunction handle,
                                                   CUoccupancyB2DSize shared_of_block,
                                                   std::size_t dynamic_shared, int limit,
                                                   unsigned int flags) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(min_grid, block);
        device::require((flags & ~kFlags) == 0 && limit >= 0, CUDA_ERROR_INVALID_VALUE);
        const std::shared_ptr<Function> function = api::find_function(handle);
        unsigned most = function->info().max_threads;
        if (limit > 0)
            most = std::min(most, static_cast<unsigned>(limit));
        unsigned best_threads = 0, best_blocks = 0;
        // The largest block size among those with the highest occupancy.
        for (unsigned size = rt::round_up(most, kWarp); size >= kWarp; size -= kWarp) {
            const unsigned threads = std::min(size, most);
            const std::size_t shared =
                shared_of_block ? shared_of_block(static_cast<int>(threads)) : dynamic_shared;
            const unsigned blocks = blocks_per_multiprocessor(*function, threads, shared);
            if (blocks * threads > best_blocks * best_threads) {
                best_blocks = blocks;
                best_threads = threads;
            }
        }
        *block = static_cast<int>(best_threads);
        *min_grid =
            static_cast<int>(best_blocks * function->module().context().device().multiprocessors());
    });
}

CUresult cuOccupancyMaxPotentialBlockSize(int *min_grid, int *block, CUfunction handle,
                                          CUoccupancyB2DSize shared_of_block,
                                          std::size_t dynamic_shared, int limit) {
    return cuOccupancyMaxPotentialBlockSizeWithFlags(min_grid, block, handle, shared_of_block,
                                                     dynamic_shared, limit, 0);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(std::size_t *bytes, CUfunction handle, int blocks,
                                                 int threads) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(bytes);
        device::require(blocks > 0 && threads > 0, CUDA_ERROR_INVALID_VALUE);
        const std::shared_ptr<Function> function = api::find_function(handle);
        const DeviceLimits &limits = function->module().context().device().limits();
        const unsigned most = function->max_dynamic_shared();
        const unsigned share = limits.shared_per_multiprocessor / static_cast<unsigned>(blocks);
        const unsigned taken =
            limits.reserved_shared_per_block + function->info().static_shared_bytes;
        *bytes = share > taken ? std::min(share - taken, most) : 0;
    });
}

namespace {

device::LaunchRequest request_of(const CUlaunchConfig &config) {
    device::LaunchRequest request = {
        .grid = {config.gridDimX, config.gridDimY, config.gridDimZ},
        .block = {config.blockDimX, config.blockDimY, config.blockDimZ},
        .dynamic_shared_bytes = config.sharedMemBytes};
    device::require(config.numAttrs == 0 || config.attrs, CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < config.numAttrs; i++)
        if (const auto &value = config.attrs[i].value.clusterDim;
            config.attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            request.cluster = {value.x, value.y, value.z};
    return request;
}

unsigned blocks_of(const Function &function, const device::LaunchRequest &request) {
    const std::uint64_t threads =
        std::uint64_t{request.block[0]} * request.block[1] * request.block[2];
    device::require(threads > 0, CUDA_ERROR_INVALID_VALUE);
    const auto few = static_cast<unsigned>(std::min<std::uint64_t>(threads, UINT_MAX));
    return blocks_per_multiprocessor(function, few, request.dynamic_shared_bytes);
}

} // namespace

CUresult cuOccupancyMaxPotentialClusterSize(int *size, CUfunction handle,
                                            const CUlaunchConfig *config) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(size, config);
        const std::shared_ptr<Function> function = api::find_function(handle);
        const bool fits = blocks_of(*function, request_of(*config)) > 0;
        *size = fits ? static_cast<int>(device::most_cluster_blocks(*function)) : 0;
    });
}

CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction handle,
                                      const CUlaunchConfig *config) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(clusters, config);
        const std::shared_ptr<Function> function = api::find_function(handle);
        const device::LaunchRequest request = request_of(*config);
        const unsigned together = device::cluster_of(*function, request).blocks();
        const unsigned all =
            blocks_of(*function, request) * function->module().context().device().multiprocessors();
        *clusters = static_cast<int>(all / together);
    });
}
