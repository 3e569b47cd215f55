"""numpy's reductions as functions with numpy's signatures, and those that leave NaN out."""

from __future__ import annotations

import math

import numpy as np

from pycuda._driver import ArrayBase, _Using
from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.creation.filled import full
from pycuda.arrays.indexing.selecting import where as select_where
from pycuda.arrays.reductions import scans as _scans
from pycuda.arrays.shapes.axes import normalize_axes
from pycuda.arrays.shapes.views import broadcast_to
from pycuda.arrays.ufuncs.universal_functions import UFUNCS


class _NotGiven:
    def __repr__(self) -> str:
        return "<not given>"


_absent = _NotGiven()


def _or(value, otherwise):
    return otherwise if value is _absent or value is np._NoValue else value


def _mask(where):
    """What limits a reduction: None, or an array of bool."""
    where = _or(where, True)
    if where is True or where is None:
        return None
    mask = as_array(where)
    return mask if mask.dtype.kind == "b" else mask != 0


def _with_initial(ufunc: str, reduce, a, axis, out, keepdims, where, initial):
    """A reduction whose result is joined with a first value."""
    initial = _or(initial, None)
    if initial is None:
        return reduce(out)
    if isinstance(initial, ArrayBase):
        initial = initial._reshape(())
    if ufunc in ("maximum", "minimum") and a.size == 0:
        axes = normalize_axes(axis, a.ndim)
        if any(a.shape[one] == 0 for one in axes):
            shape = _reduced_shape(a.shape, axes, keepdims)
            result = full(shape, 0, a.dtype) if out is None else out
            result.fill(initial)
            return result
    result = UFUNCS[ufunc](reduce(None), initial)
    return result if out is None else UFUNCS["positive"](result, out=out)


def _reduced_shape(shape, axes, keepdims: bool) -> tuple[int, ...]:
    if keepdims:
        return tuple(1 if i in axes else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in axes)


def sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=_absent, where=_absent):  # fmt: skip
    """The sum over ``axis`` (None: all), of the elements where ``where`` holds."""
    a, keepdims = as_array(a), bool(_or(keepdims, False))
    return _with_initial(
        "add", lambda out: a.sum(axis, dtype, out, keepdims, _mask(where)),
        a, axis, out, keepdims, where, initial,
    )  # fmt: skip


def prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=_absent, where=_absent):  # fmt: skip
    """The product over ``axis``."""
    a, keepdims = as_array(a), bool(_or(keepdims, False))
    return _with_initial(
        "multiply", lambda out: a.prod(axis, dtype, out, keepdims, _mask(where)),
        a, axis, out, keepdims, where, initial,
    )  # fmt: skip


def min(a, axis=None, out=None, keepdims=False, initial=_absent, where=_absent):
    """The smallest element over ``axis``; with ``where``, ``initial`` must be given."""
    return _extremum("min", "minimum", a, axis, out, keepdims, initial, where)


def max(a, axis=None, out=None, keepdims=False, initial=_absent, where=_absent):
    """The largest element over ``axis``; with ``where``, ``initial`` must be given."""
    return _extremum("max", "maximum", a, axis, out, keepdims, initial, where)


amin, amax = min, max


def _extremum(name, ufunc, a, axis, out, keepdims, initial, where):
    a, keepdims, mask = as_array(a), bool(_or(keepdims, False)), _mask(where)
    if mask is not None and _or(initial, None) is None:
        raise ValueError(
            f"{name}() of no elements has no value: with where, initial must be given"
        )
    return _with_initial(
        ufunc, lambda out: getattr(a, name)(axis, out, keepdims, mask),
        a, axis, out, keepdims, where, initial,
    )  # fmt: skip


def any(a, axis=None, out=None, keepdims=False, *, where=_absent):
    """Whether any element is true."""
    return as_array(a).any(axis, out, bool(_or(keepdims, False)), _mask(where))


def all(a, axis=None, out=None, keepdims=False, *, where=_absent):
    """Whether all elements are true."""
    return as_array(a).all(axis, out, bool(_or(keepdims, False)), _mask(where))


