"""numpy's functions that compute with elements and their neighbours."""

from __future__ import annotations

import math
import types

import numpy as np

from pycuda import _driver
from pycuda._c_types import real_type
from pycuda.arrays.creation.filled import arange_of, as_array, empty_like, linspace
from pycuda.arrays.indexing.selecting import as_operand, where
from pycuda.arrays.shapes import axes as _indexing
from pycuda.arrays.shapes.joining import concatenate, stack
from pycuda.arrays.shapes.views import broadcast_arrays, moveaxis, normalize_axes
from pycuda.arrays.ufuncs.universal_functions import UFUNCS

_absent = np._NoValue


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


def round(a, decimals: int = 0, out=None):
    """The elements rounded to ``decimals`` places, halves to the even number."""
    return as_array(a).round(decimals, out)


around = round


def fix(x, out=None):
    """The elements rounded towards zero."""
    return UFUNCS["trunc"](as_array(x), out=out)


def copy(a, order: str = "K", subok: bool = False):
    """A new array with the same elements."""
    return as_array(a).copy(order)


def astype(x, dtype, /, *, copy: bool = True, device=None):
    """The elements converted to ``dtype``."""
    return x.astype(dtype, copy=copy)


def diff(a, n: int = 1, axis: int = -1, prepend=_absent, append=_absent):
    """Each element less the one before along ``axis``, ``n`` times over."""
    array = as_array(a)
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if n == 0:
        return array
    if array.ndim == 0:
        raise ValueError("diff() wants an array of at least one axis")
    axis = _indexing.normalize_axis(axis, array.ndim)
    parts = [_border(prepend, array, axis), array, _border(append, array, axis)]
    parts = [part for part in parts if part is not None]
    array = concatenate(parts, axis) if len(parts) > 1 else array
    operation = UFUNCS["not_equal" if array.dtype.kind == "b" else "subtract"]
    for _ in range(n):
        before = (slice(None),) * axis
        later = array[(*before, slice(1, None))]
        array = operation(later, array[(*before, slice(None, -1))])
    return array


def _border(value, array, axis: int):
    if value is _absent:
        return None
    value = as_array(value)
    if value.ndim:
        return value
    shape = [1 if i == axis else n for i, n in enumerate(array.shape)]
    return _indexing.broadcast_to(value, shape)


def ediff1d(ary, to_end=None, to_begin=None):
    """The differences of all elements in a row, between ``to_begin`` and ``to_end``."""
    flat = as_array(ary)._ravel()
    parts = [flat[1:] - flat[:-1]]
    for place, value in ((0, to_begin), (2, to_end)):
        if value is not None:
            value = as_array(value)._ravel()
            if not np.can_cast(value.dtype, flat.dtype, "same_kind"):
                raise TypeError(f"{value.dtype} cannot be cast to {flat.dtype}")
            parts.insert(place, value.astype(flat.dtype, copy=False))
    return concatenate(parts) if len(parts) > 1 else parts[0]


def gradient(f, *varargs, axis=None, edge_order: int = 1):
    """Central differences along each of ``axis``, one-sided at the ends.

    ``varargs``: the distance of the samples, or their coordinates (vectors), one for all axes or
    one each.
    """
    f = as_array(f)
    if f.dtype.kind in "iub":
        f = f.astype(np.float64)
    axes = normalize_axes(axis, f.ndim)
    spacings = list(varargs) or [1.0]
    if len(spacings) == 1:
        spacings *= len(axes)
    if len(spacings) != len(axes):
        raise TypeError(f"{len(spacings)} distances do not fit {len(axes)} axes")
    if edge_order not in (1, 2):
        raise ValueError(f"edge_order must be 1 or 2, not {edge_order}")
    results = []
    for one, spacing in zip(axes, spacings, strict=True):
        if f.shape[one] < edge_order + 1:
            raise ValueError(
                f"an axis of {f.shape[one]} is too short: it must have at least "
                f"{edge_order + 1} elements"
            )
        results.append(_gradient(f, one, spacing, edge_order))
    return results[0] if len(results) == 1 and np.ndim(axis) == 0 else tuple(results)


