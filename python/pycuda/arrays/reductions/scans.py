"""Running sums and products; see pycuda.gpuarray."""

from __future__ import annotations

import numpy as np

from pycuda import _driver
from pycuda.arrays.creation.conversion import as_array, put_into
from pycuda.arrays.registry import public
from pycuda.arrays.shapes import axes as _axes


def scan(name: str, a, axis=None, dtype=None, out=None, stream=None):
    """``name``'s running results over ``axis``; None scans the elements in C order."""
    if stream is not None:
        with _driver._Work(stream):
            return scan(name, a, axis, dtype, out)
    a = as_array(a)
    if axis is None:
        source, axis = a._ravel(), 0
    else:
        source, axis = (a, axis) if a.ndim else (a._reshape(1), axis)
        axis = _axes.normalize_axis(axis, source.ndim)
    dtype = None if dtype is None else np.dtype(dtype)
    if isinstance(out, _driver.ArrayBase):
        dtype = np.promote_types(out.dtype, a.dtype) if dtype is None else dtype
        if out.dtype != dtype:
            return put_into(out, _driver._array_scan(name, source, axis, dtype))
    return _driver._array_scan(name, source, axis, dtype, out)


@public()
def cumsum(a, axis=None, dtype=None, out=None, *, stream=None):
    """Compute the cumulative sum of the elements along an axis.

    axis: the axis; None scans the elements in C order.
    dtype: the type of the sums. By default integers below 64 bits are summed in 64 bits, all others in their own;
        16-bit floats are added in float32.
    out: an array for the result.
    stream: the stream of the work, by default the current one.

    The order of the additions depends on the shape alone, so that each run has the same result.

    >>> gpuarray.cumsum(gpuarray.array([1, 2, 3]))
    array([1, 3, 6])
    """
    return scan("sum", a, axis, dtype, out, stream)


@public()
def cumprod(a, axis=None, dtype=None, out=None, *, stream=None):
    """Compute the cumulative product of the elements along an axis; parameters as of :func:`cumsum`.

    The order of operations depends on the shape alone: each run has the same result.

    >>> gpuarray.cumprod(gpuarray.array([1, 2, 3]))
    array([1, 2, 6])
    """
    return scan("prod", a, axis, dtype, out, stream)


@public(array_api=True)
def cumulative_sum(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """Compute the cumulative sum, as :func:`cumsum` does, with the array API's parameters.

    axis: the axis, which may be left out for a vector. ValueError for None with several axes.
    include_initial: whether a zero is put in front, so that the axis is longer by one.

    >>> gpuarray.cumulative_sum(gpuarray.array([1, 2, 3]), include_initial=True)
    array([0, 1, 3, 6])
    """
    return _cumulative("sum", x, axis, dtype, out, include_initial)


@public(array_api=True)
def cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """Compute the cumulative product; parameters as of :func:`cumulative_sum`. The initial value is one.

    axis: the axis; needed for more than one.
    dtype: the type of the products. Small integers are multiplied in 64 bits by default.
    out: an array for the result.
    include_initial: whether the result begins with a one, and has an element more along the axis.

    >>> gpuarray.cumulative_prod(gpuarray.array([2, 3]), include_initial=True)
    array([1, 2, 6])
    """
    return _cumulative("prod", x, axis, dtype, out, include_initial)


def _cumulative(name, x, axis, dtype, out, include_initial):
    x = x._reshape(1) if x.ndim == 0 else x
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"an array of {x.ndim} axes needs an axis")
        axis = 0
    axis = _axes.normalize_axis(axis, x.ndim)
    if not include_initial:
        return scan(name, x, axis, dtype, out)
    running = scan(name, x, axis, dtype)
    shape = [n + (i == axis) for i, n in enumerate(x.shape)]
    before = (slice(None),) * axis
    result = _driver._array_empty(shape, running.dtype, x._own_allocator, "C", type(x))
    result[(*before, slice(0, 1))] = 0 if name == "sum" else 1
    result[(*before, slice(1, None))] = running
    return put_into(out, result)
