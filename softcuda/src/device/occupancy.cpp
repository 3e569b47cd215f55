// occupancy.cpp -- the number of blocks of a kernel that fit a multiprocessor.
//
// A worker thread runs one block after the other, or as many at the same time as wait for each
// other. So occupancy only affects the maximum size of a cooperative grid.
#include "device/occupancy.h"

#include "device/context.h"
#include "device/device.h"

#include <algorithm>

namespace softcuda::device {
namespace {

constexpr unsigned kWarp = 32;
constexpr unsigned kRegisterUnit = 256; ///< the granularity in which warps get registers
constexpr unsigned kSharedUnit = 128;

unsigned divide_up(unsigned value, unsigned by) { return (value + by - 1) / by; }

} // namespace

OccupancyLimits occupancy_limits(const Function &function, unsigned threads,
                                 std::size_t dynamic_shared) {
    const DeviceLimits &limits = function.module().context().device().limits();
    const compiler::KernelInfo &info = function.info();
    const unsigned warps = divide_up(threads, kWarp);
    OccupancyLimits found{.by_blocks = limits.blocks_per_multiprocessor,
                          .by_threads = limits.threads_per_multiprocessor / (warps * kWarp),
                          .by_registers = ~0u,
                          .by_shared = ~0u};
    const unsigned warp_registers = rt::round_up(info.registers * kWarp, kRegisterUnit);
    if (warp_registers > 0)
        found.by_registers = limits.registers_per_block / (warp_registers * warps);
    const std::size_t shared = rt::round_up(info.static_shared_bytes + dynamic_shared, kSharedUnit);
    if (shared > limits.shared_per_block_optin)
        found.by_shared = 0;
    else if (shared > 0)
        found.by_shared = static_cast<unsigned>(limits.shared_per_multiprocessor /
                                                (shared + limits.reserved_shared_per_block));
    return found;
}

unsigned blocks_per_multiprocessor(const Function &function, unsigned threads,
                                   std::size_t dynamic_shared) {
    if (threads == 0 || threads > function.info().max_threads)
        return 0;
    const OccupancyLimits limits = occupancy_limits(function, threads, dynamic_shared);
    return std::min({limits.by_blocks, limits.by_threads, limits.by_registers, limits.by_shared});
}

} // namespace softcuda::device
