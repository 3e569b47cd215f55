"""Medians, percentiles and quantiles, by sorting along the axes."""

from __future__ import annotations

import numpy as np

from pycuda import _driver
from pycuda._array_creation import as_array, full
from pycuda._array_selecting import take_along_axis, where
from pycuda._array_shapes import normalize_axes
from pycuda._array_sorting import _sort
from pycuda._array_ufuncs import UFUNCS
from pycuda._driver import ArrayBase

# Hyndman and Fan's alpha and beta of the methods that interpolate between all elements.
_CONTINUOUS = {
    "linear": (1, 1), "interpolated_inverted_cdf": (0, 1), "hazen": (0.5, 0.5), "weibull": (0, 0),
    "median_unbiased": (1 / 3, 1 / 3), "normal_unbiased": (3 / 8, 3 / 8),
}  # fmt: skip
# The others: where between the elements a quantile lies, of `n` elements. Of numbers or arrays.
_DISCRETE = {
    "lower": lambda n, q: np.floor((n - 1) * q),
    "higher": lambda n, q: np.ceil((n - 1) * q),
    "nearest": lambda n, q: np.rint((n - 1) * q),
    "inverted_cdf": lambda n, q: np.ceil(n * q - 1),
    "closest_observation": lambda n, q: np.rint(n * q) - 1,
}
_HALVES = {
    "midpoint": lambda n, q: (np.floor((n - 1) * q) + np.ceil((n - 1) * q)) * 0.5,
    "averaged_inverted_cdf": lambda n, q: (np.ceil(n * q - 1) + np.floor(n * q)) * 0.5,
}
_METHODS = [*_CONTINUOUS, *_DISCRETE, *_HALVES]


def _place(method: str, n, q):
    """Where the quantile lies among ``n`` sorted elements, counted from 0."""
    if method in _CONTINUOUS:
        alpha, beta = _CONTINUOUS[method]
        return n * q + (alpha + q * (1 - alpha - beta)) - 1
    return (_DISCRETE.get(method) or _HALVES[method])(n, q)


def _flattened(a, axis):
    """``a`` with ``axis`` (None: all) as one last axis, and the shape that keepdims gives."""
    axes = normalize_axes(axis, a.ndim)
    kept = [i for i in range(a.ndim) if i not in axes]
    shape = [a.shape[i] for i in kept]
    moved = a.transpose([*kept, *axes])
    length = int(np.prod([a.shape[i] for i in axes], dtype=np.int64))
    wide = tuple(1 if i in axes else n for i, n in enumerate(a.shape))
    return moved.reshape(*shape, length), wide


def _between(low, high, share):
    """As numpy's: from the nearer end, so that the ends are met exactly."""
    step = high - low
    near_low, near_high = low + step * share, high - step * (1 - share)
    result = where(share >= 0.5, near_high, near_low) if isinstance(share, ArrayBase) else (
        near_high if share >= 0.5 else near_low
    )  # fmt: skip
    return where(low == high, low, result)


def _checked(a, q, method, weights):
    a = as_array(a)
    if weights is not None:
        raise TypeError("quantiles with weights are not written for the device")
    if method not in _METHODS:
        raise ValueError(
            f"{method!r} is not a valid method. Use one of: {', '.join(_METHODS)}"
        )
    if a.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    if a.dtype.kind == "b":
        raise TypeError("quantiles of bool are not defined: convert the array first")
    q = np.asarray(q.get() if isinstance(q, ArrayBase) else q, np.float64)
    if not ((q >= 0) & (q <= 1)).all():
        raise ValueError("Quantiles must be in the range [0, 1]")
    return a, q


def _kind(a, method):
    if method in _DISCRETE or a.dtype.kind in "fV":
        return a.dtype
    return np.dtype(np.float64)


