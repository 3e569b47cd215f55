// sparse_columns.cuh -- the product of a sparse matrix and a dense matrix: a lane computes columns.
//
// Defined before this file: using T; constexpr bool permuted; constexpr int lanes, the number of
// lanes that share a row, a power of two up to 32; constexpr int each, the number of columns of a
// lane.
#pragma once

#include "sparse_elements.cuh"

constexpr int threads = 128, groups = threads / lanes;

/// Row i of out is the sum of data[k] * row columns[k] of b for k from begins[i] to ends[i], at
/// most `limit` elements; it is added to the row if `accumulate` is not 0. Rows of b and out have
/// `wide` elements; blocks along y process lanes * each of them.
extern "C" __global__ void __launch_bounds__(threads)
    multiply(const int *begins, const int *ends, int limit, const int *columns, const T *data,
             const int *order, const T *b, T *out, int rows, int accumulate, int wide) {
    const Elements elements{columns, data, order};
    const long long row = (long long)blockIdx.x * groups + threadIdx.x / lanes;
    const int first = blockIdx.y * (lanes * each) + threadIdx.x % lanes;
    if (row >= rows)
        return;
    T sum[each];
#pragma unroll
    for (int i = 0; i < each; ++i)
        sum[i] = T(0);
    const int begin = begins[row], end = end_within(begin, ends[row], limit);
#pragma unroll 4
    for (int k = begin; k < end; ++k) {
        const T value = elements[k];
        const T *from = b + (long long)columns[k] * wide + first;
#pragma unroll
        for (int i = 0; i < each; ++i)
            if (first + i * lanes < wide)
                sum[i] = T(sum[i] + value * from[i * lanes]);
    }
    T *to = out + row * wide + first;
#pragma unroll
    for (int i = 0; i < each; ++i)
        if (first + i * lanes < wide)
            to[i * lanes] = accumulate ? T(to[i * lanes] + sum[i]) : sum[i];
}
