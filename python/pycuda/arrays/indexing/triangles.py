"""Triangles and diagonals of matrices."""

from __future__ import annotations

import math
import operator

import numpy as np

from pycuda import _device_code, _driver
from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.creation.filled import empty, ones, zeros
from pycuda.arrays.creation.ranges import arange_of
from pycuda.arrays.indexing.assigning import values_for, want_own
from pycuda.arrays.indexing.selecting import nonzero, where
from pycuda.arrays.registry import public
from pycuda.arrays.shapes.views import broadcast_to
from pycuda.arrays.ufuncs.filling import by_index

# Matrices


@public()
def tri(N: int, M=None, k: int = 0, dtype=float):
    """Make a matrix with ones at and below a diagonal, and zeros above it.

    N, M: the number of rows and of columns; M is N by default.
    k: which diagonal: 0 is the main one, positive ones are above it.
    dtype: the type of the elements.

    >>> gpuarray.tri(3, dtype=np.int8)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]], dtype=int8)
    """
    rows, columns = (max(operator.index(one), 0) for one in (N, N if M is None else M))
    whole = np.uint32 if rows * columns <= 0xFFFFFFFF else np.uint64
    k = max(-rows, min(math.floor(k), columns))
    return _ones_below((rows, columns), dtype, whole(1), whole(columns), k)


@by_index
def _ones_below(index, dtype, one, columns, k):
    number = index.range(0, one, one.value.dtype)
    row = number // columns
    return (number - row * columns).astype(np.int64) - row.astype(np.int64) <= k


@public()
def tril(m, k: int = 0):
    """Copy matrices with zeros above a diagonal.

    m: an array of shape (..., rows, columns); a vector is taken as each row of a square matrix.
    k: which diagonal: 0 is the main one, positive ones are above it.

    >>> gpuarray.tril(gpuarray.array([[1, 2], [3, 4]]))
    array([[1, 0],
           [3, 4]])
    """
    return _triangle(m, k, keep_below=True)


@public()
def triu(m, k: int = 0):
    """Copy matrices with zeros below a diagonal; parameters as of :func:`tril`.

    Returns a new array of the dtype of ``m``.

    >>> gpuarray.triu(gpuarray.array([[1, 2], [3, 4]]))
    array([[1, 2],
           [0, 4]])
    """
    return _triangle(m, k - 1, keep_below=False)


def _triangle(m, k: int, keep_below: bool):
    array = as_array(m)
    if array.ndim == 1:
        array = broadcast_to(array, (array.size, array.size))
    if array.ndim == 0:
        raise ValueError("a triangle expects an array of at least one axis")
    rows, columns = array.shape[-2:]
    if array.ndim == 2 or array._c_contiguous:
        if array.dtype.itemsize in _WORDS and max(rows, columns) < 1 << 31:
            return _copied_triangle(array, k, keep_below)
    below = tri(rows, columns, k, bool)
    zero = array.dtype.type(0)
    return where(below, array, zero) if keep_below else where(below, zero, array)


_WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def _has_packs(array) -> bool:
    """Whether a thread of a GPU can copy 16 bytes of a row. Threads that are lanes of a CPU copy neighbouring elements."""
    return (
        array._c_contiguous
        and array.shape[-1] * array.dtype.itemsize % 16 == 0
        and array.ptr % 16 == 0
        and not _driver._array_threads_are_cores()
    )


