// coordinates.h -- values that are cheaper to recompute than to store.
#pragma once

#include "ir/ir.h"

#include <vector>

namespace softcuda::analysis {

/// By Value::id: true for a value that a few integer operations compute from the thread's
/// coordinates, the kernel's parameters and constants only. Such a value can be computed again
/// anywhere.
///
///     &tile[threadIdx.y][threadIdx.x]        blockIdx.x * blockDim.x + threadIdx.x
[[nodiscard]] std::vector<bool> find_coordinate_functions(const ir::Function &function);

} // namespace softcuda::analysis
