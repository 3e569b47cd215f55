"""Distinct elements of arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pycuda._driver import ArrayBase
from pycuda._driver import _array_apply as _apply
from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.creation.filled import empty, full
from pycuda.arrays.creation.ranges import arange_of
from pycuda.arrays.indexing import items as _items
from pycuda.arrays.reductions import scans as _scans
from pycuda.arrays.registry import public
from pycuda.arrays.shapes import axes as _axes
from pycuda.arrays.sorting.small_sets import choose, is_small
from pycuda.arrays.sorting.sorting import _argsort, _sort, lexsort
from pycuda.arrays.ufuncs.fusing import fuse


class UniqueAllResult(NamedTuple):
    values: ArrayBase
    indices: ArrayBase
    inverse_indices: ArrayBase
    counts: ArrayBase


class UniqueCountsResult(NamedTuple):
    values: ArrayBase
    counts: ArrayBase


class UniqueInverseResult(NamedTuple):
    values: ArrayBase
    inverse_indices: ArrayBase


# Sets


def _starts(values, equal_nan: bool):
    """The mask of the elements of a sorted array that differ from the previous one."""
    starts = empty(values.size, np.bool_)
    starts[:1] = True
    equal_nan = equal_nan and values.dtype.kind in "fcV"
    if values.size > 1:
        _differs.into((starts[1:],), values[1:], values[:-1], equal_nan)
    return starts


@fuse
def _differs(value, previous, equal_nan):
    differs = value != previous
    if not equal_nan:
        return differs
    return differs & ~(np.isnan(value) & np.isnan(previous))


def _unique_flat(a, return_index, return_inverse, return_counts, equal_nan):
    flat = a._ravel()
    if is_small(flat.dtype, flat.size):
        values, index, inverse, counts = choose(
            flat, "distinct", index=return_index, inverse=return_inverse, counts=return_counts,
            equal_nan=equal_nan,
        )  # fmt: skip
        if inverse is not None:
            inverse = inverse._reshape(a.shape)
        return values, index, inverse, counts
    if return_index or return_inverse:
        order = _argsort(flat, 0)
        values = _items.take_known(flat, order)
    else:
        order, values = None, _sort(flat, 0)
    if flat.size == 0:
        nothing = empty(0, np.int64)
        return values, nothing, nothing._reshape(a.shape), nothing
    starts = _starts(values, equal_nan)
    inverse = None
    if return_inverse:
        inverse = empty(values.size, np.int64)
        _items.put_known(inverse, order, _scans.cumsum(starts) - 1)
        inverse = inverse._reshape(a.shape)
    if not return_index and not return_counts:
        return values[starts], None, inverse, None
    (first,) = _items.places_of(starts)
    index = _items.take_known(order, first) if return_index else None
    counts = None
    if return_counts:
        ends = full(first.size, values.size, np.int64)
        ends[:-1] = first[1:]
        counts = ends - first
    return _items.take_known(values, first), index, inverse, counts


@public()
def unique(
    ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *,
    equal_nan=True, sorted=True,
):  # fmt: skip
    """Find the distinct elements of an array, sorted.

    return_index: True returns the index of the first of each, too.
    return_inverse: True returns the number of each element among the distinct ones, too.
    return_counts: True returns how often each occurs, too.
    axis: parts along this axis are compared as a whole; None compares the elements of the flat array.
    equal_nan: whether equal NaNs count once.
    sorted: accepted for NumPy's signature; the result is always sorted.

    The number of distinct elements is read back from the device.

    >>> gpuarray.unique(gpuarray.array([3, 1, 3]), return_counts=True)
    (array([1, 3]), array([1, 2]))
    """
    ar = as_array(ar)
    if axis is not None:
        return _unique_parts(
            ar, _axes.normalize_axis(axis, ar.ndim), return_index, return_inverse, return_counts
        )  # fmt: skip
    values, index, inverse, counts = _unique_flat(
        ar, return_index, return_inverse, return_counts, equal_nan
    )
    return _with_extra(
        values,
        (return_index, index),
        (return_inverse, inverse),
        (return_counts, counts),
    )


def _with_extra(values, *results):
    extra = [result for wanted, result in results if wanted]
    return (values, *extra) if extra else values


def _unique_parts(a, axis, return_index, return_inverse, return_counts):
    """:func:`unique` of the parts along an axis, in the order of their first elements that differ."""
    moved = a.transpose([axis, *(i for i in range(a.ndim) if i != axis)])
    count = moved.shape[0]
    rows = moved._reshape(count, a.size // count if count else 0)
    order = arange_of(count)
    if rows.size:
        order = lexsort([rows[:, i] for i in range(rows.shape[1] - 1, -1, -1)])
    ordered = rows[order]
    starts = full(count, False, np.bool_)
    starts[:1] = True
    if count > 1 and rows.size:
        starts[1:] = (ordered[1:] != ordered[:-1]).any(1)
    number = _scans.cumsum(starts) - 1
    first = _apply("where", starts, arange_of(count), np.int64(0))
    first = first[starts]
    values = moved[order[first]]
    values = values.transpose([*range(1, axis + 1), 0, *range(axis + 1, a.ndim)]).copy(
        "C"
    )
    inverse, ends = empty(count, np.int64), full(first.size, count, np.int64)
    inverse[order] = number
    ends[:-1] = first[1:]
    return _with_extra(
        values, (return_index, order[first]), (return_inverse, inverse), (return_counts, ends - first)
    )  # fmt: skip


@public(array_api=True)
def unique_values(x, /):
    """Find the distinct elements, sorted. NaNs are all distinct, as in the array API.

    x: an array of any shape.

    Returns a vector of the dtype of ``x``. The number of its elements is known only when the device is done, so the call
    waits for it.

    >>> gpuarray.unique_values(gpuarray.array([3, 1, 3]))
    array([1, 3])
    """
    return unique(x, equal_nan=False)


@public(array_api=True)
def unique_counts(x, /):
    """Find the distinct elements and how often each occurs: a named tuple (values, counts).

    x: an array of any shape.

    The values are a sorted vector of the dtype of ``x``, the counts a vector of int64. NaNs are all distinct. The call
    waits for the device.

    >>> gpuarray.unique_counts(gpuarray.array([3, 1, 3])).counts
    array([1, 2])
    """
    return UniqueCountsResult(*unique(x, return_counts=True, equal_nan=False))


@public(array_api=True)
def unique_inverse(x, /):
    """Find the distinct elements and each element's number among them: a named tuple (values, inverse_indices).

    x: an array of any shape.

    The values are a sorted vector of the dtype of ``x``; the indices are int64 of the shape of ``x``, so that
    ``values[inverse_indices]`` is ``x``. NaNs are all distinct. The call waits for the device.

    >>> gpuarray.unique_inverse(gpuarray.array([3, 1, 3])).inverse_indices
    array([1, 0, 1])
    """
    return UniqueInverseResult(*unique(x, return_inverse=True, equal_nan=False))


@public(array_api=True)
def unique_all(x, /):
    """Find the distinct elements with their indices, inverse indices and counts.

    Returns a named tuple (values, indices, inverse_indices, counts).

    >>> gpuarray.unique_all(gpuarray.array([3, 1, 3])).indices
    array([1, 0])
    """
    return UniqueAllResult(*unique(x, True, True, True, equal_nan=False))
