// array_small_matrices.h -- linear equations, inverses, determinants, Cholesky factors, singular
// values and eigenvalues of stacks of small matrices. A part of a warp computes one matrix, a block
// of threads if it has more rows than a warp has lanes.
#pragma once

#include <pycuda/array.h>
#include <pycuda/stream.h>

#include <cstdint>
#include <optional>

namespace pycuda {

/// The largest number of rows of a matrix of this type; 0 for types other than float32, float64,
/// complex64 and complex128.
std::int64_t largest_small_matrix(ScalarType type) noexcept;

/// The same for invert_small() and cholesky_small(), which take larger matrices.
std::int64_t largest_matrix_in_block(ScalarType type) noexcept;

// Stacks are C-contiguous arrays (count, n, n) of such a type, n from 1 to largest_small_matrix().
// `failed` is an array of one int32. A kernel sets it to 1 if a matrix is singular or not positive
// definite, and does not write it otherwise. Throws std::invalid_argument for operands whose shapes
// or types do not match.

/// The solution x of a x = b; `b`: (count, n, columns). LU factorisation with partial pivoting.
Array solve_small(const Array &a, const Array &b, const Array &failed, StreamRef stream);

/// The inverses. Gauss-Jordan elimination with partial pivoting.
Array invert_small(const Array &a, const Array &failed, StreamRef stream);

/// The determinants, (count). 0 for a singular matrix.
Array determine_small(const Array &a, StreamRef stream);

/// Determinants as numpy.linalg.slogdet() returns them.
struct SignAndLogarithm {
    Array sign;      ///< (count); 0 for a singular matrix
    Array logarithm; ///< (count); -infinity for a singular matrix
};
/// The signs of the determinants and the logarithms of their absolute values; cannot overflow.
SignAndLogarithm determine_small_logarithm(const Array &a, StreamRef stream);

/// The Cholesky factor L, with L L^H = a, of Hermitian matrices. Reads the lower triangle. With
/// `upper`, returns L^H and reads the upper triangle.
Array cholesky_small(const Array &a, bool upper, const Array &failed, StreamRef stream);

/// Whether singular vectors or eigenvectors are computed, too.
enum class SmallVectors : std::uint8_t { NotWanted, Wanted };

/// The factors of svd_small(). `u` and `vh` are empty without SmallVectors::Wanted.
struct SmallSvd {
    std::optional<Array> u;  ///< (count, m, k), with k the smaller of m and n
    Array s;                 ///< (count, k), falling
    std::optional<Array> vh; ///< (count, k, n)
};
/// The singular value decompositions U S V^H of matrices (count, m, n), m and n from 1 to
/// largest_small_matrix(). One-sided Jacobi rotations. Sets `failed` to 1 if an element is not
/// finite and, with vectors, if a singular value is 0: its vector in U is then not determined.
SmallSvd svd_small(const Array &a, SmallVectors vectors, const Array &failed, StreamRef stream);

/// The result of eigh_small(). `vectors` is empty without SmallVectors::Wanted.
struct SmallEigen {
    Array values;                 ///< (count, n), rising
    std::optional<Array> vectors; ///< (count, n, n), as columns
};
/// Eigenvalues and eigenvectors of Hermitian matrices of which one triangle is read. One-sided
/// Jacobi rotations. Sets `failed` to 1 if an element is not finite.
SmallEigen eigh_small(const Array &a, bool upper, SmallVectors vectors, const Array &failed,
                      StreamRef stream);

} // namespace pycuda
