// specialize.h -- what a kernel can be made when its block's shape is known.
#pragma once

#include "analysis/range.h"
#include "ir/ir.h"

namespace softcuda::transform {

/// Values that have one value only in a launch of this shape become constants. False if there are
/// none. What follows from them, branches that go one way and code that is never reached, is left
/// to the passes behind this one.
///
///     // blockDim.x == 256
///     for (int i = threadIdx.x; i < 2048; i += blockDim.x)     runs 8 times for every thread
bool specialize(ir::Function &function, const analysis::LaunchShape &launch);

} // namespace softcuda::transform
