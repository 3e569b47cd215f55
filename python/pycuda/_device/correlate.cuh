// correlate.cuh -- sums of products of a vector with a short one that moves along it.
//
// Defined before this file: using T, the type of the elements; using S, that of the sums; constexpr
// int tile, the results of a block.
//
//     out[i] = sum over k of a[i - shift + k] * v[k]      for the elements that `a` has
#pragma once

constexpr int each = 4; // neighbouring results of a thread

/// The sums of a thread, whose first result begins at element `at` of `a`. At the ends of `a`,
/// products with no element are left out: 0 * infinity is not 0.
template <bool at_end>
__device__ __forceinline__ void add_products(S *sum, const T *near, const T *weights, int taps,
                                             long long at, long long n) {
    T window[each];
    for (int u = 0; u < each; ++u) {
        sum[u] = S(0);
        window[u] = near[u];
    }
    for (int k = 0; k < taps; ++k) {
        const S weight = S(weights[k]);
#pragma unroll
        for (int u = 0; u < each; ++u)
            if (!at_end || (at + u + k >= 0 && at + u + k < n))
                sum[u] += S(window[u]) * weight;
#pragma unroll
        for (int u = 0; u + 1 < each; ++u)
            window[u] = window[u + 1];
        window[each - 1] = near[each + k];
    }
}

// Dynamic shared memory: the elements that the tile's results use, then those of v.
extern "C" __global__ void __launch_bounds__(tile / each)
    correlate(const T *a, long long n, const T *v, int taps, long long shift, T *out,
              long long count) {
    extern __shared__ double memory[];
    T *const near = reinterpret_cast<T *>(memory), *const weights = near + tile + taps;
    const long long first = blockIdx.x * (long long)tile;
    for (int k = threadIdx.x; k < tile + taps; k += blockDim.x) {
        const long long at = first - shift + k;
        near[k] = at >= 0 && at < n ? a[at] : T(0);
    }
    for (int k = threadIdx.x; k < taps; k += blockDim.x)
        weights[k] = v[k];
    __syncthreads();
    const int begin = threadIdx.x * each;
    const long long start = first - shift;
    S sum[each];
    if (start < 0 || start + tile + taps > n)
        add_products<true>(sum, near + begin, weights, taps, start + begin, n);
    else
        add_products<false>(sum, near + begin, weights, taps, start + begin, n);
    for (int u = 0; u < each; ++u)
        if (first + begin + u < count)
            out[first + begin + u] = T(sum[u]);
}
