// repeat.cuh -- repeats each element as often as an array says, in one pass over the result.
//
// Defined before this file: using T, a type of the elements' size.
//
// `ends[k]` is the number of results up to the last one of element k. A thread block makes a tile
// of neighbouring results: it finds the elements of the first and the last one, and each thread
// searches between them.
//
//     counts 2 0 3    ends 2 2 5    results 0 0 2 2 2    (numbers of elements)
#pragma once

constexpr int each = 8;

// The first element whose results end after `at`.
__device__ __forceinline__ long long owner(const long long *ends, long long low, long long high,
                                           long long at) {
    while (low < high) {
        const long long middle = (low + high) / 2;
        if (ends[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

template <class Write>
__device__ __forceinline__ void for_each_result(const long long *ends, long long count,
                                                long long total, const Write &write) {
    __shared__ long long limits[2];
    const long long first = blockIdx.x * (256ll * each);
    if (threadIdx.x < 2) {
        const long long last = first + 256 * each - 1;
        limits[threadIdx.x] = owner(ends, 0, count - 1,
                                    threadIdx.x == 0 ? first
                                    : last < total   ? last
                                                     : total - 1);
    }
    __syncthreads();
    for (int k = 0; k < each; ++k) {
        const long long at = first + k * 256 + threadIdx.x;
        if (at < total)
            write(at, owner(ends, limits[0], limits[1], at));
    }
}

extern "C" __global__ void __launch_bounds__(256)
    repeat(const void *elements, const long long *ends, long long count, long long total,
           void *out) {
    for_each_result(ends, count, total, [&](long long at, long long from) {
        static_cast<T *>(out)[at] = static_cast<const T *>(elements)[from];
    });
}

extern "C" __global__ void __launch_bounds__(256)
    owners(const long long *ends, long long count, long long total, long long *out) {
    for_each_result(ends, count, total, [&](long long at, long long from) { out[at] = from; });
}

// For a CPU: a block is one thread, and writes the results of a part of the elements.
template <class Write>
__device__ __forceinline__ void for_each_run(const long long *ends, long long count,
                                             const Write &write) {
    const long long part = (count + gridDim.x - 1) / gridDim.x, first = blockIdx.x * part;
    const long long last = min(count, first + part);
    long long at = first > 0 && first < count ? ends[first - 1] : 0;
    for (long long k = first; k < last; ++k)
        for (const long long end = ends[k]; at < end; ++at)
            write(at, k);
}

extern "C" __global__ void __launch_bounds__(1)
    repeat_runs(const void *elements, const long long *ends, long long count, long long,
                void *out) {
    for_each_run(ends, count, [&](long long at, long long from) {
        static_cast<T *>(out)[at] = static_cast<const T *>(elements)[from];
    });
}

extern "C" __global__ void __launch_bounds__(1)
    owners_of_runs(const long long *ends, long long count, long long, long long *out) {
    for_each_run(ends, count, [&](long long at, long long from) { out[at] = from; });
}