def argmin(a, axis=None, out=None, *, keepdims=False):
    """The first index of the smallest element, of type int64."""
    return as_array(a).argmin(axis, out, bool(_or(keepdims, False)))


def argmax(a, axis=None, out=None, *, keepdims=False):
    """The first index of the largest element, of type int64."""
    return as_array(a).argmax(axis, out, bool(_or(keepdims, False)))


def mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=_absent):
    """The mean over ``axis``; of integers in float64."""
    return as_array(a).mean(axis, dtype, out, bool(_or(keepdims, False)), _mask(where))


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=_absent, mean=_absent, correction=_absent):  # fmt: skip
    """The variance over ``axis``; divided by the count less ``ddof`` (or ``correction``)."""
    ddof = _ddof(ddof, correction)
    # A mean that is known does not make it faster here, and the result is the same without.
    return as_array(a).var(
        axis, dtype, out, ddof, bool(_or(keepdims, False)), _mask(where)
    )


def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=_absent, mean=_absent, correction=_absent):  # fmt: skip
    """The standard deviation over ``axis``."""
    ddof = _ddof(ddof, correction)
    return as_array(a).std(
        axis, dtype, out, ddof, bool(_or(keepdims, False)), _mask(where)
    )


def _ddof(ddof, correction):
    correction = _or(correction, None)
    if correction is None:
        return ddof
    if ddof != 0:
        raise ValueError("ddof and correction mean the same: give one of them")
    return correction


def ptp(a, axis=None, out=None, keepdims=False):
    """The largest element less the smallest."""
    return as_array(a).ptp(axis, out, bool(_or(keepdims, False)))


def count_nonzero(a, axis=None, *, keepdims=False, stream=None):
    """How many elements are not zero, of type int64."""
    with _Using(stream):
        return as_array(a)._reduce("count_nonzero", axis, None, None, keepdims)


def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    """The mean over ``axis`` with a weight for each element; ``returned``: their sum as well."""
    a, keepdims = as_array(a), bool(_or(keepdims, False))
    if weights is None:
        result = a.mean(axis, None, None, keepdims)
        axes = normalize_axes(axis, a.ndim)
        count = math.prod(a.shape[one] for one in axes)
        total = full(result.shape, count, result.dtype)
        return (result, total) if returned else result
    weights = as_array(weights)
    if weights.shape != a.shape:
        weights = _weights_of_axes(a, axis, weights)
    kind = np.result_type(a.dtype, weights.dtype, *([np.float64] if a.dtype.kind in "iub" else []))  # fmt: skip
    weights = broadcast_to(weights, a.shape)
    total = weights.sum(axis, kind, None, keepdims)
    if bool((total == 0).any()):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    result = (a * weights).sum(axis, kind, None, keepdims) / total
    return (result, total) if returned else result


def _weights_of_axes(a, axis, weights):
    if axis is None:
        raise TypeError(
            f"without axis, a and weights must have the same shape: {a.shape} "
            f"and {weights.shape}"
        )
    axes = normalize_axes(axis, a.ndim)
    if weights.shape != tuple(a.shape[one] for one in axes):
        raise ValueError(
            f"weights have the shape {weights.shape}, the axes {axes} of a "
            f"{tuple(a.shape[one] for one in axes)}"
        )
    weights = weights.transpose([axes.index(one) for one in sorted(axes)])
    return weights._reshape([n if i in axes else 1 for i, n in enumerate(a.shape)])


# Without NaN


def _is_float(a) -> bool:
    return a.dtype.kind in "fcV"


def _numbers(a, where):
    """Where elements count: they are numbers, and ``where`` holds."""
    mask = _mask(where)
    if not _is_float(a):
        return mask
    numbers = ~UFUNCS["isnan"](a)
    return numbers if mask is None else numbers & mask


def _counted(a, axis, keepdims, where):
    numbers = _numbers(a, where)
    if numbers is None:
        return None
    spread = broadcast_to(numbers, a.shape)
    return spread._reduce("count_nonzero", axis, keepdims=keepdims)


