"""Stacks of small matrices by kernels of this package. A part of a warp processes a matrix, a lane each row.

Inverses and Cholesky factors of larger matrices: a block of threads processes a matrix, a thread each row.
"""

from __future__ import annotations

import math

import numpy as np

from pycuda import _driver
from pycuda.arrays.checks import raise_if
from pycuda.arrays.creation.filled import zeros
from pycuda.arrays.linalg.lapack import stacked


def takes(a, dtype) -> bool:
    """Whether these kernels support the extents of the matrices ``a`` in this type."""
    return a.size > 0 and max(a.shape[-2:]) <= _driver._small_largest(dtype)


def takes_in_block(a, dtype) -> bool:
    """The same for inv() and cholesky()."""
    return a.size > 0 and a.shape[-1] <= _driver._small_largest_in_block(dtype)


def _stack(a, dtype):
    """Reshape to (matrices, rows, columns), C-contiguous. Copies only if necessary."""
    if a.dtype == dtype and a._c_contiguous:
        return a._reshape(math.prod(a.shape[:-2]), *a.shape[-2:])
    return stacked(a, dtype)


def _flag():
    return zeros(1, np.int32)


def solve(a, b, dtype):
    """Solve for ``b`` of shape (..., n, columns). The stacks of ``a`` and ``b`` are broadcast already."""
    flag = _flag()
    x = _driver._small_solve(_stack(a, dtype), _stack(b, dtype), flag)
    raise_if(flag, "Singular matrix")
    return x


def inv(a, dtype):
    flag = _flag()
    inverse = _driver._small_invert(_stack(a, dtype), flag)
    raise_if(flag, "Singular matrix")
    return inverse


def det(a, dtype):
    return _driver._small_determine(_stack(a, dtype))


def slogdet(a, dtype):
    return _driver._small_determine_logarithm(_stack(a, dtype))


def cholesky(a, dtype, upper: bool):
    flag = _flag()
    factors = _driver._small_cholesky(_stack(a, dtype), upper, flag)
    raise_if(flag, "Matrix is not positive definite")
    return factors


def svd(a, dtype, vectors: bool):
    """Return (U, S, Vh) of matrices (..., m, n) as stacks. Returns None if rotations of columns cannot compute them:
    if an element is not finite, if ``vectors`` are requested and a matrix is rank-deficient, or in a capture, where the
    values are unknown."""
    if _driver._is_captured():
        return None
    flag = _flag()
    found = _driver._small_svd(_stack(a, dtype), vectors, flag)
    return None if flag.get()[0] else found


def eigh(a, dtype, upper: bool, vectors: bool):
    """Return (eigenvalues, eigenvectors) of Hermitian matrices as stacks; None if an element is not finite, or in a
    capture, where the values are unknown."""
    if _driver._is_captured():
        return None
    flag = _flag()
    found = _driver._small_eigh(_stack(a, dtype), upper, vectors, flag)
    return None if flag.get()[0] else found
