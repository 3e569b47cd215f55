// triangle.cuh -- copies matrices with zeros above or below a diagonal.
//
// Defined before this file: using T, a type of the elements' size.
#pragma once

// Strides are in bytes; the matrices are `matrix_stride` bytes apart.
extern "C" __global__ void __launch_bounds__(256)
    triangle(const void *from, void *out, long long n, unsigned rows, unsigned columns,
             long long matrix_stride, long long row_stride, long long column_stride, long long k,
             int keep_below) {
    const long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i >= n)
        return;
    const long long line = n <= 0xffffffffll ? unsigned(i) / columns : i / columns;
    const long long column = i - line * columns;
    const long long matrix = n <= 0xffffffffll ? unsigned(line) / rows : line / rows;
    const long long row = line - matrix * rows;
    T value = T(0);
    if ((column <= row + k) == (keep_below != 0))
        value =
            *reinterpret_cast<const T *>(static_cast<const char *>(from) + matrix * matrix_stride +
                                         row * row_stride + column * column_stride);
    static_cast<T *>(out)[i] = value;
}