def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=_absent, where=_absent, *, stream=None):  # fmt: skip
    """The sum of the elements that are numbers."""
    return _nan_reduction(
        "nansum", "add", a, axis, dtype, out, keepdims, initial, where, stream
    )


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=_absent, where=_absent, *, stream=None):  # fmt: skip
    """The product of the elements that are numbers."""
    return _nan_reduction(
        "nanprod", "multiply", a, axis, dtype, out, keepdims, initial, where, stream
    )


def nanmin(a, axis=None, out=None, keepdims=False, initial=_absent, where=_absent, *, stream=None):  # fmt: skip
    """The smallest of the elements that are numbers; NaN where there is none."""
    return _nan_reduction(
        "nanmin", "fmin", a, axis, None, out, keepdims, initial, where, stream
    )


def nanmax(a, axis=None, out=None, keepdims=False, initial=_absent, where=_absent, *, stream=None):  # fmt: skip
    """The largest of the elements that are numbers; NaN where there is none."""
    return _nan_reduction(
        "nanmax", "fmax", a, axis, None, out, keepdims, initial, where, stream
    )


def _nan_reduction(name, ufunc, a, axis, dtype, out, keepdims, initial, where, stream):
    with _Using(stream):
        a, keepdims = as_array(a), bool(_or(keepdims, False))
        kind, mask = (name if _is_float(a) else name[3:]), _mask(where)
        return _with_initial(
            ufunc,
            lambda out: a._reduce(kind, axis, dtype, out, keepdims, mask),
            a, axis, out, keepdims, where, initial,
        )  # fmt: skip


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=_absent):
    """The mean of the elements that are numbers; NaN where there is none."""
    a = as_array(a)
    return a.mean(axis, dtype, out, bool(_or(keepdims, False)), _numbers(a, where))


def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=_absent, mean=_absent, correction=_absent):  # fmt: skip
    """The variance of the elements that are numbers; NaN where ``ddof`` leaves none."""
    a, ddof = as_array(a), _ddof(ddof, correction)
    keepdims = bool(_or(keepdims, False))
    result = a.var(axis, dtype, None, ddof, keepdims, _numbers(a, where))
    count = _counted(a, axis, keepdims, where)
    if count is not None and ddof:
        result = select_where(count <= ddof, result.dtype.type(np.nan), result)
    return result if out is None else UFUNCS["positive"](result, out=out)


def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=_absent, mean=_absent, correction=_absent):  # fmt: skip
    """The standard deviation of the elements that are numbers."""
    variance = nanvar(
        a, axis, dtype, None, ddof, keepdims, where=where, correction=correction
    )
    return UFUNCS["sqrt"](variance, out=variance if out is None else out)


def nanargmin(a, axis=None, out=None, *, keepdims=False):
    """The first index of the smallest number; ValueError where all are NaN."""
    return _nan_index("argmin", np.inf, a, axis, out, keepdims)


def nanargmax(a, axis=None, out=None, *, keepdims=False):
    """The first index of the largest number; ValueError where all are NaN."""
    return _nan_index("argmax", -np.inf, a, axis, out, keepdims)


def _nan_index(name, worst, a, axis, out, keepdims):
    a, keepdims = as_array(a), bool(_or(keepdims, False))
    if _is_float(a):
        missing = UFUNCS["isnan"](a)
        if a.size and bool(missing.all(axis).any()):
            raise ValueError("All-NaN slice encountered")
        a = select_where(missing, a.dtype.type(worst), a)
    return getattr(a, name)(axis, out, keepdims)


def nancumsum(a, axis=None, dtype=None, out=None):
    """The sums of the elements up to each one, NaN counting as zero."""
    return _scans.cumsum(_without_nan(as_array(a), 0), axis, dtype, out)


def nancumprod(a, axis=None, dtype=None, out=None):
    """The products of the elements up to each one, NaN counting as one."""
    return _scans.cumprod(_without_nan(as_array(a), 1), axis, dtype, out)


def _without_nan(a, value):
    if not _is_float(a):
        return a
    return select_where(UFUNCS["isnan"](a), a.dtype.type(value), a)