def _copied_triangle(array, k: int, keep_below: bool):
    """One pass over a matrix, or over contiguous matrices."""
    result = _driver._array_empty(
        array.shape, array.dtype, array._own_allocator, "C", type(array)
    )
    if result.size:
        rows, columns = array.shape[-2:]
        row, column = array.strides[-2:]
        limit = max(-rows, min(k, columns))  # further diagonals have the same result
        size = array.dtype.itemsize
        word = np.dtype(_WORDS[size])
        if _has_packs(array):
            packs = array.nbytes // 16
            _device_code.kernel("triangle", "triangle_packs", "T", word)(
                array, result, packs, rows, columns * size // 16, limit, keep_below,
                block=(256, 1, 1), grid=(-(-packs // 256), 1),
            )  # fmt: skip
            return result
        _device_code.kernel("triangle", "triangle", "T", word)(
            array, result, array.size, rows, columns, rows * columns * array.dtype.itemsize,
            row, column, limit, keep_below, block=(256, 1, 1), grid=(-(-array.size // 256), 1),
        )  # fmt: skip
    return result


def _triangle_places(rows: int, columns, k: int, below: bool) -> tuple:
    """The indices of the elements at and below diagonal k, or at and above it. Nothing is read from the device."""
    rows = max(operator.index(rows), 0)
    columns = rows if columns is None else max(operator.index(columns), 0)
    k = min(max(math.floor(k), -rows - 1), columns + 1)
    shift = k + 1 if below else k
    left = _sum_below(rows + shift, columns) - _sum_below(shift, columns)
    total = left if below else rows * columns - left
    both = empty(total, np.int64), empty(total, np.int64)
    if total:
        _device_code.kernel("triangle_places", "triangle_places")(
            *both, total, rows, columns, k, below, block=(256, 1, 1), grid=(-(-total // 256), 1)
        )  # fmt: skip
    return both


def _sum_below(end: int, most: int) -> int:
    """The sum of ``min(max(v, 0), most)`` for all ``v`` below ``end``."""
    if end <= 0:
        return 0
    return end * (end - 1) // 2 if end <= most else most * (most - 1) // 2 + (end - most) * most  # fmt: skip


@public()
def mask_indices(n: int, mask_func, k: int = 0) -> tuple:
    """Find the indices (rows, columns) that a function of matrices selects.

    n: the number of rows and of columns.
    mask_func: a function of a matrix and ``k``, such as :func:`triu`. The elements that it keeps are selected.
    k: its second argument.

    >>> [one.get().tolist() for one in gpuarray.mask_indices(2, gpuarray.triu)]
    [[0, 0, 1], [0, 1, 1]]
    """
    return nonzero(mask_func(ones((n, n), np.int64), k) != 0)


@public()
def tril_indices(n: int, k: int = 0, m=None) -> tuple:
    """Find the indices (rows, columns) of the elements at and below a diagonal.

    n, m: the number of rows and of columns; m is n by default.
    k: which diagonal: 0 is the main one, positive ones are above it.

    Returns two vectors of int64, in C order.

    >>> gpuarray.tril_indices(2)
    (array([0, 1, 1]), array([0, 0, 1]))
    """
    with _driver._OutsideCapture():  # they depend on the shape only
        return _triangle_places(n, m, k, below=True)


@public()
def triu_indices(n: int, k: int = 0, m=None) -> tuple:
    """Find the indices (rows, columns) of the elements at and above a diagonal; parameters as of :func:`tril_indices`.

    Returns two vectors of int64 of equal length, in C order.

    >>> gpuarray.triu_indices(2)
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    with _driver._OutsideCapture():
        return _triangle_places(n, m, k, below=False)


@public()
def tril_indices_from(arr, k: int = 0) -> tuple:
    """Find the indices of the lower triangle of a matrix of the shape of ``arr``; see :func:`tril_indices`.

    Raises ValueError for an array that is no matrix.

    >>> gpuarray.tril_indices_from(gpuarray.zeros((2, 2)), k=-1)
    (array([1]), array([0]))
    """
    arr = as_array(arr)
    _want_matrix(arr)
    return tril_indices(arr.shape[-2], k, arr.shape[-1])


@public()
def triu_indices_from(arr, k: int = 0) -> tuple:
    """Find the indices of the upper triangle of a matrix of the shape of ``arr``; see :func:`triu_indices`.

    Raises ValueError for an array that is no matrix.

    >>> gpuarray.triu_indices_from(gpuarray.zeros((2, 2)), k=1)
    (array([0]), array([1]))
    """
    arr = as_array(arr)
    _want_matrix(arr)
    return triu_indices(arr.shape[-2], k, arr.shape[-1])


def _want_matrix(arr) -> None:
    if arr.ndim != 2:
        raise ValueError(f"a matrix has two axes, this array has {arr.ndim}")


@public()
def diag(v, k: int = 0):
    """View a diagonal of a matrix, or make a matrix with a vector on a diagonal.

    v: a matrix or a vector; other arrays raise ValueError.
    k: which diagonal: 0 is the main one, positive ones are above it.

    >>> gpuarray.diag(gpuarray.array([[1, 2], [3, 4]]))
    array([1, 4])
    >>> gpuarray.diag(gpuarray.array([7, 8]))
    array([[7, 0],
           [0, 8]])
    """
    array = as_array(v)
    if array.ndim == 2:
        return array.diagonal(k)
    if array.ndim != 1:
        raise ValueError(f"diag() expects a vector or a matrix, not {array.ndim} axes")
    n = array.size + abs(k)
    result = zeros((n, n), array.dtype)
    if array.size:
        result.diagonal(k)._assign(array)
    return result


@public()
def diagflat(v, k: int = 0):
    """Make a matrix with all elements of ``v``, in C order, on diagonal ``k`` and zeros elsewhere.

    v: an array or anything that numpy.asarray takes, of any shape.
    k: the diagonal: 0 is the main one, positive ones are above it.

    Returns a square matrix of ``v.size + abs(k)`` rows of the dtype of ``v``.

    >>> gpuarray.diagflat(gpuarray.array([7, 8]))
    array([[7, 0],
           [0, 8]])
    """
    return diag(as_array(v)._ravel(), k)


@public()
def diag_indices_from(arr) -> tuple:
    """Find the indices of the main diagonal of an array whose axes have equal extents.

    Returns a tuple with a vector for each axis. Raises ValueError for fewer than two axes or unequal extents.

    >>> gpuarray.diag_indices_from(gpuarray.zeros((2, 2)))
    (array([0, 1]), array([0, 1]))
    """
    arr = as_array(arr)
    if arr.ndim < 2 or len(set(arr.shape)) != 1:
        raise ValueError(f"all axes must have the same length, not {arr.shape}")
    return (arange_of(arr.shape[0]),) * arr.ndim


@public()
def fill_diagonal(a, val, wrap: bool = False) -> None:
    """Set the main diagonal of an array in place.

    val: a number, or an array whose elements are repeated.
    wrap: whether the diagonal of a tall matrix starts again after as many rows as there are columns and one.

    >>> x = gpuarray.zeros((2, 2))
    >>> gpuarray.fill_diagonal(x, 5)
    >>> x
    array([[5., 0.],
           [0., 5.]])
    """
    want_own("fill_diagonal", a)
    if a.ndim < 2:
        raise ValueError("fill_diagonal() expects an array of at least two axes")
    if a.ndim > 2 and len(set(a.shape)) != 1:
        raise ValueError(f"all axes must have the same length, not {a.shape}")
    values = values_for(a, val)._ravel()
    if not values.size:
        return
    first = 0
    for start in range(0, a.shape[0], a.shape[1] + 1):
        length = min(a.shape[0] - start, *a.shape[1:])
        diagonal = a._view(start * a.strides[0], (length,), (sum(a.strides),))
        if values.size > 1:
            diagonal._assign(values[(arange_of(length) + first) % values.size])
        elif length:
            diagonal._assign(values._reshape(()))
        first += length
        if not wrap or a.ndim > 2:
            break


@public()
def trace(a, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype=None, out=None):
    """Add up the diagonal of two axes.

    offset: which diagonal: 0 is the main one, positive ones are above it.
    axis1, axis2: the two axes.
    dtype: the type of the sums, by default that of :meth:`GPUArray.sum`.
    out: an array for the result.

    >>> gpuarray.trace(gpuarray.array([[1, 2], [3, 4]]))
    array(5)
    """
    return as_array(a).diagonal(offset, axis1, axis2).sum(-1, dtype, out)
