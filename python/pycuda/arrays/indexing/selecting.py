"""numpy's functions that take or set chosen elements of an array."""

from __future__ import annotations

import numpy as np

from pycuda import _driver
from pycuda._driver import ArrayBase
from pycuda.arrays.creation.conversion import as_array, as_operand, put_back
from pycuda.arrays.creation.filled import zeros
from pycuda.arrays.indexing import items as _items
from pycuda.arrays.indexing.indices import (
    as_indices,
    places_along_axis,
    wrapped_indices,
)
from pycuda.arrays.registry import public
from pycuda.arrays.shapes import axes as _axes
from pycuda.arrays.ufuncs.tracing import is_traced, record


@public(array_api=True, pycuda="criterion=condition then_=x else_=y out stream")
def where(condition, x=None, y=None, *, out=None, stream=None):
    """Choose elements of ``x`` where the condition holds, and of ``y`` elsewhere.

    condition: an array; elements that are not zero are true.
    x, y: arrays or numbers that are broadcast with the condition. The result has their common type.
    out: an array for the result.
    stream: the stream of the work, by default the current one.

    Without ``x`` and ``y`` the result is that of :func:`nonzero`, and ``out`` must not be given. Raises ValueError
    for only one of ``x`` and ``y``, TypeError for ``out`` or ``stream`` in a fused function.

    >>> x = gpuarray.array([1, 5, 9])
    >>> gpuarray.where(x > 3, x, 0)
    array([0, 5, 9])
    """
    if is_traced((condition, x, y)):
        if out is not None or stream is not None:
            raise TypeError("where() in a fused function takes neither out nor stream")
        return record("where", condition, x, y)
    if (x is None) != (y is None):
        raise ValueError("where() expects either both x and y, or neither")
    with _driver._Work(stream):
        if x is None:
            if out is not None:
                raise ValueError("where() with a condition alone takes no out")
            return nonzero(condition)
        condition = as_array(condition)
        if condition.dtype.kind != "b":
            condition = condition != 0
        x, y = (as_operand(one) for one in (x, y))
        return _driver._array_apply("where", condition, x, y, out=out)


@public(array_api=True)
def nonzero(a) -> tuple:
    """Find the indices of the elements that are not zero, in C order.

    Returns a tuple with a vector of int64 for each axis. Raises ValueError for an array without axes.
    The number of indices is read back from the device.

    >>> gpuarray.nonzero(gpuarray.array([[0, 7], [8, 0]]))
    (array([0, 1]), array([1, 0]))
    """
    array = as_array(a)
    if array.ndim == 0:
        raise ValueError("nonzero() of an array without axes is not defined")
    return _items.places_of(array)


@public()
def argwhere(a):
    """Find the indices of the elements that are not zero: an array of int64 of shape (count, number of axes).

    a: an array of numbers or bool.

    A row of the result is the index of one element; rows are in C order. The number of rows is known only when the
    device is done, so the call waits. :func:`nonzero` gives a vector for each axis instead.

    >>> gpuarray.argwhere(gpuarray.array([[0, 7], [8, 0]]))
    array([[0, 1],
           [1, 0]])
    """
    array = as_array(a)
    if array.ndim == 0:
        return zeros((int(bool(array)), 0), np.int64)
    places = nonzero(array)
    if len(places) == 1:
        return places[0]._reshape(-1, 1)
    return _driver._join("stack", places, 1, None, None, "same_kind", None)


@public()
def flatnonzero(a):
    """Find the flat indices, in C order, of the elements that are not zero: a vector of int64.

    a: an array of numbers or bool.

    The number of indices is known only when the device is done, so the call waits for it.

    >>> gpuarray.flatnonzero(gpuarray.array([[0, 7], [8, 0]]))
    array([1, 2])
    """
    return nonzero(as_array(a)._ravel())[0]


@public(pycuda="a indices out stream")
def take(a, indices, axis=None, out=None, mode: str = "raise", *, stream=None):
    """Take the elements, or the parts along an axis, at the given indices.

    indices: integers of any shape; negative ones count from the end.
    axis: the axis; None takes flat indices in C order.
    out: an array for the result.
    mode: for indices outside: "raise" IndexError, "wrap" around, or "clip" to the first and last element.
    stream: the stream of the work, by default the current one.

    The result has the shape of ``a`` with the shape of ``indices`` in the place of ``axis``.

    >>> gpuarray.take(gpuarray.array([[1, 2], [3, 4]]), gpuarray.array([1, 0]), axis=1)
    array([[2, 1],
           [4, 3]])
    """
    if stream is not None:
        with _driver._Work(stream):
            return take(a, indices, axis, out, mode)
    if (
        out is None
        and mode == "raise"
        and (axis is None or axis == 0)
        and isinstance(a, ArrayBase)
        and isinstance(indices, ArrayBase)
    ):
        taken = _driver._array_take(a, indices, axis is None)
        if taken is not None:
            return taken
    array = as_array(a)
    array = array._ravel() if axis is None or array.ndim == 0 else array
    axis = 0 if axis is None else _axes.normalize_axis(axis, array.ndim)
    indices = wrapped_indices(as_indices(indices, bools=True), array.shape[axis], mode)
    items = (slice(None),) * axis + (indices,)
    return put_back(out, _items.select(array, items))


@public(array_api=True)
def take_along_axis(arr, indices, axis: int = -1):
    """Take for each place of ``indices`` the element of ``arr`` at that index along ``axis``.

    indices: integers; their shape is that of ``arr`` but for ``axis``.
    axis: the axis; None takes both arrays as flat.

    >>> x = gpuarray.array([[3, 1], [2, 4]])
    >>> gpuarray.take_along_axis(x, gpuarray.argsort(x, axis=1), axis=1)
    array([[1, 3],
           [2, 4]])
    """
    if axis is None:
        indices = as_indices(indices)
        if indices.ndim != 1:
            raise ValueError(
                f"with axis=None, indices must be a vector, not of {indices.ndim} axes"
            )
        return arr._ravel()[indices]
    return arr[places_along_axis(arr, as_indices(indices), axis)]


@public()
def compress(condition, a, axis=None, out=None):
    """Take the parts along an axis for which a condition holds.

    condition: a vector; a short one leaves the last parts out.
    axis: the axis; None takes the elements of the flat array.
    out: an array for the result.

    >>> gpuarray.compress([True, False, True], gpuarray.array([4, 5, 6]))
    array([4, 6])
    """
    mask = as_array(condition)
    if mask.ndim != 1:
        raise ValueError(f"the condition must be a vector, not of {mask.ndim} axes")
    array = as_array(a)
    if out is None and (axis is None or array.ndim == 1) and mask.size <= array.size:
        return _where_true(array._ravel()[: mask.size], mask)
    return take(a, nonzero(mask)[0], axis, out)


@public()
def extract(condition, arr):
    """Take the elements where a condition of the same size holds, as a vector.

    condition: an array; elements that are not zero count as true.
    arr: an array of at least as many elements, of any shape. Both are read in C order.

    Returns a new vector of the dtype of ``arr``. The call waits for the device, which counts the elements.

    >>> x = gpuarray.array([[1, 5], [9, 2]])
    >>> gpuarray.extract(x > 3, x)
    array([5, 9])
    """
    array, mask = as_array(arr)._ravel(), as_array(condition)._ravel()
    if mask.size <= array.size:
        return _where_true(array[: mask.size], mask)
    return take(array, nonzero(mask)[0])


def _where_true(array, mask):
    """The elements of a vector where another one of the same length is not zero."""
    return array[mask if mask.dtype.kind == "b" else mask != 0]
