// occupancy.h -- how many blocks of a kernel fit a multiprocessor.
#pragma once

#include "device/module.h"

#include <cstddef>

namespace softcuda::device {

/// The same for each limit alone, ~0u where the kernel needs nothing of what is limited.
struct OccupancyLimits {
    unsigned by_blocks = 0, by_threads = 0, by_registers = 0, by_shared = 0;
};
[[nodiscard]] OccupancyLimits occupancy_limits(const Function &function, unsigned threads,
                                               std::size_t dynamic_shared);

/// By the limits of the GPU that the device stands for, since programs size their grids by them.
[[nodiscard]] unsigned blocks_per_multiprocessor(const Function &function, unsigned threads,
                                                 std::size_t dynamic_shared);

} // namespace softcuda::device
