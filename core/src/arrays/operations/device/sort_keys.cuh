// sort_keys.cuh -- encodes keys as unsigned numbers of the same order, for sorting and selecting.
//
// Text before this file: typedef U (unsigned, as wide as keys), SORT_KIND, SORT_INFINITY,
// SORT_THREADS, and SORT_PAIRS, which is true if the positions of keys are sorted.
#pragma once

namespace pycuda {

enum SortKind { SortUnsigned, SortSigned, SortFloat };

#define SORT_KERNEL extern "C" __global__ void __launch_bounds__(SORT_THREADS) KERNEL

constexpr int sort_threads = SORT_THREADS;
constexpr int sort_warps = sort_threads / 32;
constexpr int sort_digits = 256;
constexpr int sort_passes = sizeof(U);
typedef decltype(U() + 0u) LaneKey; ///< a key as it is exchanged by shuffles, of 32 or 64 bits

/// Encodes a key. NaN is greater than any number. With SORT_PAIRS, zeros of both signs are equal;
/// else -0 comes before 0 and can be decoded.
__device__ __forceinline__ U encode(U bits) {
    constexpr U sign = U(U(1) << (8 * sizeof(U) - 1));
    if (SORT_KIND == SortUnsigned)
        return bits;
    if (SORT_KIND == SortSigned)
        return bits ^ sign;
    if (U(bits & U(~sign)) > U(SORT_INFINITY))
        return U(~U(0));
    if (SORT_PAIRS && bits == sign)
        bits = 0;
    return bits & sign ? U(~bits) : U(bits | sign);
}
__device__ __forceinline__ U decode(U key) {
    constexpr U sign = U(U(1) << (8 * sizeof(U) - 1));
    if (SORT_KIND == SortUnsigned)
        return key;
    if (SORT_KIND == SortSigned)
        return key ^ sign;
    return key & sign ? U(key & U(~sign)) : U(~key);
}

/// A digit of 8 bits, from the lowest on.
__device__ __forceinline__ int digit_of(U key, int pass) {
    return static_cast<int>(key >> (8 * pass)) & (sort_digits - 1);
}

/// use(keys[i]) for i from `first` to `end` in steps, with several loads in flight.
template <int Ahead, class Step, class Use>
__device__ __forceinline__ void each_key(const U *keys, long long first, long long end, Step step,
                                         const Use &use) {
    long long i = first;
#pragma unroll 1
    for (; i + (Ahead - 1) * step < end; i += Ahead * step) {
        U key[Ahead];
#pragma unroll
        for (int k = 0; k < Ahead; ++k)
            key[k] = keys[i + k * step];
#pragma unroll
        for (int k = 0; k < Ahead; ++k)
            use(key[k]);
    }
    if (Ahead == 1)
        return;
    for (; i < end; i += step)
        use(keys[i]);
}

/// The sum of `value` over the threads before this one. All threads call it.
template <class T> __device__ T block_exclusive(T value, T *warp_sums) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    T sum = value;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        const T below = __shfl_up_sync(0xffffffffu, sum, distance);
        if (lane >= distance)
            sum += below;
    }
    if (lane == 31)
        warp_sums[warp] = sum;
    __syncthreads();
    T before = 0;
#pragma unroll
    for (int i = 0; i < sort_warps; ++i)
        if (i < warp)
            before += warp_sums[i];
    __syncthreads();
    return before + sum - value;
}

} // namespace pycuda
