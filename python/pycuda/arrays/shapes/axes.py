"""Views and indexing of arrays on the device, by numpy's rules."""

from __future__ import annotations

from pycuda import _driver

# normalize_axis(axis, ndim): the number of an axis from the front. Raises NumPy's AxisError.
normalize_axis = _driver._axis_number
# normalize_axes(axes, ndim): a tuple of them; None means all. Raises ValueError for a repeated axis.
normalize_axes = _driver._axis_numbers


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


def fused_axes(axis, ndim: int):
    """The axes as an argument of a fused function: None for all, else a tuple of numbers from the front.

    NumPy's reductions accept the axes 0 and -1 of an array without axes.
    """
    if ndim == 0 and axis in (0, -1):
        return None
    return None if axis is None else normalize_axes(axis, ndim)
