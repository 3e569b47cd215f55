"""numpy's functions that take or set chosen elements of an array."""

from __future__ import annotations

import numpy as np

from pycuda import _driver
from pycuda.arrays.creation.conversion import as_array, as_operand
from pycuda.arrays.creation.filled import empty, zeros
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
    """``x`` where the condition holds, elsewhere ``y``; alone: the places where it holds."""
    if is_traced((condition, x, y)):
        return record("where", condition, x, y)
    if (x is None) != (y is None):
        raise ValueError("where() wants either both x and y, or neither")
    if x is None:
        return nonzero(condition)
    condition = as_array(condition)
    if condition.dtype.kind != "b":
        condition = condition != 0
    x, y = (as_operand(one) for one in (x, y))
    return _driver._array_apply("where", condition, x, y, out=out, stream=stream)


@public(array_api=True)
def nonzero(a) -> tuple:
    """The indices of the elements that are not zero: an array of int64 for each axis."""
    array = as_array(a)
    if array.ndim == 0:
        raise ValueError("nonzero() of an array without axes is not defined")
    return _items.places_of(array)


@public()
def argwhere(a):
    """The indices of the elements that are not zero, one row for each."""
    array = as_array(a)
    if array.ndim == 0:
        return zeros((int(bool(array)), 0), np.int64)
    places = nonzero(array)
    result = empty((places[0].size, array.ndim), np.int64)
    for axis, column in enumerate(places):
        result[:, axis] = column
    return result


@public()
def flatnonzero(a):
    """The indices, counted over the flat array, of the elements that are not zero."""
    return nonzero(as_array(a)._ravel())[0]


@public(pycuda="a indices out stream")
def take(a, indices, axis=None, out=None, mode: str = "raise", *, stream=None):
    """The elements of ``a`` at ``indices``, counted over the flat array or along ``axis``."""
    array = as_array(a)
    with _driver._Using(stream):
        array = array._ravel() if axis is None else array
        axis = 0 if axis is None else _axes.normalize_axis(axis, array.ndim)
        indices = wrapped_indices(as_indices(indices), array.shape[axis], mode)
        result = array[(slice(None),) * axis + (indices,)]
        if out is None:
            return result
        return _driver._array_apply("copy", result, out=out)


@public(array_api=True)
def take_along_axis(arr, indices, axis: int = -1):
    """For each place of ``indices``, the element of ``arr`` at that index along ``axis``."""
    if axis is None:
        return arr._ravel()[as_indices(indices)]
    return arr[places_along_axis(arr, as_indices(indices), axis)]


@public()
def compress(condition, a, axis=None, out=None):
    """The parts of ``a`` along ``axis`` for which ``condition``, a vector, holds."""
    mask = as_array(condition)
    if mask.ndim != 1:
        raise ValueError(f"the condition must be a vector, not of {mask.ndim} axes")
    return take(a, nonzero(mask)[0], axis, out)


@public()
def extract(condition, arr):
    """The elements of ``arr`` where ``condition``, of the same size, holds."""
    return take(arr, nonzero(as_array(condition)._ravel())[0])
