"""Singular values, eigenvalues of Hermitian matrices, and functions that use them.

If the host can access the arrays' memory, NumPy's LAPACK computes them (interop/host.py). Else cuSOLVER does, if it is
installed (linalg/lapack.py). Otherwise, and for stacks of small matrices, kernels of this package use rotations of pairs
of columns (Hestenes; one-sided Jacobi). A rotation makes two columns orthogonal. After some rounds over all pairs, all
columns are orthogonal, and their lengths are the singular values:

    A V = U S      V: all rotations together     U: the columns, of length 1

Pairs without a common column are rotated at the same time, a warp for each pair, as in a round-robin tournament. The work
of a warp depends only on the matrix, so results are equal in every run.

A multiple of the identity is added to a Hermitian matrix to make it positive definite. The eigenvectors stay the same, and
U has them as columns. A matrix with more rows than columns is replaced by R of its QR decomposition.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.linalg import LinAlgError

from pycuda import _device_code, _driver
from pycuda._c_types import real_type
from pycuda._driver import ArrayBase
from pycuda.arrays.checks import raise_if, raise_unless_finite
from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.creation.filled import eye, zeros
from pycuda.arrays.creation.ranges import arange_of
from pycuda.arrays.indexing.selecting import where
from pycuda.arrays.indexing.triangles import tril
from pycuda.arrays.interop import host as _host
from pycuda.arrays.linalg import lapack as _lapack
from pycuda.arrays.linalg import small as _small
from pycuda.arrays.linalg.factoring import (
    check_matrices,
    check_square,
    inexact,
    largest,
    qr,
    square_matrices,
)
from pycuda.arrays.linalg.lapack import stacked
from pycuda.arrays.linalg.products import matmul
from pycuda.arrays.registry import public
from pycuda.arrays.shapes.views import broadcast_to, matrix_transpose
from pycuda.arrays.sorting.sorting import argsort
from pycuda.arrays.ufuncs.universal_functions import UFUNCS

_MOST_ROUNDS = 60  # some 6 to 12 are needed
_WARPS = 16  # of the block that processes a matrix


def _least(dtype) -> float:
    """The squared length below which a column is taken as 0. The largest element of the matrix is 1."""
    limits = np.finfo(dtype)
    return float(limits.tiny) / float(limits.eps) ** 2


def _turn_once(w, v, moved, tolerance: float) -> None:
    """Rotate all pairs of rows once."""
    count, n, m = w.shape
    types = (w.dtype, real_type(w.dtype))
    kernel = _device_code.kernel("rotate", "rotate", "T R", *types)
    pairs = (n + 1) // 2
    together = pairs <= _WARPS
    rounds = 2 * pairs - 1
    for start in range(0, count, 65535):  # the grid's second extent
        part = w[start : start + 65535]
        vectors = 0 if v is None else v[start : start + 65535]
        for first in [0] if together else range(rounds):
            kernel(
                part, vectors, moved, m, n, first, rounds if together else 1, tolerance,
                _least(w.dtype),
                block=(32, pairs if together else 4, 1),
                grid=(1 if together else -(-pairs // 4), part.shape[0]),
            )  # fmt: skip


def _make_orthogonal(w, v=None) -> None:
    """Rotate the rows of ``w`` (matrices, n, length) until they are orthogonal, and the rows of ``v`` with them."""
    if w.size == 0 or w.shape[1] < 2:
        return
    moved = zeros(1, np.int32)
    tolerance = np.finfo(w.dtype).eps * max(4, math.sqrt(w.shape[2]) / 2)
    for _ in range(_MOST_ROUNDS):
        moved.fill(0)
        _turn_once(w, v, moved, tolerance)
        # Recorded work has all rounds: a round changes nothing if the rows are orthogonal.
        if not _driver._is_captured() and not moved.get()[0]:
            return
    raise_if(moved, "SVD did not converge")


def _lengths(rows):
    squares = rows.real * rows.real
    if rows.dtype.kind == "c":
        squares += rows.imag * rows.imag
    return UFUNCS["sqrt"](squares.sum(-1))


def _in_order(array, order):
    """``array[k, order[k]]`` for each k."""
    return array[arange_of(array.shape[0])[:, None], order]


def _adjoint(a):
    return matrix_transpose(a).conj()


def _complete(u, lengths, columns: int):
    """Replace columns of length 0 of ``u`` (matrices, m, n), and add columns up to ``columns``, so that all are
    orthonormal."""
    known = lengths > math.sqrt(_least(u.dtype))
    n = u.shape[2]
    if columns == n and not _driver._is_captured() and bool(known.all()):
        return u
    u = where(known[:, None, :], u, 0).astype(u.dtype, copy=False)
    q = qr(u, "complete" if columns > n else "reduced").Q
    if n:
        q[:, :, :n] = where(known[:, None, :], u, q[:, :, :n])
    return q


def _tall_svd(a, full: bool, vectors: bool):
    """Return U, S and the adjoint of V of ``a`` (matrices, m, n), m >= n. Without ``vectors``, U and V are None."""
    count, m, n = a.shape
    if n == 0 or count == 0:
        s = zeros((count, n), real_type(a.dtype))
        u = _complete(zeros((count, m, n), a.dtype), s, m if full else n)
        return u, s, zeros((count, n, n), a.dtype)
    q, scale = None, largest(a)
    a = a / scale
    if m > n:
        factors = qr(a, "reduced" if vectors else "r")
        q, a = factors if vectors else (None, factors)
    w = matrix_transpose(a).copy("C")
    v = (
        broadcast_to(eye(n, dtype=a.dtype), (count, n, n)).copy("C")
        if vectors
        else None
    )
    _make_orthogonal(w, v)
    s = _lengths(w)
    order = argsort(-s, 1)
    s = _in_order(s, order)
    if not vectors:
        return None, s * scale[:, 0], None
    divisor = where(s == 0, 1, s).astype(s.dtype, copy=False)
    u = _complete(matrix_transpose(_in_order(w, order) / divisor[:, :, None]), s, n)
    if q is not None:
        u = matmul(q, u)
        if full:
            u = _complete(u, UFUNCS["absolute"](s) + 1, m)
    return u, s * scale[:, 0], _in_order(v, order).conj()


class SVDResult(NamedTuple):
    """The result of :func:`svd`: ``U @ diag(S) @ Vh`` is the matrix.

    U: (..., m, m), or (..., m, k) without ``full_matrices``; its columns are orthonormal.
    S: the singular values (..., k), real, in descending order, with k the smaller of m and n.
    Vh: (..., n, n), or (..., k, n); its rows are orthonormal.
    """

    U: ArrayBase
    S: ArrayBase
    Vh: ArrayBase


@public("linalg")
def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    """Compute singular value decompositions of matrices (..., m, n): ``U @ diag(S) @ Vh = a``.

    full_matrices: True gives U (..., m, m) and Vh (..., n, n), False (..., m, k) and (..., k, n), with k the smaller
        extent.
    compute_uv: False gives S alone.
    hermitian: whether the matrices are Hermitian; only the lower triangle is read then.

    The columns of U and the rows of Vh are orthonormal; S (..., k) falls. By LAPACK (gesdd), by cuSOLVER (gesvd or
    gesvdp), or by one-sided Jacobi rotations, which also find small singular values to many digits: for matrices of
    up to 32 rows and columns (16 of complex128), or without cuSOLVER. Raises LinAlgError if an element is not finite.

    >>> u, s, vh = linalg.svd(gpuarray.array([[3.0, 0.0], [0.0, -2.0]]))
    >>> s.get().round(6)
    array([3., 2.])
    """
    a = as_array(a)
    check_matrices(a)
    kind = inexact(a)
    result = _host.call(
        np.linalg.svd, a, full_matrices=full_matrices, compute_uv=compute_uv,
        hermitian=hermitian,
    )  # fmt: skip
    if result is not None:
        return SVDResult(*result) if compute_uv else result
    work = _hermitian(a, kind, "L") if hermitian else stacked(a, kind)
    fits = not (compute_uv and full_matrices) or a.shape[-2] == a.shape[-1]
    found = (
        _small.svd(work, kind, compute_uv) if fits and _small.takes(a, kind) else None
    )
    if found is None:
        raise_unless_finite(a, "SVD did not converge")
    wide = a.shape[-2] < a.shape[-1]
    if found is not None:
        u, s, vh = found
    elif a.size and _lapack.iterates(kind) and not _is_small(a):
        u, s, vh = _library_svd(work, full_matrices, compute_uv)
    else:
        if wide:
            work = _adjoint(work).copy("C")
        u, s, vh = _tall_svd(work, full_matrices, compute_uv)
        if wide and compute_uv:
            u, vh = _adjoint(vh), _adjoint(u)
    s = s._reshape(*a.shape[:-2], s.shape[-1])
    if not compute_uv:
        return s
    u, vh = (x.copy("C")._reshape(*a.shape[:-2], *x.shape[1:]) for x in (u, vh))
    return SVDResult(u, s, vh)


def _is_small(a) -> bool:
    """Whether this package's kernels process the stack ``a`` in one launch, and cuSOLVER cannot."""
    return (
        math.prod(a.shape[:-2]) > 1
        and max(a.shape[-2:]) > _lapack.LARGEST_ROTATED_AT_ONCE
        and min(a.shape[-2:]) <= 4 * _lapack.LARGEST_ROTATED_AT_ONCE
    )


