"""Windows that move over an array, as views."""

from pycuda import _driver
from pycuda.arrays.registry import public


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
    return _driver._windows(x, window_shape, axis, writeable)