def _quantile(a, q, axis, method, keepdims, out, by_row):
    """``by_row``: NaN is left out, so that each row has its own number of elements."""
    rows, wide = _flattened(a, axis)
    kind = _kind(a, method)
    parts = []
    n = rows.shape[-1]
    if n == 0:
        raise ValueError("a quantile of no elements has no value")
    rows = _sort(rows, rows.ndim - 1)
    missing = UFUNCS["isnan"](rows) if a.dtype.kind in "fV" else None
    count = n
    if by_row and missing is not None:
        count = n - missing._reduce("count_nonzero", -1, keepdims=True)
    for one in q.ravel().tolist():
        parts.append(_one_quantile(rows, count, one, method, kind))
    result = full((len(parts), *rows.shape[:-1]), 0, kind)
    for i, part in enumerate(parts):
        result[i] = part
    if missing is not None:
        no_value = (
            (count == 0)[..., 0] if isinstance(count, ArrayBase) else missing[..., -1]
        )
        result = (
            where(no_value, kind.type(np.nan), result) if kind.kind == "f" else result
        )
    result = result.reshape(*q.shape, *(wide if keepdims else rows.shape[:-1]))
    return result if out is None else _driver._array_apply("copy", result, out=out)


def _one_quantile(rows, count, q: float, method: str, kind):
    place = _place(method, count, q)
    if isinstance(count, ArrayBase):
        last = np.maximum(count - 1, 0)
        place = np.maximum(np.minimum(place, last), 0)
        low = np.floor(place)
        share = (place - low).astype(kind) if kind.kind == "f" else place - low
        first = low.astype(np.int64)
        ends = (first, np.minimum(first + 1, last))
        low, high = (take_along_axis(rows, end, -1)[..., 0] for end in ends)
        share = share[..., 0]
    else:
        place = min(max(float(place), 0.0), count - 1)
        first = int(place)
        low, high = rows[..., first], rows[..., min(first + 1, count - 1)]
        share = place - first
    if method in _DISCRETE:
        return low
    return _between(low.astype(kind, copy=False), high.astype(kind, copy=False), share)


def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):  # fmt: skip
    """The elements below which the shares ``q`` (0 to 1) of the elements along ``axis`` (None: all) lie.

    ``method``: numpy's. NaN where there is a NaN. The result has the axes of ``q`` first.
    """
    a, q = _checked(a, q, method, weights)
    return _quantile(a, q, axis, method, keepdims, out, by_row=False)


def percentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):  # fmt: skip
    """:func:`quantile` with ``q`` from 0 to 100."""
    a, q = _checked(a, _share(q), method, weights)
    return _quantile(a, q, axis, method, keepdims, out, by_row=False)


def _share(q):
    q = np.asarray(q.get() if isinstance(q, ArrayBase) else q, np.float64)
    if not ((q >= 0) & (q <= 100)).all():
        raise ValueError("Percentiles must be in the range [0, 100]")
    return q / 100


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The middle element along ``axis``, or the mean of both; NaN where there is a NaN."""
    a = as_array(a)
    rows, wide = _flattened(a, axis)
    n = rows.shape[-1]
    if n == 0:
        kind = np.result_type(a.dtype, np.float16) if a.dtype.kind == "f" else float
        result = full(rows.shape[:-1], np.nan, kind)
    else:
        rows = _sort(rows, rows.ndim - 1)
        result = rows[..., (n - 1) // 2 : n // 2 + 1].mean(-1)
        if a.dtype.kind == "f":
            broken = UFUNCS["isnan"](rows[..., -1])
            result = where(broken, result.dtype.type(np.nan), result)
    if keepdims:
        result = result.reshape(wide)
    return result if out is None else _driver._array_apply("copy", result, out=out)


# Without NaN


def nanquantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):  # fmt: skip
    """:func:`quantile` of the elements that are numbers; NaN where there is none."""
    a, q = _checked(a, q, method, weights)
    return _quantile(a, q, axis, method, keepdims, out, by_row=True)


def nanpercentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):  # fmt: skip
    """:func:`percentile` of the elements that are numbers; NaN where there is none."""
    a, q = _checked(a, _share(q), method, weights)
    return _quantile(a, q, axis, method, keepdims, out, by_row=True)


def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """:func:`median` of the elements that are numbers; NaN where there is none."""
    a = as_array(a)
    if a.dtype.kind != "f":
        return median(a, axis, out, keepdims=keepdims)
    return _quantile(a, np.asarray(0.5), axis, "midpoint", keepdims, out, by_row=True)
