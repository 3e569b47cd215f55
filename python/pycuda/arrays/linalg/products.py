"""Products of arrays; see pycuda.gpuarray. All of them are made of products of matrices.

On a GPU, cuBLAS (the wheel nvidia-cublas, or a toolkit) multiplies floats if it is installed. Kernels of this package
compute all other products.
"""

from __future__ import annotations

import math
import operator

import numpy as np
from numpy.linalg import LinAlgError

from pycuda import _driver
from pycuda._driver import ArrayBase, _Work
from pycuda._driver import _array_apply as _apply
from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.interop import host as _host
from pycuda.arrays.registry import public
from pycuda.arrays.shapes import axes as _axes


def _finish(result, out):
    if isinstance(out, tuple):  # of numpy's ufuncs
        (out,) = out
    if out is None:
        return result
    return _apply("copy", result, out=out)


def _product(a, b, dtype=None):
    for factor in (a, b) if dtype is not None else ():
        if not np.can_cast(factor.dtype, dtype, "same_kind"):
            raise TypeError(
                f"a factor of {factor.dtype} cannot be cast to {np.dtype(dtype)}"
            )
    dtype = None if dtype is None else np.dtype(dtype)
    result = _by_host(a, b, dtype)
    return _driver._array_product(a, b, dtype) if result is None else result


#: The elements of the largest matrix from which NumPy's BLAS multiplies, if the device is the CPU. For smaller ones the
#: wait and the call of NumPy take longer than a kernel. Of a stack, a kernel computes a tile for each small matrix.
_LEAST_BY_HOST = 1 << 11


def _by_host(a, b, dtype):
    """Matrices or stacks of them, multiplied by NumPy. None for small ones, for other types, and where the host may not
    use the arrays."""
    if a.dtype != b.dtype or a.dtype.char not in "fdFD" or dtype not in (None, a.dtype):
        return None
    shape = (a.shape[-2], b.shape[-1])
    if a.ndim + b.ndim > 4:
        shape = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *shape)
    elif max(a.size, b.size, math.prod(shape)) < _LEAST_BY_HOST:
        return None
    if min(a.size, b.size) == 0 or not _driver._array_host_multiplies():
        return None
    result = _driver._array_empty(shape, a.dtype, a._own_allocator, "C", type(a))
    lent = _host.views(a, b, result)
    if lent is None:
        return None
    with _host.computing("numpy.matmul"):
        np.matmul(lent[0], lent[1], out=lent[2])
    return result


@public(array_api=True)
@public("linalg")
def matmul(x1, x2, /, out=None, *, dtype=None, stream=None):
    """Multiply matrices, or stacks of matrices, which are broadcast.

    x1: an array (..., n, k), or a vector of k elements, which is a row.
    x2: an array (..., k, m), or a vector of k elements, which is a column.
    out: an array for the result. dtype: the type of the products and sums; TypeError if it is of a lower kind.
    stream: the stream of the work, by default the current one.

    Returns an array (..., n, m). 16-bit floats are added in float32. By cuBLAS for floats on a GPU if the library
    is found; by NumPy's BLAS for large float32, float64, complex64 and complex128 matrices on a CPU; else by tiles in
    shared memory. Raises ValueError for shapes that do not fit and for numbers, TypeError for arrays of the host.

    >>> gpuarray.matmul(gpuarray.array([[1, 2], [3, 4]]), gpuarray.array([1, 1]))
    array([3, 7])
    """
    if stream is not None:
        with _Work(stream):
            return matmul(x1, x2, out, dtype=dtype)
    for factor in (x1, x2):
        if not isinstance(factor, ArrayBase):
            raise TypeError(
                f"matmul() expects arrays of the device, not {type(factor).__name__}; copy it with "
                "pycuda.gpuarray.to_gpu() first"
            )
    a, b = x1, x2
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError(
            "matmul() expects arrays of at least one axis; multiply numbers with *"
        )
    rows = b.shape[0 if b.ndim == 1 else -2]
    if a.shape[-1] != rows:
        raise ValueError(
            f"arrays of shapes {a.shape} and {b.shape} cannot be multiplied: "
            f"{a.shape[-1]} columns in the first, {rows} rows in the second"
        )
    if a.ndim > 1 and b.ndim > 1:
        return _finish(_product(a, b, dtype), out)
    left, right = a.ndim == 1, b.ndim == 1
    a = a[None, :] if left else a
    b = b[:, None] if right else b
    result = _product(a, b, dtype)
    shape = list(result.shape)
    if right:
        del shape[-1]
    if left:
        del shape[-1 if right else -2]
    return _finish(result._reshape(shape), out)


