"""Sorting, and functions that sort: partitions, largest elements, searches; see pycuda.gpuarray.

All sorts are stable. NaN comes after all numbers; complex numbers are ordered by their real parts,
then by their imaginary ones, as in numpy.
"""

from __future__ import annotations

import numpy as np

from pycuda import _driver
from pycuda._driver import _array_apply as _apply
from pycuda.arrays.creation.conversion import (
    as_array,
    fitting_integers,
    nearest_floats,
    wide_integers,
)
from pycuda.arrays.creation.filled import empty, zeros
from pycuda.arrays.indexing.items import take_known
from pycuda.arrays.indexing.selecting import take_along_axis, where
from pycuda.arrays.reductions import scans as _scans
from pycuda.arrays.registry import public
from pycuda.arrays.shapes import axes as _axes

_KINDS = (None, "quicksort", "mergesort", "heapsort", "stable")


def _sorted_axis(a, axis, kind, order):
    """The array and its axis to sort. For None, the array is flattened in C order."""
    if kind not in _KINDS:
        raise ValueError(f"sort kind must be one of {_KINDS[1:]}, not {kind!r}")
    if order is not None:
        raise ValueError("order= is for structs, which the device does not sort")
    a = as_array(a)
    if axis is None:
        return a._ravel(), 0
    return a, _axes.normalize_axis(axis, a.ndim)


def _complex_order(a, axis, descending, order=None):
    """Sort complex numbers in four groups: numbers, x + nan j, nan + y j, nan + nan j. Return the indices.

    order: indices that sort by other keys, which decide between equal numbers.
    """
    real, imag = _apply("real", a), _apply("imag", a)
    rank = _apply("isnan", real).astype(np.uint8) * 2 + _apply("isnan", imag)
    for key in (imag, real, rank):
        order = _driver._array_argsort(key, axis, descending, order)
    return order


def _argsort(a, axis, descending=False, order=None):
    if a.dtype.kind == "c":
        return _complex_order(a, axis, descending, order)
    return _driver._array_argsort(a, axis, descending, order)


def _sort(a, axis, descending=False):
    if a.dtype.kind == "c":
        return take_along_axis(a, _complex_order(a, axis, descending), axis)
    return _driver._array_sort(a, axis, descending)


@public(array_api=True)
def sort(a, axis=-1, kind=None, order=None, *, stable=None, descending=False, stream=None):  # fmt: skip
    """Return a sorted copy.

    axis: the axis, by default the last one; None sorts all elements as a vector.
    kind: accepted for NumPy's signature; sorting is always stable.
    order: None. Structs are not sorted.
    stable: accepted for NumPy's and the array API's signature.
    descending: True sorts from the largest element on. Equal elements keep their order.
    stream: the stream of the work, by default the current one.

    NaN comes last. By radix sort.

    >>> gpuarray.sort(gpuarray.array([3, 1, 2]))
    array([1, 2, 3])
    """
    with _driver._Work(stream):
        a, axis = _sorted_axis(a, axis, kind, order)
        return _sort(a, axis, descending)


@public(array_api=True)
def argsort(a, axis=-1, kind=None, order=None, *, stable=None, descending=False, stream=None):  # fmt: skip
    """Return the indices (int64) that sort an array; parameters as of :func:`sort`.

    NaN comes last. Complex numbers are sorted by real part, then by imaginary part.

    >>> gpuarray.argsort(gpuarray.array([3, 1, 2]))
    array([1, 2, 0])
    """
    with _driver._Work(stream):
        a = as_array(a)
        a = a._reshape(1) if a.ndim == 0 else a  # as in NumPy, the result has one axis
        a, axis = _sorted_axis(a, axis, kind, order)
        return _argsort(a, axis, descending)


