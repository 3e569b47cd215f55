// sparse_vector_serial.cuh -- sparse_vector.cuh for devices whose threads are a CPU's cores.
//
// Defined before this file: using T; constexpr bool permuted; constexpr bool strided: whether
// elements of x and out are x_step and out_step apart instead of contiguous. A block of one thread
// processes `part` rows, with four sums for each row, so that consecutive additions are
// independent.
#pragma once

#include "sparse_elements.cuh"

/// As in sparse_vector.cuh.
extern "C" __global__ void __launch_bounds__(1)
    multiply(const int *begins, const int *ends, int limit, const int *columns, const T *data,
             const int *order, const T *x, T *out, int rows, int accumulate, int part,
             long long x_step, long long out_step) {
    const Elements elements{columns, data, order};
    const long long first = (long long)blockIdx.x * part;
    const long long stop = first + part < rows ? first + part : rows;
#pragma unroll 1
    for (long long row = first; row < stop; ++row) {
        int k = begins[row];
        const int end = end_within(k, ends[row], limit);
        T sum[4] = {T(0), T(0), T(0), T(0)};
#pragma unroll 1
        for (; end - k >= 4; k += 4)
#pragma unroll
            for (int i = 0; i < 4; ++i)
                sum[i] = T(sum[i] +
                           elements[k + i] * x[strided ? columns[k + i] * x_step : columns[k + i]]);
#pragma unroll 1
        for (; k < end; ++k)
            sum[0] = T(sum[0] + elements[k] * x[strided ? columns[k] * x_step : columns[k]]);
        const T whole = T(T(sum[0] + sum[1]) + T(sum[2] + sum[3]));
        T &to = out[strided ? row * out_step : row];
        to = accumulate ? T(to + whole) : whole;
    }
}
