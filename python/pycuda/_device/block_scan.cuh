// block_scan.cuh -- a running sum over the threads of a block.
//
// Defined before this file: constexpr int threads, the number of threads of the block, a multiple
// of 32.
#pragma once

/// The sum of the values of the threads before this one. `all` becomes the sum of all values.
template <class R> __device__ R sum_before(R value, R &all) {
    constexpr int warps = threads / 32;
    __shared__ R of_warp[warps];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    R sum = value;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const R other = __shfl_up_sync(0xffffffffu, sum, step);
        if (lane >= step)
            sum += other;
    }
    if (lane == 31)
        of_warp[warp] = sum;
    __syncthreads();
    R before = sum - value;
    all = 0;
    for (int k = 0; k < warps; ++k) {
        if (k < warp)
            before += of_warp[k];
        all += of_warp[k];
    }
    __syncthreads();
    return before;
}