@public()
def sort_complex(a):
    """Return the elements as complex numbers, sorted along the last axis by real part, then by imaginary part.

    a: an array of numbers.

    Returns complex64 for integers of 8 or 16 bits and complex64, else complex128, as NumPy. NaN comes last.

    >>> gpuarray.sort_complex(gpuarray.array([2 + 1j, 1 + 5j, 2 - 1j]))
    array([1.+5.j, 2.-1.j, 2.+1.j])
    """
    a = as_array(a)
    kind = np.complex64 if a.dtype.char in "bhBH" else np.complex128
    if a.dtype.kind == "c":
        return _sort(a, a.ndim - 1)
    return _sort(a, a.ndim - 1).astype(kind)  # real numbers are sorted faster


@public()
def lexsort(keys, axis=-1):
    """Return the indices (int64) that sort by several keys; the last key counts most.

    keys: a sequence of arrays of one shape, or the rows of an array.
    axis: the axis to sort along.

    >>> gpuarray.lexsort([gpuarray.array([1, 2, 1]), gpuarray.array([0, 0, 9])])
    array([0, 1, 2])
    """
    keys = [as_array(key) for key in keys]
    if not keys:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    if len({key.shape for key in keys}) != 1:
        raise ValueError(
            f"all keys need to be the same shape, not {[k.shape for k in keys]}"
        )
    if keys[0].ndim == 0 and axis in (0, -1):  # one element needs no sort
        return zeros((), np.int64)
    axis = _axes.normalize_axis(axis, keys[0].ndim)
    order = None
    for key in keys:
        order = _argsort(key, axis, order=order)
    return order


# Partitions and largest elements


def _ranks(kth, a, axis: int, kind) -> list[int]:
    if kind != "introselect":
        raise ValueError(f"kind must be 'introselect', not {kind!r}")
    if a.size == 0:  # as in NumPy, which does not validate ranks in this case
        return []
    ranks, extent = np.atleast_1d(np.asarray(kth)).ravel().tolist(), a.shape[axis]
    for k in ranks:
        if not -extent <= k < extent:
            raise ValueError(f"kth(={k}) out of bounds ({extent})")
    return [k % extent for k in ranks]


@public()
def partition(a, kth, axis=-1, kind="introselect", order=None):
    """Return a copy in which element ``kth`` is where a sort would put it: no element before it is larger, no
    element after it is smaller.

    kth: an index, or several.
    axis: the axis, by default the last one; None takes all elements as a vector.
    kind: "introselect", NumPy's only kind.
    order: None. Structs are not sorted.

    Long rows are parted by radix selection, which counts digits from the highest on; short rows, complex
    numbers and rows with several ``kth`` are sorted. Raises ValueError for an index outside.

    >>> gpuarray.partition(gpuarray.array([4, 2, 3, 1]), 0)[0]
    array(1)
    """
    return _partitioned(a, kth, axis, kind, order, places=False)


@public()
def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    """Return the indices (int64) of the elements in the order of :func:`partition`, with its parameters.

    kth: the places that have the element of a sorted array; smaller elements come before, larger ones after.
    axis: the axis, by default the last one; None takes all elements, in C order.
    kind, order: as of NumPy; ``order`` must be None.

    Raises ValueError for a place outside of the axis.

    >>> gpuarray.argpartition(gpuarray.array([4, 2, 3, 1]), 0)[0]
    array(3)
    """
    return _partitioned(a, kth, axis, kind, order, places=True)


def _partitioned(a, kth, axis, kind, order, places: bool):
    a, axis = _sorted_axis(a, axis, None, order)
    ranks = _ranks(kth, a, axis, kind)
    if len(ranks) != 1 or a.dtype.kind == "c":
        return (_argsort if places else _sort)(a, axis)
    return _driver._array_partition(a, axis, ranks[0], places=places)


