// count_ends.cuh -- the running sum of a small vector of counts, by one thread block.
//
// Defined before this file: using T, the type of the counts; constexpr int threads.
#pragma once

#include "block_scan.cuh"

// *total: the sum of all counts; -1 if a count is negative.
extern "C" __global__ void __launch_bounds__(threads)
    count_ends(const T *counts, long long size, long long *ends, long long *total) {
    long long before = 0;
    bool negative = false;
    for (long long first = 0; first < size; first += threads) {
        const long long i = first + threadIdx.x;
        const long long own = i < size ? static_cast<long long>(counts[i]) : 0;
        negative = negative || own < 0;
        long long of_tile;
        const long long sum = before + sum_before(own, of_tile);
        if (i < size)
            ends[i] = sum + own;
        before += of_tile;
    }
    negative = __syncthreads_or(negative) != 0;
    if (threadIdx.x == 0)
        *total = negative ? -1 : before;
}
