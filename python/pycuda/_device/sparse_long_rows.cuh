// sparse_long_rows.cuh -- adds the sums of the pieces of long rows to the rows.
//
// Defined before this file: using T.
#pragma once

#include <pycuda-complex.hpp>

/// Adds rows starts[i] to starts[i + 1] of `parts` to row rows[i] of out; rows have `wide`
/// elements. A block along x processes a long row; threads along x process columns, threads along y
/// pieces.
extern "C" __global__ void __launch_bounds__(256)
    add_pieces(const T *parts, const int *starts, const int *rows, T *out, int wide) {
    __shared__ T shared[256];
    const int column = blockIdx.y * blockDim.x + threadIdx.x;
    T sum = T(0);
    if (column < wide)
        for (int piece = starts[blockIdx.x] + threadIdx.y; piece < starts[blockIdx.x + 1];
             piece += blockDim.y)
            sum = T(sum + parts[(long long)piece * wide + column]);
    const int own = threadIdx.y * blockDim.x + threadIdx.x;
    shared[own] = sum;
    __syncthreads();
    for (int half = blockDim.y / 2; half > 0; half /= 2) {
        if (threadIdx.y < half)
            shared[own] = T(shared[own] + shared[own + half * blockDim.x]);
        __syncthreads();
    }
    if (threadIdx.y == 0 && column < wide) {
        T &to = out[(long long)rows[blockIdx.x] * wide + column];
        to = T(to + shared[own]);
    }
}
