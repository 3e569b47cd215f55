// array_small_matrices.h -- equations, inverses, determinants and Cholesky factors of stacks of
// small matrices, a matrix in a part of a warp.
#pragma once

#include <pycuda/array.h>
#include <pycuda/stream.h>

#include <cstdint>

namespace pycuda {

/// The largest matrix, in rows, of this type; 0 where the type is none of float32, float64,
/// complex64, complex128.
std::int64_t largest_small_matrix(ScalarType type) noexcept;

// Stacks are C-contiguous arrays (count, n, n) of such a type, n from 1 to that extent. `failed` is
// an int32 that is set to 1 where a matrix is singular or not positive definite, and otherwise left
// as it is. Throws std::invalid_argument for operands that do not fit each other.

/// x with a x = b; `b`: (count, n, columns). By LU factors with partial pivoting.
Array solve_small(const Array &a, const Array &b, const Array &failed,
                  StreamRef stream = current_stream());

/// By Gauss's and Jordan's elimination with partial pivoting.
Array invert_small(const Array &a, const Array &failed, StreamRef stream = current_stream());

/// (count). 0 for a singular matrix.
Array determine_small(const Array &a, StreamRef stream = current_stream());

struct SignAndLogarithm {
    Array sign, logarithm; ///< (count); of a singular matrix 0 and -infinity
};
SignAndLogarithm determine_small_logarithm(const Array &a, StreamRef stream = current_stream());

/// L with L L^H = a of Hermitian matrices, of which the lower triangle is read. Or with `upper`
/// L^H, and the upper triangle.
Array cholesky_small(const Array &a, bool upper, const Array &failed,
                     StreamRef stream = current_stream());

} // namespace pycuda
