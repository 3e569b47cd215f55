"""numpy's functions that make one array of several, or a larger one of one."""

from __future__ import annotations

import math
import operator

import numpy as np

from pycuda import _driver
from pycuda.arrays.creation.filled import as_array, empty, empty_like, full
from pycuda.arrays.shapes import axes as _indexing
from pycuda.arrays.shapes.views import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
)
from pycuda.arrays.ufuncs.universal_functions import UFUNCS


def _along(axis: int, part) -> tuple:
    return (slice(None),) * axis + (part,)


def _several(arrays, what: str) -> list:
    arrays = [as_array(array) for array in arrays]
    if not arrays:
        raise ValueError(f"need at least one array to {what}")
    return arrays


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
    axis = _indexing.normalize_axis(axis, arrays[0].ndim)
    shape = _joined_shape(arrays, axis)
    if out is None:
        wanted = dtype or np.result_type(*(array.dtype for array in arrays))
        out = empty(shape, np.dtype(wanted), allocator or _allocator_of(arrays))
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


concat = concatenate


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


def stack(arrays, axis=0, out=None, allocator=None, *, dtype=None, casting="same_kind"):
    """The arrays, all of one shape, along a new axis; ``allocator`` as of :func:`concatenate`."""
    arrays = _several(arrays, "stack")
    if len({array.shape for array in arrays}) != 1:
        raise ValueError(
            f"all arrays must have the same shape, not {[a.shape for a in arrays]}"
        )
    axis = _indexing.normalize_axis(axis, arrays[0].ndim + 1)
    arrays = [array[_along(axis, None)] for array in arrays]
    return concatenate(
        arrays, axis, out, dtype=dtype, casting=casting, allocator=allocator
    )


def vstack(tup, *, dtype=None, casting: str = "same_kind"):
    """The arrays one below the other."""
    arrays = [atleast_2d(array) for array in tup]
    return concatenate(arrays, 0, dtype=dtype, casting=casting)


row_stack = vstack


def hstack(tup, *, dtype=None, casting: str = "same_kind"):
    """The arrays side by side: along the second axis; vectors along their only one."""
    arrays = [atleast_1d(array) for array in _several(tup, "stack")]
    axis = 0 if arrays[0].ndim == 1 else 1
    return concatenate(arrays, axis, dtype=dtype, casting=casting)


def dstack(tup):
    """The arrays along the third axis."""
    return concatenate([atleast_3d(array) for array in tup], 2)


def column_stack(tup):
    """The arrays side by side; vectors are columns."""
    arrays = [as_array(array) for array in tup]
    columns = [a if a.ndim > 1 else a._reshape(-1, 1) for a in arrays]
    return concatenate(columns, 1)


def append(arr, values, axis=None):
    """``values`` behind the elements of ``arr``."""
    return concatenate((arr, as_array(values)), axis)


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


def tile(A, reps):
    """``A`` repeated ``reps`` times along each axis, in one pass."""
    array = as_array(A)
    counts = tuple(reps) if np.iterable(reps) else (reps,)
    counts = (1,) * (array.ndim - len(counts)) + tuple(map(operator.index, counts))
    if min(counts, default=0) < 0:
        raise ValueError(f"reps must not be negative: {counts}")
    shape = (1,) * (len(counts) - array.ndim) + array.shape
    between = [part for n in shape for part in (1, n)]
    repeated = [part for r, n in zip(counts, shape, strict=True) for part in (r, n)]
    view = _indexing.broadcast_to(array._reshape(between), repeated)
    return view.copy("C")._reshape([r * n for r, n in zip(counts, shape, strict=True)])


def repeat(a, repeats, axis=None):
    """Each element (or part along ``axis``) ``repeats`` times: an int, or one for each.

    An array of counts that lives on the device is read back: it decides on the result's shape.
    """
    array = as_array(a)
    if axis is None:
        array, axis = array._ravel(), 0
    axis = _indexing.normalize_axis(axis, array.ndim)
    counts = np.asarray(repeats.get() if hasattr(repeats, "get") else repeats)
    if counts.dtype.kind not in "iub":
        raise TypeError(f"repeats must be of integers, not of {counts.dtype}")
    if counts.size and counts.min() < 0:
        raise ValueError("repeats must not be negative")
    extent = array.shape[axis]
    if counts.size != 1:
        places = np.repeat(np.arange(extent), counts)
        return array[_along(axis, places)]
    count = int(counts.reshape(())[()])
    shape = (*array.shape[: axis + 1], count, *array.shape[axis + 1 :])
    view = _indexing.broadcast_to(array[_along(axis + 1, None)], shape)
    result = (*array.shape[:axis], extent * count, *array.shape[axis + 1 :])
    return view.copy("C")._reshape(result)


