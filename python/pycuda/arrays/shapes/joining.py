"""numpy's functions that make one array of several, or a larger one of one."""

from __future__ import annotations

import numpy as np

from pycuda import _driver
from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.creation.filled import empty
from pycuda.arrays.registry import public
from pycuda.arrays.shapes import axes as _axes
from pycuda.arrays.shapes.views import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
)


def _along(axis: int, part) -> tuple:
    return (slice(None),) * axis + (part,)


def _several(arrays, what: str) -> list:
    arrays = [as_array(array) for array in arrays]
    if not arrays:
        raise ValueError(f"need at least one array to {what}")
    return arrays


@public(array_api="concat", aliases="concat")
def concatenate(
    arrays, axis=0, out=None, allocator=None, *, dtype=None, casting="same_kind"
):
    """The arrays one after the other along ``axis``; None takes all elements of each.

    A new array has memory from ``allocator``, or from where that of the first array is. PyCUDA's
    ``concatenate(arrays, axis, allocator)`` works as well.

    >>> concatenate([x, y], axis=1)
    """
    out, allocator = _out_or_allocator(out, allocator)
    arrays = _several(arrays, "concatenate")
    if axis is None:
        arrays, axis = [array._ravel() for array in arrays], 0
    if arrays[0].ndim == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    axis = _axes.normalize_axis(axis, arrays[0].ndim)
    shape = _joined_shape(arrays, axis)
    if out is None:
        wanted = dtype or np.result_type(*(array.dtype for array in arrays))
        allocator = allocator or _allocator_of(arrays)
        out = empty(shape, np.dtype(wanted), allocator=allocator)
    elif dtype is not None:
        raise TypeError("concatenate() takes out or dtype, not both")
    elif out.shape != shape:
        raise ValueError(f"out has the shape {out.shape}, the result {shape}")
    for array in arrays:
        if not np.can_cast(array.dtype, out.dtype, casting):
            raise TypeError(
                f"{array.dtype} cannot be cast to {out.dtype} by the rule {casting!r}"
            )
    start = 0
    for array in arrays:
        stop = start + array.shape[axis]
        out[_along(axis, slice(start, stop))] = array
        start = stop
    return out


def _joined_shape(arrays, axis: int) -> tuple[int, ...]:
    first = arrays[0]
    rest = first.shape[:axis] + first.shape[axis + 1 :]
    for number, array in enumerate(arrays):
        if array.ndim != first.ndim or rest != (
            array.shape[:axis] + array.shape[axis + 1 :]
        ):
            raise ValueError(
                f"all arrays must have the same shape but for axis {axis}: array 0 has "
                f"{first.shape}, array {number} has {array.shape}"
            )
    total = sum(array.shape[axis] for array in arrays)
    return (*first.shape[:axis], total, *first.shape[axis + 1 :])


def _out_or_allocator(out, allocator):
    """PyCUDA has the allocator at the place of numpy's ``out``."""
    if out is not None and not isinstance(out, _driver.ArrayBase) and callable(out):
        if allocator is not None:
            raise TypeError("there are two allocators among the arguments")
        return None, out
    return out, allocator


def _allocator_of(arrays):
    """That of the first array that has one."""
    return next((a._own_allocator for a in arrays if a._own_allocator), None)


@public(array_api=True)
def stack(arrays, axis=0, out=None, allocator=None, *, dtype=None, casting="same_kind"):
    """The arrays, all of one shape, along a new axis; ``allocator`` as of :func:`concatenate`."""
    arrays = _several(arrays, "stack")
    if len({array.shape for array in arrays}) != 1:
        raise ValueError(
            f"all arrays must have the same shape, not {[a.shape for a in arrays]}"
        )
    axis = _axes.normalize_axis(axis, arrays[0].ndim + 1)
    arrays = [array[_along(axis, None)] for array in arrays]
    return concatenate(
        arrays, axis, out, dtype=dtype, casting=casting, allocator=allocator
    )


@public(aliases="row_stack")
def vstack(tup, *, dtype=None, casting: str = "same_kind"):
    """The arrays one below the other."""
    arrays = [atleast_2d(array) for array in tup]
    return concatenate(arrays, 0, dtype=dtype, casting=casting)


@public()
def hstack(tup, *, dtype=None, casting: str = "same_kind"):
    """The arrays side by side: along the second axis; vectors along their only one."""
    arrays = [atleast_1d(array) for array in _several(tup, "stack")]
    axis = 0 if arrays[0].ndim == 1 else 1
    return concatenate(arrays, axis, dtype=dtype, casting=casting)


@public()
def dstack(tup):
    """The arrays along the third axis."""
    return concatenate([atleast_3d(array) for array in tup], 2)


@public()
def column_stack(tup):
    """The arrays side by side; vectors are columns."""
    arrays = [as_array(array) for array in tup]
    columns = [a if a.ndim > 1 else a._reshape(-1, 1) for a in arrays]
    return concatenate(columns, 1)


@public()
def append(arr, values, axis=None):
    """``values`` behind the elements of ``arr``."""
    return concatenate((arr, as_array(values)), axis)


@public()
def block(arrays):
    """One array of nested lists of arrays: the innermost lists along the last axis.

    >>> block([[a, b], [c, d]])
    """
    depth = _depth(arrays)
    most = max(depth, max((leaf.ndim for leaf in _leaves(arrays)), default=0))
    return _join_block(arrays, depth, most, 0)


def _depth(arrays) -> int:
    if not isinstance(arrays, list):
        return 0
    if not arrays:
        raise ValueError("block() wants no empty lists")
    depths = {_depth(one) for one in arrays}
    if len(depths) != 1:
        raise ValueError("block() wants lists that are nested alike")
    return depths.pop() + 1


def _leaves(arrays):
    if not isinstance(arrays, list):
        yield as_array(arrays)
        return
    for one in arrays:
        yield from _leaves(one)


def _join_block(arrays, depth: int, most: int, level: int):
    if level == depth:
        array = as_array(arrays)
        return array._reshape((1,) * (most - array.ndim) + array.shape)
    parts = [_join_block(one, depth, most, level + 1) for one in arrays]
    return concatenate(parts, most - depth + level)
