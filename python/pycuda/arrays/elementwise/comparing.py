"""Comparisons of arrays and tests of elements."""

from __future__ import annotations

import numpy as np

from pycuda._driver import ArrayBase
from pycuda.arrays.creation.conversion import as_array, as_operand, as_source
from pycuda.arrays.creation.filled import ones_like, zeros_like
from pycuda.arrays.registry import public
from pycuda.arrays.ufuncs.fusing import fuse
from pycuda.arrays.ufuncs.tracing import Traced
from pycuda.arrays.ufuncs.universal_functions import UFUNCS


@public()
def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan: bool = False):
    """Test for each element whether ``a`` differs from ``b`` by at most ``atol + rtol * abs(b)``.

    a, b: arrays or numbers that are broadcast.
    rtol, atol: the relative and the absolute tolerance.
    equal_nan: whether NaN equals NaN.

    Returns an array of bool. Infinities are close if they are equal.

    >>> gpuarray.isclose(gpuarray.array([1.0, 2.0]), gpuarray.array([1.0 + 1e-9, 2.1]))
    array([ True, False])
    """
    return _is_close(*_operands_of_isclose(a, b, rtol, atol), bool(equal_nan))


def _operands_of_isclose(a, b, rtol, atol) -> tuple:
    a, b, rtol, atol = (as_operand(one) for one in (a, b, rtol, atol))
    if isinstance(b, int):  # the type of ``a`` may not hold it
        b = float(b)
    if not isinstance(a, ArrayBase) and not isinstance(b, ArrayBase):
        a = as_array(a)
    return a, b, rtol, atol


def _close(a, b, rtol, atol, equal_nan):
    if getattr(b, "dtype", np.dtype(float)).kind in "iub":
        b = b * 1.0
    limit = abs(b) * rtol + atol
    near = abs(a - b) <= limit
    if isinstance(b, Traced):
        near = near & np.isfinite(b)
    elif not np.isfinite(b):
        near = near & False
    result = near | (a == b)
    if equal_nan:
        result = result | ((a != a) & (b != b))
    return result


@fuse
def _is_close(a, b, rtol, atol, equal_nan):
    return _close(a, b, rtol, atol, equal_nan)


@fuse
def _are_close(a, b, rtol, atol, equal_nan):
    return _close(a, b, rtol, atol, equal_nan).all()


@public()
def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan: bool = False) -> bool:
    """Test whether all elements are close.

    a, b: arrays or numbers that are broadcast.
    rtol, atol: the tolerance of :func:`isclose`: ``atol + rtol * abs(b)``.
    equal_nan: whether NaN equals NaN.

    Returns a bool of Python, so the call waits for the device. True for arrays without elements.

    >>> gpuarray.allclose(gpuarray.array([1.0, 2.0]), [1.0, 2.0 + 1e-9])
    True
    """
    return bool(_are_close(*_operands_of_isclose(a, b, rtol, atol), bool(equal_nan)))


@public()
def array_equal(a1, a2, equal_nan: bool = False) -> bool:
    """Test whether two arrays have the same shape and equal elements. Returns a bool of the host.

    a1, a2: arrays of any shapes and dtypes, which are compared in their common type.
    equal_nan: whether NaN equals NaN.

    >>> gpuarray.array_equal(gpuarray.array([1, 2]), gpuarray.array([1, 3]))
    False
    """
    a, b = as_array(a1), as_array(a2)
    return a.shape == b.shape and bool(_are_equal(a, b, bool(equal_nan)))


@public()
def array_equiv(a1, a2) -> bool:
    """Test whether two arrays have equal elements once they are broadcast to one shape.

    a1, a2: arrays or numbers.

    Returns a bool of Python, so the call waits for the device. False if the shapes cannot be broadcast to one, or an
    element is NaN. :func:`array_equal` wants equal shapes.

    >>> gpuarray.array_equiv(gpuarray.array([1, 1]), gpuarray.array(1))
    True
    """
    a, b = as_array(a1), as_array(a2)
    try:
        np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        return False
    return bool(_are_equal(a, b, False))


@fuse
def _are_equal(a, b, equal_nan):
    same = a == b
    if equal_nan:
        same = same | ((a != a) & (b != b))
    return same.all()


@public()
def isneginf(x, out=None):
    """Test for each element whether it is negative infinity.

    out: an array of bool for the result.

    Raises TypeError for complex numbers.

    >>> gpuarray.isneginf(gpuarray.array([-np.inf, 0.0, np.inf]))
    array([ True, False, False])
    """
    return _is_infinity(x, -np.inf, out)


@public()
def isposinf(x, out=None):
    """Test for each element whether it is positive infinity.

    out: an array of bool for the result.

    >>> gpuarray.isposinf(gpuarray.array([-np.inf, 0.0, np.inf]))
    array([False, False,  True])
    """
    return _is_infinity(x, np.inf, out)


def _is_infinity(x, value: float, out):
    if getattr(x, "dtype", np.dtype(float)).kind == "c":
        raise TypeError(f"elements of {x.dtype} have no sign: use real or imag")
    return UFUNCS["equal"](x, value, out=out)


@public()
def isreal(x):
    """Test for each element whether its imaginary part is zero.

    x: an array or a number.

    Returns an array of bool of the shape of ``x``. All elements of a real dtype are real. :func:`isrealobj` tests the
    dtype alone.

    >>> gpuarray.isreal(gpuarray.array([1 + 0j, 1 + 2j]))
    array([ True, False])
    """
    return _test_imaginary(x, ones_like, _is_real)


def _test_imaginary(x, of_reals, test):
    """Test the imaginary parts; elements of a real type give the constant of ``of_reals``."""
    x = as_source(x)
    if isinstance(x, ArrayBase) and x.dtype.kind in "biuf":
        return of_reals(x, np.bool_)
    return test(x)


@fuse
def _is_real(x):
    return x.imag == 0


@public()
def iscomplex(x):
    """Test for each element whether its imaginary part is not zero.

    x: an array or a number.

    Returns an array of bool of the shape of ``x``: False for all elements of a real dtype, and for complex elements
    whose imaginary part is zero. :func:`iscomplexobj` tests the dtype alone.

    >>> gpuarray.iscomplex(gpuarray.array([1 + 0j, 1 + 2j]))
    array([False,  True])
    """
    return _test_imaginary(x, zeros_like, _is_complex)


@fuse
def _is_complex(x):
    return x.imag != 0
