// small_matrices.cuh -- solutions, inverses, determinants and Cholesky factors of many small
// matrices: each lane holds one row in registers.
//
// A matrix of up to `side` (4, 8, 16 or 32) rows occupies `side` lanes of a warp, so a warp holds
// 32 / side matrices. Rows are never swapped. The lane whose row is the pivot of step k records k:
//     lane   row          step 0: lane 2      step 1: lane 0      so row k of the factors is
//      0     1 2 3          . x x               . P x             that of the lane of step k:
//      1     0 4 5          . x x               . . x             lanes 2, 0, 1
//      2     6 7 8          P 7 8               P 7 8
//
// Rows and columns from n on are those of the identity matrix, and are never pivots.
//
// Registers have no index at run time, so a loop over the columns would be unrolled: seconds of
// compile time for 32 columns. Instead, the steps of a chunk are one loop. Each step works on the
// first register of the chunk, and writes register c to register c - 1 and its own column to the
// end:
//     before step 0    0 1 2 3          step 1    1 2 3 0          step 2    2 3 0 1
//
// The text before this file defines the type T, its real type R, SMALL_SIDE, and SMALL_COMPLEX,
// which is 1 if T is complex.
#pragma once

namespace pycuda {

constexpr int side = SMALL_SIDE;
constexpr int chunk = side < 8 ? side : 8; ///< steps of one loop
#define SMALL_KERNEL extern "C" __global__ void __launch_bounds__(SMALL_THREADS) KERNEL

__device__ __forceinline__ float size_of(float x) { return fabs(x); }
__device__ __forceinline__ double size_of(double x) { return fabs(x); }
__device__ __forceinline__ float absolute(float x) { return fabs(x); }
__device__ __forceinline__ double absolute(double x) { return fabs(x); }
__device__ __forceinline__ float conjugate(float x) { return x; }
__device__ __forceinline__ double conjugate(double x) { return x; }
__device__ __forceinline__ float real_part(float x) { return x; }
__device__ __forceinline__ double real_part(double x) { return x; }
/// x - a b
__device__ __forceinline__ float without(float x, float a, float b) { return fmaf(-a, b, x); }
__device__ __forceinline__ double without(double x, double a, double b) { return fma(-a, b, x); }
#if SMALL_COMPLEX
__device__ __forceinline__ R size_of(T x) { return fabs(x.re) + fabs(x.im); }
__device__ __forceinline__ R absolute(T x) { return hypot(x.re, x.im); }
__device__ __forceinline__ T conjugate(T x) { return {x.re, -x.im}; }
__device__ __forceinline__ R real_part(T x) { return x.re; }
__device__ __forceinline__ T without(T x, T a, T b) {
    return {without(without(x.re, a.re, b.re), -a.im, b.im),
            without(without(x.im, a.re, b.im), a.im, b.re)};
}
#endif

/// The position of a thread's row.
struct Lane {
    int row;          ///< of the matrix
    int first;        ///< lane of the warp that has row 0
    long long matrix; ///< past the last matrix in lanes without a matrix

