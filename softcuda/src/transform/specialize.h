// specialize.h -- specialisation of a kernel for a block shape.
#pragma once

#include "analysis/range.h"
#include "ir/ir.h"

namespace softcuda::transform {

/// Replaces values that are constant in a launch of this shape by constants. False if there are
/// none. Later passes fold the branches and remove unreachable code.
///
///     // blockDim.x == 256
///     for (int i = threadIdx.x; i < 2048; i += blockDim.x)     runs 8 times for every thread
bool specialize(ir::Function &function, const analysis::LaunchShape &launch);

} // namespace softcuda::transform
