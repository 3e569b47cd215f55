// active_warps.h -- what the warps of a block do between two barriers.
#pragma once

#include "codegen/kernel_emitter.h"

#include <cstdint>

namespace softcuda::codegen {

/// A bit for each warp of the block. Clear for those that go through `region` to its end and leave
/// nothing behind, which is known where the thread's index alone decides:
///
///     if (threadIdx.x < 64) sums[threadIdx.x] += sums[threadIdx.x + 64];     warps 0 and 1
///     __syncthreads();
///
/// At least one bit is set. Only for kernels whose warps go through the regions in lockstep, and
/// whose warps are full.
[[nodiscard]] std::uint64_t find_active_warps(KernelEmitter &kernel, unsigned region);

/// True if all that a warp may do in `region` is to compute, and to access shared memory at places
/// that are known to be there: nothing that could fail, and nothing of which others could see in
/// which order the warps do it.
[[nodiscard]] bool does_nothing_that_fails(KernelEmitter &kernel, unsigned region);

} // namespace softcuda::codegen
