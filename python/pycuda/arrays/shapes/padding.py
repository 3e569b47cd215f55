"""Arrays with borders around them: pad()."""

from __future__ import annotations

import math

import numpy as np

from pycuda import _driver
from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.creation.filled import empty, full
from pycuda.arrays.registry import public
from pycuda.arrays.shapes.joining import _along
from pycuda.arrays.shapes.repeating import _on_host
from pycuda.arrays.ufuncs.universal_functions import UFUNCS

# Padding

# Elements that a fill writes in the time of a few launches, on a CPU and on a GPU.
_FEW = {True: 1 << 16, False: 1 << 22}
_BY_PLACE = {"edge", "reflect", "symmetric", "wrap"}
_STATISTICS = {"maximum": "max", "minimum": "min", "mean": "mean"}
_KEYWORDS = {
    "constant": {"constant_values"},
    "linear_ramp": {"end_values"},
    "reflect": {"reflect_type"},
    "symmetric": {"reflect_type"},
    **{mode: {"stat_length"} for mode in _STATISTICS},
}


@public()
def pad(array, pad_width, mode="constant", **kwargs):
    """Put a border around an array.

    pad_width: the extents of the border: one int, (before, after) for all axes, or such a pair for each axis.
    mode: "constant", "edge", "linear_ramp", "maximum", "mean", "minimum", "reflect", "symmetric", "wrap" or
        "empty", as in NumPy. "median", functions and ``reflect_type="odd"`` raise TypeError.

    Keywords depend on the mode: ``constant_values``, ``end_values``, ``stat_length``.

    >>> gpuarray.pad(gpuarray.array([1, 2, 3]), (1, 2), "edge")
    array([1, 1, 2, 3, 3, 3])
    """
    array = as_array(array)
    if isinstance(pad_width, int) and pad_width > 0:
        widths = np.full((array.ndim, 2), pad_width)
    elif isinstance(pad_width, dict):
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
    if mode not in ("constant", "empty"):
        for axis, width in enumerate(widths):
            if array.shape[axis] == 0 and width.any():
                raise ValueError(
                    f"mode {mode!r} cannot extend axis {axis}, which is empty; modes 'constant' and 'empty' can"
                )
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
    extents = list(zip(array.shape, widths.tolist(), strict=True))
    padded = [before + n + after for n, (before, after) in extents]
    inner = tuple([slice(before, before + n) for n, (before, _) in extents])
    few = math.prod(padded) <= _FEW[_driver._array_threads_are_cores()]
    if mode == "constant" and few:
        values = np.asarray(_on_host(options.get("constant_values", 0)))
        if values.size == 1:
            # One launch for all borders, which writes the other elements as well.
            value = values.reshape(()).astype(array.dtype)[()]
            result = full(padded, value, array.dtype)
            result[inner] = array
            return result
    result = empty(padded, array.dtype)
    result[inner] = array
    if mode == "empty":
        return result
    for axis in range(array.ndim):
        # The axes before this one are complete. The borders of later axes are not set yet.
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
    """The border on one side of an axis."""
    if mode == "constant":
        value = _option(options.get("constant_values", 0), ndim, axis, side)
        value = np.asarray(value).astype(dtype)
        return value if dtype.kind == "V" else value[()]  # numbers need no copy
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