def _gradient(f, axis: int, spacing, edge_order: int):
    steps = _steps(spacing, f, axis)  # from each sample to the next
    shape = [1] * f.ndim
    shape[axis] = -1

    def part(*bounds):
        return f[(slice(None),) * axis + (slice(*bounds),)]

    def weight(values):
        return as_array(np.asarray(values).astype(real_type(f.dtype)).reshape(shape))

    a, b = steps[:-1], steps[1:]
    result = empty_like(f)
    before = (slice(None),) * axis
    result[(*before, slice(1, -1))] = (
        part(None, -2) * weight(-b / (a * (a + b)))
        + part(1, -1) * weight((b - a) / (a * b))
        + part(2, None) * weight(a / (b * (a + b)))
    )
    if edge_order == 1:
        first = (part(1, 2) - part(0, 1)) / weight(steps[:1])
        last = (part(-1, None) - part(-2, -1)) / weight(steps[-1:])
    else:
        c, d = steps[0], steps[1]
        first = (
            part(0, 1) * weight([-(2 * c + d) / (c * (c + d))])
            + part(1, 2) * weight([(c + d) / (c * d)])
            + part(2, 3) * weight([-c / (d * (c + d))])
        )
        c, d = steps[-2], steps[-1]
        last = (
            part(-3, -2) * weight([d / (c * (c + d))])
            + part(-2, -1) * weight([-(d + c) / (c * d)])
            + part(-1, None) * weight([(2 * d + c) / (d * (c + d))])
        )
    result[(*before, slice(0, 1))] = first
    result[(*before, slice(-1, None))] = last
    return result


def _steps(spacing, f, axis: int):
    values = np.asarray(spacing.get() if hasattr(spacing, "get") else spacing)
    if values.ndim == 0:
        return np.full(f.shape[axis] - 1, values, np.float64)
    if values.shape != (f.shape[axis],):
        raise ValueError(
            f"coordinates of shape {values.shape} do not fit an axis of {f.shape[axis]}"
        )
    return np.diff(values.astype(np.float64))


def trapezoid(y, x=None, dx=1.0, axis: int = -1):
    """The integral along ``axis`` by the trapezoidal rule."""
    y = as_array(y)
    axis = _indexing.normalize_axis(axis, y.ndim)
    before = (slice(None),) * axis
    if x is None:
        steps = as_operand(dx)
    else:
        x = as_array(x)
        steps = diff(x, axis=-1 if x.ndim == 1 else axis)
        if x.ndim == 1:
            steps = steps._reshape([-1 if i == axis else 1 for i in range(y.ndim)])
    pairs = y[(*before, slice(1, None))] + y[(*before, slice(None, -1))]
    return (steps * pairs / 2.0).sum(axis)


