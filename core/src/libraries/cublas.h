// cublas.h -- NVIDIA's library of matrix products, opened when it is first used.
#pragma once

#include <pycuda/array.h>
#include <pycuda/stream.h>

#include <cuda.h>

#include <cstdint>

namespace pycuda {

/// One factor or the result of a product: a stack of matrices, each stored by rows or by columns.
/// Steps are in elements.
struct BlasMatrix {
    CUdeviceptr address;
    bool in_columns;
    std::int64_t step; ///< from row to row, or column to column
    std::int64_t next; ///< from matrix to matrix
};

struct BlasProduct {
    ScalarType type;
    std::int64_t rows, columns, inner, count;
    BlasMatrix a, b, out; ///< out: in rows
};

/// Whether cuBLAS can compute products of this type: the library was found, and the driver is
/// NVIDIA's.
bool cublas_takes(ScalarType type);

/// out = a b, in the current context. Throws std::runtime_error with the status of cuBLAS.
void cublas_multiply(const BlasProduct &product, StreamRef stream);

} // namespace pycuda
