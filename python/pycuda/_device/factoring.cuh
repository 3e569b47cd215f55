// factoring.cuh -- LU, Cholesky and QR factors of matrices, and triangular systems.
//
// Defined before this file: using T, a real or complex type; using R, its real type.
#pragma once

#include "numbers.cuh"

constexpr int threads = 256;
// The row, from `first` on, whose element in column `column` is largest; NaN is larger than any
// number.
__device__ int find_pivot(const T *a, int n, int column, int first) {
    __shared__ R best[threads];
    __shared__ int place[threads];
    R most = -1;
    int at = first;
    for (int i = first + threadIdx.x; i < n; i += threads) {
        const R size = size_of(a[i * (long long)n + column]);
        if (size > most || size != size) {
            most = size != size ? R(1) / R(0) : size;
            at = i;
        }
    }
    best[threadIdx.x] = most;
    place[threadIdx.x] = at;
    __syncthreads();
    for (int half = threads / 2; half > 0; half /= 2) {
        const int other = threadIdx.x + half;
        if (threadIdx.x < half &&
            (best[other] > best[threadIdx.x] ||
             (best[other] == best[threadIdx.x] && place[other] < place[threadIdx.x]))) {
            best[threadIdx.x] = best[other];
            place[threadIdx.x] = place[other];
        }
        __syncthreads();
    }
    const int pivot = place[0];
    __syncthreads();
    return pivot;
}

// Factors columns k0 to k1 of each matrix, whose first k0 columns are done. Whole rows are swapped,
// and `order` with them.
extern "C" __global__ void __launch_bounds__(threads)
    lu_panel(T *a, long long *order, int *swaps, int *singular, int n, int k0, int k1) {
    const long long matrix = blockIdx.x;
    a += matrix * n * n;
    order += matrix * n;
    for (int j = k0; j < k1; ++j) {
        const int pivot = find_pivot(a, n, j, j);
        T *row = a + j * (long long)n, *other = a + pivot * (long long)n;
        if (pivot != j) {
            for (int c = threadIdx.x; c < n; c += threads) {
                const T kept = row[c];
                row[c] = other[c];
                other[c] = kept;
            }
            if (threadIdx.x == 0) {
                const long long kept = order[j];
                order[j] = order[pivot];
                order[pivot] = kept;
                ++swaps[matrix];
            }
        }
        __syncthreads();
        const T diagonal = row[j];
        if (size_of(diagonal) == R(0)) {
            if (threadIdx.x == 0)
                singular[matrix] = 1;
            continue;
        }
        const int width = k1 - j - 1, rows = n - j - 1;
        for (int i = threadIdx.x; i < rows; i += threads)
            row[(i + 1) * (long long)n + j] /= diagonal;
        __syncthreads();
        for (int t = threadIdx.x; t < rows * width; t += threads) {
            const int i = t / width + 1, c = j + 1 + t % width;
            row[i * (long long)n + c] -= row[i * (long long)n + j] * row[c];
        }
        __syncthreads();
    }
}

// As lu_panel, for Hermitian matrices: L L^H. Reads only the elements on and below the diagonal.
extern "C" __global__ void __launch_bounds__(threads)
    cholesky_panel(T *a, int *broken, int n, int k0, int k1) {
    const long long matrix = blockIdx.x;
    a += matrix * n * n;
    for (int j = k0; j < k1; ++j) {
        T *row = a + j * (long long)n;
        const R square = re(row[j]);
        __syncthreads();
        if (!(square > R(0))) {
            if (threadIdx.x == 0)
                broken[matrix] = 1;
            return;
        }
        const R root = sqrt(square);
        const int width = k1 - j - 1, rows = n - j - 1;
        for (int i = threadIdx.x; i <= rows; i += threads)
            row[i * (long long)n + j] = i == 0 ? T(root) : T(row[i * (long long)n + j] / root);
        __syncthreads();
        for (int t = threadIdx.x; t < rows * width; t += threads) {
            const int i = t / width + 1, c = 1 + t % width;
            if (i >= c)
                row[i * (long long)n + j + c] -=
                    row[i * (long long)n + j] * conjugate(row[c * (long long)n + j]);
        }
        __syncthreads();
    }
}

