"""``interp``: the piecewise linear function through points."""

from __future__ import annotations

import numpy as np

from pycuda import _device_code, _driver
from pycuda.arrays.creation.conversion import as_array, wide_integers
from pycuda.arrays.creation.filled import empty
from pycuda.arrays.indexing.selecting import where
from pycuda.arrays.registry import public
from pycuda.arrays.shapes.joining import concatenate


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
    x, xp, fp = (
        one if one.dtype.kind in "biufc" else one.astype(np.float64)
        for one in (x, xp, fp)
    )
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        period, left, right = abs(period), None, None
        x, xp = x.astype(np.float64) % period, xp.astype(np.float64) % period
        order = _driver._array_argsort(xp, 0)
        xp, fp = xp[order], fp[order]
        ends = [xp[-1:] - period, xp, xp[:1] + period]
        xp, fp = concatenate(ends), concatenate([fp[-1:], fp, fp[:1]])
    if fp.dtype.kind != "c":
        return _interpolate(x, xp, fp, left, right)
    parts = []
    for part in ("real", "imag"):
        ends = (
            None if one is None else getattr(complex(one), part)
            for one in (left, right)
        )
        parts.append(_interpolate(x, xp, getattr(fp, part), *ends, is_part=True))
    result = empty(x.shape, np.complex128)
    result.real, result.imag = parts
    if xp.size > 1:  # as in NumPy
        result.imag = where(x == x, parts[1], 0.0)
    return result


def _as_points(value):
    """The array of a value. Python ints of more than 64 bits become floats, as in NumPy."""
    wide = wide_integers(value)
    return as_array(value if wide is None else wide.astype(np.float64))


def _interpolate(x, xp, fp, left, right, is_part=False):
    """:func:`interp` of real values or of one part of complex ones, in one kernel. The arrays are converted there."""
    x, xp, fp = (one if one._c_contiguous else one.copy("C") for one in (x, xp, fp))
    result = empty(x.shape, np.float64)
    if x.size:
        types = (x.dtype, xp.dtype, fp.dtype)
        _device_code.kernel("interp", "interp", "X P V is_part", *types, is_part)(
            x, x.size, xp, fp, xp.size, result, 0.0 if left is None else float(left),
            0.0 if right is None else float(right), left is not None, right is not None,
            block=(256, 1, 1), grid=(-(-x.size // 256), 1),
        )  # fmt: skip
    return result
