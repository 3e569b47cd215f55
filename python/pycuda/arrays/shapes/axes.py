"""Views and indexing of arrays on the device, by numpy's rules."""

from __future__ import annotations

import math
import operator

import numpy as np

from pycuda import _driver


def normalize_axis(axis: int, ndim: int) -> int:
    """Convert a negative axis to its number from the front. Raises NumPy's AxisError."""
    index = operator.index(axis)
    if not -ndim <= index < ndim:
        raise np.exceptions.AxisError(axis, ndim)
    return index % ndim


def complete_shape(shape, size: int) -> tuple[int, ...]:
    """Replace -1 in a shape by the extent that gives ``size`` elements."""
    shape = wanted = tuple(operator.index(extent) for extent in shape)
    if shape.count(-1) > 1:
        raise ValueError("can only specify one unknown dimension")
    if -1 in shape:
        known = -math.prod(shape)
        if known == 0 or size % known:
            raise _wrong_size(wanted, size)
        shape = tuple(size // known if extent == -1 else extent for extent in shape)
    if math.prod(shape) != size or any(extent < 0 for extent in shape):
        raise _wrong_size(wanted, size)
    return shape


def _wrong_size(shape: tuple[int, ...], size: int) -> ValueError:
    return ValueError(
        f"total size of new array must be unchanged: the array has {size} elements, which do not "
        f"fit shape {shape}"
    )


def shape_of_arguments(shape: tuple, size: int) -> tuple[int, ...]:
    """Read the arguments of reshape(): a shape, or its extents as several arguments. Replaces -1."""
    if len(shape) == 1 and not isinstance(shape[0], (int, np.integer)):
        shape = tuple(shape[0])
    return complete_shape(shape, size)


def contiguous_strides(shape, itemsize: int, order: str) -> list[int]:
    """The strides of an array without gaps in ``order`` "C" or "F"."""
    strides, step = [0] * len(shape), itemsize
    axes = range(len(shape)) if order == "F" else reversed(range(len(shape)))
    for axis in axes:
        strides[axis] = step
        step *= max(shape[axis], 1)
    return strides


def part_of(ary, part: int):
    """A view of the real (0) or the imaginary (1) parts; of a real array the array itself."""
    if ary.dtype.kind != "c":
        return ary
    dtype = ary.dtype.type(0).real.dtype
    return ary._view(part * dtype.itemsize, ary.shape, ary.strides, dtype)


def last_axis_in_memory(ary) -> int | None:
    """The axis with the smallest step; None without axes."""
    if not ary.shape:
        return None
    return min(reversed(range(ary.ndim)), key=lambda axis: abs(ary.strides[axis]))


def transpose(ary, axes=None):
    """A view with the axes in another order."""
    if axes is None:
        return _driver._array_transpose(ary)
    axes = [normalize_axis(axis, ary.ndim) for axis in axes]
    if sorted(axes) != list(range(ary.ndim)):
        raise ValueError(f"axes {tuple(axes)} do not match an array of {ary.ndim} axes")
    shape = [ary.shape[axis] for axis in axes]
    return ary._view(0, shape, [ary.strides[axis] for axis in axes])


def squeeze(ary, axis=None):
    """A view without axes of length 1."""
    if axis is None:
        gone = {i for i, extent in enumerate(ary.shape) if extent == 1}
    else:
        axes = axis if isinstance(axis, tuple) else (axis,)
        if ary.ndim == 0 and axis in (0, -1):  # as in NumPy
            axes = ()
        gone = {normalize_axis(one, ary.ndim) for one in axes}
        if any(ary.shape[i] != 1 for i in gone):
            raise ValueError(
                "cannot select an axis to squeeze out which has size not equal to one"
            )
    kept = [i for i in range(ary.ndim) if i not in gone]
    return ary._view(0, [ary.shape[i] for i in kept], [ary.strides[i] for i in kept])


def diagonal(ary, offset: int = 0, axis1: int = 0, axis2: int = 1):
    """A view of a diagonal of two axes, which becomes the last axis."""
    if ary.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    first, second = normalize_axis(axis1, ary.ndim), normalize_axis(axis2, ary.ndim)
    if first == second:
        raise ValueError("axis1 and axis2 cannot be the same")
    row, column = max(0, -offset), max(0, offset)
    length = max(0, min(ary.shape[first] - row, ary.shape[second] - column))
    start = row * ary.strides[first] + column * ary.strides[second] if length else 0
    rest = [axis for axis in range(ary.ndim) if axis not in (first, second)]
    shape = [*(ary.shape[axis] for axis in rest), length]
    step = ary.strides[first] + ary.strides[second]
    return ary._view(start, shape, [*(ary.strides[axis] for axis in rest), step])


def fused_axes(axis, ndim: int):
    """The axes as an argument of a fused function: None for all, else a tuple of numbers from the front.

    NumPy's reductions accept the axes 0 and -1 of an array without axes.
    """
    if ndim == 0 and axis in (0, -1):
        return None
    return None if axis is None else normalize_axes(axis, ndim)


def normalize_axes(axis, count: int) -> tuple[int, ...]:
    """Convert axes to numbers from the front; None means all. Raises ValueError for a repeated axis."""
    if axis is None:
        return tuple(range(count))
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple(normalize_axis(one, count) for one in axes)
    if len(set(axes)) != len(axes):
        raise ValueError(f"an axis is repeated in {axis}")
    return axes
