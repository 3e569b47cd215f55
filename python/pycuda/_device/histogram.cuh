// histogram.cuh -- counts elements by bins.
//
// Defined before this file: using T, the type of the elements; constexpr bool uniform.
#pragma once

#include "bins.cuh"

extern "C" __global__ void __launch_bounds__(256)
    find(const T *values, long long n, long long *found, const double *edges, long long count) {
    const long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n)
        found[i] = bin_of(values[i], Bins{edges, count}, uniform);
}

// For a grid of boxes: appends the number along one more axis to the numbers of the boxes, in C
// order.
extern "C" __global__ void __launch_bounds__(256)
    find_box(const T *values, long long n, long long step, long long *found, const double *edges,
             long long count, int is_first) {
    const long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i >= n)
        return;
    const T value = *reinterpret_cast<const T *>(reinterpret_cast<const char *>(values) + i * step);
    const long long bin = bin_of(value, Bins{edges, count}, uniform);
    const long long before = is_first ? 0 : found[i];
    found[i] = bin < 0 || before < 0 ? -1 : before * count + bin;
}

extern "C" __global__ void __launch_bounds__(256)
    count_in_memory(const T *values, long long n, unsigned long long *counts, const double *edges,
                    long long count) {
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        const long long bin = bin_of(values[i], Bins{edges, count}, uniform);
        if (bin >= 0)
            atomicAdd(counts + bin, 1ull);
    }
}

// For a CPU, whose atomic additions to memory take longer than many plain ones: a block is one
// thread, and counts a part of the elements in its own row of `counts`.
extern "C" __global__ void __launch_bounds__(1)
    count_in_rows(const T *values, long long n, unsigned long long *counts, const double *edges,
                  long long count) {
    const long long part = (n + gridDim.x - 1) / gridDim.x, first = blockIdx.x * part;
    const long long last = min(n, first + part);
    unsigned long long *own = counts + blockIdx.x * count;
#pragma unroll 4
    for (long long i = first; i < last; ++i) {
        const long long bin = bin_of(values[i], Bins{edges, count}, uniform);
        if (bin >= 0)
            ++own[bin];
    }
}

extern "C" __global__ void __launch_bounds__(256)
    count_in_blocks(const T *values, long long n, unsigned long long *counts, const double *edges,
                    long long count) {
    extern __shared__ unsigned own[];
    for (long long bin = threadIdx.x; bin < count; bin += 256)
        own[bin] = 0;
    __syncthreads();
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        const long long bin = bin_of(values[i], Bins{edges, count}, uniform);
        if (bin >= 0)
            atomicAdd(own + bin, 1u);
    }
    __syncthreads();
    for (long long bin = threadIdx.x; bin < count; bin += 256)
        if (own[bin] != 0)
            atomicAdd(counts + bin, static_cast<unsigned long long>(own[bin]));
}
