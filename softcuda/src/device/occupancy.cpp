// occupancy.cpp -- how many blocks of a kernel fit a multiprocessor.
//
// A worker thread runs one block after the other, or as many side by side as wait for each other,
// so occupancy changes nothing here but the size that a cooperative grid may have.
#include "device/occupancy.h"

#include "device/context.h"
#include "device/device.h"

#include <algorithm>

namespace softcuda::device {
namespace {

constexpr unsigned kWarp = 32;
constexpr unsigned kRegisterUnit = 256; ///< registers are given to warps in such pieces
constexpr unsigned kSharedUnit = 128;

unsigned divide_up(unsigned value, unsigned by) { return (value + by - 1) / by; }

} // namespace

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

} // namespace softcuda::device
