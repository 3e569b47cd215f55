"""Triangles and diagonals of matrices."""

from __future__ import annotations

import operator

from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.creation.filled import zeros
from pycuda.arrays.creation.ranges import arange_of
from pycuda.arrays.indexing.selecting import nonzero, where
from pycuda.arrays.registry import public
from pycuda.arrays.shapes.views import broadcast_to

# Matrices


@public()
def tri(N: int, M=None, k: int = 0, dtype=float):
    """Ones at and below the diagonal ``k``, zeros above it."""
    rows, columns = operator.index(N), operator.index(N if M is None else M)
    below = arange_of(rows)[:, None] + k >= arange_of(columns)
    return below.astype(dtype)


@public()
def tril(m, k: int = 0):
    """A copy with zeros above the diagonal ``k`` of the last two axes."""
    return _triangle(m, k, keep_below=True)


@public()
def triu(m, k: int = 0):
    """A copy with zeros below the diagonal ``k`` of the last two axes."""
    return _triangle(m, k - 1, keep_below=False)


def _triangle(m, k: int, keep_below: bool):
    array = as_array(m)
    if array.ndim == 1:
        array = broadcast_to(array, (array.size, array.size))
    if array.ndim == 0:
        raise ValueError("a triangle wants an array of at least one axis")
    rows, columns = array.shape[-2:]
    below = tri(rows, columns, k, bool)
    zero = array.dtype.type(0)
    return where(below, array, zero) if keep_below else where(below, zero, array)


def _triangle_indices(mask) -> tuple:
    return nonzero(mask)


@public()
def tril_indices(n: int, k: int = 0, m=None) -> tuple:
    """The indices of the elements at and below the diagonal ``k``."""
    return _triangle_indices(tri(n, m, k, bool))


@public()
def triu_indices(n: int, k: int = 0, m=None) -> tuple:
    """The indices of the elements at and above the diagonal ``k``."""
    return _triangle_indices(~tri(n, m, k - 1, bool))


@public()
def tril_indices_from(arr, k: int = 0) -> tuple:
    """:func:`tril_indices` for a matrix of the shape of ``arr``."""
    _want_matrix(arr)
    return tril_indices(arr.shape[-2], k, arr.shape[-1])


@public()
def triu_indices_from(arr, k: int = 0) -> tuple:
    """:func:`triu_indices` for a matrix of the shape of ``arr``."""
    _want_matrix(arr)
    return triu_indices(arr.shape[-2], k, arr.shape[-1])


def _want_matrix(arr) -> None:
    if arr.ndim != 2:
        raise ValueError(f"a matrix has two axes, this array has {arr.ndim}")


@public()
def diag(v, k: int = 0):
    """The diagonal ``k`` of a matrix, a view; or a matrix with the vector ``v`` there."""
    array = as_array(v)
    if array.ndim == 2:
        return array.diagonal(k)
    if array.ndim != 1:
        raise ValueError(f"diag() wants a vector or a matrix, not {array.ndim} axes")
    n = array.size + abs(k)
    result = zeros((n, n), array.dtype)
    if array.size:
        result.diagonal(k)._assign(array)
    return result


@public()
def diagflat(v, k: int = 0):
    """A matrix with all elements of ``v`` on its diagonal ``k``."""
    return diag(as_array(v)._ravel(), k)


@public()
def diag_indices_from(arr) -> tuple:
    """The indices of the main diagonal of an array whose axes are all equally long."""
    if arr.ndim < 2 or len(set(arr.shape)) != 1:
        raise ValueError(f"all axes must be equally long, not {arr.shape}")
    return (arange_of(arr.shape[0]),) * arr.ndim


@public()
def fill_diagonal(a, val, wrap: bool = False) -> None:
    """Set the main diagonal to ``val``, which repeats where it is short."""
    if a.ndim < 2:
        raise ValueError("fill_diagonal() wants an array of at least two axes")
    if wrap:
        raise TypeError("fill_diagonal() of a GPUArray has no wrap=True")
    if a.ndim > 2 and len(set(a.shape)) != 1:
        raise ValueError(f"all axes must be equally long, not {a.shape}")
    length = min(a.shape)
    diagonal = a._view(0, (length,), (sum(a.strides),))
    values = as_array(val)._ravel()
    if values.size != 1 and values.size != length:
        values = values[arange_of(length) % values.size]
    if length:
        diagonal._assign(values._reshape(()) if values.size == 1 else values)


@public()
def trace(a, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype=None, out=None):
    """The sum of the diagonal of two axes."""
    return a.diagonal(offset, axis1, axis2).sum(-1, dtype, out)
