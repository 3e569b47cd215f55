// occupancy.h -- how many blocks of a kernel fit a multiprocessor.
#pragma once

#include "device/module.h"

#include <cstddef>

namespace softcuda::device {

/// By the limits of the GPU that the device stands for, since programs size their grids by them.
[[nodiscard]] unsigned blocks_per_multiprocessor(const Function &function, unsigned threads,
                                                 std::size_t dynamic_shared);

} // namespace softcuda::device
