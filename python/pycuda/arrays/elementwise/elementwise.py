"""Functions of each element that are no universal functions."""

from __future__ import annotations

import functools
import math

import numpy as np

from pycuda import _driver
from pycuda.arrays.creation.conversion import as_array, as_operand
from pycuda.arrays.indexing.selecting import where
from pycuda.arrays.registry import public
from pycuda.arrays.ufuncs.fusing import fuse
from pycuda.arrays.ufuncs.universal_functions import UFUNCS, array_of_where

_absent = np._NoValue


@public()
def clip(
    a, a_min=_absent, a_max=_absent, out=None, *, min=_absent, max=_absent, where=True, dtype=None,
    casting="same_kind", stream=None,
):  # fmt: skip
    """Limit the elements to the interval from ``a_min`` to ``a_max``.

    a_min, a_max: arrays or numbers that are broadcast; None is no bound. ``min`` and ``max`` are other names.
    out: an array for the result.
    where: an array of bool: the elements to write; the others of ``out`` stay.
    dtype: the type of the bounds and of the result, by default the common type.
    casting: which casts of types are allowed, as in NumPy.
    stream: the stream of the work, by default the current one.

    NaN stays NaN. Where the lower bound exceeds the upper one, the result is the upper one.

    >>> gpuarray.clip(gpuarray.array([-5, 3, 9]), 0, 7)
    array([0, 3, 7])
    """
    low = a_min if min is _absent else min
    high = a_max if max is _absent else max
    low, high = (None if one is _absent else one for one in (low, high))
    array = as_array(a)
    if array.dtype.kind in "iu":  # no element exceeds the limits of its type
        limits = np.iinfo(array.dtype)
        low = None if type(low) is int and low <= limits.min else low
        high = None if type(high) is int and high >= limits.max else high
    low, high = (None if one is None else as_operand(one) for one in (low, high))
    given = {
        "out": out, "where": array_of_where(where), "casting": casting, "stream": stream,
        "dtype": None if dtype is None else np.dtype(dtype),
    }  # fmt: skip
    if low is None and high is None:
        return _driver._array_apply("copy", array, **given)
    if low is None:
        return _driver._array_apply("minimum", array, high, **given)
    if high is None:
        return _driver._array_apply("maximum", array, low, **given)
    return _driver._array_apply("clip", array, low, high, **given)


@public(array_api=True, aliases="around")
def round(a, decimals: int = 0, out=None):
    """Round the elements to a number of decimal places; halves are rounded to the even neighbour.

    decimals: the number of places after the point. Negative ones round to tens, hundreds and so on.
    out: an array for the result.

    >>> gpuarray.round(gpuarray.array([0.5, 1.5, 2.25]), 1)
    array([0.5, 1.5, 2.2])
    >>> gpuarray.round(gpuarray.array([149, 151]), -2)
    array([100, 200])
    """
    return as_array(a).round(decimals, out)


@public()
def fix(x, out=None):
    """Round the elements towards zero.

    out: an array for the result.

    >>> gpuarray.fix(gpuarray.array([-1.7, 1.7]))
    array([-1.,  1.])
    """
    return UFUNCS["trunc"](as_array(x), out=out)


# Elementwise


@public()
def nan_to_num(x, copy: bool = True, nan=0.0, posinf=None, neginf=None):
    """Replace NaN and infinities by numbers.

    copy: False changes the array in place.
    nan: the number for NaN.
    posinf, neginf: the numbers for the infinities, by default the largest and the smallest of the type.

    The parts of complex numbers are replaced one by one. Integers and bool have nothing to replace.
    Raises TypeError for a complex number as a replacement.

    >>> gpuarray.nan_to_num(gpuarray.array([np.nan, np.inf, 2.0]), posinf=99)
    array([ 0., 99.,  2.])
    """
    array = as_array(x)
    if array.dtype.kind == "c":
        parts = [nan_to_num(p, True, nan, posinf, neginf) for p in (array.real, array.imag)]  # fmt: skip
        result = parts[0] + parts[1] * array.dtype.type(1j)
    elif array.dtype.kind in "iub":
        result = array.copy() if copy else array
    else:
        low, high = _limits(array.dtype)
        high = high if posinf is None else posinf
        low = low if neginf is None else neginf
        numbers = [_real(one, array.dtype) for one in (nan, high, low)]
        result = _replaced(array, *numbers)
    if copy or result is array:
        return result
    array._assign(result)
    return array


@fuse
def _replaced(x, nan, high, low):
    finite = where(UFUNCS["isnan"](x), nan, x)
    finite = where(x == np.inf, high, finite)
    return where(x == -np.inf, low, finite)


def _real(number, dtype) -> float:
    """A replacement as a float, which is rounded to the array's type in the kernel."""
    if type(number) is float:
        return number
    if np.result_type(number).kind == "c":
        raise TypeError(f"{number!r} cannot be cast to {dtype}")
    return float(number)


@functools.lru_cache
def _limits(dtype) -> tuple[float, float]:
    """The smallest and the largest finite number."""
    if dtype.kind == "V":  # bfloat16, which NumPy lacks
        return -3.3895313892515355e38, 3.3895313892515355e38
    limits = np.finfo(dtype)
    return float(limits.min), float(limits.max)


@public()
def real_if_close(a, tol: int = 100):
    """Return the real part if all imaginary parts are close to zero, else the array.

    tol: the limit of the imaginary parts, in units of the type's precision; below 1, the limit itself.

    The decision reads one number back from the device.

    >>> gpuarray.real_if_close(gpuarray.array([1 + 1e-15j, 2 + 0j]))
    array([1., 2.])
    """
    a = as_array(a)
    if a.dtype.kind != "c":
        return a
    limit = tol * np.finfo(a.dtype).eps if tol > 1 else tol
    return a.real if bool(_are_below(a, float(limit))) else a


@fuse
def _are_below(a, limit):
    return (abs(a.imag) < limit).all()


@public()
def angle(z, deg: bool = False):
    """Compute the angle of complex numbers, from -pi to pi radians; of real numbers, 0 or pi.

    deg: True gives degrees.

    >>> gpuarray.angle(gpuarray.array([1j, -1 + 0j]), deg=True)
    array([ 90., 180.])
    """
    z = as_array(z)
    if z.dtype.kind == "f":
        result = _angle_of_real(z)
    else:
        imaginary = z.imag if z.dtype.kind == "c" else 0
        result = UFUNCS["arctan2"](imaginary, z.real)
    return UFUNCS["degrees"](result) if deg else result


@fuse
def _angle_of_real(x):
    """arctan2(0, x)."""
    kind = x.dtype.type
    side = where(UFUNCS["signbit"](x), kind(math.pi), kind(0))
    return where(UFUNCS["isnan"](x), x, side)


@public()
def sinc(x):
    """Compute sin(pi x) / (pi x) for each element, and 1 at 0.

    Returns a new array of the shape of ``x``. Integers and bool are converted to float64.

    >>> gpuarray.sinc(gpuarray.array([0.0, 0.5]))
    array([1.        , 0.63661977])
    """
    x = as_array(x)
    if x.dtype.kind in "iub":
        x = x.astype(np.float64)
    return _sinc(x)


@fuse
def _sinc(x):
    one = x.dtype.type(1)
    scaled = where(x == 0, one, x * math.pi)
    return where(x == 0, one, UFUNCS["sin"](scaled) / scaled)
