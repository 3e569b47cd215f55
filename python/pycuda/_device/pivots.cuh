// pivots.cuh -- exchanges rows by the pivots of LAPACK's getrf.
//
// Defined before this file: using T, the type of the elements.
#pragma once

constexpr int most_shared = 8192;

/// Writes the order of the rows after all exchanges: row i is exchanged with row pivots[i] - 1,
/// from i = 0 on. A block has a matrix; one thread makes the exchanges, which depend on each other.
extern "C" __global__ void __launch_bounds__(256)
    order_of_rows(const long long *__restrict__ pivots, int *__restrict__ order, int n) {
    __shared__ int shared[most_shared];
    pivots += (long long)blockIdx.x * n;
    order += (long long)blockIdx.x * n;
    int *rows = n <= most_shared ? shared : order;
    for (int i = threadIdx.x; i < n; i += 256)
        rows[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) {
#pragma unroll 8
        for (int i = 0; i < n; ++i) {
            const int other = (int)(pivots[i] - 1), row = rows[i];
            rows[i] = rows[other];
            rows[other] = row;
        }
    }
    __syncthreads();
    if (rows == shared)
        for (int i = threadIdx.x; i < n; i += 256)
            order[i] = rows[i];
}

/// Moves the elements of columns of n, each contiguous: element order[i] to i, or, for `back`,
/// element i to order[i]. blockIdx.y is the number of the matrix.
extern "C" __global__ void __launch_bounds__(256)
    move_rows(const T *__restrict__ from, T *__restrict__ to, const int *__restrict__ order, int n,
              long long columns, int back) {
    const long long size = columns * n, matrix = blockIdx.y;
    from += matrix * size;
    to += matrix * size;
    order += matrix * n;
    for (long long k = blockIdx.x * 256ll + threadIdx.x; k < size; k += gridDim.x * 256ll) {
        const long long column = k / n;
        const int i = (int)(k - column * n);
        const long long other = column * n + order[i];
        if (back)
            to[other] = from[k];
        else
            to[k] = from[other];
    }
}
