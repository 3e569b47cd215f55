"""Functions of each element that are no universal functions."""

from __future__ import annotations

import math
import types

import numpy as np

from pycuda import _driver
from pycuda.arrays.creation.conversion import as_array, as_operand
from pycuda.arrays.elementwise.comparing import isneginf, isposinf
from pycuda.arrays.indexing.selecting import where
from pycuda.arrays.registry import public
from pycuda.arrays.ufuncs.universal_functions import UFUNCS

_absent = np._NoValue


@public(array_api=True)
def clip(a, a_min=_absent, a_max=_absent, out=None, *, min=_absent, max=_absent, **kwargs):  # fmt: skip
    """The elements held between ``a_min`` and ``a_max`` (None: no bound)."""
    low = a_min if min is _absent else min
    high = a_max if max is _absent else max
    low, high = (None if one is _absent else one for one in (low, high))
    array = as_array(a)
    if array.dtype.kind in "iu":  # bounds that no element can be beyond
        limits = np.iinfo(array.dtype)
        low = None if type(low) is int and low <= limits.min else low
        high = None if type(high) is int and high >= limits.max else high
    low, high = (None if one is None else as_operand(one) for one in (low, high))
    if low is None and high is None:
        return _driver._array_apply("copy", array, out=out, **kwargs)
    if low is None:
        return UFUNCS["minimum"](array, high, out=out, **kwargs)
    if high is None:
        return UFUNCS["maximum"](array, low, out=out, **kwargs)
    return _driver._array_apply("clip", array, low, high, out=out, **kwargs)


@public(array_api=True, aliases="around")
def round(a, decimals: int = 0, out=None):
    """The elements rounded to ``decimals`` places, halves to the even number."""
    return as_array(a).round(decimals, out)


@public()
def fix(x, out=None):
    """The elements rounded towards zero."""
    return UFUNCS["trunc"](as_array(x), out=out)


# Elementwise


@public()
def nan_to_num(x, copy: bool = True, nan=0.0, posinf=None, neginf=None):
    """Numbers in the place of NaN and of the infinities (by default the largest there are)."""
    array = as_array(x)
    if array.dtype.kind == "c":
        parts = [nan_to_num(p, True, nan, posinf, neginf) for p in (array.real, array.imag)]  # fmt: skip
        result = parts[0] + parts[1] * array.dtype.type(1j)
    elif array.dtype.kind in "iub":
        result = array.copy() if copy else array
    else:
        limits = _limits(array.dtype)
        high = limits.max if posinf is None else posinf
        low = limits.min if neginf is None else neginf
        kind = array.dtype.type
        result = where(UFUNCS["isnan"](array), kind(nan), array)
        result = where(isposinf(array), kind(high), result)
        result = where(isneginf(array), kind(low), result)
    if copy or result is array:
        return result
    array._assign(result)
    return array


def _limits(dtype):
    if dtype.kind == "V":  # bfloat16, which numpy does not know
        return types.SimpleNamespace(
            max=3.3895313892515355e38, min=-3.3895313892515355e38
        )
    return np.finfo(dtype)


@public()
def real_if_close(a, tol: int = 100):
    """The real part where all imaginary parts are nearly zero, else the array."""
    a = as_array(a)
    if a.dtype.kind != "c":
        return a
    limit = tol * np.finfo(a.dtype).eps if tol > 1 else tol
    return a.real if bool((UFUNCS["absolute"](a.imag) < limit).all()) else a


@public()
def angle(z, deg: bool = False):
    """The angle of complex numbers, in radians or degrees."""
    z = as_array(z)
    imaginary = z.imag if z.dtype.kind == "c" else z.dtype.type(0)
    result = UFUNCS["arctan2"](imaginary, z.real)
    return UFUNCS["degrees"](result) if deg else result


@public()
def sinc(x):
    """sin(pi x) / (pi x), and 1 at 0."""
    x = as_array(x)
    if x.dtype.kind in "iub":
        x = x.astype(np.float64)
    one = x.dtype.type(1)
    scaled = where(x == 0, one, x * math.pi)
    return where(x == 0, one, UFUNCS["sin"](scaled) / scaled)