def roll(a, shift, axis=None):
    """The elements moved on by ``shift``; those that leave at one end come in at the other."""
    array = as_array(a)
    if axis is None:
        return roll(array._ravel(), shift, 0)._reshape(array.shape)
    shifts, axes = np.broadcast_arrays(shift, axis)
    total: dict[int, int] = {}
    for step, one in zip(shifts.ravel().tolist(), axes.ravel().tolist(), strict=True):
        one = _indexing.normalize_axis(one, array.ndim)
        total[one] = total.get(one, 0) + step
    result = empty_like(array)
    if array.size:
        _roll_parts(result, array, sorted(total.items()))
    return result


def _roll_parts(result, array, steps) -> None:
    """Each axis is cut in two, whose parts change places."""
    if not steps:
        result._assign(array)
        return
    (axis, step), *rest = steps
    extent = array.shape[axis]
    step %= extent
    _roll_parts(
        result[_along(axis, slice(step, None))],
        array[_along(axis, slice(None, extent - step))],
        rest,
    )
    if step:
        _roll_parts(
            result[_along(axis, slice(None, step))],
            array[_along(axis, slice(extent - step, None))],
            rest,
        )


def delete(arr, obj, axis=None):
    """The array without the parts that ``obj`` (an int, slice, list or mask) selects."""
    array = as_array(arr)
    if axis is None:
        array, axis = array._ravel(), 0
    axis = _indexing.normalize_axis(axis, array.ndim)
    kept = np.delete(np.arange(array.shape[axis]), _on_host(obj))
    return array[_along(axis, kept)]


def insert(arr, obj, values, axis=None):
    """The array with ``values`` before the places ``obj``."""
    array = as_array(arr)
    if axis is None:
        array, axis = array._ravel(), 0
    axis = _indexing.normalize_axis(axis, array.ndim)
    extent = array.shape[axis]
    values = as_array(values).astype(array.dtype, copy=False)
    places = _on_host(obj)
    one = not isinstance(places, slice) and np.ndim(places) == 0
    if one:
        values = values._reshape((1,) * (array.ndim - values.ndim) + values.shape)
        values = _moved_to(values, axis)
        order = np.insert(np.arange(extent), [int(places)] * values.shape[axis], -1)
    else:
        order = np.insert(np.arange(extent), places, -1)
    fresh = np.flatnonzero(order < 0)
    result = empty(
        (*array.shape[:axis], len(order), *array.shape[axis + 1 :]), array.dtype
    )
    result[_along(axis, np.flatnonzero(order >= 0))] = array
    result[_along(axis, fresh)] = values
    return result


def _moved_to(values, axis: int):
    """numpy's rule for one place: the first axis of the values is that of the insertion."""
    axes = list(range(1, values.ndim))
    axes.insert(axis, 0)
    return values.transpose(axes)


def _on_host(index):
    return index.get() if hasattr(index, "get") else index


