"""Reductions that leave NaN out."""

from __future__ import annotations

import numpy as np

from pycuda._driver import _Using
from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.indexing.selecting import where as where_
from pycuda.arrays.reductions.means import delta_of, mean, var
from pycuda.arrays.reductions.reducing import given, mask_of, reduce, with_initial
from pycuda.arrays.reductions.scans import cumprod, cumsum
from pycuda.arrays.registry import public
from pycuda.arrays.shapes.views import broadcast_to
from pycuda.arrays.ufuncs.universal_functions import UFUNCS


def _is_float(a) -> bool:
    return a.dtype.kind in "fcV"


def _numbers(a, where):
    """Where elements count: they are numbers, and ``where`` holds."""
    mask = mask_of(where)
    if not _is_float(a):
        return mask
    numbers = ~UFUNCS["isnan"](a)
    return numbers if mask is None else numbers & mask


def _counted(a, axis, keepdims, where):
    numbers = _numbers(a, where)
    if numbers is None:
        return None
    spread = broadcast_to(numbers, a.shape)
    return reduce(spread, "count_nonzero", axis, keepdims=keepdims)


@public()
def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None, *, stream=None):  # fmt: skip
    """The sum of the elements that are numbers."""
    return _nan_reduction(
        "nansum", "add", a, axis, dtype, out, keepdims, initial, where, stream
    )


@public()
def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None, *, stream=None):  # fmt: skip
    """The product of the elements that are numbers."""
    return _nan_reduction(
        "nanprod", "multiply", a, axis, dtype, out, keepdims, initial, where, stream
    )


@public()
def nanmin(a, axis=None, out=None, keepdims=False, initial=None, where=None, *, stream=None):  # fmt: skip
    """The smallest of the elements that are numbers; NaN where there is none."""
    return _nan_reduction(
        "nanmin", "fmin", a, axis, None, out, keepdims, initial, where, stream
    )


@public()
def nanmax(a, axis=None, out=None, keepdims=False, initial=None, where=None, *, stream=None):  # fmt: skip
    """The largest of the elements that are numbers; NaN where there is none."""
    return _nan_reduction(
        "nanmax", "fmax", a, axis, None, out, keepdims, initial, where, stream
    )


def _nan_reduction(name, ufunc, a, axis, dtype, out, keepdims, initial, where, stream):
    with _Using(stream):
        a, keepdims = as_array(a), bool(given(keepdims, False))
        kind, mask = (name if _is_float(a) else name[3:]), mask_of(where)
        return with_initial(
            ufunc,
            lambda out: reduce(a, kind, axis, dtype, out, keepdims, mask),
            a, axis, out, keepdims, initial,
        )  # fmt: skip


@public()
def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=None):
    """The mean of the elements that are numbers; NaN where there is none."""
    a = as_array(a)
    return mean(a, axis, dtype, out, keepdims, where=_numbers(a, where))


@public()
def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None, mean=None, correction=None):  # fmt: skip
    """The variance of the elements that are numbers; NaN where ``ddof`` leaves none."""
    a, ddof = as_array(a), delta_of(ddof, correction)
    keepdims = bool(given(keepdims, False))
    result = var(
        a, axis, dtype, None, ddof, keepdims, where=_numbers(a, where), mean=mean
    )
    count = _counted(a, axis, keepdims, where)
    if count is not None and ddof:
        result = where_(count <= ddof, result.dtype.type(np.nan), result)
    return result if out is None else UFUNCS["positive"](result, out=out)


@public()
def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None, mean=None, correction=None):  # fmt: skip
    """The standard deviation of the elements that are numbers."""
    variance = nanvar(
        a,
        axis,
        dtype,
        None,
        ddof,
        keepdims,
        where=where,
        mean=mean,
        correction=correction,
    )
    return UFUNCS["sqrt"](variance, out=variance if out is None else out)


@public()
def nanargmin(a, axis=None, out=None, *, keepdims=False):
    """The first index of the smallest number; ValueError where all are NaN."""
    return _nan_index("argmin", np.inf, a, axis, out, keepdims)


@public()
def nanargmax(a, axis=None, out=None, *, keepdims=False):
    """The first index of the largest number; ValueError where all are NaN."""
    return _nan_index("argmax", -np.inf, a, axis, out, keepdims)


def _nan_index(name, worst, a, axis, out, keepdims):
    a, keepdims = as_array(a), bool(given(keepdims, False))
    if _is_float(a):
        missing = UFUNCS["isnan"](a)
        if a.size and bool(missing.all(axis).any()):
            raise ValueError("All-NaN slice encountered")
        a = where_(missing, a.dtype.type(worst), a)
    return getattr(a, name)(axis, out, keepdims)


@public()
def nancumsum(a, axis=None, dtype=None, out=None):
    """The sums of the elements up to each one, NaN counting as zero."""
    return cumsum(_without_nan(as_array(a), 0), axis, dtype, out)


@public()
def nancumprod(a, axis=None, dtype=None, out=None):
    """The products of the elements up to each one, NaN counting as one."""
    return cumprod(_without_nan(as_array(a), 1), axis, dtype, out)


def _without_nan(a, value):
    if not _is_float(a):
        return a
    return where_(UFUNCS["isnan"](a), a.dtype.type(value), a)