#include "block_sum.cuh"
// Applies (1 - factor v v^H) to the columns `first` to `columns` of b, in the rows from j on. v is
// 1 in row j and column j of a below. One thread for each column.
__device__ void reflect(const T *a, int n, int j, int m, T factor, T *b, int wide, int first,
                        int columns) {
    for (int c = first + threadIdx.x; c < columns; c += threads) {
        T sum = b[j * (long long)wide + c];
        for (int i = j + 1; i < m; ++i)
            sum += conjugate(a[i * (long long)n + j]) * b[i * (long long)wide + c];
        sum *= factor;
        b[j * (long long)wide + c] -= sum;
        for (int i = j + 1; i < m; ++i)
            b[i * (long long)wide + c] -= a[i * (long long)n + j] * sum;
    }
}

// Factors matrices of m rows and n columns: R on and above the diagonal, Householder's vectors
// below.
extern "C" __global__ void __launch_bounds__(threads) householder(T *a, T *factors, int m, int n) {
    const int count = m < n ? m : n;
    a += blockIdx.x * (long long)m * n;
    factors += blockIdx.x * (long long)count;
    for (int j = 0; j < count; ++j) {
        R squares = 0;
        for (int i = j + 1 + threadIdx.x; i < m; i += threads)
            squares += re(T(a[i * (long long)n + j] * conjugate(a[i * (long long)n + j])));
        const R below = block_sum(squares);
        const T alpha = a[j * (long long)n + j];
        __syncthreads();
        const R whole = re(T(alpha * conjugate(alpha)));
        T factor = T(0);
        if (below != R(0) || whole != re(alpha) * re(alpha)) {
            const R beta = -copysign(sqrt(whole + below), re(alpha));
            factor = T((T(beta) - alpha) / beta);
            const T scale = T(T(1) / (alpha - T(beta)));
            for (int i = j + 1 + threadIdx.x; i < m; i += threads)
                a[i * (long long)n + j] *= scale;
            if (threadIdx.x == 0)
                a[j * (long long)n + j] = T(beta);
        }
        if (threadIdx.x == 0)
            factors[j] = factor;
        __syncthreads();
        reflect(a, n, j, m, conjugate(factor), a, n, j + 1, n);
        __syncthreads();
    }
}

// Applies the product of the reflections to q, which has m rows and `columns` columns.
extern "C" __global__ void __launch_bounds__(threads)
    apply_reflections(const T *a, const T *factors, T *q, int m, int n, int columns) {
    const int count = m < n ? m : n;
    a += blockIdx.x * (long long)m * n;
    factors += blockIdx.x * (long long)count;
    q += blockIdx.x * (long long)m * columns;
    for (int j = count - 1; j >= 0; --j)
        reflect(a, n, j, m, factors[j], q, columns, 0, columns);
}

// Solves with the triangle of rows and columns k0 to k1 for each column of b, whose rows have
// `wide` elements. One thread for each column. `lower`: the diagonal consists of ones.
extern "C" __global__ void __launch_bounds__(threads)
    triangle(const T *a, T *b, int n, int k0, int k1, long long wide, long long first,
             long long columns, long long b_matrix, int lower) {
    const long long column = blockIdx.x * (long long)threads + threadIdx.x;
    if (column >= columns)
        return;
    a += blockIdx.y * (long long)n * n;
    b += blockIdx.y * b_matrix + first + column;
    for (int step = 0; step < k1 - k0; ++step) {
        const int i = lower ? k0 + step : k1 - 1 - step;
        const T *row = a + i * (long long)n;
        T x = b[i * wide];
        for (int j = lower ? k0 : i + 1; j < (lower ? i : k1); ++j)
            x -= row[j] * b[j * wide];
        b[i * wide] = lower ? x : T(x / row[i]);
    }
}
