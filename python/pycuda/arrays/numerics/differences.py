"""Differences, derivatives and integrals of sampled functions."""

from __future__ import annotations

import operator

import numpy as np

from pycuda._c_types import real_type
from pycuda.arrays.creation.conversion import as_array, as_operand
from pycuda.arrays.creation.filled import empty_like
from pycuda.arrays.registry import public
from pycuda.arrays.shapes import axes as _axes
from pycuda.arrays.shapes.axes import normalize_axes
from pycuda.arrays.shapes.joining import concatenate
from pycuda.arrays.shapes.views import broadcast_to
from pycuda.arrays.ufuncs.fusing import fuse
from pycuda.arrays.ufuncs.universal_functions import UFUNCS

_absent = np._NoValue


@public(array_api=True)
def diff(a, n: int = 1, axis: int = -1, prepend=_absent, append=_absent):
    """Compute the differences of neighbouring elements along an axis: each element minus the element before it.

    n: the number of repetitions.
    axis: the axis, by default the last one.
    prepend, append: arrays or numbers that are first put before and after the elements.

    The result is shorter by ``n`` along the axis. Differences of bool are their exclusive or.
    Raises ValueError for a negative ``n`` and for an array without axes.

    >>> gpuarray.diff(gpuarray.array([1, 4, 9, 16]))
    array([3, 5, 7])
    """
    array = as_array(a)
    n = operator.index(n)
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if n == 0:
        return array
    if array.ndim == 0:
        raise ValueError("diff() expects an array of at least one axis")
    axis = _axes.normalize_axis(axis, array.ndim)
    parts = [_border(prepend, array, axis), array, _border(append, array, axis)]
    parts = [part for part in parts if part is not None]
    array = concatenate(parts, axis) if len(parts) > 1 else array
    operation = UFUNCS["not_equal" if array.dtype.kind == "b" else "subtract"]
    for _ in range(min(n, max(array.shape[axis], 1))):  # then there is no element
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
    return broadcast_to(value, shape)


@public()
def ediff1d(ary, to_end=None, to_begin=None):
    """Compute the differences of neighbouring elements of the flattened array.

    to_begin, to_end: numbers or arrays that are put before and after the differences.

    Raises TypeError if their types do not fit.

    >>> gpuarray.ediff1d(gpuarray.array([1, 4, 9]), to_begin=0)
    array([0, 3, 5])
    """
    flat = as_array(ary)._ravel()
    parts = [flat[1:] - flat[:-1]]
    for place, value in ((0, to_begin), (2, to_end)):
        if value is not None:
            value = as_array(value)._ravel()
            if not np.can_cast(value.dtype, flat.dtype, "same_kind"):
                raise TypeError(f"{value.dtype} cannot be cast to {flat.dtype}")
            parts.insert(place, value.astype(flat.dtype, copy=False))
    return concatenate(parts) if len(parts) > 1 else parts[0]


@public()
def unwrap(p, discont=None, axis: int = -1, *, period=6.283185307179586):
    """Add multiples of a period to elements, so that no step to the next one is larger than half a period.

    discont: steps below it stay as they are; by default half a period, which is also the least one that counts.
    axis: the axis, by default the last one.
    period: the period, by default 2 pi.

    Returns a new array. Integers stay integers if the period is one.

    >>> gpuarray.unwrap(gpuarray.array([0, 1, 2, -1, 0]), period=4)
    array([0, 1, 2, 3, 4])
    """
    array = as_array(p)
    axis = _axes.normalize_axis(axis, array.ndim)
    before = (slice(None),) * axis
    kind = np.result_type(array.dtype if array.dtype.kind != "b" else np.int64, period)
    result = array.astype(kind)
    if array.shape[axis] < 2:
        return result
    limit = period / 2 if discont is None else discont
    whole = kind.kind in "iu"
    half, odd = divmod(period, 2) if whole else (period / 2, 0)
    later, earlier = array[(*before, slice(1, None))], array[(*before, slice(None, -1))]
    # Python's numbers keep the type of the elements.
    numbers = (period, half, limit)
    if not whole:
        numbers = tuple(map(float, numbers))
    steps = _missing_periods(later, earlier, *numbers, not odd).cumsum(axis)
    np.add(later, steps, out=result[(*before, slice(1, None))])
    return result


@fuse
def _missing_periods(later, earlier, period, half, limit, is_even):
    step = later != earlier if later.dtype.kind == "b" else later - earlier
    rest = (step + half) % period - half
    if is_even:  # a step up of half a period stays one
        rest = np.where((rest == -half) & (step > 0), half, rest)
    return np.where(abs(step) < limit, 0, rest - step)


@public()
def gradient(f, *varargs, axis=None, edge_order: int = 1):
    """Estimate the derivative along axes from samples.

    varargs: the distance between samples, or the coordinates of the samples (vectors); one for all axes, or one
        for each.
    axis: an int, several, or None for all axes.
    edge_order: 1 or 2, the order of the one-sided differences at both ends.

    Inner samples have central differences of second order, also for uneven distances (Fornberg, Generation of
    finite difference formulas on arbitrarily spaced grids, 1988). Integers are converted to float64. Returns one
    array for one axis, else a tuple. Raises ValueError for an axis that is too short, TypeError for complex distances.

    >>> gpuarray.gradient(gpuarray.array([1.0, 4.0, 9.0, 16.0]))
    array([3., 4., 6., 7.])
    """
    f = as_array(f)
    spacings = [_on_host(one) for one in varargs] or [np.asarray(1.0)]
    if any(one.dtype.kind == "c" for one in spacings):
        raise TypeError("distances and coordinates of gradient() must be real")
    if f.dtype.kind in "iub":
        f = f.astype(np.float64)
    axes = normalize_axes(axis, f.ndim)
    if len(spacings) == 1:
        spacings *= len(axes)
    if len(spacings) != len(axes):
        raise TypeError(
            f"expected one spacing, or one for each of the {len(axes)} axes, not {len(spacings)}"
        )
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
    return results[0] if len(results) == 1 else tuple(results)