def _library_svd(a, full: bool, vectors: bool):
    """Singular values by cuSOLVER. A matrix with many more rows than columns is replaced by R of its QR decomposition."""
    m, n = a.shape[1:]
    if max(m, n) <= _lapack.LARGEST_ROTATED_AT_ONCE or max(m, n) <= 1.6 * min(m, n):
        return _lapack.svd(a, a.dtype, full, vectors)
    if n > m:
        v, s, uh = _library_svd(_adjoint(a), full, vectors)
        return (_adjoint(uh), s, _adjoint(v)) if vectors else (None, s, None)
    if not vectors:
        return _lapack.svd(qr(a, "r"), a.dtype, full, vectors)
    q, r = qr(a, "complete" if full else "reduced")
    u, s, vh = _lapack.svd(r[:, :n], a.dtype, full, vectors)
    if not full:
        return matmul(q, u), s, vh
    q[:, :, :n] = matmul(q[:, :, :n], u)
    return q, s, vh


@public("linalg")
def svdvals(x, /):
    """Compute the singular values of matrices (..., m, n), in descending order: an array (..., k), k the smaller extent.

    Raises LinAlgError if an element is not finite. For the methods, see :func:`svd`.

    >>> linalg.svdvals(gpuarray.array([[3.0, 0.0], [0.0, -2.0]])).get().round(6)
    array([3., 2.])
    """
    return svd(x, compute_uv=False)


