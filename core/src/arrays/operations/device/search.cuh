// search.cuh -- positions in a sorted array, by bisection.
//
// The first steps of a long search use pivots in shared memory. There are 2^levels - 1 pivots;
// pivot p is element p * length / 2^levels, rounded down. If c pivots precede a value, the value's
// position is between pivots c and c + 1. After its values, a block continues with values behind
// those of all blocks.
//
// The text before this file defines the types A (in memory) and T (computed in) of elements and
// Place of positions; LEFT, which is 1 for the first of possible positions; and AHEAD, the values
// that a thread searches at once. EDGES is 1 if the array may fall instead of rise, and is checked.
#pragma once

__device__ __forceinline__ bool before(T a, T b) { return array_nan(b) ? !array_nan(a) : a < b; }
__device__ __forceinline__ bool goes_right(T x, T value) {
    return LEFT ? before(x, value) : !before(value, x);
}

struct Geometry {
    long long length, count;
    int levels, reach;
};
constexpr int most_pivots = 16384 / sizeof(A);

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(const A *sorted, const A *values, long long *out, int *unsorted, Geometry g) {
#if EDGES
    const bool falls =
        g.length > 0 && array_convert<T>(sorted[0]) > array_convert<T>(sorted[g.length - 1]);
#define GOES_RIGHT(x, value) (goes_right(x, value) != falls)
#else
#define GOES_RIGHT(x, value) goes_right(x, value)
#endif
    __shared__ T pivots[most_pivots];
    const int pivot_count = (1 << g.levels) - 1;
    for (int i = threadIdx.x; i < pivot_count; i += 256)
        pivots[i] = array_convert<T>(sorted[(i + 1) * g.length >> g.levels]);
    __syncthreads();
    const long long stride = 256ll * gridDim.x;
#if EDGES
    for (long long i = 256ll * blockIdx.x + threadIdx.x; i + 1 < g.length; i += stride) {
        const T one = array_convert<T>(sorted[i]), next = array_convert<T>(sorted[i + 1]);
        if (!(falls ? one >= next : one <= next))
            *unsorted = 1;
    }
#endif
    for (long long i = 256ll * blockIdx.x + threadIdx.x; i < g.count; i += AHEAD * stride) {
        T value[AHEAD];
        int before[AHEAD];
        Place low[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) {
            const long long at = i + k * stride;
            value[k] = array_convert<T>(values[at < g.count ? at : i]);
            before[k] = 0;
        }
#pragma unroll 1
        for (int half = (pivot_count + 1) / 2; half > 0; half /= 2)
#pragma unroll
            for (int k = 0; k < AHEAD; ++k)
                if (GOES_RIGHT(pivots[before[k] + half - 1], value[k]))
                    before[k] += half;
#pragma unroll
        for (int k = 0; k < AHEAD; ++k)
            low[k] = Place(before[k] * g.length >> g.levels);
#pragma unroll 1
        for (Place half = Place(1) << g.reach; half > 0; half /= 2)
#pragma unroll
            for (int k = 0; k < AHEAD; ++k) {
                const Place at = low[k] + half - 1;
                if (at < g.length && GOES_RIGHT(array_convert<T>(sorted[at]), value[k]))
                    low[k] += half;
            }
#pragma unroll
        for (int k = 0; k < AHEAD; ++k)
            if (i + k * stride < g.count)
                out[i + k * stride] = low[k];
    }
}
