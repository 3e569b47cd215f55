"""Running sums and products; see pycuda.gpuarray."""

from __future__ import annotations

import numpy as np

from pycuda import _driver
from pycuda.arrays.registry import public
from pycuda.arrays.shapes import axes as _axes


def _scan(name: str, a, axis=None, dtype=None, out=None, stream=None):
    """``name``'s running results over ``axis``; None scans the elements in C order."""
    if axis is None:
        source, axis = a._ravel(), 0
    else:
        source, axis = (a, axis) if a.ndim else (a._reshape(1), axis)
        axis = _axes.normalize_axis(axis, source.ndim)
    dtype = None if dtype is None else np.dtype(dtype)
    return _driver._array_scan(name, source, axis, dtype, stream, out=out)


@public()
def cumsum(a, axis=None, dtype=None, out=None, *, stream=None):
    """The sums of the elements up to each one, along ``axis`` or over all in C order.

    Small integers are summed in 64 bits as in numpy, float16 and bfloat16 in float32.

    >>> gpuarray.cumsum(x, axis=0)
    """
    return _scan("sum", a, axis, dtype, out, stream)


@public()
def cumprod(a, axis=None, dtype=None, out=None, *, stream=None):
    """The products of the elements up to each one, along ``axis`` or over all in C order."""
    return _scan("prod", a, axis, dtype, out, stream)


@public(array_api=True)
def cumulative_sum(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """:func:`cumsum` by the name of the array API standard; ``axis`` may be left out for one axis.

    ``include_initial`` puts a zero in front.
    """
    return _cumulative("sum", x, axis, dtype, out, include_initial)


@public(array_api=True)
def cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """:func:`cumprod` by the name of the array API standard; ``include_initial`` puts a one in
    front."""
    return _cumulative("prod", x, axis, dtype, out, include_initial)


def _cumulative(name, x, axis, dtype, out, include_initial):
    if axis is None:
        if x.ndim != 1:
            raise ValueError(
                f"an array of {x.ndim} axes needs an axis to sum or multiply along"
            )
        axis = 0
    axis = _axes.normalize_axis(axis, x.ndim)
    if not include_initial:
        return _scan(name, x, axis, dtype, out)
    running = _scan(name, x, axis, dtype)
    shape = [n + (i == axis) for i, n in enumerate(x.shape)]
    before = (slice(None),) * axis
    result = _driver._array_empty(shape, running.dtype, x._own_allocator, "C", type(x))
    result[(*before, slice(0, 1))] = 0 if name == "sum" else 1
    result[(*before, slice(1, None))] = running
    if out is None:
        return result
    return _driver._array_apply("copy", result, out=out)
