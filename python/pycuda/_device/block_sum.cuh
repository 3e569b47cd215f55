// block_sum.cuh -- a sum over a block.
//
// Defined before this file: using R; constexpr int threads, the number of threads of the block, a
// power of two.
#pragma once

/// The sum over the block, returned in all threads.
__device__ R block_sum(R value) {
    __shared__ R part[threads];
    part[threadIdx.x] = value;
    __syncthreads();
    for (int half = threads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    const R sum = part[0];
    __syncthreads();
    return sum;
}