def resize(a, new_shape):
    """The elements over and over, as many as ``new_shape`` holds."""
    array = as_array(a)._ravel()
    shape = tuple(new_shape) if np.iterable(new_shape) else (new_shape,)
    if min(shape, default=0) < 0:
        raise ValueError(f"a shape must not be negative: {shape}")
    count = math.prod(shape)
    if array.size == 0:
        return full(shape, 0, array.dtype)
    return tile(array, -(-count // array.size))[:count]._reshape(shape)


# Padding

_BY_PLACE = {"edge", "reflect", "symmetric", "wrap"}
_STATISTICS = {"maximum": "max", "minimum": "min", "mean": "mean"}
_KEYWORDS = {
    "constant": {"constant_values"},
    "linear_ramp": {"end_values"},
    "reflect": {"reflect_type"},
    "symmetric": {"reflect_type"},
    **{mode: {"stat_length"} for mode in _STATISTICS},
}


def pad(array, pad_width, mode="constant", **kwargs):
    """``array`` with a border: ``pad_width`` is (before, after), for all axes or for each.

    All modes of numpy but "median", functions, and ``reflect_type="odd"``, which raise TypeError.
    """
    array = as_array(array)
    if isinstance(pad_width, dict):
        widths = np.zeros((array.ndim, 2), np.int64)
        for axis, width in pad_width.items():
            widths[axis] = width
    else:
        widths = np.broadcast_to(_on_host(pad_width), (array.ndim, 2))
    if widths.dtype.kind not in "iu":
        raise TypeError(f"pad_width must be of integers, not of {widths.dtype}")
    if widths.size and widths.min() < 0:
        raise ValueError("pad_width must not be negative")
    if mode not in ("constant", "empty", "linear_ramp", *_BY_PLACE, *_STATISTICS):
        raise TypeError(f"pad() of a GPUArray has no mode {mode!r}")
    for name in kwargs.keys() - _KEYWORDS.get(mode, set()):
        raise ValueError(f"pad() has no keyword {name!r} with mode {mode!r}")
    if kwargs.get("reflect_type", "even") != "even":
        raise TypeError("pad() of a GPUArray has only the reflect_type 'even'")
    if mode in _BY_PLACE:
        return _pad_by_place(array, widths, mode)
    return _pad_axes(array, widths, mode, kwargs)


def _pad_by_place(array, widths, mode):
    for axis, width in enumerate(widths.tolist()):
        if any(width):
            places = np.pad(np.arange(array.shape[axis]), width, mode=mode)
            array = array[_along(axis, places)]
    return array if widths.any() else array.copy()


def _pad_axes(array, widths, mode, options):
    padded = [n + sum(w) for n, w in zip(array.shape, widths.tolist(), strict=True)]
    result = empty(padded, array.dtype)
    inner = tuple(
        slice(before, before + n)
        for n, (before, _) in zip(array.shape, widths.tolist(), strict=True)
    )
    result[inner] = array
    if mode == "empty":
        return result
    for axis in range(array.ndim):
        # The axes before this one are complete, those behind it still have their borders unset.
        part = result[(slice(None),) * axis + (slice(None), *inner[axis + 1 :])]
        _pad_axis(part, array.ndim, axis, widths[axis].tolist(), mode, options)
    return result


def _pad_axis(part, ndim, axis, width, mode, options):
    before, after = width
    extent = part.shape[axis] - before - after
    middle = part[_along(axis, slice(before, before + extent))]
    sides = (
        (0, slice(0, before), before),
        (1, slice(before + extent, None), after),
    )
    for side, place, count in sides:
        if count:
            target = part[_along(axis, place)]
            target._assign(
                _border(middle, ndim, axis, side, count, mode, options, target.dtype)
            )


def _option(value, ndim: int, axis: int, side: int):
    return np.broadcast_to(_on_host(value), (ndim, 2))[axis, side]


def _border(middle, ndim, axis, side, count, mode, options, dtype):
    """What stands on one side of the array along an axis."""
    if mode == "constant":
        value = _option(options.get("constant_values", 0), ndim, axis, side)
        return np.asarray(value).astype(dtype)
    if mode == "linear_ramp":
        end = _option(options.get("end_values", 0), ndim, axis, side)
        return _ramp(middle, axis, side, count, end, dtype)
    length = options.get("stat_length")
    if length is not None:
        length = min(int(_option(length, ndim, axis, side)), middle.shape[axis])
        if length < 1:
            raise ValueError(f"stat_length must be at least 1, not {length}")
        part = slice(0, length) if side == 0 else slice(-length, None)
        middle = middle[_along(axis, part)]
    value = getattr(middle, _STATISTICS[mode])(axis, keepdims=True)
    if mode == "mean" and dtype.kind in "iu":
        value = UFUNCS["rint"](value)
    return value


def _ramp(middle, axis, side, count, end, dtype):
    edge = middle[_along(axis, slice(0, 1) if side == 0 else slice(-1, None))]
    steps = np.arange(count) if side == 0 else np.arange(count, 0, -1) - 1
    wide = np.result_type(dtype, np.float64) if dtype.kind in "iub" else dtype
    shape = [1] * middle.ndim
    shape[axis] = count
    share = as_array((steps / count).astype(wide).reshape(shape))
    ramp = (edge.astype(wide) - wide.type(end)) * share + wide.type(end)
    return UFUNCS["floor"](ramp) if dtype.kind in "iu" else ramp
