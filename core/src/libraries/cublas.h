// cublas.h -- NVIDIA's library of matrix products, opened when it is first used.
#pragma once

#include <pycuda/array.h>
#include <pycuda/stream.h>

#include <cuda.h>

#include <cstdint>

namespace pycuda {

/// One factor or the result of a product: matrices of a stack, each in rows without gaps between
/// their elements, or in columns. In elements.
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

/// Whether products of this type can go to cuBLAS: the library is there, for this driver.
bool cublas_takes(ScalarType type);

/// out = a b, in the current context. Throws std::runtime_error with cuBLAS's own status.
void cublas_multiply(const BlasProduct &product, StreamRef stream);

} // namespace pycuda
