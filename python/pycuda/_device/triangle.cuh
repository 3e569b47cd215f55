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

// The elements of 16 bytes.
constexpr int pack = 16 / sizeof(T);
struct alignas(16) Pack {
    T v[pack];
};

// As above for contiguous matrices that start at a multiple of 16 bytes, and whose rows have whole
// packs. n: the number of packs. columns: of packs.
extern "C" __global__ void __launch_bounds__(256)
    triangle_packs(const Pack *from, Pack *out, long long n, unsigned rows, unsigned columns,
                   long long k, int keep_below) {
    const long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i >= n)
        return;
    const long long line = n <= 0xffffffffll ? unsigned(i) / columns : i / columns;
    const long long column = (i - line * columns) * pack;
    const long long row = n <= 0xffffffffll ? unsigned(line) % rows : line % rows;
    Pack value{};
    // The first or the last element is kept if any element is.
    const bool first = (column <= row + k) == (keep_below != 0);
    const bool last = (column + pack - 1 <= row + k) == (keep_below != 0);
    if (first || last)
        value = from[i];
#pragma unroll
    for (int j = 0; j < pack; ++j)
        if ((column + j <= row + k) != (keep_below != 0))
            value.v[j] = T(0);
    out[i] = value;
}