@public(numpy=False)
def topk(a, k: int, axis=-1, largest: bool = True, stream=None):
    """Find the ``k`` largest elements along an axis, the largest first, and their indices (int64).

    k: how many elements. The axis has this extent in both results.
    largest: False finds the smallest elements, the smallest first.
    stream: the stream of the work, by default the current one.

    Of equal elements, the first ones are taken. NaN counts as larger than all numbers. Raises ValueError for a
    negative ``k`` and for one above the extent of the axis.

    >>> gpuarray.topk(gpuarray.array([3, 9, 4]), 2)
    (array([9, 4]), array([1, 2]))
    """
    with _driver._Work(stream):
        return _topk(a, k, axis, largest)


_FEW_KEYS = 4096


def _topk(a, k, axis, largest):
    a, axis = _sorted_axis(a, axis, None, None)
    if not 0 <= k <= a.shape[axis]:
        raise ValueError(f"k must be from 0 to {a.shape[axis]}, not {k}")
    first = (slice(None),) * axis + (slice(0, k),)
    if a.ndim == 1 and a.size <= _FEW_KEYS:
        # One kernel sorts them. All indices are valid.
        places = _argsort(a, axis, largest)[:k]
        return take_known(a, places), places
    if a.dtype.kind == "c" or not 0 < k <= a.shape[axis] // 4:
        places = _argsort(a, axis, largest)[first]
        return take_along_axis(a, places, axis), places
    places = _driver._array_partition(a, axis, k - 1, True, largest)[first]
    values = take_along_axis(a, places, axis)
    order = _argsort(values, axis, largest)
    return take_along_axis(values, order, axis), take_along_axis(places, order, axis)


@public(array_api=True)
def searchsorted(a, v, side="left", sorter=None, *, stream=None):
    """Find the indices (int64) at which elements would be inserted into a sorted vector.

    a: the vector, sorted, or by the indices ``sorter``, one for each element, if they are given.
    v: the elements, an array or a number.
    side: "left" gives the index before equal elements, "right" the index after them.
    stream: the stream of the work, by default the current one.

    >>> gpuarray.searchsorted(gpuarray.array([1, 3, 5]), gpuarray.array([0, 3, 9]))
    array([0, 1, 3])
    """
    if side not in ("left", "right"):
        raise ValueError(f"side must be 'left' or 'right', not {side!r}")
    with _driver._Work(stream):
        return _search(a, v, side, sorter)


def _search(a, v, side, sorter):
    a = as_array(a)
    if a.ndim != 1:
        raise ValueError("object too deep for desired array")
    if sorter is not None:
        sorter = as_array(sorter)
        if sorter.size != a.size:
            raise ValueError(f"sorter has {sorter.size} elements, a has {a.size}")
        a = take_along_axis(a, sorter, 0)
    wide = wide_integers(v)
    if wide is not None:
        return _search_wide(a, wide, side)
    v = as_array(v)
    common = np.result_type(a.dtype, v.dtype)
    a, v = a.astype(common, copy=False), v.astype(common, copy=False)
    if common.kind == "c":
        return _search_complex(a, v, side)
    return _driver._array_search(a, v, side == "right")


def _search_wide(a, v, side):
    """Search Python ints of which some fit no dtype."""
    if a.dtype.kind == "c":
        raise TypeError(
            "a complex array cannot be searched for integers of more than 64 bits"
        )
    if a.dtype.kind not in "iub":
        return _search_wide_in_floats(a, v, side)
    # Among integers, those that do not fit are below or above all elements.
    values, fits = fitting_integers(v, a.dtype)
    places = _search(a, values, side, None)
    beyond = np.where(np.asarray(v > 0, np.bool_), a.size, 0)
    return where(as_array(fits), places, as_array(beyond))


def _search_wide_in_floats(a, v, side):
    """Search the nearest float. An int below this float is placed before equal elements, an int above it after them."""
    nearest = nearest_floats(v)
    on_right = np.asarray(v > nearest if side == "left" else v >= nearest, np.bool_)
    left, right = (_search(a, nearest, one, None) for one in ("left", "right"))
    return where(as_array(on_right), right, left)


def _search_complex(a, v, side):
    """Sort ``a`` and ``v`` together. The position is the number of elements of ``a`` before that of ``v``."""
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
