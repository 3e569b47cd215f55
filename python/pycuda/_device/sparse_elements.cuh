// sparse_elements.cuh -- the stored elements of a sparse matrix, and their positions.
//
// Defined before this file: using T, the type of the elements; constexpr bool permuted: whether
// element k of the rows is data[order[k]], as for a matrix that is stored by columns.
#pragma once

#include <pycuda-complex.hpp>

/// The elements of a matrix in the order of its rows.
struct Elements {
    const int *columns;
    const T *data;
    const int *order; // null unless `permuted`

    __device__ T operator[](int k) const { return data[permuted ? order[k] : k]; }
};

/// The end of a row, of which at most `limit` elements are used.
__device__ inline int end_within(int begin, int end, int limit) {
    return end - begin > limit ? begin + limit : end;
}

/// The value of another lane, for a type of any size.
template <class X> __device__ X shuffle_xor(X value, int offset) {
    static_assert(sizeof(X) % 4 == 0 || sizeof(X) < 4);
    constexpr int words = sizeof(X) < 4 ? 1 : sizeof(X) / 4;
    unsigned part[words] = {};
    memcpy(part, &value, sizeof(X));
#pragma unroll
    for (int i = 0; i < words; ++i)
        part[i] = __shfl_xor_sync(0xffffffffu, part[i], offset);
    memcpy(&value, part, sizeof(X));
    return value;
}
