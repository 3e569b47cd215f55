// occupancy.cpp -- how many blocks of a kernel fit a multiprocessor.
//
// A worker thread runs one block after the other, so occupancy changes nothing here. The numbers
// are those of the GPU that the device stands for, since programs size their grids by them.
#include "api/handles.h"

#include <algorithm>
#include <climits>

using namespace softcuda;
using device::Context;
using device::DeviceLimits;
using device::Function;

namespace {

constexpr unsigned kWarp = 32;
constexpr unsigned kRegisterUnit = 256; ///< registers are given to warps in such pieces
constexpr unsigned kSharedUnit = 128;

unsigned divide_up(unsigned value, unsigned by) { return (value + by - 1) / by; }

unsigned blocks_per_multiprocessor(const Function &function, unsigned threads,
                                   std::size_t dynamic_shared) {
    const DeviceLimits &limits = function.module().context().device().limits();
    const compiler::KernelInfo &info = function.info();
    if (threads == 0 || threads > info.max_threads)
        return 0;
    const unsigned warps = divide_up(threads, kWarp);
    unsigned blocks = std::min(limits.blocks_per_multiprocessor,
                               limits.threads_per_multiprocessor / (warps * kWarp));
    const unsigned warp_registers = rt::round_up(info.registers * kWarp, kRegisterUnit);
    if (warp_registers > 0)
        blocks = std::min(blocks, limits.registers_per_block / (warp_registers * warps));
    const std::size_t shared = rt::round_up(info.static_shared_bytes + dynamic_shared, kSharedUnit);
    if (shared > limits.shared_per_block_optin)
        return 0;
    if (shared > 0)
        blocks = std::min<unsigned>(blocks, limits.shared_per_multiprocessor /
                                                (shared + limits.reserved_shared_per_block));
    return blocks;
}

constexpr unsigned kFlags = CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE;

} // namespace

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction handle,
                                                              int threads,
                                                              std::size_t dynamic_shared,
                                                              unsigned int flags) {
    return api::with_context([&](Context &) {
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
    return api::with_context([&](Context &) {
        api::require_non_null(min_grid, block);
        device::require((flags & ~kFlags) == 0 && limit >= 0, CUDA_ERROR_INVALID_VALUE);
        const std::shared_ptr<Function> function = api::find_function(handle);
        unsigned most = function->info().max_threads;
        if (limit > 0)
            most = std::min(most, static_cast<unsigned>(limit));
        unsigned best_threads = 0, best_blocks = 0;
        // The largest block among those that fill a multiprocessor best.
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
    return api::with_context([&](Context &) {
        api::require_non_null(bytes);
        device::require(blocks > 0 && threads > 0, CUDA_ERROR_INVALID_VALUE);
        const std::shared_ptr<Function> function = api::find_function(handle);
        const DeviceLimits &limits = function->module().context().device().limits();
        const unsigned share = limits.shared_per_multiprocessor / static_cast<unsigned>(blocks);
        const unsigned taken =
            limits.reserved_shared_per_block + function->info().static_shared_bytes;
        const unsigned most = limits.shared_per_block_optin - function->info().static_shared_bytes;
        *bytes = share > taken ? std::min(share - taken, most) : 0;
    });
}
