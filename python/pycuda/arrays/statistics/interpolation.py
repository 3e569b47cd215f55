"""``interp``: the piecewise linear function through points."""

from __future__ import annotations

import numpy as np

from pycuda import _device_code, _driver
from pycuda.arrays.creation.conversion import as_array, wide_integers
from pycuda.arrays.creation.filled import empty, zeros
from pycuda.arrays.indexing.selecting import where
from pycuda.arrays.registry import public
from pycuda.arrays.sorting.sorting import searchsorted
from pycuda.arrays.ufuncs.universal_functions import UFUNCS


@public()
def interp(x, xp, fp, left=None, right=None, period=None):
    """Evaluate the piecewise linear function through points.

    x: where the function is evaluated.
    xp, fp: the coordinates, which rise, and the values of the points; vectors.
    left, right: the values outside, by default the first and the last of ``fp``.
    period: the period of ``xp``; ``left`` and ``right`` do not count then.

    Returns an array of float64 of the shape of ``x``, complex128 for complex ``fp``.

    >>> gpuarray.interp(gpuarray.array([0.5, 5.0]), gpuarray.array([0.0, 1.0]), gpuarray.array([0.0, 10.0]))
    array([ 5., 10.])
    """
    x, xp, fp = _as_points(x), _as_points(xp), as_array(fp)
    if xp.ndim != 1 or fp.shape != xp.shape:
        raise ValueError("fp and xp must be vectors of the same length")
    if xp.size == 0:
        raise ValueError("array of sample points is empty")
    if x.dtype.kind == "c" or xp.dtype.kind == "c":
        raise TypeError("x and xp of interp() must be real")
    kind = np.complex128 if fp.dtype.kind == "c" else np.float64
    if period is None and _has_kernel(x, xp, fp):
        return _interpolate(x, xp, fp, left, right)
    x, xp, fp = x.astype(np.float64), xp.astype(np.float64), fp.astype(kind)
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        period, left, right = abs(period), None, None
        x, xp = x % period, xp % period
        order = _driver._array_argsort(xp, 0)
        xp, fp = xp[order], fp[order]
        ends = [xp[-1:] - period, xp, xp[:1] + period]
        xp, fp = joined(ends), joined([fp[-1:], fp, fp[:1]])
    if _has_kernel(x, xp, fp):
        return _interpolate(x, xp, fp, left, right)
    return _interpolated(x, xp, fp, left, right)


def _as_points(value):
    """The array of a value. Python ints of more than 64 bits become floats, as in NumPy."""
    wide = wide_integers(value)
    return as_array(value if wide is None else wide.astype(np.float64))


def _has_kernel(*arrays) -> bool:
    """Whether the kernel takes arrays: real numbers."""
    return all(one.dtype.kind in "biuf" for one in arrays)


def _interpolate(x, xp, fp, left, right):
    """:func:`interp` of real values, in one kernel. The arrays are converted there."""
    x, xp, fp = (one if one._c_contiguous else one.copy("C") for one in (x, xp, fp))
    result = empty(x.shape, np.float64)
    if x.size:
        types = (x.dtype, xp.dtype, fp.dtype)
        _device_code.kernel("interp", "interp", "X P V", *types)(
            x, x.size, xp, fp, xp.size, result, 0.0 if left is None else float(left),
            0.0 if right is None else float(right), left is not None, right is not None,
            block=(256, 1, 1), grid=(-(-x.size // 256), 1),
        )  # fmt: skip
    return result


def joined(parts):
    """Concatenated vectors, of their common type."""
    kind = np.result_type(*(part.dtype for part in parts))
    result = zeros(sum(part.size for part in parts), kind)
    at = 0
    for part in parts:
        result[at : at + part.size] = part
        at += part.size
    return result


def _interpolated(x, xp, fp, left, right):
    last = xp.size - 1
    place = searchsorted(xp, x, side="right") - 1
    j = where(place < 0, 0, where(place >= last, max(last - 1, 0), place))
    k = where(j < last, j + 1, j)
    x0, x1, y0, y1 = xp[j], xp[k], fp[j], fp[k]
    slope = (y1 - y0) / (x1 - x0)
    result = slope * (x - x0) + y0
    # As in NumPy: if the result is NaN, interpolate from the other end; if both ends are equal, take this value.
    other = slope * (x - x1) + y1
    isnan = UFUNCS["isnan"]
    other = where(isnan(other) & (y0 == y1), y0, other)
    result = where(isnan(result), other, result)
    result = where((x == x0) & (place <= last), y0, result)
    result = where(x == xp[-1], fp[-1], result)
    result = where(x < xp[0], fp[0] if left is None else fp.dtype.type(left), result)
    result = where(
        x > xp[-1], fp[-1] if right is None else fp.dtype.type(right), result
    )
    return result if xp.size == 1 else where(isnan(x), fp.dtype.type(np.nan), result)
