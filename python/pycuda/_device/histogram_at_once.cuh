// histogram_at_once.cuh -- the ranges, the edges and the counts of a small sample, by one thread
// block.
//
// Defined before this file: using T, the type of the elements; using C, the type in which NumPy
// computes the edges; using E, the type of the edges; using N, the type of the counts; constexpr
// int axes; constexpr int threads, a multiple of 32; constexpr bool ranged, whether the caller
// knows the ranges.
//
//     values of an axis -> lowest, highest -> edges -> the bin of each value -> the box of each
//     point
//
// The edges are those of numpy.linspace(): number * step + lowest, each operation rounded.
#pragma once

#include "bins.cuh"

constexpr int warps = threads / 32;

__device__ __forceinline__ float multiply(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ double multiply(double a, double b) { return __dmul_rn(a, b); }
__device__ __forceinline__ float add(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ double add(double a, double b) { return __dadd_rn(a, b); }
__device__ __forceinline__ void count_one(double *count) { atomicAdd(count, 1.0); }
template <class Integer> __device__ __forceinline__ void count_one(Integer *count) {
    atomicAdd(reinterpret_cast<unsigned long long *>(count), 1ull);
}

struct Axis {
    const void *values;
    long long step; // in bytes
    long long bins;
    double lowest, highest; // if the caller knows them
    E *edges;

    __device__ T value(long long i) const {
        return *reinterpret_cast<const T *>(static_cast<const char *>(values) + i * step);
    }
};

/// The smallest and the largest element of each axis. Returns whether an element is no number.
__device__ bool find_ranges(const Axis (&axis)[3], long long n, T (&least)[3], T (&greatest)[3]) {
    __shared__ T low[3][warps], high[3][warps];
    bool unordered = false;
#pragma unroll
    for (int k = 0; k < axes; ++k) {
        T small = axis[k].value(0), large = small;
        for (long long i = threadIdx.x; i < n; i += threads) {
            const T value = axis[k].value(i);
            unordered = unordered || value != value;
            small = value < small ? value : small;
            large = value > large ? value : large;
        }
#pragma unroll
        for (int other = 16; other > 0; other /= 2) {
            const T a = static_cast<T>(__shfl_xor_sync(0xffffffffu, small, other));
            const T b = static_cast<T>(__shfl_xor_sync(0xffffffffu, large, other));
            small = a < small ? a : small;
            large = b > large ? b : large;
        }
        low[k][threadIdx.x / 32] = small;
        high[k][threadIdx.x / 32] = large;
    }
    unordered = __syncthreads_or(unordered) != 0;
#pragma unroll
    for (int k = 0; k < axes; ++k) {
        least[k] = low[k][0];
        greatest[k] = high[k][0];
        for (int warp = 1; warp < warps; ++warp) {
            least[k] = low[k][warp] < least[k] ? low[k][warp] : least[k];
            greatest[k] = high[k][warp] > greatest[k] ? high[k][warp] : greatest[k];
        }
    }
    return unordered;
}

/// The edge between two bins, and the ends.
__device__ E edge_of(long long i, long long bins, C first, C last, C step) {
    return static_cast<E>(i == bins ? last : add(multiply(static_cast<C>(i), step), first));
}

// counts: in C order. *failed becomes 1 if the range is not finite, or if two edges of a histogram
// are equal. Dynamic shared memory: the edges of all axes as doubles, then the counts if they are
// `counted_here`.
extern "C" __global__ void __launch_bounds__(threads)
    histogram_at_once(long long n, N *counts, int *failed, int counted_here, const void *values0,
                      long long step0, long long bins0, double low0, double high0, E *edges0,
                      const void *values1, long long step1, long long bins1, double low1,
                      double high1, E *edges1, const void *values2, long long step2,
                      long long bins2, double low2, double high2, E *edges2) {
    extern __shared__ double shared[];
    const Axis axis[3] = {{values0, step0, bins0, low0, high0, edges0},
                          {values1, step1, bins1, low1, high1, edges1},
                          {values2, step2, bins2, low2, high2, edges2}};
    T least[3], greatest[3];
    bool is_bad = false;
    if constexpr (!ranged)
        is_bad = find_ranges(axis, n, least, greatest);
    double *edges[3], *end = shared;
    long long boxes = 1;
    bool flat[3] = {}; // whether two edges of the axis are equal
#pragma unroll
    for (int k = 0; k < axes; ++k) {
        const long long bins = axis[k].bins;
        edges[k] = end;
        end += bins + 1;
        boxes *= bins;
        C first, last;
        if constexpr (ranged) {
            first = axis[k].lowest;
            last = axis[k].highest;
        } else if (least[k] == greatest[k]) {
            first = add(static_cast<C>(least[k]), C(-0.5));
            last = add(static_cast<C>(greatest[k]), C(0.5));
        } else {
            first = static_cast<C>(least[k]);
            last = static_cast<C>(greatest[k]);
        }
        const C width = add(last, -first), step = width / static_cast<C>(bins);
        is_bad = is_bad || !isfinite(width) || step == C(0);
        for (long long i = threadIdx.x; i <= bins; i += threads) {
            const E edge = edge_of(i, bins, first, last, step);
            axis[k].edges[i] = edge;
            edges[k][i] = static_cast<double>(edge);
            flat[k] = flat[k] || i > 0 && !(edge_of(i - 1, bins, first, last, step) < edge);
        }
    }
    unsigned *const own = counted_here ? reinterpret_cast<unsigned *>(end) : nullptr;
    for (long long box = threadIdx.x; box < boxes; box += threads) {
        if (own != nullptr)
            own[box] = 0;
        else
            counts[box] = N(0);
    }
    bool is_flat = false;
#pragma unroll
    for (int k = 0; k < axes; ++k) {
        flat[k] = __syncthreads_or(flat[k]) != 0;
        is_flat = is_flat || flat[k];
    }
    if (threadIdx.x == 0)
        *failed = is_bad ? 1 : is_flat ? 2 : 0;
    if (is_bad)
        return;
    for (long long i = threadIdx.x; i < n; i += threads) {
        long long box = 0;
#pragma unroll
        for (int k = 0; k < axes; ++k) {
            const long long bin = bin_of(axis[k].value(i), Bins{edges[k], axis[k].bins}, !flat[k]);
            box = bin < 0 || box < 0 ? -1 : box * axis[k].bins + bin;
        }
        if (box < 0)
            continue;
        if (own != nullptr)
            atomicAdd(own + box, 1u);
        else
            count_one(counts + box);
    }
    if (own == nullptr)
        return;
    __syncthreads();
    for (long long box = threadIdx.x; box < boxes; box += threads)
        counts[box] = static_cast<N>(own[box]);
}
