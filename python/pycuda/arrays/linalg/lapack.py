"""Factors of matrices by cuSOLVER and cuBLAS: between arrays in rows and LAPACK's matrices in columns.

LAPACK's matrices are in column-major order, so a C-contiguous array is the transposed matrix for LAPACK:

    our memory  a b c d      we:  a b     LAPACK:  a c
                                  c d              b d

Most functions need no transposed copy: the inverse of the transposed matrix is the transposed inverse, the lower
triangle of A is the upper one of LAPACK's matrix, and U and V of singular values are exchanged. Below, ``stack`` always has
the shape (matrices, columns, rows) of LAPACK's matrices.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.linalg import LinAlgError

from pycuda import _device_code, _driver
from pycuda._driver import Context, device_attribute
from pycuda.arrays.checks import raise_if
from pycuda.arrays.creation.filled import empty, eye, zeros
from pycuda.arrays.creation.ranges import arange_of
from pycuda.arrays.indexing.selecting import where
from pycuda.arrays.indexing.triangles import tril, triu
from pycuda.arrays.linalg.products import matmul
from pycuda.arrays.shapes.views import broadcast_to, matrix_transpose
from pycuda.arrays.ufuncs.universal_functions import UFUNCS
from pycuda.tools import context_dependent_memoize

#: cuBLAS factors a stack in one call if the matrices have at most this extent, or the second one if there are at least
#: _MANY matrices. Larger matrices are factored one by one. Measured on an H200.
_MOST_STACKED, _MOST_OF_MANY, _MANY = 256, 512, 8

#: Up to this extent, cuSOLVER computes the singular values of a stack of matrices in one call.
LARGEST_ROTATED_AT_ONCE = 32

#: From this extent on, singular values of float32 are computed by the polar decomposition. On an H200 it takes a third to
#: a half of the time of QR steps.
_LEAST_POLAR = 128


def takes(dtype) -> bool:
    """Whether cuSOLVER and cuBLAS are available and factor matrices of this type."""
    return _driver._array_library_takes("solver", np.dtype(dtype))


def iterates(dtype) -> bool:
    """The same for eigenvalues and singular values. There cuSOLVER waits for the device, which ends a capture."""
    return takes(dtype) and not _driver._is_captured()


def stacked(a, dtype):
    """A copy of shape (matrices, rows, columns) that a factorisation may overwrite."""
    copy = _driver._array_empty(a.shape, dtype, None, "C", type(a))
    copy[...] = a
    return copy._reshape(math.prod(a.shape[:-2]), *a.shape[-2:])


def in_rows(stack):
    """Convert a stack of matrices in column-major order to a C-contiguous array."""
    if 1 in stack.shape[1:]:  # the order of the elements in memory is equal
        return stack._reshape(stack.shape[0], stack.shape[2], stack.shape[1])
    return matrix_transpose(stack).copy("C")


def _status(count: int):
    return zeros(count, np.int32)


def _is_column_major(a) -> bool:
    """Whether a copy in columns reads the memory in order."""
    return a.strides[-2] == a.dtype.itemsize and a.strides[-1] > a.dtype.itemsize


@context_dependent_memoize
def _pivots_module(dtype):
    return _device_code.load("pivots", T=dtype)


def _order_of_rows(pivots, dtype):
    """The order of a matrix's rows after getrf's exchanges: row ``order[i]`` has become row i.

    The kernel is that of the module for elements of ``dtype``, which :func:`_with_rows_moved` needs as well.
    """
    count, n = pivots.shape
    order = empty((count, n), np.int32)
    _pivots_module(dtype).get_function("order_of_rows")(
        pivots, order, n, block=(256, 1, 1), grid=(count, 1)
    )
    return order


def _with_rows_moved(sides, order, back: bool):
    """Move the elements of each right side to the exchanged rows, or back."""
    count, columns, n = sides.shape
    moved = empty(sides.shape, sides.dtype)
    blocks = min(-(-columns * n // 256), 65535)
    for start in range(0, count, 65535):  # the grid's second extent
        part = slice(start, start + 65535)
        _pivots_module(sides.dtype).get_function("move_rows")(
            sides[part], moved[part], order[part], n, columns, int(back),
            block=(256, 1, 1), grid=(blocks, min(count - start, 65535)),
        )  # fmt: skip
    return moved


class Factors:
    """P A = L U of a stack of square matrices. ``singular`` is not zero for singular matrices.

    ``in_columns``: LAPACK factors the matrix, not its transpose. Solving is then quicker.
    """

    def __init__(self, a, dtype, in_columns: bool | None = None) -> None:
        self._in_rows = not (_is_column_major(a) if in_columns is None else in_columns)
        self.lu = stacked(a if self._in_rows else matrix_transpose(a), dtype)
        count, n = self.lu.shape[:2]
        self.singular = _status(count)
        most = _MOST_OF_MANY if count >= _MANY else _MOST_STACKED
        self._together = count > 1 and n <= most
        self._pivots = empty((count, n), np.int32 if self._together else np.int64)
        if self.lu.size == 0:
            return
        # cuSOLVER may lose NaN, because NaN is never a pivot.
        self.undefined = UFUNCS["isnan"](self.lu).any((1, 2))
        factor = _driver._library_lu_stack if self._together else _driver._library_lu
        factor(self.lu, self._pivots, self.singular)
        self.singular = where(self.undefined, 0, self.singular)

    def diagonal(self):
        """The diagonal of U; NaN if the matrix contains NaN."""
        diagonal = self.lu.diagonal(0, 1, 2)
        if self.lu.size == 0:
            return diagonal
        result = where(self.undefined[:, None], np.nan, diagonal)
        return result.astype(diagonal.dtype, copy=False)

    def checked(self, result):
        """Return ``result`` (matrices, rows, columns). Raises LinAlgError for a singular matrix. Waits for the device."""
        if self.lu.size == 0:
            return result
        if _driver._is_captured():
            raise_if(self.singular, "Singular matrix")
            worst = 1  # may be
        else:
            worst = int((2 * (self.singular != 0) + self.undefined).max().get())
        if worst >= 2:
            raise LinAlgError("Singular matrix")
        if worst:
            result = where(self.undefined[:, None, None], np.nan, result)
        return result.astype(self.lu.dtype, copy=False)

    def _solve(self, sides, transposed: bool):
        """Solve for right sides (matrices, columns, n), which are overwritten. Return the solution."""
        if sides.size == 0:
            return sides
        if self._together:
            _driver._library_lu_solve_stack(self.lu, self._pivots, sides, transposed)
            return sides
        order = _order_of_rows(self._pivots, sides.dtype)
        if not transposed:  # A = P^T L U
            sides = _with_rows_moved(sides, order, back=False)
        for upper in (transposed, not transposed):
            _driver._library_solve_triangle(
                self.lu, sides, upper, ones=not upper, transposed=transposed
            )
        return _with_rows_moved(sides, order, back=True) if transposed else sides

    def solve(self, b):
        """Solve for right sides (..., n, columns). The result is (matrices, n, columns)."""
        sides = stacked(matrix_transpose(b), self.lu.dtype)
        return in_rows(self._solve(sides, transposed=self._in_rows))

    def inverse(self):
        # The columns of LAPACK's transposed matrix are our rows, so no transposition is needed.
        n = self.lu.shape[1]
        one = broadcast_to(eye(n, dtype=self.lu.dtype), self.lu.shape).copy("C")
        return self._solve(one, transposed=not self._in_rows)

    def sign(self):
        """The signs of the permutations."""
        n = self.lu.shape[1]
        swaps = (self._pivots != arange_of(n) + 1).sum(1)
        return 1 - 2 * (swaps % 2).astype(self.lu.real.dtype)


def cholesky(a, dtype, upper: bool):
    """Return (factors, status) of Hermitian matrices in row-major order. Reads one triangle."""
    # Our lower triangle is LAPACK's upper one, and LAPACK's U^H U is our L L^H. But factoring the lower triangle of a
    # single matrix takes half of the time, so transposed copies are worth their time.
    turned = not upper and math.prod(a.shape[:-2]) == 1
    stack = stacked(matrix_transpose(a) if turned else a, dtype)
    status = _status(stack.shape[0])
    if stack.size:
        _driver._library_cholesky(stack, not (upper or turned), status)
    stack = in_rows(stack) if turned else stack
    return triu(stack) if upper else tril(stack), status


def qr(a, dtype, mode: str):
    """Return (Q or None, R) of a stack of matrices; ``mode`` as in :func:`pycuda.linalg.qr`."""
    stack = stacked(matrix_transpose(a), dtype)
    count, n, m = stack.shape
    least = min(m, n)
    columns = m if mode == "complete" else least
    tau, status = empty((count, least), dtype), _status(count)
    _driver._library_qr(stack, tau, status)
    upper = triu(matrix_transpose(stack[:, :, :columns]))
    if mode == "r":
        return None, upper
    if columns <= n:
        q = stack[:, :columns].copy("C") if columns < n else stack
    else:
        q = zeros((count, columns, m), dtype)
        q[:, :n] = stack
    _driver._library_q(q, tau, status)
    return in_rows(q), upper


def eigh(a, dtype, lower: bool, vectors: bool):
    """Return (eigenvalues, eigenvectors or None) of a stack of Hermitian matrices."""
    stack = stacked(a, dtype)
    count, n = stack.shape[:2]
    values = empty((count, n), dtype.type(0).real.dtype)
    status = _status(count)
    # LAPACK's matrix is the conjugate of ours, so its eigenvectors are the conjugates of ours.
    _driver._library_eigh(stack, values, vectors, lower, status)
    raise_if(status, "Eigenvalues did not converge")
    if not vectors:
        return values, None
    return values, in_rows(stack.conj() if dtype.kind == "c" else stack)


def _more_orthonormal(stack):
    """Improve nearly orthonormal columns by a Newton-Schulz step: U (3 - U^H U) / 2."""
    return 1.5 * stack - 0.5 * matmul(
        matmul(stack, matrix_transpose(stack).conj()), stack
    )


@context_dependent_memoize
def _has_fast_doubles() -> bool:
    """Whether float64 has half the speed of float32. On most devices it is much slower."""
    attribute = device_attribute.SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO
    return Context.get_device().get_attribute(attribute) <= 2


def _svd_method(a, dtype, full: bool) -> str:
    shape, single = a.shape[-2:], np.finfo(dtype).bits == 32
    if math.prod(a.shape[:-2]) > 1 and max(shape) <= LARGEST_ROTATED_AT_ONCE:
        return "jacobi"
    fits = min(shape) >= _LEAST_POLAR and (not full or shape[0] == shape[1])
    return "polar" if single and fits and _has_fast_doubles() else "qr"


def svd(a, dtype, full: bool, vectors: bool, method: str | None = None):
    """(U, S, Vh) of a stack of matrices (matrices, m, n); U and Vh are None without ``vectors``.

    ``method``: "jacobi", by rotations, quick for small matrices all at once; "polar", by the polar decomposition,
    quick for large ones; "qr", by QR steps, also where the others do not end. None chooses.

    cuSOLVER's rotations leave vectors whose products are off by some 1000 roundings in matrices of 512 columns: they
    are not used for large ones, and are mended for small ones. Its polar decomposition is exact to the rounding only
    for matrices of full rank: matrices of float32 are decomposed in float64, where the error is 5e-10 of the norm at
    most without full rank, and those of float64 are left to QR.
    """
    method = method or _svd_method(a, dtype, full and vectors)
    wide = (
        a.shape[-2] <= a.shape[-1]
    )  # LAPACK's matrix is our matrix, or the transposed one if our matrix is wide
    kind = np.result_type(dtype, np.float64) if method == "polar" else dtype
    stack = stacked(a if wide else matrix_transpose(a), kind)
    count, columns, rows = stack.shape
    s = empty((count, columns), kind.type(0).real.dtype)
    status = _status(count)
    u = v = None
    if vectors or method != "qr":
        at_once = method == "jacobi" and count > 1 and rows <= LARGEST_ROTATED_AT_ONCE
        width = rows if at_once or (full and vectors) else columns
        u = empty((count, width, rows), kind)
        v = empty((count, columns, columns), kind)
    _driver._library_svd(stack, s, u, v, method, status)
    if method == "qr":
        raise_if(status, "SVD did not converge")
    elif bool(status.any()):
        return svd(a, dtype, full, vectors, "qr")
    s = s.astype(dtype.type(0).real.dtype, copy=False)
    if not vectors:
        return None, s, None
    if method == "jacobi":
        u, v = _more_orthonormal(u), _more_orthonormal(v)
    u, v = u.astype(dtype, copy=False), v.astype(dtype, copy=False)
    if method != "qr":  # these return V, not its adjoint
        v = matrix_transpose(v).conj().copy("C")
    if not full and u.shape[1] > columns:
        u = u[:, :columns].copy("C")
    # A^T = U S Vh means A = Vh^T S U^T. A matrix in column-major order is the transposed matrix in row-major order.
    return (v, s, u) if wide else (in_rows(u), s, in_rows(v))
