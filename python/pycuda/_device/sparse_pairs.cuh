// sparse_pairs.cuh -- operations on the elements of two sparse matrices, and look-ups of elements.
//
// Defined before this file: using T, the type of the operands; using U, the type of the result;
// OPERATION, an expression of x and y.
//
// Rows are sorted, without duplicates. The position of an element in the union of two matrices is
// the number of elements of each matrix that precede it, minus the number of those that are in
// both:
//
//     a: 1 . 4 .     a's element 4 is its second; one of b's elements (5) precedes it, which is
//     b: . 5 6 7     not in a. So its position is 1 + 1 - 0 = 2; b's 6 is in a, too.
#pragma once

#include "sparse_structure.cuh"
#include <pycuda-complex.hpp>

/// For each element of one matrix: the number of elements of the other matrix that precede it, and
/// whether that matrix has an element at its position.
extern "C" __global__ void __launch_bounds__(256)
    find_partners(const int *row_of, const int *columns, int count, const int *other_starts,
                  const int *other_columns, int *before, int *found) {
    const long long k = blockIdx.x * 256ll + threadIdx.x;
    if (k >= count)
        return;
    const int row = row_of[k], column = columns[k], end = other_starts[row + 1];
    const int place = lower_bound(other_columns, other_starts[row], end, column);
    before[k] = place;
    found[k] = place < end && other_columns[place] == column;
}

__device__ inline U operate(T x, T y) { return U(OPERATION); }

/// Writes a's elements at their positions in the union. common[k]: the number of a's elements up to
/// and including k that are in b.
extern "C" __global__ void __launch_bounds__(256)
    place_first(const int *row_of, const int *columns, const T *data, int count, const int *before,
                const int *found, const int *common, const T *other, int *out_rows,
                int *out_columns, U *out) {
    const long long k = blockIdx.x * 256ll + threadIdx.x;
    if (k >= count)
        return;
    const int place = static_cast<int>(k) + before[k] - (common[k] - found[k]);
    out_rows[place] = row_of[k];
    out_columns[place] = columns[k];
    out[place] = operate(data[k], found[k] ? other[before[k]] : T(0));
}

/// Writes b's elements that are not in a.
extern "C" __global__ void __launch_bounds__(256)
    place_second(const int *row_of, const int *columns, const T *data, int count, const int *before,
                 const int *found, const int *common, int *out_rows, int *out_columns, U *out) {
    const long long k = blockIdx.x * 256ll + threadIdx.x;
    if (k >= count || found[k])
        return;
    const int place = static_cast<int>(k) + before[k] - common[k];
    out_rows[place] = row_of[k];
    out_columns[place] = columns[k];
    out[place] = operate(T(0), data[k]);
}

/// The elements in the given rows and columns; 0 if an element is not stored.
extern "C" __global__ void __launch_bounds__(256)
    look_up(const int *starts, const int *columns, const T *data, const int *rows,
            const int *wanted, T *out, int count) {
    const long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i >= count)
        return;
    const int end = starts[rows[i] + 1];
    const int place = lower_bound(columns, starts[rows[i]], end, wanted[i]);
    out[i] = place < end && columns[place] == wanted[i] ? data[place] : T(0);
}
