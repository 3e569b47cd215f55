"""Functions that repeat, roll, delete and insert elements."""

from __future__ import annotations

import math
import operator

import numpy as np

from pycuda import _device_code, _driver
from pycuda._driver import ArrayBase
from pycuda.arrays.creation.conversion import as_array, check_width
from pycuda.arrays.creation.filled import empty, empty_like, full
from pycuda.arrays.registry import public
from pycuda.arrays.shapes import axes as _axes
from pycuda.arrays.shapes.joining import _along
from pycuda.arrays.shapes.views import broadcast_to


@public(array_api=True)
def tile(A, reps):
    """Repeat an array along each axis, in one pass.

    reps: the number of repetitions, or one number for each axis.

    >>> gpuarray.tile(gpuarray.array([1, 2]), (2, 2))
    array([[1, 2, 1, 2],
           [1, 2, 1, 2]])
    """
    array = as_array(A)
    counts = tuple(reps) if np.iterable(reps) else (reps,)
    counts = (1,) * (array.ndim - len(counts)) + tuple(map(operator.index, counts))
    if min(counts, default=0) < 0:
        raise ValueError(f"reps must not be negative: {counts}")
    shape = (1,) * (len(counts) - array.ndim) + array.shape
    between = [part for n in shape for part in (1, n)]
    repeated = [part for r, n in zip(counts, shape, strict=True) for part in (r, n)]
    view = broadcast_to(array._reshape(between), repeated)
    return view.copy("C")._reshape([r * n for r, n in zip(counts, shape, strict=True)])


@public(array_api=True)
def repeat(a, repeats, axis=None):
    """Repeat each element, or each part along an axis.

    repeats: the number of repetitions, or one number for each element. An array of the device is read back,
        because the numbers decide on the shape of the result.
    axis: the axis; None takes the elements in C order.

    Raises ValueError for negative numbers.

    >>> gpuarray.repeat(gpuarray.array([5, 6]), [2, 1])
    array([5, 5, 6])
    """
    array = as_array(a)
    if axis is None or array.ndim == 0:
        array, axis = array._ravel(), 0 if axis is None else axis
    axis = _axes.normalize_axis(axis, array.ndim)
    extent = array.shape[axis]
    check_width(repeats, "repeats")
    counts = repeats if isinstance(repeats, ArrayBase) else np.asarray(repeats)
    if counts.dtype.kind not in "iub":
        raise TypeError(f"repeats must be of integers, not of {counts.dtype}")
    if counts.size != 1:
        if counts.shape != (extent,):
            raise ValueError(
                f"counts of shape {counts.shape} do not fit an axis of {extent}"
            )
        return _repeat_each(array, counts, axis)
    counts = counts.get() if isinstance(counts, ArrayBase) else counts
    count = int(counts.reshape(())[()])
    if count < 0:
        raise ValueError("repeats must not be negative")
    shape = (*array.shape[: axis + 1], count, *array.shape[axis + 1 :])
    view = broadcast_to(array[_along(axis + 1, None)], shape)
    result = (*array.shape[:axis], extent * count, *array.shape[axis + 1 :])
    return view.copy("C")._reshape(result)


_WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.complex128}
_TILE = 2048  # results of a thread block
_MOST_AT_ONCE = 16384  # counts that one thread block adds up