def _hermitian(a, kind, uplo: str):
    """Complete Hermitian matrices, of which one triangle is read."""
    check_square(a)
    work = stacked(a if uplo in "Ll" else _adjoint(a), kind)
    if work.size == 0:
        return work
    whole = tril(work)
    if kind.kind == "c":
        whole.diagonal(0, 1, 2).imag = 0
    return whole + _adjoint(tril(work, -1))


class EighResult(NamedTuple):
    """The result of :func:`eigh`.

    eigenvalues: (..., n), real, in ascending order.
    eigenvectors: (..., n, n), as columns of length 1, in the order of the eigenvalues.
    """

    eigenvalues: ArrayBase
    eigenvectors: ArrayBase


@public("linalg")
def eigh(a, UPLO: str = "L"):
    """Compute eigenvalues and eigenvectors of Hermitian matrices (..., n, n).

    UPLO: "L" or "U": the triangle that is read.

    Returns a named tuple (eigenvalues, eigenvectors): real values (..., n) in ascending order, and vectors of length 1 as
    columns (..., n, n). By LAPACK (syevd), by cuSOLVER, or by Jacobi rotations. Raises LinAlgError if an element is
    not finite.

    >>> linalg.eigh(gpuarray.array([[2.0, 1.0], [1.0, 2.0]])).eigenvalues.get().round(6)
    array([1., 3.])
    """
    return _eigh(a, UPLO, vectors=True)


