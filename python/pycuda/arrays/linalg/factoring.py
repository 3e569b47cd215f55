"""Systems of equations, inverses, determinants, and the factors that they come from: LU, Cholesky, QR.

If the host can access the arrays' memory, NumPy's LAPACK computes them (interop/host.py). Else cuSOLVER does, if it is
installed (linalg/lapack.py). Else kernels of this package do, block by block: a block of threads for each matrix factors
a panel of 32 columns, and products of matrices update the rest.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pycuda import _device_code
from pycuda._c_types import real_type
from pycuda._driver import ArrayBase
from pycuda.arrays.checks import raise_if
from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.creation.filled import eye, zeros
from pycuda.arrays.creation.ranges import arange_of
from pycuda.arrays.indexing.selecting import where
from pycuda.arrays.indexing.triangles import tril, triu
from pycuda.arrays.interop import host as _host
from pycuda.arrays.linalg import lapack as _lapack
from pycuda.arrays.linalg import small as _small
from pycuda.arrays.linalg.lapack import stacked
from pycuda.arrays.linalg.products import check_matrices, check_square, matmul
from pycuda.arrays.registry import public
from pycuda.arrays.shapes.views import broadcast_to, matrix_transpose
from pycuda.arrays.ufuncs.universal_functions import UFUNCS
from pycuda.tools import context_dependent_memoize


class SlogdetResult(NamedTuple):
    """The result of :func:`slogdet`: the determinant is ``sign * exp(logabsdet)``.

    sign: (...), 1, -1, or a complex number of size 1; 0 for a singular matrix.
    logabsdet: (...), real; -inf for a singular matrix.
    """

    sign: ArrayBase
    logabsdet: ArrayBase


_PANEL = 32


@context_dependent_memoize
def _module(dtype: np.dtype):
    return _device_code.load("factoring", T=dtype, R=real_type(dtype))


def inexact(*arrays) -> np.dtype:
    """The type in which NumPy computes."""
    for one in arrays:
        if one.dtype.kind not in "biufc" or one.dtype == np.float16:
            raise TypeError(f"array type {one.dtype} is unsupported in linalg")
    return np.result_type(
        *(np.float64 if one.dtype.kind in "biu" else one.dtype for one in arrays)
    )


def square_matrices(a):
    """Convert ``a`` to an array of matrices (..., n, n). Return the array and the type for the computation."""
    a = as_array(a)
    check_square(a)
    return a, inexact(a)


def largest(a):
    """The largest magnitude in each matrix, a divisor for scaling; 1 for a matrix of zeros."""
    sizes = UFUNCS["absolute"](a).max((1, 2), None, True)
    return where(sizes == 0, 1, sizes).astype(sizes.dtype, copy=False)


def _blocks(n: int):
    return [(k0, min(k0 + _PANEL, n)) for k0 in range(0, n, _PANEL)]


def _solve_triangle(a, b, k0: int, k1: int, first: int, lower: bool) -> None:
    """Solve for rows k0 to k1 of ``b``, from column ``first`` on."""
    columns = b.shape[-1] - first
    if columns == 0:
        return
    for start in range(0, a.shape[0], 65535):  # the grid's second extent
        part, whole = a[start : start + 65535], b[start : start + 65535]
        _module(a.dtype).get_function("triangle")(
            part, whole, a.shape[-1], k0, k1, b.shape[-1], first, columns,
            b.shape[-2] * b.shape[-1], int(lower),
            block=(256, 1, 1), grid=(-(-columns // 256), part.shape[0]),
        )  # fmt: skip


class _Factors:
    """P A = L U of a stack of matrices. One array has both factors; the ones of L's diagonal are not stored."""

    def __init__(self, a, dtype) -> None:
        self.lu = lu = stacked(a, dtype)
        count, n = lu.shape[:2]
        self.order = broadcast_to(arange_of(n), (count, n)).copy("C")
        self.swaps, self.singular = zeros(count, np.int32), zeros(count, np.int32)
        if lu.size == 0:
            return
        for k0, k1 in _blocks(n):
            _module(dtype).get_function("lu_panel")(
                lu, self.order, self.swaps, self.singular, n, k0, k1,
                block=(256, 1, 1), grid=(count, 1),
            )  # fmt: skip
            if k1 < n:
                _solve_triangle(lu, lu, k0, k1, k1, lower=True)
                lu[:, k1:, k1:] -= matmul(lu[:, k1:, k0:k1], lu[:, k0:k1, k1:])

    def checked(self, result):
        raise_if(self.singular, "Singular matrix")
        return result

    def solve(self, b):
        """Solve for right sides (..., n, columns). The result is (matrices, n, columns)."""
        count, n = self.lu.shape[:2]
        b = stacked(b, self.lu.dtype)
        b = b[arange_of(count)[:, None], self.order].copy("C")
        if b.size == 0:
            return b
        for k0, k1 in _blocks(n):
            _solve_triangle(self.lu, b, k0, k1, 0, lower=True)
            if k1 < n:
                b[:, k1:] -= matmul(self.lu[:, k1:, k0:k1], b[:, k0:k1])
        for k0, k1 in reversed(_blocks(n)):
            _solve_triangle(self.lu, b, k0, k1, 0, lower=False)
            if k0 > 0:
                b[:, :k0] -= matmul(self.lu[:, :k0, k0:k1], b[:, k0:k1])
        return b

    def diagonal(self):
        return self.lu.diagonal(0, 1, 2)

    def inverse(self):
        one = broadcast_to(eye(self.lu.shape[1], dtype=self.lu.dtype), self.lu.shape)
        return self.solve(one)

    def sign(self):
        """The sign of the permutation."""
        odd = self.swaps % 2 != 0
        return 1 - 2 * odd.astype(self.lu.real.dtype)


