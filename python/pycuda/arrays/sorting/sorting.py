"""Sorting, and what is made of it; see pycuda.gpuarray.

All sorts are stable. NaN comes after all numbers; complex numbers are ordered by their real parts,
then by their imaginary ones, as in numpy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pycuda import _driver
from pycuda._driver import ArrayBase
from pycuda._driver import _array_apply as _apply
from pycuda.arrays.creation.filled import arange_of, as_array, empty, full
from pycuda.arrays.indexing.selecting import take_along_axis
from pycuda.arrays.reductions import scans as _scans
from pycuda.arrays.shapes import axes as _indexing


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


_KINDS = (None, "quicksort", "mergesort", "heapsort", "stable")


def _sorted_axis(a, axis, kind, order):
    """The array and axis to sort along, where None is all elements in C order."""
    if kind not in _KINDS:
        raise ValueError(f"sort kind must be one of {_KINDS[1:]}, not {kind!r}")
    if order is not None:
        raise ValueError("order= is for structs, which the device does not sort")
    a = as_array(a)
    if axis is None:
        return a._ravel(), 0
    return a, _indexing.normalize_axis(axis, a.ndim)


def _complex_order(a, axis, descending):
    """The places of sorted complex numbers: numbers, x + nan j, nan + y j, nan + nan j."""
    real, imag = _apply("real", a), _apply("imag", a)
    rank = _apply("isnan", real).astype(np.uint8) * 2 + _apply("isnan", imag)
    order = None
    for key in (imag, real, rank):
        order = _driver._array_argsort(key, axis, descending, order)
    return order


def _argsort(a, axis, descending=False):
    if a.dtype.kind == "c":
        return _complex_order(a, axis, descending)
    return _driver._array_argsort(a, axis, descending)


def _sort(a, axis, descending=False):
    if a.dtype.kind == "c":
        return take_along_axis(a, _complex_order(a, axis, descending), axis)
    return _driver._array_sort(a, axis, descending)


def sort(a, axis=-1, kind=None, order=None, *, stable=None, descending=False, stream=None):  # fmt: skip
    """A sorted copy along ``axis``; None sorts all elements. ``descending`` turns the order.

    >>> gpuarray.sort(x, axis=0)
    """
    with _driver._Using(stream):
        a, axis = _sorted_axis(a, axis, kind, order)
        return _sort(a, axis, descending)


def argsort(a, axis=-1, kind=None, order=None, *, stable=None, descending=False, stream=None):  # fmt: skip
    """The places (int64) of the elements in sorted order; equal ones stay in their order."""
    with _driver._Using(stream):
        a, axis = _sorted_axis(a, axis, kind, order)
        return _argsort(a, axis, descending)


def sort_complex(a):
    """All as complex numbers, sorted along the last axis."""
    a = as_array(a)
    kind = (
        np.complex64
        if a.dtype.itemsize <= 2 or a.dtype == np.float32
        else np.complex128
    )
    return _sort(a if a.dtype.kind == "c" else a.astype(kind), a.ndim - 1)


def lexsort(keys, axis=-1):
    """The order by several keys, the last one first: rows of an array or a sequence of arrays."""
    keys = [as_array(key) for key in keys]
    if not keys:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    if len({key.shape for key in keys}) != 1:
        raise ValueError(
            f"all keys need to be the same shape, not {[k.shape for k in keys]}"
        )
    axis = _indexing.normalize_axis(axis, keys[0].ndim)
    order = None
    for key in keys:
        parts = (key,)
        if key.dtype.kind == "c":
            real, imag = _apply("real", key), _apply("imag", key)
            rank = _apply("isnan", real).astype(np.uint8) * 2 + _apply("isnan", imag)
            parts = (imag, real, rank)
        for part in parts:
            order = _driver._array_argsort(part, axis, False, order)
    return order


# Parts of what is sorted


def _ranks(kth, extent: int) -> list[int]:
    ranks = np.atleast_1d(np.asarray(kth)).ravel().tolist()
    for k in ranks:
        if not -extent <= k < extent:
            raise ValueError(f"kth(={k}) out of bounds ({extent})")
    return [k % extent for k in ranks]


def partition(a, kth, axis=-1, kind="introselect", order=None):
    """A copy in which element ``kth`` along ``axis`` is where it is in the sorted array, smaller
    ones before it and greater ones after it. (For several ``kth`` all are sorted.)"""
    a, axis = _sorted_axis(a, axis, None, order)
    ranks = _ranks(kth, a.shape[axis])
    if len(ranks) != 1 or a.dtype.kind == "c":
        return _sort(a, axis)
    return _driver._array_partition(a, axis, ranks[0])


def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    """The places of the elements in the order of :func:`partition`."""
    a, axis = _sorted_axis(a, axis, None, order)
    ranks = _ranks(kth, a.shape[axis])
    if len(ranks) != 1 or a.dtype.kind == "c":
        return _argsort(a, axis)
    return _driver._array_partition(a, axis, ranks[0], places=True)


def topk(a, k: int, axis=-1, largest: bool = True, stream=None):
    """The ``k`` largest (or smallest) elements along ``axis``, best first, and their places.

    Of equal ones those that come first. NaN counts as greater than any number. Raises ValueError
    for a ``k`` that is not there.
    """
    with _driver._Using(stream):
        return _topk(a, k, axis, largest)


def _topk(a, k, axis, largest):
    a, axis = _sorted_axis(a, axis, None, None)
    if not 0 <= k <= a.shape[axis]:
        raise ValueError(f"k must be from 0 to {a.shape[axis]}, not {k}")
    first = (slice(None),) * axis + (slice(0, k),)
    if a.dtype.kind == "c" or not 0 < k <= a.shape[axis] // 4:
        places = _argsort(a, axis, largest)[first]
        return take_along_axis(a, places, axis), places
    places = _driver._array_partition(a, axis, k - 1, True, largest)[first]
    values = take_along_axis(a, places, axis)
    order = _argsort(values, axis, largest)
    return take_along_axis(values, order, axis), take_along_axis(places, order, axis)


def searchsorted(a, v, side="left", sorter=None, *, stream=None):
    """Where ``v``'s elements would go in the sorted ``a`` (int64): before equal ones, or behind
    them with ``side="right"``."""
    if side not in ("left", "right"):
        raise ValueError(f"side must be 'left' or 'right', not {side!r}")
    with _driver._Using(stream):
        return _search(a, v, side, sorter)


def _search(a, v, side, sorter):
    a = as_array(a)
    if a.ndim != 1:
        raise ValueError("object too deep for desired array")
    if not isinstance(v, ArrayBase):
        v = as_array(np.asarray(v))
    if sorter is not None:
        a = take_along_axis(a, sorter, 0)
    common = np.result_type(a.dtype, v.dtype)
    a, v = a.astype(common, copy=False), v.astype(common, copy=False)
    if common.kind == "c":
        return _search_complex(a, v, side)
    return _driver._array_search(a, v, side == "right")


def _search_complex(a, v, side):
    """By ranks: a and v are sorted together; a's elements in front of v's tell the place."""
    flat = v._ravel()
    joined = empty(a.size + flat.size, a.dtype)
    first, second = (flat, a) if side == "left" else (a, flat)
    joined[: first.size] = first
    joined[first.size :] = second
    order = _argsort(joined, 0)
    is_a = order >= flat.size if side == "left" else order < a.size
    before = _scans.cumsum(is_a)
    places = empty(joined.size, np.int64)
    places[order] = before
    result = places[: flat.size] if side == "left" else places[a.size :]
    return result.copy()._reshape(v.shape)


# Sets


def _starts(values, equal_nan: bool):
    """Where a sorted array has another element than before."""
    starts = empty(values.size, np.bool_)
    starts[:1] = True
    _apply("not_equal", values[1:], values[:-1], out=starts[1:])
    if equal_nan and values.dtype.kind in "fcV":
        isnan = _apply("isnan", values)
        starts[1:] &= ~(isnan[1:] & isnan[:-1])
    return starts


def _unique_flat(a, return_index, return_inverse, return_counts, equal_nan):
    flat = a._ravel()
    if return_index or return_inverse:
        order = _argsort(flat, 0)
        values = take_along_axis(flat, order, 0)
    else:
        order, values = None, _sort(flat, 0)
    if flat.size == 0:
        nothing = empty(0, np.int64)
        return values, nothing, nothing._reshape(a.shape), nothing
    starts = _starts(values, equal_nan)
    inverse = None
    if return_inverse:
        inverse = empty(values.size, np.int64)
        inverse[order] = _scans.cumsum(starts) - 1
        inverse = inverse._reshape(a.shape)
    if not return_index and not return_counts:
        return values[starts], None, inverse, None
    (first,) = _indexing.places_of(starts)
    index = take_along_axis(order, first, 0) if return_index else None
    counts = None
    if return_counts:
        ends = full(first.size, values.size, np.int64)
        ends[:-1] = first[1:]
        counts = ends - first
    return take_along_axis(values, first, 0), index, inverse, counts


def unique(
    ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *,
    equal_nan=True, sorted=True,
):  # fmt: skip
    """The sorted elements of an array without repetitions, with what else is asked for: the first
    place of each (``return_index``), each element's number among them, and how often it occurs.

    Of equal NaNs one stays with ``equal_nan``. With ``axis``, parts along it are compared as a whole.
    """
    ar = as_array(ar)
    if axis is not None:
        return _unique_parts(
            ar, _indexing.normalize_axis(axis, ar.ndim), return_index, return_inverse, return_counts
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


def unique_values(x, /):
    """The elements without repetitions; NaNs all stay, as the array API has it."""
    return unique(x, equal_nan=False)


def unique_counts(x, /):
    """The elements without repetitions and how often each occurs."""
    return UniqueCountsResult(*unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x, /):
    """The elements without repetitions, and each element's number among them."""
    return UniqueInverseResult(*unique(x, return_inverse=True, equal_nan=False))


def unique_all(x, /):
    """All that :func:`unique` can tell."""
    return UniqueAllResult(*unique(x, True, True, True, equal_nan=False))