    __device__ Lane() {
        const int lane = threadIdx.x % 32;
        row = lane % side;
        first = lane - row;
        matrix = (blockIdx.x * (long long)blockDim.x + threadIdx.x) / side;
    }
    /// The value of the lane that has row `other`.
    template <class V> __device__ V from(const V &value, int other) const {
        return shuffle(value, first + other);
    }
    /// The lanes of the matrix for which `is_true` is set; bit r is row r.
    __device__ unsigned where(bool is_true) const {
        const unsigned bits = __ballot_sync(full_warp, is_true) >> first;
        return side == 32 ? bits : bits & ((1u << (side % 32)) - 1);
    }
    /// The first row for which `is_true` is set, or 0.
    __device__ int find(bool is_true) const {
        const unsigned rows = where(is_true);
        return rows == 0 ? 0 : __ffs(rows) - 1;
    }
    /// The row whose size is largest. Rows that cannot be chosen have size -1.
    __device__ int find_largest(R size) const {
        R best = size;
#pragma unroll
        for (int distance = side / 2; distance > 0; distance /= 2) {
            const R other = from(best, row ^ distance);
            best = other > best ? other : best;
        }
        return find(size == best);
    }
};

/// Loads a row of the matrix, or of the identity matrix.
__device__ __forceinline__ void load_row(T (&x)[side], const T *a, const Lane &lane, int n,
                                         long long count) {
    const bool is_there = lane.matrix < count && lane.row < n;
    a += lane.matrix * n * n + lane.row * n;
#pragma unroll
    for (int c = 0; c < side; ++c)
        x[c] = is_there && c < n ? a[c] : T(R(c == lane.row ? 1 : 0));
}

/// The row of the next pivot: the largest element in column k of the rows that have not been
/// pivots. NaN counts as larger than all numbers.
__device__ __forceinline__ int find_pivot(const Lane &lane, int step, T element, int n) {
    const R size = size_of(element);
    const R infinity = R(1) / R(0);
    return lane.find_largest(step >= 0 || lane.row >= n ? R(-1) : size == size ? size : infinity);
}

/// The row and the element that step k divides by. Sets `step` of that row to k.
struct Pivot {
    int row;
    T element;
    __device__ __forceinline__ Pivot(const Lane &lane, int &step, T mine, int k, int n,
                                     bool &singular)
        : row(find_pivot(lane, step, mine, n)), element(lane.from(mine, row)) {
        singular = singular || size_of(element) == R(0);
        if (lane.row == row)
            step = k;
    }
};

/// Moves each register from First on to the one before it, and `last` to the end.
template <int First> __device__ __forceinline__ void turn(T (&x)[side], const T &last) {
#pragma unroll
    for (int c = First + 1; c < side; ++c)
        x[c - 1] = x[c];
    x[side - 1] = last;
}

/// Calls step(k) for k from First to `end`. Registers of columns from n on are only moved.
template <int First, class Step>
__device__ __forceinline__ void each_step(T (&x)[side], int n, int end, const Step &step) {
#pragma unroll 1
    for (int k = First; k < end; ++k)
        if (k < n)
            step(k);
        else
            turn<First>(x, x[First]);
}

/// Moves the registers from First on to `distance` registers later; the last ones come first.
template <int First> __device__ __forceinline__ void turn_back(T (&x)[side], int distance = chunk) {
    T old[side];
#pragma unroll
    for (int c = First; c < side; ++c)
        old[c] = x[c];
#pragma unroll
    for (int c = First; c < side; ++c)
        x[c] = old[c - First < distance ? side - distance + (c - First) : c - distance];
}

/// What factor() knows about a lane's row and the matrix.
struct Factoring {
    int step = -1;
    R sign = 1;
    unsigned unused = side == 32 ? ~0u : (1u << (side % 32)) - 1;
    bool singular = false;
};

/// Steps First and later of factor().
template <int First>
__device__ __forceinline__ void factor_from(T (&x)[side], const Lane &lane, int n, Factoring &f) {
    if constexpr (First < side) {
        each_step<First>(x, n, First + chunk, [&](int k) {
            const Pivot pivot(lane, f.step, x[First], k, n, f.singular);
            // The number of unused rows before the pivot is the number of swaps of neighbours.
            f.sign = __popc(f.unused & ((1u << pivot.row) - 1)) % 2 ? -f.sign : f.sign;
            f.unused &= ~(1u << pivot.row);
            const T multiplier = f.step < 0 ? T(x[First] / pivot.element) : T(R(0));
            const T mine = f.step < 0 ? multiplier : x[First];
            const int done = side - (k - First); // from this register on, columns before k
#pragma unroll
            for (int c = First + 1; c < side; ++c) {
                const T changed = without(x[c], multiplier, lane.from(x[c], pivot.row));
                x[c - 1] = c < done ? changed : x[c];
            }
            x[side - 1] = mine;
        });
        turn_back<First>(x);
        factor_from<First + chunk>(x, lane, n, f);
    }
}

/// Loads the matrices and replaces each by L (its multipliers) and U. Returns the step of this
/// lane's row, the sign of the permutation of the rows, and whether a pivot is 0.
__device__ __forceinline__ Factoring factor(T (&x)[side], const T *a, const Lane &lane, int n,
                                            long long count) {
    load_row(x, a, lane, n, count);
    Factoring f;
    factor_from<0>(x, lane, n, f);
    return f;
}

#if SMALL_SIDE > 32 // see shared_rows.cuh
#elif defined FORM_solve
/// Solves for b, of shape (matrices, n, columns), and writes the solutions to out. `singular` is
/// set to 1 if a matrix is singular.
SMALL_KERNEL(const T *a, const T *b, T *out, int *singular, int n, int columns, long long count) {
    constexpr int together = 4;
    const Lane lane;
    T x[side];
    const Factoring factoring = factor(x, a, lane, n, count);
    const int step = factoring.step;
    const bool is_there = lane.matrix < count && lane.row < n;
    if (factoring.singular && is_there)
        *singular = 1;
    b += (lane.matrix * n + lane.row) * columns;
    out += (lane.matrix * n + step) * columns;
    for (int first = 0; first < columns; first += together) {
        T y[together];
#pragma unroll
        for (int j = 0; j < together; ++j)
            y[j] = is_there && first + j < columns ? b[first + j] : T(R(0));
#pragma unroll 1
        for (int start = 0; start < side; start += chunk) {
#pragma unroll
            for (int c = 0; c < chunk; ++c) {
                const int k = start + c;
                if (k >= n)
                    break;
                const int pivot = lane.find(step == k);
                const T multiplier = step > k ? x[c] : T(R(0));
#pragma unroll
                for (int j = 0; j < together; ++j)
                    y[j] = without(y[j], multiplier, lane.from(y[j], pivot));
            }
            turn_back<0>(x, side - chunk);
        }
#pragma unroll 1
        for (int start = side - chunk; start >= 0; start -= chunk) {
            turn_back<0>(x);
#pragma unroll
            for (int c = chunk - 1; c >= 0; --c) {
                const int k = start + c;
                if (k >= n)
                    continue;
                const int pivot = lane.find(step == k);
                const T diagonal = lane.from(x[c], pivot);
                const T multiplier = step >= 0 && step < k ? x[c] : T(R(0));
#pragma unroll
                for (int j = 0; j < together; ++j) {
                    const T solution = T(lane.from(y[j], pivot) / diagonal);
                    y[j] = step == k ? solution : without(y[j], multiplier, solution);
                }
            }
        }
        if (is_there)
#pragma unroll
            for (int j = 0; j < together; ++j)
                if (first + j < columns)
                    out[first + j] = y[j];
    }
}

#elif defined FORM_inv
/// Writes the inverses of a to out, by Gauss-Jordan elimination in place: column k of the matrix is
/// no longer needed, and is replaced by the inverse's column for the pivot's row.
SMALL_KERNEL(const T *a, T *out, int *singular, int n, long long count) {
    const Lane lane;
    T x[side];
    load_row(x, a, lane, n, count);
    int step = -1;
    bool failed = false;
    each_step<0>(x, n, side, [&](int k) {
        const Pivot pivot(lane, step, x[0], k, n, failed);
        const bool is_pivot = lane.row == pivot.row;
        const T inverse = T(T(R(1)) / pivot.element), multiplier = x[0];
#pragma unroll
        for (int c = 1; c < side; ++c) {
            const T scaled = T(lane.from(x[c], pivot.row) * inverse);
            x[c - 1] = is_pivot ? scaled : without(x[c], multiplier, scaled);
        }
        x[side - 1] = is_pivot ? inverse : without(T(R(0)), multiplier, inverse);
    });
    const bool is_there = lane.matrix < count && lane.row < n;
    if (failed && is_there)
        *singular = 1;
    out += (lane.matrix * n + step) * n;
#pragma unroll
    for (int k = 0; k < side; ++k) {
        const int column = lane.find(step == k);
        if (is_there && k < n)
            out[column] = x[k];
    }
}

#elif defined FORM_det
/// The determinants; if `logarithms` is not null, their signs and the logarithms of their absolute
/// values.
SMALL_KERNEL(const T *a, T *out, R *logarithms, int n, long long count) {
    const Lane lane;
    T x[side];
    const Factoring f = factor(x, a, lane, n, count);
    T mine = x[0]; // the diagonal element of this lane's row
#pragma unroll
    for (int c = 1; c < side; ++c)
        mine = f.step == c ? x[c] : mine;
    T product = T(f.sign);
    R logarithm = 0;
#pragma unroll 1
    for (int k = 0; k < n; ++k) {
        T diagonal = lane.from(mine, lane.find(f.step == k));
        if (logarithms) {
            const R size = absolute(diagonal);
            logarithm += log(size);
            diagonal = T(diagonal / T(size));
        }
        product = T(product * diagonal);
    }
    if (lane.row != 0 || lane.matrix >= count)
        return;
    out[lane.matrix] = f.singular ? T(R(0)) : product;
    if (logarithms)
        logarithms[lane.matrix] = f.singular ? -(R(1) / R(0)) : logarithm;
}

#elif defined FORM_cholesky
/// Columns First and later of the kernel below. Returns whether a pivot is not positive.
template <int First>
__device__ __forceinline__ bool cholesky_from(T (&x)[side], const Lane &lane, int n) {
    bool failed = false;
    if constexpr (First < side) {
        each_step<First>(x, n, First + chunk, [&](int k) {
            const R square = lane.from(real_part(x[First]), k);
            failed = failed || !(square > R(0));
            const R root = sqrt(square);
            const T mine = lane.row == k ? T(root) : T(x[First] / T(root));
#pragma unroll
            for (int c = First + 1; c < side; ++c) {
                const int column = c + (k - First); // past the end in registers that are done
                const T other = conjugate(lane.from(mine, column % side));
                x[c - 1] = lane.row >= column ? without(x[c], mine, other) : x[c];
            }
            x[side - 1] = mine;
        });
        turn_back<First>(x);
        failed |= cholesky_from<First + chunk>(x, lane, n);
    }
    return failed;
}

/// Writes L of Hermitian matrices a to out, and reads their lower triangles; with `upper`, writes
/// L^H and reads the upper triangles. `broken` is set to 1 if a matrix is not positive definite.
SMALL_KERNEL(const T *a, T *out, int *broken, int n, long long count, int upper) {
    const Lane lane;
    const bool is_there = lane.matrix < count && lane.row < n;
    const int down = upper ? 1 : n, across = upper ? n : 1;
    a += lane.matrix * n * n + lane.row * down;
    out += lane.matrix * n * n + lane.row * down;
    T x[side];
#pragma unroll
    for (int c = 0; c < side; ++c) {
        const T element = is_there && c <= lane.row ? a[c * across] : T(R(c == lane.row ? 1 : 0));
        x[c] = upper ? conjugate(element) : element;
    }
    const bool failed = cholesky_from<0>(x, lane, n);
    if (failed && is_there)
        *broken = 1;
#pragma unroll
    for (int c = 0; c < side; ++c)
        if (is_there && c < n) {
            const T element = c <= lane.row ? x[c] : T(R(0));
            out[c * across] = upper ? conjugate(element) : element;
        }
}

#endif

} // namespace pycuda