def cross(a, b, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis=None):
    """The cross products of vectors of three elements."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = moveaxis(as_array(a), axisa, -1), moveaxis(as_array(b), axisb, -1)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise ValueError(
            f"both must be vectors of 3 elements, not {a.shape[-1]} and {b.shape[-1]}"
        )
    (a0, a1, a2), (b0, b1, b2) = (
        tuple(moveaxis(one, -1, 0)) for one in broadcast_arrays(a, b)
    )
    parts = [a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0]
    return moveaxis(stack(parts, -1), -1, axisc)


def outer(a, b, out=None):
    """The products of each element of ``a`` with each of ``b``."""
    a, b = as_array(a), as_array(b)
    return UFUNCS["multiply"](a._ravel()[:, None], b._ravel()[None, :], out=out)


def vander(x, N=None, increasing: bool = False):
    """The powers of the elements of a vector, one row for each element."""
    x = as_array(x)
    if x.ndim != 1:
        raise ValueError(f"vander() wants a vector, not {x.ndim} axes")
    count = x.size if N is None else N
    kind = np.promote_types(x.dtype, int)
    powers = arange_of(count)
    powers = powers if increasing else powers[::-1]
    return UFUNCS["power"](x.astype(kind)[:, None], powers.astype(kind))


def polyval(p, x):
    """The polynomial with the coefficients ``p``, highest power first, at ``x``."""
    x = as_array(x)
    result = UFUNCS["multiply"](x, 0)
    for coefficient in as_array(p):
        result = result * x + coefficient
    return result


def logspace(start, stop, num: int = 50, endpoint: bool = True, base=10.0, dtype=None, axis: int = 0):  # fmt: skip
    """``base`` to the power of ``num`` numbers from ``start`` to ``stop``."""
    result = UFUNCS["power"](float(base), linspace(start, stop, num, endpoint))
    return result if dtype is None else result.astype(dtype, copy=False)


def geomspace(start, stop, num: int = 50, endpoint: bool = True, dtype=None, axis: int = 0):  # fmt: skip
    """``num`` numbers from ``start`` to ``stop``, each a constant multiple of the one before."""
    if start == 0 or stop == 0:
        raise ValueError("a geometric sequence cannot include zero")
    if isinstance(start, complex) or isinstance(stop, complex) or start * stop < 0:
        raise TypeError("geomspace() wants two real numbers of the same sign")
    sign = math.copysign(1.0, start)
    exponents = linspace(math.log(abs(start)), math.log(abs(stop)), num, endpoint)
    result = sign * UFUNCS["exp"](exponents)
    if num > 0:
        result[0] = start
    if num > 1 and endpoint:
        result[-1] = stop
    return result if dtype is None else result.astype(dtype, copy=False)


# Comparing


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


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan: bool = False) -> bool:
    """Whether all elements are close."""
    return bool(isclose(a, b, rtol, atol, equal_nan).all())


def array_equal(a1, a2, equal_nan: bool = False) -> bool:
    """Whether two arrays have the same shape and elements."""
    a, b = as_array(a1), as_array(a2)
    return a.shape == b.shape and _all_equal(a, b, equal_nan)


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


def isneginf(x, out=None):
    """Where the elements are negative infinity."""
    return UFUNCS["equal"](x, -np.inf, out=out)


def isposinf(x, out=None):
    """Where the elements are positive infinity."""
    return UFUNCS["equal"](x, np.inf, out=out)


def isreal(x):
    """Where the imaginary part is zero."""
    return x.imag == 0


def iscomplex(x):
    """Where the imaginary part is not zero."""
    return x.imag != 0


# Elementwise


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


def real_if_close(a, tol: int = 100):
    """The real part where all imaginary parts are nearly zero, else the array."""
    a = as_array(a)
    if a.dtype.kind != "c":
        return a
    limit = tol * np.finfo(a.dtype).eps if tol > 1 else tol
    return a.real if bool((UFUNCS["absolute"](a.imag) < limit).all()) else a


def angle(z, deg: bool = False):
    """The angle of complex numbers, in radians or degrees."""
    z = as_array(z)
    imaginary = z.imag if z.dtype.kind == "c" else z.dtype.type(0)
    result = UFUNCS["arctan2"](imaginary, z.real)
    return UFUNCS["degrees"](result) if deg else result


def sinc(x):
    """sin(pi x) / (pi x), and 1 at 0."""
    x = as_array(x)
    if x.dtype.kind in "iub":
        x = x.astype(np.float64)
    one = x.dtype.type(1)
    scaled = where(x == 0, one, x * math.pi)
    return where(x == 0, one, UFUNCS["sin"](scaled) / scaled)


def apply_along_axis(func1d, axis: int, arr, *args, **kwargs):
    """``func1d`` of each vector along ``axis``, one after the other."""
    arr = as_array(arr)
    axis = _indexing.normalize_axis(axis, arr.ndim)
    moved = moveaxis(arr, axis, -1)
    outer_shape = moved.shape[:-1]
    vectors = moved._reshape(-1, moved.shape[-1])
    results = [as_array(func1d(vector, *args, **kwargs)) for vector in vectors]
    if not results:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    joined = stack(results)._reshape(*outer_shape, *results[0].shape)
    places = range(len(outer_shape), joined.ndim)
    return moveaxis(joined, tuple(places), tuple(axis + i for i in range(len(places))))


def apply_over_axes(func, a, axes):
    """``func(a, axis)`` for one axis after the other; reduced axes stay."""
    array = as_array(a)
    for axis in normalize_axes(axes, array.ndim):
        result = func(array, axis)
        if result.ndim != array.ndim:
            shape = [1 if i == axis else n for i, n in enumerate(array.shape)]
            result = result._reshape(shape)
        array = result
    return array
