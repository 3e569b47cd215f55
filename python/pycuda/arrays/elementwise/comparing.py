"""Comparisons of arrays and tests of elements."""

from __future__ import annotations

import numpy as np

from pycuda.arrays.creation.conversion import as_array, as_operand
from pycuda.arrays.registry import public
from pycuda.arrays.ufuncs.universal_functions import UFUNCS

# Comparing


@public()
def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan: bool = False):
    """Where the elements differ by at most ``atol + rtol * abs(b)``."""
    a, b = as_operand(a), as_operand(b)
    kind = getattr(b, "dtype", None)
    if kind is not None and kind.kind in "iub":
        b = UFUNCS["multiply"](b, 1.0)
    near = UFUNCS["absolute"](UFUNCS["subtract"](a, b)) <= (
        UFUNCS["absolute"](b) * rtol + atol
    )
    result = (near & UFUNCS["isfinite"](b)) | UFUNCS["equal"](a, b)
    if equal_nan:
        result = result | (UFUNCS["isnan"](a) & UFUNCS["isnan"](b))
    return result


@public()
def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan: bool = False) -> bool:
    """Whether all elements are close."""
    return bool(isclose(a, b, rtol, atol, equal_nan).all())


@public()
def array_equal(a1, a2, equal_nan: bool = False) -> bool:
    """Whether two arrays have the same shape and elements."""
    a, b = as_array(a1), as_array(a2)
    return a.shape == b.shape and _all_equal(a, b, equal_nan)


@public()
def array_equiv(a1, a2) -> bool:
    """Whether two arrays broadcast to one shape and have the same elements there."""
    a, b = as_array(a1), as_array(a2)
    try:
        np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        return False
    return _all_equal(a, b, False)


def _all_equal(a, b, equal_nan: bool) -> bool:
    same = UFUNCS["equal"](a, b)
    if equal_nan:
        same = same | (UFUNCS["isnan"](a) & UFUNCS["isnan"](b))
    return bool(same.all())


@public()
def isneginf(x, out=None):
    """Where the elements are negative infinity."""
    return UFUNCS["equal"](x, -np.inf, out=out)


@public()
def isposinf(x, out=None):
    """Where the elements are positive infinity."""
    return UFUNCS["equal"](x, np.inf, out=out)


@public()
def isreal(x):
    """Where the imaginary part is zero."""
    return x.imag == 0


@public()
def iscomplex(x):
    """Where the imaginary part is not zero."""
    return x.imag != 0