@public(module=False)
def dot(a, b, out=None):
    """Multiply as numpy.dot does: sum over the last axis of ``a`` and the last but one of ``b``.

    out: an array for the result.

    ``pycuda.gpuarray.dot`` has PyCUDA's meaning instead: all elements of two arrays of one shape.

    >>> gpuarray.array([[1, 2], [3, 4]]).dot(gpuarray.array([1, 1]))
    array([3, 7])
    """
    a, b = as_array(a), as_array(b)
    if a.ndim == 0 or b.ndim == 0:
        return _finish(a * b, out)
    if a.ndim <= 2 and b.ndim <= 2:
        return matmul(a, b, out)
    return _finish(tensordot(a, b, ((a.ndim - 1,), (max(b.ndim - 2, 0),))), out)


@public(module=False)
def vdot(a, b):
    """Add up the products of all elements, those of ``a`` conjugated. Raises ValueError for two sizes.

    a, b: arrays with equally many elements, of any shapes; they are read in C order.

    Returns an array without axes, of the common type of both.

    >>> np.vdot(gpuarray.array([1j, 2]), gpuarray.array([1j, 3]))
    array(7.+0.j)
    """
    a, b = as_array(a)._ravel(), as_array(b)._ravel()
    if a.size != b.size:
        raise ValueError(
            f"cannot reshape array of size {a.size} into shape ({b.size},)"
        )
    return matmul(a.conj(), b)


