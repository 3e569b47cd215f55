"""Products of vectors."""

from __future__ import annotations

import numpy as np

from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.creation.filled import empty
from pycuda.arrays.registry import public
from pycuda.arrays.shapes.views import moveaxis
from pycuda.arrays.ufuncs.fusing import fuse
from pycuda.arrays.ufuncs.universal_functions import UFUNCS


@public()
@public("linalg")
def cross(a, b, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis=None):
    """Compute the cross products of vectors of three elements; other axes are broadcast.

    axisa, axisb, axisc: the axis of the vectors in ``a``, ``b`` and the result.
    axis: one number for all three.

    Raises ValueError for vectors of another extent.

    >>> gpuarray.cross(gpuarray.array([1, 0, 0]), gpuarray.array([0, 1, 0]))
    array([0, 0, 1])
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = _last(as_array(a), axisa), _last(as_array(b), axisb)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise ValueError(
            f"both must be vectors of 3 elements, not {a.shape[-1]} and {b.shape[-1]}"
        )
    shape = a.shape if a.shape == b.shape else np.broadcast_shapes(a.shape, b.shape)
    kind = a.dtype if a.dtype == b.dtype else np.result_type(a.dtype, b.dtype)
    result = empty(shape, kind)
    if kind.kind == "b":
        raise TypeError("cross() of bool is not defined")
    if result.size:
        _cross.into_parts(result, a, b)
    return result if axisc == -1 else moveaxis(result, -1, axisc)


def _last(a, axis: int):
    return a if axis in (-1, a.ndim - 1) else moveaxis(a, axis, -1)


@fuse
def _cross(a0, a1, a2, b0, b1, b2):
    return a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0


@public()
def outer(a, b, out=None):
    """Multiply each element of ``a`` with each element of ``b``; both are flattened. Returns an array (n, m).

    out: an array for the result.

    >>> gpuarray.outer(gpuarray.array([1, 2]), gpuarray.array([3, 4]))
    array([[3, 4],
           [6, 8]])
    """
    a, b = as_array(a), as_array(b)
    return UFUNCS["multiply"](a._ravel()[:, None], b._ravel()[None, :], out=out)


@public("linalg", name="outer")
def outer_of_vectors(x1, x2, /):
    """Multiply each element of one vector with each element of another one.

    x1, x2: the vectors. The result has their common type.

    Returns an array of shape (n, m) for vectors of n and m elements. Raises ValueError for arrays that are
    no vectors; :func:`pycuda.gpuarray.outer` flattens them.

    >>> linalg.outer(gpuarray.array([1, 2]), gpuarray.array([3, 4]))
    array([[3, 4],
           [6, 8]])
    """
    x1, x2 = as_array(x1), as_array(x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(
            f"outer() expects vectors, not shapes {x1.shape} and {x2.shape}"
        )
    return outer(x1, x2)


@public("linalg", name="diagonal")
def diagonal_of_matrices(x, /, *, offset=0):
    """View the diagonals of matrices, that is of the last two axes.

    offset: which diagonal: 0 is the main one, positive ones are above it.

    Returns a view of shape (..., k). Raises ValueError for an array of fewer than two axes.

    >>> linalg.diagonal(gpuarray.array([[1, 2], [3, 4]]), offset=1)
    array([2])
    """
    x = as_array(x)
    if x.ndim < 2:
        raise ValueError(f"diagonal() expects at least two axes, not shape {x.shape}")
    return x.diagonal(offset, -2, -1)


@public("linalg", name="trace")
def trace_of_matrices(x, /, *, offset=0, dtype=None):
    """Add up the diagonals of matrices, that is of the last two axes.

    offset: which diagonal: 0 is the main one, positive ones are above it.
    dtype: the type of the sums, by default that of :meth:`GPUArray.sum`.

    Returns an array (...) for matrices (..., m, n).

    >>> linalg.trace(gpuarray.array([[1, 2], [3, 4]]))
    array(5)
    """
    return diagonal_of_matrices(x, offset=offset).sum(-1, dtype)