def _repeat_each(array, counts, axis: int):
    """Repeat the parts along an axis by a vector of counts."""
    extent = array.shape[axis]
    ends, total = _ends_of(counts) if extent else (counts, 0)
    if total == 0:
        return array[_along(axis, slice(0, 0))].copy()
    direct = array.ndim == 1 and array._c_contiguous and array.dtype.itemsize in _WORDS
    result = empty(total, array.dtype if direct else np.int64)
    if _driver._array_threads_are_cores():
        name, block = "repeat_runs" if direct else "owners_of_runs", 1
        blocks = min(extent, 4 * _driver.Context.get_device().multiprocessor_count)
    else:
        name, block = "repeat" if direct else "owners", 256
        blocks = -(-total // _TILE)
    word = np.dtype(_WORDS[array.dtype.itemsize if direct else 8])
    _device_code.kernel("repeat", name, "T", word)(
        *([array] if direct else []), ends, extent, total, result,
        block=(block, 1, 1), grid=(blocks, 1),
    )  # fmt: skip
    return result if direct else array[_along(axis, result)]


def _ends_at_once(counts):
    """:func:`_ends_of` of few counts of the device, by one kernel."""
    counts = counts if counts._c_contiguous else counts.copy()
    ends, total = empty(counts.size, np.int64), empty((), np.int64)
    threads = 32 if _driver._array_threads_are_cores() else 1024
    _device_code.kernel("count_ends", "count_ends", "T threads", counts.dtype, threads)(
        counts, counts.size, ends, total, block=(threads, 1, 1), grid=(1, 1)
    )
    number = int(total.get())
    if number < 0:
        raise ValueError("repeats must not be negative")
    return ends, number


def _ends_of(counts):
    """The cumulative counts as an array of the device, and their sum. Raises ValueError for a negative count."""
    if isinstance(counts, ArrayBase) and counts.size <= _MOST_AT_ONCE:
        return _ends_at_once(counts)
    if not isinstance(counts, ArrayBase):
        if counts.size and counts.min() < 0:
            raise ValueError("repeats must not be negative")
        ends = np.cumsum(counts, dtype=np.int64)
        return as_array(ends), int(ends[-1]) if ends.size else 0
    ends = _driver._array_scan("sum", counts, 0, np.dtype(np.int64))
    last = ends[-1:]
    if counts.dtype.kind == "i":
        # Both numbers are read in one copy.
        both = empty(2, np.int64)
        both[:1] = last
        both[1:] = _driver._array_reduce("min", counts)
        total, least = both.get().tolist()
        if least < 0:
            raise ValueError("repeats must not be negative")
        return ends, total
    return ends, int(last.get()[0])


@public(array_api=True)
def roll(a, shift, axis=None):
    """Shift the elements along axes; elements that leave at one end come in at the other.

    shift: the number of places, one for all axes or one for each.
    axis: an int or several; None shifts the flat array.

    >>> gpuarray.roll(gpuarray.array([1, 2, 3, 4]), 1)
    array([4, 1, 2, 3])
    """
    array = as_array(a)
    if axis is None:
        return roll(array._ravel(), shift, 0)._reshape(array.shape)
    if type(shift) is int and type(axis) is int:
        total = {_axes.normalize_axis(axis, array.ndim): shift}
    else:
        total = _total_shifts(shift, axis, array.ndim)
    result = empty_like(array)
    if array.size:
        steps = tuple(step % array.shape[one] for one, step in total.items())
        _driver._roll(result, array, tuple(total), steps)
    return result


def _total_shifts(shift, axis, ndim: int) -> dict[int, int]:
    """The shift of each axis. An axis may occur more than once."""
    total: dict[int, int] = {}
    for step, one in np.broadcast(shift, axis):
        one = _axes.normalize_axis(one, ndim)
        total[one] = total.get(one, 0) + operator.index(step)
    return total


@public()
def delete(arr, obj, axis=None):
    """Copy an array without the parts at given indices.

    obj: an int, a slice, a list of ints, or a mask of bool.
    axis: the axis; None takes the elements of the flat array.

    Raises IndexError for an index outside.

    >>> gpuarray.delete(gpuarray.array([5, 6, 7]), 1)
    array([5, 7])
    """
    array = as_array(arr)
    if axis is None:
        array, axis = array._ravel(), 0
    axis = _axes.normalize_axis(axis, array.ndim)
    obj, extent = _on_host(obj), array.shape[axis]
    gone = _few_places(obj, extent)
    if gone is None:
        return array[_along(axis, np.delete(np.arange(extent), obj))]
    gone = sorted(set(gone))
    starts, ends = [0, *(place + 1 for place in gone)], [*gone, extent]
    kept = [
        array[_along(axis, slice(*both))] for both in zip(starts, ends, strict=True)
    ]
    return _joined(kept, axis)


@public()
def insert(arr, obj, values, axis=None):
    """Copy an array with values put in before given indices.

    obj: an int, a slice, a list of ints, or a mask of bool.
    values: an array or number that broadcasts to the parts, cast to the type of ``arr``.
    axis: the axis; None takes the elements of the flat array.

    >>> gpuarray.insert(gpuarray.array([5, 6]), 1, [9, 9])
    array([5, 9, 9, 6])
    """
    array = as_array(arr)
    if axis is None:
        array, axis = array._ravel(), 0
    axis = _axes.normalize_axis(axis, array.ndim)
    extent = array.shape[axis]
    if isinstance(values, (int, float, complex, np.generic)):
        values = np.asarray(
            values, array.dtype
        )  # raises an error for complex values and a real array
    values = as_array(values).astype(array.dtype, copy=False)
    places = _on_host(obj)
    one = not isinstance(places, slice) and np.ndim(places) == 0
    if one:
        values = values._reshape((1,) * (array.ndim - values.ndim) + values.shape)
        values = _moved_to(values, axis)
    few = _few_places(places, extent, ends=1)
    if few is not None:
        return _with_parts(array, axis, few, values, one)
    if one:
        place = operator.index(places)
        order = np.insert(np.arange(extent), [place] * values.shape[axis], -1)
    else:
        order = np.insert(np.arange(extent), places, -1)
        values = _in_order_of_places(values, places, array, axis)
    fresh = np.flatnonzero(order < 0)
    result = empty(
        (*array.shape[:axis], len(order), *array.shape[axis + 1 :]), array.dtype
    )
    result[_along(axis, np.flatnonzero(order >= 0))] = array
    result[_along(axis, fresh)] = values
    return result


_MOST_PARTS = 32  # an array cut into more parts is gathered element by element


def _few_places(obj, extent: int, ends: int = 0) -> list[int] | None:
    """A few ints as places on an axis. None for other indices: slices, masks, many ints, ints out of bounds.

    ends: 1 if the end of the axis is a place.
    """
    if isinstance(obj, (slice, bool, np.bool_)):
        return None
    given = np.asarray(obj)
    if given.dtype.kind not in "iu" or given.ndim > 1 or given.size > _MOST_PARTS // 2:
        return None
    places = [
        place + extent if place < 0 else place for place in given.ravel().tolist()
    ]
    return places if all(0 <= place < extent + ends for place in places) else None


def _joined(parts, axis: int):
    return _driver._join("concatenate", parts, axis, None, None, "same_kind", None)


def _with_parts(array, axis: int, places, values, one: bool):
    """The array with values in front of places: all values in front of a single place, or one for each place."""
    count = values.shape[axis] if one else len(places)
    shape = (*array.shape[:axis], count, *array.shape[axis + 1 :])
    while values.ndim > array.ndim and values.shape[0] == 1:  # as in an assignment
        values = values[0]
    values = broadcast_to(values, shape)
    parts, start = [], 0
    for i in sorted(range(len(places)), key=places.__getitem__):
        fresh = values if one else values[_along(axis, slice(i, i + 1))]
        parts += [array[_along(axis, slice(start, places[i]))], fresh]
        start = places[i]
    return _joined([*parts, array[_along(axis, slice(start, None))]], axis)


def _in_order_of_places(values, places, array, axis: int):
    """The values of insert() sorted by their places on the axis."""
    extent = array.shape[axis]
    if isinstance(places, slice):
        places = range(*places.indices(extent))
    given = np.asarray(places)
    if given.dtype.kind not in "iu" or given.size < 2:
        return values
    order = np.argsort(np.where(given < 0, given + extent, given), kind="stable")
    if values.ndim < array.ndim - axis or values.shape[axis - array.ndim] == 1:
        return values  # one value for all places
    return values[(..., order, *(slice(None),) * (array.ndim - axis - 1))]


def _moved_to(values, axis: int):
    """NumPy's rule for a single index: the first axis of the values becomes the axis of the insertion."""
    axes = list(range(1, values.ndim))
    axes.insert(axis, 0)
    return values.transpose(axes)


def _on_host(index):
    return index.get() if hasattr(index, "get") else index


@public()
def resize(a, new_shape):
    """Repeat the elements of an array, in C order, until a new shape is full.

    a: an array.
    new_shape: the extents of the result, an int or a tuple.

    Returns a new array. One without elements gives zeros. Raises ValueError for a negative extent.

    >>> gpuarray.resize(gpuarray.array([1, 2, 3]), (2, 2))
    array([[1, 2],
           [3, 1]])
    """
    array = as_array(a)._ravel()
    shape = tuple(new_shape) if np.iterable(new_shape) else (new_shape,)
    if min(shape, default=0) < 0:
        raise ValueError(f"a shape must not be negative: {shape}")
    count = math.prod(shape)
    if array.size == 0:
        return full(shape, 0, array.dtype)
    rows = empty((-(-count // array.size), array.size), array.dtype)
    _driver._array_assign(rows, array)
    rows = rows._reshape(rows.size)
    return (rows if rows.size == count else rows[:count])._reshape(shape)
