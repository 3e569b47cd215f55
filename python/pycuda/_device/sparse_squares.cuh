// sparse_squares.cuh -- products of two sparse matrices.
//
// Defined before this file: using T.
//
// On a GPU: all single products are written, with their rows and columns, and are then sorted and
// added up (expand, sort, compress). If threads are a CPU's cores: the rows of the result are
// computed one after the other, in a dense row of sums (Gustavson, ACM Trans. Math. Softw. 4, 250,
// 1978).
#pragma once

#include "sparse_structure.cuh"
#include <pycuda-complex.hpp>

/// counts[k]: the number of elements in the row of b with which element k of a is multiplied.
extern "C" __global__ void __launch_bounds__(256)
    count_products(const int *columns, int count, const int *b_starts, long long *counts) {
    const long long k = blockIdx.x * 256ll + threadIdx.x;
    if (k < count)
        counts[k] = b_starts[columns[k] + 1] - b_starts[columns[k]];
}

/// Product i belongs to the element k of a with ends[k - 1] <= first + i < ends[k].
extern "C" __global__ void __launch_bounds__(256)
    expand(const int *row_of, const int *columns, const T *data, const long long *ends, int k_first,
           int k_last, long long first, int count, const int *b_starts, const int *b_columns,
           const T *b_data, int *out_rows, int *out_columns, T *out) {
    const long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i >= count)
        return;
    const int k = lower_bound(ends, k_first, k_last, first + i + 1);
    const int from = b_starts[columns[k] + 1] - static_cast<int>(ends[k] - (first + i));
    out_rows[i] = row_of[k];
    out_columns[i] = b_columns[from];
    out[i] = T(data[k] * b_data[from]);
}

/// Counts rows of the result, a part of them in each block of one thread. `last`, with `wide`
/// numbers for each block, is initially -1: the last row that contained a column.
extern "C" __global__ void __launch_bounds__(1)
    count_rows(const int *a_starts, const int *a_columns, const int *b_starts, const int *b_columns,
               int rows, int part, int wide, int *last, int *counts) {
    last += (long long)blockIdx.x * wide;
#pragma unroll 1
    for (long long piece = blockIdx.x; piece * part < rows; piece += gridDim.x) {
        const int stop = (piece + 1) * part < rows ? static_cast<int>((piece + 1) * part) : rows;
#pragma unroll 1
        for (int row = static_cast<int>(piece * part); row < stop; ++row) {
            int found = 0;
#pragma unroll 1
            for (int k = a_starts[row]; k < a_starts[row + 1]; ++k) {
                const int middle = a_columns[k], end = b_starts[middle + 1];
#pragma unroll 1
                for (int i = b_starts[middle]; i < end; ++i) {
                    const int column = b_columns[i];
                    if (last[column] != row) {
                        last[column] = row;
                        ++found;
                    }
                }
            }
            counts[row] = found;
        }
    }
}

/// Computes the elements of the rows, in the order in which their columns occur. place[column]: the
/// position of the sum in the result; it belongs to this row if it is not before the row's begin.
extern "C" __global__ void __launch_bounds__(1)
    multiply_rows(const int *a_starts, const int *a_columns, const T *a_data, const int *b_starts,
                  const int *b_columns, const T *b_data, int rows, int part, int wide, int *place,
                  const int *starts, int *columns, T *out) {
    place += (long long)blockIdx.x * wide;
#pragma unroll 1
    for (long long piece = blockIdx.x; piece * part < rows; piece += gridDim.x) {
        const int stop = (piece + 1) * part < rows ? static_cast<int>((piece + 1) * part) : rows;
#pragma unroll 1
        for (int row = static_cast<int>(piece * part); row < stop; ++row) {
            const int begin = starts[row];
            int next = begin;
#pragma unroll 1
            for (int k = a_starts[row]; k < a_starts[row + 1]; ++k) {
                const int middle = a_columns[k], end = b_starts[middle + 1];
                const T value = a_data[k];
#pragma unroll 1
                for (int i = b_starts[middle]; i < end; ++i) {
                    const int column = b_columns[i];
                    const int at = place[column];
                    const T product = T(value * b_data[i]);
                    if (at >= begin) {
                        out[at] = T(out[at] + product);
                    } else {
                        place[column] = next;
                        columns[next] = column;
                        out[next++] = product;
                    }
                }
            }
        }
    }
}
