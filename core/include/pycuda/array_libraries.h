// array_libraries.h -- NVIDIA's LAPACK and Fourier transforms, opened when they are first used.
//
// Matrices are LAPACK's: a stack is a C-contiguous array (count, columns, rows) of float32,
// float64, complex64 or complex128, so each matrix is stored by columns. In other words, the array
// holds the transposed matrices. Results overwrite their operands. `info` is an int32 for each
// matrix and is LAPACK's: 0 is success, a positive number is the index (from 1) at which a
// factorisation failed.
//
// The functions do not wait for the device, unless cuSOLVER does. Each function works in the
// context of its arrays, which must be current. A failure throws std::runtime_error with the
// library's function and status, or Error if memory runs out.
#pragma once

#include <pycuda/array.h>
#include <pycuda/stream.h>

namespace pycuda {

/// Whether the host can access the memory of arrays: true if the driver loads PTX, because its
/// device is the CPU. False if $PYCUDA_LIBRARIES excludes libraries. Only speed may depend on this.
bool host_has_arrays();

/// Whether cuSOLVER and cuBLAS can process matrices of this type: the libraries were found, and the
/// driver is NVIDIA's.
bool solver_takes(ScalarType type);

/// The triangle of a matrix that a function reads.
enum class Triangle : int { Lower = 0, Upper = 1 };

/// P A = L U (getrf) of square matrices. `pivots`: (count, n) of int64, from 1.
void solver_lu(const Array &a, const Array &pivots, const Array &info, StreamRef stream);

/// T x = b or T^T x = b (trsm) with one triangle of each matrix; with `ones`, its diagonal counts
/// as ones. `b`: (count, right sides, n), C-contiguous, is overwritten by the solution. Twice this
/// with the factors of an LU decomposition takes less than half of the time of getrs on an H200.
void solver_triangle(const Array &a, const Array &b, Triangle triangle, bool ones, bool transposed,
                     StreamRef stream);

/// A = L L^H, or U^H U (potrf). The other triangle is not changed.
void solver_cholesky(const Array &a, Triangle triangle, const Array &info, StreamRef stream);

/// A = Q R (geqrf): R on and above the diagonal, reflections below, their factors in `tau`,
/// (count, min(rows, columns)).
void solver_qr(const Array &a, const Array &tau, const Array &info, StreamRef stream);

/// The first columns of Q (orgqr, ungqr) from solver_qr's reflections; `a`: (count, columns of Q,
/// rows), with the reflections in its first columns.
void solver_q(const Array &a, const Array &tau, const Array &info, StreamRef stream);

/// Eigenvalues of Hermitian matrices in ascending order (syevd, heevd), of which one triangle is
/// read. Writes them to `values`, (count, n), real. With `vectors`, the columns of `a` become the
/// eigenvectors.
void solver_eigh(const Array &a, const Array &values, bool vectors, Triangle triangle,
                 const Array &info, StreamRef stream);

/// The algorithm for singular values.
enum class SvdMethod {
    QR,     ///< gesvd: bidiagonal form, then QR steps; V^H
    Jacobi, ///< gesvdj: rotations, quicker up to some thousand columns; V itself
    /// gesvdp: polar decomposition, then eigenvalues; V itself. The quickest one, but matrices that
    /// are not of full rank have errors far above the rounding of their type.
    Polar,
};

/// Singular values, falling, in `s`, (count, columns), of matrices with at least as many rows as
/// columns. `u`: (count, columns or rows, rows); `v`: (count, columns, columns), V^H for QR, else
/// V. Both may be null for QR: values alone. Polar has as many columns of `u` as of `a`. `a` is
/// destroyed. Stacks whose matrices have at most 32 rows, with a square `u`, are done at once by
/// Jacobi.
void solver_svd(const Array &a, const Array &s, const Array *u, const Array *v, SvdMethod method,
                const Array &info, StreamRef stream);

/// Factors a stack of small square matrices in one call: LAPACK's getrf. `a`: (count, n, n) of
/// float32, float64 or their complex types, C-contiguous, each matrix by columns; overwritten by
/// the factors. `pivots`: (count, n) of int32, `info`: (count) of int32, both set.
void solver_lu_stack(const Array &a, const Array &pivots, const Array &info, StreamRef stream);

/// Solves with the factors: LAPACK's getrs. `b`: (count, columns, n), C-contiguous, is overwritten
/// by the solution. `transposed`: with the transposed matrices.
void solver_lu_solve_stack(const Array &factors, const Array &pivots, const Array &b,
                           bool transposed, StreamRef stream);

/// Whether cuFFT can compute transforms of this type: the library was found, and the driver is
/// NVIDIA's. The type is float32, float64, or one of their complex types.
bool fourier_takes(ScalarType type);

/// Whether the array is C-contiguous after its first axis becomes the last one.
bool is_in_rows(const Array &array);

/// The sign of the exponent of the transform.
enum class FourierDirection : int { Forward = -1, Inverse = 1 };

/// Transforms neighbouring axes `first` to `first + rank` (1 to 3) of `in` to `out`, without a
/// scale. Both are C-contiguous and have the same extents. Exception: if one is real, its last
/// transformed axis has n elements, and that of the complex array has n / 2 + 1. A transform from
/// complex to real overwrites `in`. `in` and `out` may be the same complex array. Does not wait for
/// the device. Along axis 0, `out` may also be an array whose axis 0 is the last one in memory
/// (is_in_rows()); then it is not the array `in`.
void fourier_transform(const Array &in, const Array &out, int first, int rank,
                       FourierDirection direction, StreamRef stream);

} // namespace pycuda