def _gradient(f, axis: int, spacing, edge_order: int):
    if spacing.ndim == 0 and edge_order == 1:
        return _gradient_of_equal_steps(f, axis, float(spacing))
    steps = _steps(spacing, f, axis)
    shape = [1] * f.ndim
    shape[axis] = -1

    def part(*bounds):
        return f[(slice(None),) * axis + (slice(*bounds),)]

    def weight(values):
        return as_array(np.asarray(values).astype(real_type(f.dtype)).reshape(shape))

    def number(value):
        return real_type(f.dtype).type(value)

    a, b = steps[:-1], steps[1:]
    result = empty_like(f)
    before = (slice(None),) * axis
    # The formula for equal steps omits the middle sample, which may be infinite.
    if spacing.ndim == 0 or (steps == steps[0]).all():
        inside = result[(*before, slice(1, -1))]
        _slope.into((inside,), part(2, None), part(None, -2), number(2 * steps[0]))
    else:
        result[(*before, slice(1, -1))] = (
            part(None, -2) * weight(-b / (a * (a + b)))
            + part(1, -1) * weight((b - a) / (a * b))
            + part(2, None) * weight(a / (b * (a + b)))
        )
    start, end = result[(*before, slice(0, 1))], result[(*before, slice(-1, None))]
    if edge_order == 1 and len(steps) > 1 and steps[0] == steps[-1]:
        # Both ends in one launch: the elements at 0 and at the end, n - 1 apart.
        last = f.shape[axis] - 1
        ends = result[(*before, slice(None, None, last))]
        later, earlier = part(1, None, last - 1), part(0, last, last - 1)
        _slope.into((ends,), later, earlier, number(steps[0]))
    elif edge_order == 1:
        _slope.into((start,), part(1, 2), part(0, 1), number(steps[0]))
        _slope.into((end,), part(-1, None), part(-2, -1), number(steps[-1]))
    else:
        c, d = steps[0], steps[1]
        start[...] = (
            part(0, 1) * weight([-(2 * c + d) / (c * (c + d))])
            + part(1, 2) * weight([(c + d) / (c * d)])
            + part(2, 3) * weight([-c / (d * (c + d))])
        )
        c, d = steps[-2], steps[-1]
        end[...] = (
            part(-3, -2) * weight([d / (c * (c + d))])
            + part(-2, -1) * weight([-(d + c) / (c * d)])
            + part(-1, None) * weight([(2 * d + c) / (d * (c + d))])
        )
    return result


def _gradient_of_equal_steps(f, axis: int, step: float):
    """Two launches: the inner elements, and the elements at both ends, which are n - 1 apart."""
    result = empty_like(f)
    number = real_type(f.dtype).type
    last = f.shape[axis] - 1

    def slope(written, later, earlier, distance) -> None:
        to, a, b = (
            one[(slice(None),) * axis + (slice(*bounds),)]
            for one, bounds in ((result, written), (f, later), (f, earlier))
        )
        _slope.into((to,), a, b, number(distance))

    if last > 1:
        slope((1, -1), (2, None), (None, -2), 2 * step)
        slope((None, None, last), (1, None, last - 1), (0, last, last - 1), step)
    else:
        slope((0, 1), (1, 2), (0, 1), step)
        slope((1, 2), (1, 2), (0, 1), step)
    return result


@fuse
def _slope(later, earlier, step):
    return (later - earlier) / step


def _on_host(values):
    return np.asarray(values.get() if hasattr(values, "get") else values)


def _steps(values, f, axis: int):
    """The distance from each sample to the next. Of equal ones the first few, which are enough for both ends."""
    if values.ndim == 0:
        return np.full(min(f.shape[axis] - 1, 4), values, np.float64)
    if values.shape != (f.shape[axis],):
        raise ValueError(
            f"coordinates of shape {values.shape} do not fit an axis of {f.shape[axis]}"
        )
    return np.diff(values.astype(np.float64))


@public()
def trapezoid(y, x=None, dx=1.0, axis: int = -1):
    """Integrate along an axis by the trapezoidal rule.

    x: the coordinates of the samples, a vector or an array of the shape of ``y``.
    dx: the distance between samples if there is no ``x``.
    axis: the axis, by default the last one.

    >>> gpuarray.trapezoid(gpuarray.array([1.0, 2.0, 3.0]), dx=0.5)
    array(2.)
    """
    y = as_array(y)
    axis = _axes.normalize_axis(axis, y.ndim)
    before = (slice(None),) * axis
    if x is None:
        steps = as_operand(dx)
    else:
        x = as_array(x)
        steps = diff(x, axis=-1 if x.ndim == 1 else axis)
        if x.ndim == 1:
            steps = steps._reshape([-1 if i == axis else 1 for i in range(y.ndim)])
    return _areas(
        y[(*before, slice(1, None))], y[(*before, slice(None, -1))], steps, axis
    )


@fuse
def _areas(later, earlier, steps, axis):
    return (steps * (later + earlier) / 2.0).sum(axis)
