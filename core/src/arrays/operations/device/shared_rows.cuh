// shared_rows.cuh -- inverses and Cholesky factors of matrices of up to `side` rows: a block of
// `side` threads for each matrix, and a thread holds one row in registers.
//
// The threads exchange one column or one row for each step, through shared memory. Registers cannot
// be indexed by the number of the step. So each step moves the row by one register: the column of
// the step is always x[0], and what follows from x[j] is written to x[j - 1].
//
//     step 0:  x = columns 0 1 2 3      step 1:  x = columns 1 2 3 (0)     (0): of the inverse
//
// A matrix is read and written through shared memory, so that accesses of neighbouring threads are
// to neighbouring addresses. The text before this file contains small_matrices.cuh.
#pragma once

namespace pycuda {

/// The elements of a matrix. Rows are padded, so that the threads of a warp use different banks.
struct Tile {
    T element[side][side + 1];

    __device__ void load(const T *a, int n) {
        for (int i = threadIdx.x; i < n * n; i += side)
            element[i / n][i % n] = a[i];
        __syncthreads();
    }
    __device__ void store(T *out, int n) const {
        __syncthreads();
        for (int i = threadIdx.x; i < n * n; i += side)
            out[i] = element[i / n][i % n];
    }
};

/// What the threads agree on in a step: which row is the pivot.
struct SharedPivot {
    R best[side / 32]; ///< of each warp
    int row[side / 32];

    /// The row whose size is largest, the first of equal ones. Sizes are not NaN.
    __device__ int find(R size) {
        R largest = size;
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) {
            const R other = shuffle(largest, (threadIdx.x ^ distance) % 32);
            largest = other > largest ? other : largest;
        }
        const unsigned equal = __ballot_sync(full_warp, size == largest);
        const int warp = threadIdx.x / 32;
        if (threadIdx.x % 32 == 0) {
            best[warp] = largest;
            row[warp] = warp * 32 + __ffs(equal) - 1;
        }
        __syncthreads();
        int found = 0;
#pragma unroll
        for (int other = 1; other < side / 32; ++other)
            found = best[other] > best[found] ? other : found;
        return row[found];
    }
};

#if defined FORM_inv
/// The inverse, as in small_matrices.cuh, for the matrix of this block.
SMALL_KERNEL(const T *a, T *out, int *singular, int n, long long) {
    __shared__ Tile tile;
    __shared__ SharedPivot shared;
    __shared__ __align__(16) T scaled[side];
    __shared__ int pivots[side];
    const int row = threadIdx.x;
    const long long first = (long long)blockIdx.x * n * n;
    tile.load(a + first, n);
    T x[side];
#pragma unroll
    for (int c = 0; c < side; ++c)
        x[c] = row < n && c < n ? tile.element[row][c] : T(R(0));
    const R infinity = R(1) / R(0);
    int step = row < n ? -1 : side; // in which the row was the pivot
    bool failed = false;
    for (int k = 0; k < n; ++k) {
        const R size = size_of(x[0]);
        const int pivot = shared.find(step >= 0 ? R(-1) : size == size ? size : infinity);
        const bool is_pivot = row == pivot;
        if (is_pivot) {
            failed = failed || size == R(0);
            step = k;
            pivots[k] = row;
            const T inverse = T(T(R(1)) / x[0]);
            scaled[0] = inverse;
#pragma unroll
            for (int c = 1; c < side; ++c)
                scaled[c] = x[c] = T(x[c] * inverse);
        }
        __syncthreads();
        const T multiplier = is_pivot ? T(R(0)) : x[0];
#pragma unroll
        for (int c = 1; c < side; ++c)
            x[c - 1] = without(x[c], multiplier, scaled[c]);
        x[side - 1] = is_pivot ? scaled[0] : without(T(R(0)), multiplier, scaled[0]);
    }
    if (failed)
        *singular = 1;
#pragma unroll
    for (int c = 0; c < side; ++c)
        if (row < n && c >= side - n)
            tile.element[step][pivots[c - (side - n)]] = x[c];
    tile.store(out + first, n);
}

#else
/// The Cholesky factor, as in small_matrices.cuh, for the matrix of this block.
SMALL_KERNEL(const T *a, T *out, int *broken, int n, long long, int upper) {
    __shared__ Tile tile;
    __shared__ __align__(16) T columns[2][side]; // alternately, so that a step needs one barrier
    const int row = threadIdx.x;
    const long long first = (long long)blockIdx.x * n * n;
    tile.load(a + first, n);
    T x[side];
#pragma unroll
    for (int c = 0; c < side; ++c) {
        x[c] = T(R(0));
        if (c <= row && row < n)
            x[c] = upper ? conjugate(tile.element[c][row]) : tile.element[row][c];
    }
    columns[0][row] = columns[1][row] = T(R(0));
    __syncthreads();
    bool failed = false;
    for (int k = 0; k < n; ++k) {
        T *column = columns[k % 2]; // its first element is that of the diagonal
        if (row >= k)
            column[row - k] = x[0];
        __syncthreads();
        const R square = real_part(column[0]);
        failed = failed || !(square > R(0));
        const T root = T(R(sqrt(square)));
        const T factor = row == k ? root : row > k ? T(x[0] / root) : T(R(0));
        if (row < n) // row k of the tile is complete: a thread reads only its own row and column
            tile.element[upper ? k : row][upper ? row : k] = upper ? conjugate(factor) : factor;
        const T multiplier = T(x[0] / T(square));
#pragma unroll
        for (int c = 1; c < side; ++c)
            x[c - 1] = without(x[c], multiplier, conjugate(column[c]));
    }
    if (failed && row == 0)
        *broken = 1;
    tile.store(out + first, n);
}

#endif

} // namespace pycuda
