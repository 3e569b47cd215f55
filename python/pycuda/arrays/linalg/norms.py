"""Norms of vectors and matrices, with numpy.linalg's names."""

import numpy as np

from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.creation.filled import eye
from pycuda.arrays.indexing.selecting import where
from pycuda.arrays.linalg.factoring import (
    check_matrices,
    check_square,
    inv,
    slogdet,
)
from pycuda.arrays.linalg.spectral import svdvals
from pycuda.arrays.registry import public
from pycuda.arrays.shapes import axes as _axes
from pycuda.arrays.shapes.axes import fused_axes, normalize_axes
from pycuda.arrays.shapes.views import moveaxis
from pycuda.arrays.ufuncs.fusing import fuse
from pycuda.arrays.ufuncs.universal_functions import UFUNCS


def _numbers(x):
    x = as_array(x)
    return x.astype(np.float64) if x.dtype.kind in "biu" else x


@fuse
def _root_of_squares(x, axis, keepdims):
    squares = x.real * x.real + x.imag * x.imag if x.dtype.kind == "c" else x * x
    return np.sqrt(squares.sum(axis, None, None, keepdims))


@fuse
def _largest_size(x, axis, keepdims):
    return abs(x).max(axis, None, keepdims, 0)


@fuse
def _sum_of_sizes(x, axis, keepdims):
    return abs(x).sum(axis, None, None, keepdims)


@public("linalg")
def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """Compute the norms of vectors.

    axis: an int, several, or None for all axes: the axes of the vectors.
    keepdims: whether reduced axes stay, with extent 1.
    ord: the order: a number, inf for the largest magnitude, -inf for the smallest, 0 to count nonzero elements.

    Returns real numbers: float32 for complex64, float64 for integers.

    >>> linalg.vector_norm(gpuarray.array([3.0, 4.0]))
    array(5.)
    """
    return _vector_norm(_numbers(x), axis, keepdims, ord)


def _vector_norm(x, axis=None, keepdims=False, ord=2):
    if ord == 2:
        return _root_of_squares(x, fused_axes(axis, x.ndim), bool(keepdims))
    if ord == np.inf and x.size:
        return _largest_size(x, fused_axes(axis, x.ndim), bool(keepdims))
    if ord == np.inf:
        return UFUNCS["absolute"](x).max(axis, None, keepdims, 0)
    if ord == -np.inf:
        return UFUNCS["absolute"](x).min(axis, None, keepdims)
    if ord == 0:
        kind = UFUNCS["absolute"](x[(slice(0, 0),) * x.ndim]).dtype
        return (x != 0).sum(axis, None, None, keepdims).astype(kind)
    if ord == 1:
        return _sum_of_sizes(x, fused_axes(axis, x.ndim), bool(keepdims))
    size = UFUNCS["absolute"](x)
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    return (size**ord).sum(axis, None, None, keepdims) ** (1 / ord)


@public("linalg")
def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """Compute the norms of matrices (..., m, n): an array (...).

    keepdims: whether the last two axes stay, with extent 1.
    ord: "fro" (the root of the sum of squares), "nuc" (the sum of the singular values), 2 and -2 (the largest and
        the smallest singular value), 1 and -1 (of the sums of columns), inf and -inf (of the sums of rows).

    Raises ValueError for another ``ord``.

    >>> linalg.matrix_norm(gpuarray.array([[1.0, 2.0], [3.0, 4.0]]), ord=1)
    array(6.)
    """
    x = _numbers(x)
    if x.ndim < 2:
        raise ValueError(
            f"matrix_norm() expects at least two axes, not an array of shape {x.shape}"
        )
    if ord in ("fro", None):
        return _root_of_squares(x, (-2, -1), bool(keepdims))
    if ord in (2, -2, "nuc"):
        values = svdvals(x)
        result = (
            values.max(-1, initial=0) if ord == 2
            else values.min(-1) if ord == -2
            else values.sum(-1)
        )  # fmt: skip
        return result._reshape(*result.shape, 1, 1) if keepdims else result
    if ord not in (1, -1, np.inf, -np.inf):
        raise ValueError(f"Invalid norm order {ord!r} for matrices")
    sums = UFUNCS["absolute"](x).sum(-2 if abs(ord) == 1 else -1, None, None, True)
    last = (-2, -1)
    if ord > 0:
        return sums.max(last, None, keepdims, 0)
    return sums.min(last, None, keepdims)


@public("linalg")
def norm(x, ord=None, axis=None, keepdims=False):
    """Compute the norm of a vector or a matrix, or of vectors or matrices along ``axis``.

    ord: as of :func:`vector_norm` and :func:`matrix_norm`; None takes the root of the sum of squares of all elements.
    axis: one axis for vectors, two for matrices, None for the whole array.
    keepdims: whether reduced axes stay, with extent 1.

    >>> linalg.norm(gpuarray.array([[1.0, 2.0], [2.0, 4.0]]))
    array(5.)
    """
    x = _numbers(x)
    if axis is None and (ord is None or x.ndim == 1):
        result = _vector_norm(x if x.ndim == 1 else x._ravel(), ord=2 if ord is None else ord)  # fmt: skip
        return result._reshape((1,) * x.ndim) if keepdims else result
    axes = normalize_axes(axis, x.ndim)
    if len(axes) == 1:
        return _vector_norm(x, axes[0], keepdims, 2 if ord is None else ord)
    if len(axes) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    if isinstance(axis, tuple):  # the first one has the rows
        axes = tuple(_axes.normalize_axis(one, x.ndim) for one in axis)
    result = matrix_norm(moveaxis(x, axes, (-2, -1)), ord="fro" if ord is None else ord)
    if keepdims:
        shape = [1 if i in axes else n for i, n in enumerate(x.shape)]
        return result._reshape(shape)
    return result


@public("linalg")
def cond(x, p=None):
    """Compute the condition numbers of matrices: the norm times the norm of the inverse.

    p: the norm, as ``ord`` of :func:`matrix_norm`. None takes 2, also for matrices that are not square.

    Returns an array (...) for matrices (..., n, n). A condition number of 10**k costs about k digits when a system
    of equations is solved. It is infinite for singular matrices, and NaN for matrices with NaN.

    >>> round(float(linalg.cond(gpuarray.array([[4.0, 0.0], [0.0, 2.0]]))), 6)
    2.0
    """
    x = _numbers(x)
    check_matrices(x)
    if 0 in x.shape[-2:]:
        raise np.linalg.LinAlgError("cond is not defined on empty arrays")
    if p in (None, 2, -2):
        values = svdvals(x)
        largest, least = values[..., 0], values[..., -1]
        result = least / largest if p == -2 else largest / least
    else:
        check_square(x)
        singular = slogdet(x)[0] == 0
        one = eye(x.shape[-1], dtype=x.dtype)
        inverse = inv(where(singular[..., None, None], one, x))
        result = matrix_norm(x, ord=p) * matrix_norm(inverse, ord=p)
        result = where(singular, result.dtype.type(np.inf), result)
    isnan = UFUNCS["isnan"]
    unbounded = isnan(result) & ~isnan(x).any((-2, -1))
    return where(unbounded, result.dtype.type(np.inf), result)