@public()
def inner(a, b):
    """Sum products over the last axes of both arrays; of numbers, their product.

    a, b: arrays whose last axes have the same extent. The other axes of ``a``, then those of ``b``, are the result's.

    Raises ValueError if the extents of the last axes differ.

    >>> gpuarray.inner(gpuarray.array([1, 2]), gpuarray.array([3, 4]))
    array(11)
    """
    a, b = as_array(a), as_array(b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    if a.ndim <= 2 and b.ndim <= 2:
        return matmul(a, b.T)
    return tensordot(a, b, ((a.ndim - 1,), (b.ndim - 1,)))


@public(array_api=True)
@public("linalg")
def vecdot(x1, x2, /, out=None, *, axis=-1, dtype=None):
    """Sum the products over one axis of two arrays that are broadcast; elements of ``x1`` are conjugated.

    x1, x2: arrays of the same extent along the axis; ValueError for others.
    out: an array for the result. axis: the axis, by default the last one.
    dtype: the type of the products and sums.

    >>> gpuarray.vecdot(gpuarray.array([[1, 2], [3, 4]]), gpuarray.array([1, 1]))
    array([3, 7])
    """
    a, b = as_array(x1), as_array(x2)
    a = _moved_last(a, axis).conj()
    b = _moved_last(b, axis)
    return _finish(_product(a[..., None, :], b[..., :, None], dtype)[..., 0, 0], out)


@public()
def matvec(x1, x2, /, out=None, *, dtype=None):
    """Multiply matrices (..., n, k) and vectors (..., k), which are broadcast. Returns an array (..., n).

    x1, x2: the matrices and the vectors.
    out: an array for the result. dtype: the type of the products and sums. Raises ValueError for shapes that do not fit.

    >>> gpuarray.matvec(gpuarray.array([[1, 2], [3, 4]]), gpuarray.array([1, 1]))
    array([3, 7])
    """
    a, b = as_array(x1), as_array(x2)
    if a.ndim < 2 or b.ndim < 1:
        raise ValueError(
            f"matvec() expects a matrix and a vector, not shapes {a.shape} and {b.shape}"
        )
    return _finish(_product(a, b[..., :, None], dtype)[..., 0], out)


@public()
def vecmat(x1, x2, /, out=None, *, dtype=None):
    """Multiply vectors (..., k), conjugated, and matrices (..., k, m), which are broadcast. Returns (..., m).

    x1, x2: the vectors and the matrices.
    out: an array for the result. dtype: the type of the products and sums. Raises ValueError for shapes that do not fit.

    >>> gpuarray.vecmat(gpuarray.array([1, 1]), gpuarray.array([[1, 2], [3, 4]]))
    array([4, 6])
    """
    a, b = as_array(x1), as_array(x2)
    if a.ndim < 1 or b.ndim < 2:
        raise ValueError(
            f"vecmat() expects a vector and a matrix, not shapes {a.shape} and {b.shape}"
        )
    return _finish(_product(a.conj()[..., None, :], b, dtype)[..., 0, :], out)


def check_matrices(a) -> None:
    if a.ndim < 2:
        raise LinAlgError(
            f"{a.ndim}-dimensional array given. Array must be at least two-dimensional"
        )


def check_square(a) -> None:
    check_matrices(a)
    if a.shape[-1] != a.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")


@public(numpy=False)
@public("linalg")
def matrix_power(a, n: int):
    """Raise square matrices (..., n, n) to an integer power, by repeated squaring.

    n: the power; the inverse is taken for a negative one.

    Returns matrices of the shape and dtype of ``a``; of float64 for integers with a negative power. Raises
    LinAlgError for matrices that are not square, and for a singular one with a negative power.

    >>> gpuarray.matrix_power(gpuarray.array([[1, 1], [0, 1]]), 3)
    array([[1, 3],
           [0, 1]])
    """
    n, a = operator.index(n), as_array(a)
    check_square(a)
    if n < 0:
        from pycuda.arrays.linalg.factoring import (
            inv,  # imported here, because loading takes a millisecond
        )

        n, a = -n, inv(a)
    if n == 0:
        result = _driver._array_empty(a.shape, a.dtype, None, "C", type(a)).fill(0)
        result.diagonal(0, -2, -1).fill(1)
        return result
    if n == 3:  # NumPy's order of products: it decides where infinities become NaN
        return matmul(matmul(a, a), a)
    result = None
    while True:
        if n & 1:
            result = a if result is None else matmul(result, a)
        n >>= 1
        if n == 0:
            return result.copy() if result is a else result
        a = matmul(a, a)


def _moved_last(a, axis):
    axis = _axes.normalize_axis(axis, a.ndim)
    return a.transpose([i for i in range(a.ndim) if i != axis] + [axis])


def _axes_pair(a, b, axes):
    if isinstance(axes, (int, np.integer)):
        count = operator.index(axes)
        return list(range(a.ndim - count, a.ndim)), list(range(count))
    first, second = axes
    first = [first] if isinstance(first, (int, np.integer)) else list(first)
    second = [second] if isinstance(second, (int, np.integer)) else list(second)
    return (
        [_axes.normalize_axis(axis, a.ndim) for axis in first],
        [_axes.normalize_axis(axis, b.ndim) for axis in second],
    )


@public(array_api=True)
@public("linalg")
def tensordot(a, b, axes=2):
    """Sum products over several axes of two arrays.

    axes: the number of last axes of ``a`` and first axes of ``b``, or a list of axes for each.

    The other axes of ``a`` come first in the result, then those of ``b``. Raises ValueError if extents differ.

    >>> gpuarray.tensordot(gpuarray.array([[1, 2], [3, 4]]), gpuarray.array([[1, 0], [0, 1]]), axes=2)
    array(5)
    """
    a, b = as_array(a), as_array(b)
    first, second = _axes_pair(a, b, axes)
    if [a.shape[i] for i in first] != [b.shape[i] for i in second]:
        raise ValueError("shape-mismatch for sum")
    kept_a = [i for i in range(a.ndim) if i not in first]
    kept_b = [i for i in range(b.ndim) if i not in second]
    length = math.prod(a.shape[i] for i in first)
    shape = [a.shape[i] for i in kept_a] + [b.shape[i] for i in kept_b]
    rows = math.prod(a.shape[i] for i in kept_a)
    columns = math.prod(b.shape[i] for i in kept_b)
    left = a.transpose(kept_a + first)._reshape(rows, length)
    right = b.transpose(second + kept_b)._reshape(length, columns)
    return _product(left, right)._reshape(shape)


@public()
def kron(a, b):
    """Compute the Kronecker product: each element of ``a`` times all of ``b``, in its place.

    a, b: arrays of any shapes; the one with fewer axes gets axes of extent 1 in front.

    The extents of the result are the products of those of ``a`` and ``b``; its dtype is the common one.

    >>> gpuarray.kron(gpuarray.array([1, 10]), gpuarray.array([1, 2]))
    array([ 1,  2, 10, 20])
    """
    a, b = as_array(a), as_array(b)
    ndim = max(a.ndim, b.ndim)
    a = a._reshape((1,) * (ndim - a.ndim) + a.shape)
    b = b._reshape((1,) * (ndim - b.ndim) + b.shape)
    wide_a = a._reshape([n for extent in a.shape for n in (extent, 1)])
    wide_b = b._reshape([n for extent in b.shape for n in (1, extent)])
    shape = [m * n for m, n in zip(a.shape, b.shape, strict=True)]
    return (wide_a * wide_b)._reshape(shape)
