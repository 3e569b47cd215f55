// coordinates.h -- values that are cheaper to compute again than to keep.
#pragma once

#include "ir/ir.h"

#include <vector>

namespace softcuda::analysis {

/// By Value::id: true for what a few integer operations make of the thread's coordinates, the
/// kernel's parameters and constants alone, so that it can be had anywhere at any time.
///
///     &tile[threadIdx.y][threadIdx.x]        blockIdx.x * blockDim.x + threadIdx.x
[[nodiscard]] std::vector<bool> find_coordinate_functions(const ir::Function &function);

} // namespace softcuda::analysis
