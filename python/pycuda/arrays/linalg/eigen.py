"""Eigenvalues and eigenvectors of square matrices that need not be symmetric.

If the host can access the arrays' memory, NumPy's LAPACK computes them (interop/host.py). Else a block of threads
processes each matrix. Householder's reflections reduce the matrix to upper Hessenberg form. Francis' implicitly shifted
QR steps reduce this form to an upper triangle (the Schur form), with two shifts at once for real matrices:

    x x x x      x x x x      x x x x
    x x x x  ->  x x x x  ->    x x x     real matrices keep a block of 2 by 2
    x x x x        x x x          x x     for each pair of complex eigenvalues
    x x x x          x x          x x

Back substitution gives the eigenvectors of the triangle, one thread for each. A product with the basis gives those of the
matrix.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pycuda import _device_code
from pycuda._c_types import real_type
from pycuda._driver import ArrayBase
from pycuda.arrays.checks import raise_if, raise_unless_finite
from pycuda.arrays.creation.filled import empty, eye, zeros
from pycuda.arrays.creation.ranges import arange_of
from pycuda.arrays.indexing.selecting import take_along_axis, where
from pycuda.arrays.interop import host as _host
from pycuda.arrays.linalg.factoring import (
    inexact,
    largest,
    square_matrices,
    stacked,
)  # fmt: skip
from pycuda.arrays.linalg.products import matmul
from pycuda.arrays.registry import public
from pycuda.arrays.shapes.repeating import roll
from pycuda.arrays.shapes.views import broadcast_to
from pycuda.arrays.ufuncs.universal_functions import UFUNCS
from pycuda.tools import context_dependent_memoize

_THREADS = 128


class EigResult(NamedTuple):
    """The result of :func:`eig`.

    eigenvalues: (..., n), in unspecified order.
    eigenvectors: (..., n, n), as columns of length 1, in the order of the eigenvalues.
    """

    eigenvalues: ArrayBase
    eigenvectors: ArrayBase


@context_dependent_memoize
def _module(dtype: np.dtype):
    return _device_code.load("schur", T=dtype, R=real_type(dtype))


def _launch(name: str, form, *arguments) -> None:
    """Launch one block for each matrix of ``form``."""
    _module(form.dtype).get_function(name)(
        form, *arguments, block=(_THREADS, 1, 1), grid=(form.shape[0], 1)
    )


def _launch_columns(name: str, form, arrays, *arguments) -> None:
    """Launch a thread for each column of ``form``; ``arrays`` have an element for each matrix."""
    count, n = form.shape[:2] if form.size else (0, 0)
    for start in range(0, count, 65535):  # the grid's second extent
        some = slice(start, start + 65535)
        _module(form.dtype).get_function(name)(
            form[some], *(one[some] for one in arrays), n, *arguments,
            block=(_THREADS, 1, 1), grid=(-(-n // _THREADS), min(count - start, 65535)),
        )  # fmt: skip


def _schur(a, vectors: bool):
    """Scale matrices to elements up to 1. Return their Schur forms, the bases, and the scales."""
    kind = inexact(a)
    raise_unless_finite(a, "Array must not contain infs or NaNs")
    work = stacked(a, kind)
    count, n = work.shape[:2]
    if work.size == 0:
        return work, work, 1
    scale = largest(work)
    work /= scale
    basis = None
    if vectors:
        basis = broadcast_to(eye(n, dtype=kind), (count, n, n)).copy("C")
    failed = zeros(count, np.int32)
    _launch(
        "schur", work, 0 if basis is None else basis, empty((count, n), kind), failed, n,
        float(np.finfo(kind).eps),
    )  # fmt: skip
    raise_if(failed, "Eigenvalues did not converge")
    return work, basis, scale[:, 0]


def _values(form, scale):
    """The real and imaginary parts of the eigenvalues, of shape (matrices, n)."""
    parts = [empty(form.shape[:2], real_type(form.dtype)) for _ in range(2)]
    _launch_columns("values", form, parts)
    return [part * scale for part in parts]


def _complex(kind) -> np.dtype:
    return np.result_type(kind, np.complex64)


def _joined(real, imaginary, kind):
    result = empty(real.shape, _complex(kind))
    result.real, result.imag = real, imaginary
    return result


def _eigvals(a):
    return _real_if_all_are(a, np.linalg.eigvals(a))[0]


def _eig(a):
    return _real_if_all_are(a, *np.linalg.eig(a))


def _real_if_all_are(a, values, *vectors):
    """As NumPy before 2.5: real results if all eigenvalues are real. Later versions return complex results."""
    results = (values, *vectors)
    if a.dtype.kind == "c" or (values.dtype.kind == "c" and values.imag.any()):
        return results
    return tuple(np.ascontiguousarray(result.real) for result in results)


@public("linalg")
def eigvals(a):
    """Compute the eigenvalues of square matrices (..., n, n), in unspecified order: an array (..., n).

    They are complex unless the matrices are real and all eigenvalues are. Raises LinAlgError if an element is not
    finite. By LAPACK (geev), or by Francis' QR algorithm on the Hessenberg form.

    >>> gpuarray.sort(linalg.eigvals(gpuarray.array([[2.0, 1.0], [1.0, 2.0]]))).get().round(6)
    array([1., 3.])
    """
    a, _ = square_matrices(a)
    result = _host.call(_eigvals, a)
    if result is not None:
        return result
    form, _, scale = _schur(a, vectors=False)
    real, imaginary = _values(form, scale)
    if form.dtype.kind == "c" or bool((imaginary != 0).any()):
        real = _joined(real, imaginary, form.dtype)
    return real._reshape(a.shape[:-1])


@public("linalg")
def eig(a):
    """Compute eigenvalues and eigenvectors of square matrices (..., n, n), in unspecified order.

    Returns a named tuple (eigenvalues, eigenvectors): values (..., n), and vectors of length 1 as columns
    (..., n, n). They are complex unless the matrices are real and all eigenvalues are. Raises LinAlgError if an
    element is not finite. For the methods, see :func:`eigvals`.

    >>> values, vectors = linalg.eig(gpuarray.array([[2.0, 0.0], [0.0, 3.0]]))
    >>> gpuarray.sort(values).get().round(6)
    array([2., 3.])
    """
    a, _ = square_matrices(a)
    result = _host.call(_eig, a)
    if result is not None:
        return EigResult(*result)
    form, basis, scale = _schur(a, vectors=True)
    values, imaginary = _values(form, scale)
    real = form.dtype.kind != "c"
    pairs = real and bool((imaginary != 0).any())
    if pairs:
        kind = _complex(form.dtype)
        form, basis = form.astype(kind), basis.astype(kind)
        _launch("split_pairs", form, basis, form.shape[1])
    if not real or pairs:
        values = _joined(values, imaginary, form.dtype)
    vectors = zeros(form.shape, form.dtype)
    least = float(np.finfo(form.dtype).eps)
    _launch_columns("back_substitute", form, [vectors], least)
    if form.size:
        vectors = _normalized(matmul(basis, vectors))
    if pairs:  # make pairs exactly conjugate, and real eigenvalues exactly real
        vectors.imag = where(imaginary[:, None, :] == 0, 0, vectors.imag)
        partner = roll(vectors, 1, -1).conj()
        vectors = where(imaginary[:, None, :] < 0, partner, vectors)
    return EigResult(values._reshape(a.shape[:-1]), vectors._reshape(a.shape))


def _normalized(columns):
    """Scale columns to length 1, and complex columns so that the largest element is real."""
    sizes = UFUNCS["absolute"](columns)
    length = UFUNCS["sqrt"]((sizes * sizes).sum(1, None, None, True))
    columns = columns / length
    if columns.dtype.kind == "c":
        place = sizes.argmax(1, None, True)
        top = take_along_axis(columns, place, 1)
        columns = columns * (top.conj() / UFUNCS["absolute"](top))
        imaginary = columns.imag
        rows = arange_of(columns.shape[1])[None, :, None]
        columns.imag = where(rows == place, 0, imaginary)
    return columns