@public("linalg")
def eigvalsh(a, UPLO: str = "L"):
    """Compute the eigenvalues of Hermitian matrices (..., n, n): real, ascending, of shape (..., n); see :func:`eigh`.

    Returns float32 or float64. Raises LinAlgError if an element is not finite or the matrices are not square.

    >>> linalg.eigvalsh(gpuarray.array([[2.0, 1.0], [1.0, 2.0]])).get().round(6)
    array([1., 3.])
    """
    return _eigh(a, UPLO, vectors=False).eigenvalues


def _eigh(a, uplo: str, vectors: bool) -> EighResult:
    """Return the eigenvalues and eigenvectors; without ``vectors``, the second value has no meaning."""
    a, kind = square_matrices(a)
    if uplo not in ("L", "U", "l", "u"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    result = _host.call(np.linalg.eigh if vectors else np.linalg.eigvalsh, a, UPLO=uplo)
    if result is not None:
        return EighResult(*result) if vectors else EighResult(result, None)
    found = (
        _small.eigh(a, kind, uplo in "Uu", vectors) if _small.takes(a, kind) else None
    )
    if found is not None:
        values, columns = found
    elif a.size and _lapack.iterates(kind):
        raise_unless_finite(a, "Eigenvalues did not converge")
        values, columns = _lapack.eigh(a, kind, uplo in "Ll", vectors)
    else:
        values, columns = _own_eigh(a, kind, uplo)
    if columns is not None:
        columns = columns._reshape(a.shape)
    return EighResult(values._reshape(a.shape[:-1]), columns)


def _own_eigh(a, kind, uplo: str):
    whole = _hermitian(a, kind, uplo)
    raise_unless_finite(whole, "Eigenvalues did not converge")
    count, n = whole.shape[:2]
    if whole.size == 0:
        return zeros((count, n), real_type(kind)), whole
    rows = UFUNCS["absolute"](whole / largest(whole)).sum(2, None, None, True)
    bound = largest(whole) * largest(rows)  # no eigenvalue is larger
    whole = whole / bound
    w = (matrix_transpose(whole) + eye(n, dtype=kind) * kind.type(1.5)).copy("C")
    _make_orthogonal(w)
    vectors = matrix_transpose(w / _lengths(w)[:, :, None])
    values = (vectors.conj() * matmul(whole, vectors)).real.sum(1)
    order = argsort(values, 1)
    values = _in_order(values, order) * bound[:, 0]
    vectors = matrix_transpose(_in_order(matrix_transpose(vectors), order)).copy("C")
    return values, vectors


def _epsilon(a) -> float:
    """The default ratio to the largest singular value below which one is taken as 0; depends on the shape."""
    return max(a.shape[-2:]) * np.finfo(inexact(a)).eps


def _limits(s, cutoff):
    """For each matrix, the limit below which singular values are taken as 0."""
    cutoff = cutoff[..., None] if getattr(cutoff, "ndim", 0) else cutoff
    return s.max(-1, None, True) * as_array(cutoff).astype(s.dtype)


@public("linalg")
def pinv(a, rcond=None, hermitian=False, *, rtol=...):
    """Compute the pseudo-inverses (Moore, Penrose) of matrices (..., m, n): arrays (..., n, m).

    rcond, rtol: two names of the limit: singular values up to ``rcond`` times the largest count as zero. It is 1e-15
        by default; ``rtol=None`` takes the type's precision times the larger extent.
    hermitian: whether the matrices are Hermitian.

    Raises LinAlgError if an element is not finite. From the factors of :func:`svd`.

    >>> linalg.pinv(gpuarray.array([[2.0], [0.0]])).get().round(6)
    array([[0.5, 0. ]])
    """
    a = as_array(a)
    check_matrices(a)
    if rcond is not None and rtol is not ...:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    if rcond is None:
        rcond = 1e-15 if rtol is ... else _epsilon(a) if rtol is None else rtol
    if a.size == 0:
        return zeros((*a.shape[:-2], a.shape[-1], a.shape[-2]), inexact(a))
    u, s, vh = svd(a, full_matrices=False, hermitian=hermitian)
    large = s > _limits(s, rcond)
    inverse = where(large, 1 / where(large, s, 1), 0).astype(s.dtype, copy=False)
    return matmul(_adjoint(vh) * inverse[..., None, :], _adjoint(u))


@public("linalg")
def matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    """Count the singular values of matrices (..., m, n) that are not close to zero: an array (...) of int64.

    tol: the limit; rtol: the limit divided by the largest singular value. By default it is the type's precision
        times the larger extent.
    hermitian: whether the matrices are Hermitian.

    >>> linalg.matrix_rank(gpuarray.array([[1.0, 1.0], [1.0, 1.0]]))
    array(1)
    """
    a = as_array(A)
    if tol is not None and rtol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    if a.ndim < 2:
        return (a != 0).any().astype(np.int64)
    if a.size == 0:
        return zeros(a.shape[:-2], np.int64)
    s = svd(a, compute_uv=False, hermitian=hermitian)
    if tol is None:
        limits = _limits(s, _epsilon(a) if rtol is None else rtol)
    else:
        limits = as_array(tol)
        limits = limits[..., None] if limits.ndim else limits
    return (s > limits).sum(-1)


@public("linalg")
def lstsq(a, b, rcond=None):
    """Solve a linear least-squares problem: find the ``x`` for which ``a @ x`` comes closest to ``b``.

    a: a matrix (m, n). b: a vector (m,) or a matrix (m, columns).
    rcond: singular values up to ``rcond`` times the largest count as zero; by default the type's precision times
        the larger extent.

    Returns (x, residuals, rank, s): the solution of least length; the squared distances, empty unless ``a`` has
    full rank and more rows than columns; the rank, an int; the singular values.

    >>> x = linalg.lstsq(gpuarray.array([[1.0], [1.0]]), gpuarray.array([1.0, 3.0]))[0]
    >>> x.get().round(6)
    array([2.])
    """
    a, b = as_array(a), as_array(b)
    if a.ndim != 2:
        raise LinAlgError(
            f"{a.ndim}-dimensional array given. Array must be two-dimensional"
        )
    if b.ndim not in (1, 2) or b.shape[0] != a.shape[0]:
        raise LinAlgError("Incompatible dimensions")
    kind = inexact(a, b)
    lent = _host.views(a, b)
    if lent is not None:
        x, residuals, rank, s = np.linalg.lstsq(*lent, rcond=rcond)
        return as_array(x), as_array(residuals), int(rank), as_array(s)
    columns = (b if b.ndim == 2 else b[:, None]).astype(kind)
    u, s, vh = svd(a.astype(kind), full_matrices=False)
    cutoff = (
        _epsilon(a) if rcond is None else np.finfo(kind).eps if rcond < 0 else rcond
    )
    rank = int((s > _limits(s, cutoff)).sum().get()) if s.size else 0
    n = a.shape[1]
    if rank:
        parts = matmul(_adjoint(u[:, :rank]), columns) / s[:rank, None]
        x = matmul(_adjoint(vh[:rank]), parts)
    else:
        x = zeros((n, columns.shape[1]), kind)
    residuals = zeros(0, s.dtype)
    if rank == n and a.shape[0] > n:
        residuals = _lengths(matrix_transpose(columns - matmul(a.astype(kind), x))) ** 2
    return (x if b.ndim == 2 else x[:, 0].copy()), residuals, rank, s
