// occupancy.h -- the number of blocks of a kernel that fit a multiprocessor.
#pragma once

#include "device/module.h"

#include <cstddef>

namespace softcuda::device {

/// The number for each limit alone; ~0u if the kernel does not use the limited resource.
struct OccupancyLimits {
    unsigned by_blocks = 0, by_threads = 0, by_registers = 0, by_shared = 0;
};
[[nodiscard]] OccupancyLimits occupancy_limits(const Function &function, unsigned threads,
                                               std::size_t dynamic_shared);

/// Computed with the limits of the emulated GPU, because programs use them to choose the size of
/// grids.
[[nodiscard]] unsigned blocks_per_multiprocessor(const Function &function, unsigned threads,
                                                 std::size_t dynamic_shared);

} // namespace softcuda::device
