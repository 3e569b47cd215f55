// sparse_vector.cuh -- the product of a sparse matrix and a vector: several lanes for each row.
//
// Defined before this file: using T; constexpr bool permuted; constexpr int lanes, the number of
// lanes that share a row, a power of two up to 32. A group of lanes processes four rows at a time,
// whose loads are independent: otherwise, rows with few elements would keep too few loads in
// flight.
#pragma once

#include "sparse_elements.cuh"

constexpr int threads = 256, rows_at_once = 4, groups = threads / lanes;

/// out[i] is the sum of data[k] * x[columns[k]] for k from begins[i] to ends[i], at most `limit`
/// elements; it is added to out[i] if `accumulate` is not 0.
extern "C" __global__ void __launch_bounds__(threads)
    multiply(const int *begins, const int *ends, int limit, const int *columns, const T *data,
             const int *order, const T *x, T *out, int rows, int accumulate) {
    const Elements elements{columns, data, order};
    const int lane = threadIdx.x % lanes;
    const long long first = (long long)blockIdx.x * (groups * rows_at_once) + threadIdx.x / lanes;
    int at[rows_at_once], end[rows_at_once];
    T sum[rows_at_once];
    bool more = false;
#pragma unroll
    for (int r = 0; r < rows_at_once; ++r) {
        const long long row = first + r * groups;
        at[r] = end[r] = 0;
        sum[r] = T(0);
        if (row < rows) {
            const int begin = begins[row];
            end[r] = end_within(begin, ends[row], limit);
            at[r] = begin + lane;
        }
        more |= at[r] < end[r];
    }
    while (more) {
        more = false;
        int column[rows_at_once];
        T value[rows_at_once];
#pragma unroll
        for (int r = 0; r < rows_at_once; ++r)
            if (at[r] < end[r]) {
                column[r] = columns[at[r]];
                value[r] = elements[at[r]];
            }
#pragma unroll
        for (int r = 0; r < rows_at_once; ++r) {
            if (at[r] < end[r])
                sum[r] = T(sum[r] + value[r] * x[column[r]]);
            // Not at[r] += lanes, which would overflow near 2^31 - 1 elements.
            at[r] = end[r] - at[r] > lanes ? at[r] + lanes : end[r];
            more |= at[r] < end[r];
        }
    }
#pragma unroll
    for (int r = 0; r < rows_at_once; ++r) {
#pragma unroll
        for (int offset = lanes / 2; offset > 0; offset /= 2)
            sum[r] = T(sum[r] + shuffle_xor(sum[r], offset));
        const long long row = first + r * groups;
        if (lane == 0 && row < rows)
            out[row] = accumulate ? T(out[row] + sum[r]) : sum[r];
    }
}
