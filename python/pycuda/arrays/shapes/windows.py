"""Windows that move over an array, as views."""

from __future__ import annotations

import operator

from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.registry import public
from pycuda.arrays.shapes.axes import normalize_axes


@public()
def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    """View an array as all its windows of a shape. The windows overlap; no element is copied.

    x: an array.
    window_shape: the extent of a window along each axis of ``axis``; an int for one axis.
    axis: an int or several; None for all axes.
    subok: whether the view has the class of ``x``; it has this class also with False.
    writeable: whether the view can be written. Windows share elements, so the default is False.

    The view has the axes of ``x``, shorter by the window less 1, followed by those of the window. Raises ValueError
    for a window that is larger than ``x``. It is numpy.lib.stride_tricks.sliding_window_view for arrays of the device.

    >>> gpuarray.sliding_window_view(gpuarray.array([1, 2, 3, 4]), 3)
    array([[1, 2, 3],
           [2, 3, 4]])
    """
    array = as_array(x)
    try:
        window = (operator.index(window_shape),)
    except TypeError:
        window = tuple(map(operator.index, window_shape))
    if min(window, default=0) < 0:
        raise ValueError("window_shape cannot contain negative values")
    axes = (
        tuple(range(array.ndim)) if axis is None else _axes_in_order(axis, array.ndim)
    )
    if len(window) != len(axes):
        raise ValueError(f"window_shape has {len(window)} extents for {len(axes)} axes")
    shape, strides = list(array.shape), list(array.strides)
    for one, extent in zip(axes, window, strict=True):
        strides.append(array.strides[one])
        shape[one] -= extent - 1
        if extent > array.shape[one] or shape[one] < 0:
            raise ValueError("window shape cannot be larger than input array shape")
    view = array._view(0, [*shape, *window], strides)
    view.flags.writeable = bool(writeable) and array.flags.writeable
    return view


def _axes_in_order(axis, ndim: int) -> tuple[int, ...]:
    """The axes as given; an axis may occur more than once."""
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    return tuple(normalize_axes(one, ndim)[0] for one in given)