def _factors(a, dtype):
    return (_lapack.Factors if _lapack.takes(dtype) else _Factors)(a, dtype)


def _solve(a, b, kind):
    if b.size and _small.takes(a, kind):
        return _small.solve(a, b, kind)
    x = _host.call(np.linalg.solve, a, b)
    if x is not None:
        return x
    if _lapack.takes(kind):
        factors = _lapack.Factors(a, kind, in_columns=True)
    else:
        factors = _Factors(a, kind)
    return factors.checked(factors.solve(b))


@public("linalg")
def solve(a, b):
    """Solve systems of linear equations: find ``x`` with ``a @ x = b``.

    a: square matrices (..., n, n).
    b: a vector (n,), or matrices (..., n, columns); the stacks are broadcast.

    The result has the shape of ``b``, broadcast, and the common type of both: float32, float64 or their complex
    types; integers and bool are computed in float64. By LU factors with partial pivoting (LAPACK's gesv).
    Raises LinAlgError for a singular matrix and for one that is not square, ValueError for extents that do not fit.

    >>> linalg.solve(gpuarray.array([[2.0, 0.0], [0.0, 4.0]]), gpuarray.array([2.0, 2.0]))
    array([1. , 0.5])
    """
    a, b = as_array(a), as_array(b)
    check_square(a)
    kind = inexact(a, b)
    vector = b.ndim == 1
    b = b[:, None] if vector else b
    if b.ndim < 2 or b.shape[-2] != a.shape[-1]:
        raise ValueError(
            f"a right side of shape {b.shape} does not fit matrices of shape {a.shape}"
        )
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = broadcast_to(a, (*stack, *a.shape[-2:]))
    b = broadcast_to(b, (*stack, *b.shape[-2:]))
    x = _solve(a, b, kind)._reshape(b.shape)
    return x._reshape(x.shape[:-1]) if vector else x


@public("linalg")
def inv(a):
    """Invert square matrices (..., n, n).

    The result has their shape and type: float32, float64 or their complex types; integers and bool are computed
    in float64. By LU factors with partial pivoting. Raises LinAlgError for a singular matrix.

    >>> linalg.inv(gpuarray.array([[2.0, 0.0], [0.0, 4.0]]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    a, kind = square_matrices(a)
    if _small.takes_in_block(a, kind):
        return _small.inv(a, kind)._reshape(a.shape)
    result = _host.call(np.linalg.inv, a)
    if result is not None:
        return result
    factors = _factors(a, kind)
    return factors.checked(factors.inverse())._reshape(a.shape)


@public("linalg")
def det(a):
    """Compute the determinants of square matrices (..., n, n): an array (...) of the matrices' type.

    By LU factors; 0 for a singular matrix.

    >>> linalg.det(gpuarray.array([[2.0, 0.0], [0.0, 4.0]]))
    array(8.)
    """
    a, kind = square_matrices(a)
    stack = a.shape[:-2]
    if _small.takes(a, kind):
        return _small.det(a, kind)._reshape(stack)
    result = _host.call(np.linalg.det, a)
    if result is not None:
        return result
    factors = _factors(a, kind)
    product = factors.diagonal().prod(1) * factors.sign()
    product = where(factors.singular != 0, 0, product)
    return product._reshape(stack).astype(factors.lu.dtype, copy=False)


@public("linalg")
def slogdet(a):
    """Compute the signs of the determinants of square matrices (..., n, n), and the logarithms of their magnitudes.

    Returns a named tuple (sign, logabsdet) of two arrays (...). The sign of a complex matrix is a complex number of
    magnitude 1. By LU factors; a singular matrix has sign 0 and logarithm -inf.

    >>> linalg.slogdet(gpuarray.array([[1.0, 0.0], [0.0, -1.0]])).sign
    array(-1.)
    """
    a, kind = square_matrices(a)
    stack = a.shape[:-2]
    if _small.takes(a, kind):
        sign, logarithm = _small.slogdet(a, kind)
        return SlogdetResult(sign._reshape(stack), logarithm._reshape(stack))
    result = _host.call(np.linalg.slogdet, a)
    if result is not None:
        return SlogdetResult(*result)
    factors = _factors(a, kind)
    diagonal = factors.diagonal()
    size = UFUNCS["absolute"](diagonal)
    singular = factors.singular != 0
    sign = UFUNCS["sign"](diagonal).prod(1) * factors.sign()
    sign = where(singular, 0, sign).astype(diagonal.dtype, copy=False)
    logarithm = where(singular, -np.inf, UFUNCS["log"](size).sum(1))
    logarithm = logarithm.astype(size.dtype, copy=False)
    return SlogdetResult(sign._reshape(stack), logarithm._reshape(stack))


def _own_cholesky(a, kind, upper: bool):
    """Return (factors, status) of a stack of matrices in row-major order."""
    work = stacked(matrix_transpose(a).conj() if upper else a, kind)
    count, n = work.shape[:2]
    broken = zeros(count, np.int32)
    if work.size:
        for k0, k1 in _blocks(n):
            _module(kind).get_function("cholesky_panel")(
                work, broken, n, k0, k1, block=(256, 1, 1), grid=(count, 1)
            )
            if k1 < n:
                left = work[:, k1:, k0:k1]
                work[:, k1:, k1:] -= matmul(left, left.transpose(0, 2, 1).conj())
    result = tril(work)
    return (matrix_transpose(result).conj().copy("C") if upper else result), broken


@public("linalg")
def cholesky(a, /, *, upper: bool = False):
    """Factor Hermitian, positive definite matrices (..., n, n): find a lower triangular L with ``L @ L.conj().T = a``.

    upper: True gives the conjugate transpose of L.

    The elements above the diagonal (below, with ``upper``) are not read, and are 0 in the result. Raises
    LinAlgError if a matrix is not positive definite.

    >>> linalg.cholesky(gpuarray.array([[4.0, 0.0], [0.0, 9.0]]))
    array([[2., 0.],
           [0., 3.]])
    """
    a, kind = square_matrices(a)
    if _small.takes_in_block(a, kind):
        return _small.cholesky(a, kind, upper)._reshape(a.shape)
    result = _host.call(_cholesky, a, upper=upper)
    if result is not None:
        return result
    way = _lapack.cholesky if _lapack.takes(kind) else _own_cholesky
    result, broken = way(a, kind, upper)
    raise_if(broken, "Matrix is not positive definite")
    return result._reshape(a.shape)


def _cholesky(a, upper: bool):
    # NumPy has the parameter ``upper`` since version 2.0.
    if not upper:
        return np.linalg.cholesky(a)
    return np.linalg.cholesky(a.swapaxes(-1, -2).conj()).swapaxes(-1, -2).conj()


class QRResult(NamedTuple):
    """The result of :func:`qr`: ``Q @ R`` is the matrix.

    Q: (..., m, k), with orthonormal columns; k is m in the mode "complete", else the smaller of m and n.
    R: (..., k, n), zero below the diagonal.
    """

    Q: ArrayBase
    R: ArrayBase


def _own_qr(a, kind, mode: str):
    """Return (Q or None, R) of a stack (matrices, m, n)."""
    work = stacked(a, kind)
    count, m, n = work.shape
    least = min(m, n)
    scale = 1
    if work.size:  # a power of 2 is exact; squares of the elements must not underflow
        exponent = UFUNCS["floor"](UFUNCS["log2"](largest(work)))
        scale = UFUNCS["exp2"](exponent.clip(math.log2(np.finfo(kind).tiny)))
        work /= scale
    factors = zeros((count, least), kind)
    if work.size:
        _module(kind).get_function("householder")(
            work, factors, m, n, block=(256, 1, 1), grid=(count, 1)
        )
    columns = m if mode == "complete" else least
    upper = triu(work[:, :columns]) * scale
    if mode == "r":
        return None, upper
    q = zeros((count, m, columns), kind)
    q.diagonal(0, 1, 2).fill(1)
    if work.size:
        _module(kind).get_function("apply_reflections")(
            work, factors, q, m, n, columns, block=(256, 1, 1), grid=(count, 1)
        )
    return q, upper


@public("linalg")
def qr(a, mode: str = "reduced"):
    """Factor matrices (..., m, n): find Q with orthonormal columns and an upper triangular R with ``Q @ R = a``.

    mode: "reduced" gives Q (..., m, k) and R (..., k, n), with k the smaller extent. "complete" gives Q (..., m, m)
        and R (..., m, n). "r" gives R of "reduced" alone.

    By Householder's reflections, with LAPACK's signs. Raises LinAlgError for an array of one axis, ValueError for
    another ``mode``.

    >>> q, r = linalg.qr(gpuarray.array([[3.0, 1.0], [4.0, 2.0]]))
    >>> (q @ r).get().round(6)
    array([[3., 1.],
           [4., 2.]])
    """
    a = as_array(a)
    check_matrices(a)
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f'mode must be "reduced", "complete" or "r", not {mode!r}')
    kind = inexact(a)
    result = _host.call(np.linalg.qr, a, mode=mode)
    if result is not None:
        return result if mode == "r" else QRResult(*result)
    by_library = a.size > 0 and _lapack.takes(kind) and not _is_small(a)
    q, upper = (_lapack.qr if by_library else _own_qr)(a, kind, mode)
    upper = upper.copy("C")._reshape(*a.shape[:-2], *upper.shape[1:])
    if mode == "r":
        return upper
    return QRResult(q._reshape(*a.shape[:-2], *q.shape[1:]), upper)


def _is_small(a) -> bool:
    """Whether this package's kernels factor the stack ``a`` in one launch, with a block of threads for each matrix."""
    return math.prod(a.shape[:-2]) > 1 and max(a.shape[-2:]) <= 64
