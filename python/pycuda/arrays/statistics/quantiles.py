"""Medians, percentiles and quantiles along axes."""

from __future__ import annotations

import numpy as np

from pycuda import _driver
from pycuda._driver import ArrayBase
from pycuda.arrays.creation.conversion import as_array, put_into
from pycuda.arrays.creation.filled import full
from pycuda.arrays.creation.ranges import arange_of
from pycuda.arrays.indexing.items import take_known
from pycuda.arrays.indexing.selecting import take_along_axis, where
from pycuda.arrays.registry import public
from pycuda.arrays.shapes.axes import normalize_axes
from pycuda.arrays.sorting.sorting import _sort
from pycuda.arrays.ufuncs.fusing import fuse
from pycuda.arrays.ufuncs.universal_functions import UFUNCS

# Alpha and beta of Hyndman and Fan for the methods that interpolate between all elements.
_CONTINUOUS = {
    "linear": (1, 1), "interpolated_inverted_cdf": (0, 1), "hazen": (0.5, 0.5), "weibull": (0, 0),
    "median_unbiased": (1 / 3, 1 / 3), "normal_unbiased": (3 / 8, 3 / 8),
}  # fmt: skip
# The other methods: the position of a quantile among `n` elements. For numbers and arrays.
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
    """The position of the quantile among ``n`` sorted elements, counted from 0."""
    if method in _CONTINUOUS:
        alpha, beta = _CONTINUOUS[method]
        return n * q + (alpha + q * (1 - alpha - beta)) - 1
    return (_DISCRETE.get(method) or _HALVES[method])(n, q)


def _flattened(a, axis):
    """Move the axes ``axis`` (None: all) to one last axis. Return the array, and the shape of a result with keepdims."""
    axes = normalize_axes(axis, a.ndim)
    if axes == (a.ndim - 1,):
        return a, (*a.shape[:-1], 1)
    kept = [i for i in range(a.ndim) if i not in axes]
    shape = [a.shape[i] for i in kept]
    moved = a.transpose([*kept, *axes])
    length = int(np.prod([a.shape[i] for i in axes], dtype=np.int64))
    wide = tuple(1 if i in axes else n for i, n in enumerate(a.shape))
    return moved._reshape(*shape, length), wide


def _checked(a, q, method, weights, scale: int = 1):
    a = as_array(a)
    if weights is not None:
        raise TypeError("quantiles with weights are not supported on the device")
    if method not in _METHODS:
        raise ValueError(
            f"{method!r} is not a valid method. Use one of: {', '.join(_METHODS)}"
        )
    if a.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    kind = _kind(a, q, method, scale)
    if a.dtype.kind == "b" and kind.kind != "b":
        raise TypeError(
            f"method {method!r} interpolates between elements, which is not defined for bool: convert the array first"
        )
    q = np.asarray(q.get() if isinstance(q, ArrayBase) else q, np.float64)
    if not ((q >= 0) & (q <= scale)).all():
        what = "Quantiles" if scale == 1 else "Percentiles"
        raise ValueError(f"{what} must be in the range [0, {scale}]")
    return a, (q / scale, kind)


def _kind(a, q, method, scale):
    """The type of the result: NumPy's, which depends on the type of the shares ``q``."""
    if method in _DISCRETE:
        return a.dtype
    is_python = isinstance(q, (int, float)) and not isinstance(q, np.generic)
    if is_python and a.dtype.kind in "fV":
        return a.dtype
    share = q.dtype if hasattr(q, "dtype") else np.asarray(q).dtype
    if share.kind == "f":
        return np.promote_types(a.dtype, share)
    if (
        method == "linear" and scale == 1
    ):  # for the shares 0 and 1 the result is an element
        return a.dtype
    return np.promote_types(a.dtype, np.float64)


def _quantile(a, q, axis, method, keepdims, out, by_row):
    """``by_row``: NaN is left out, so that each row has its own number of elements.

    ``q``: the shares, and the type of the result.
    """
    q, kind = q
    rows, wide = _flattened(a, axis)
    n = rows.shape[-1]
    if a.size == 0 and by_row:  # as in NumPy for every method
        shape = (*q.shape, *(wide if keepdims else rows.shape[:-1]))
        return put_into(
            out, full(shape, np.nan, a.dtype if a.dtype.kind in "fc" else float)
        )
    if n == 0:
        raise ValueError("a quantile of an empty array is not defined")
    if a.dtype.kind == "V":  # bfloat16: float32 has its numbers, too
        inner = np.dtype(np.float32) if kind.kind == "V" else kind
        numbers, q = a.astype(np.float32), (q, inner)
        result = _quantile(numbers, q, axis, method, keepdims, None, by_row)
        return put_into(out, result.astype(kind, copy=False))
    numbers_only = by_row and a.dtype.kind == "f"
    find = _quantiles_of_numbers if numbers_only else _quantiles_of_all
    result = find(rows, q, method, kind)
    return put_into(
        out, result._reshape(*q.shape, *(wide if keepdims else rows.shape[:-1]))
    )


def _quantiles_of_all(rows, q, method: str, kind):
    """All quantiles of each row. The first axis is that of the shares ``q``."""
    end = rows.shape[-1] - 1
    places = [
        min(max(float(_place(method, end + 1, one)), 0.0), end) for one in q.ravel()
    ]
    elements = _Elements(rows, [*places, end])
    last = elements[end]
    result = _driver._array_empty(
        (len(places), *last.shape), kind, rows._own_allocator, "C", type(rows)
    )
    interpolates = kind.kind == "f" and method not in _DISCRETE
    for i, place in enumerate(places if result.size else ()):
        first = int(place)
        if interpolates:
            ends = (elements[first], elements[first + 1], last)
            share = place - first
            side = 0 if share == 0 else 1 if share < 0.5 else 2
            _interpolated.into((result[i],), *ends, share, 1 - share, side, kind)
        else:  # the quantile is an element, also for integers and the shares 0 and 1
            result[i] = elements[first]
    if not interpolates and rows.dtype.kind == "f":
        result = where(UFUNCS["isnan"](last), kind.type(np.nan), result)
    return result


class _Elements:
    """The elements at ``places`` of the sorted rows, and those on both sides of them."""

    def __init__(self, rows, places):
        last = rows.shape[-1] - 1
        ranks = {int(place) for place in places}
        ranks |= {min(rank + 1, last) for rank in ranks}
        self._ranks = sorted(ranks)
        self._elements = _driver._array_select(rows, rows.ndim - 1, self._ranks)

    def __getitem__(self, rank: int):
        return self._elements[..., self._ranks.index(min(rank, self._ranks[-1]))]


def _quantiles_of_numbers(rows, q, method: str, kind):
    """All quantiles of each row without NaN. The first axis is that of the shares ``q``."""
    rows = _sort(rows, rows.ndim - 1)
    rows = rows if rows._c_contiguous else rows.copy("C")
    shape, starts = rows.shape[:-1], _row_starts(rows)
    shares = as_array(q.reshape(-1, *[1] * rows.ndim))
    places = _places_of_shares(rows, starts, shares, method)
    flat, wanted = rows._reshape(rows.size), (q.size, *shape)
    low, high = (take_known(flat, one._reshape(wanted)) for one in places[:2])
    if method in _DISCRETE:
        return low
    return _interpolate(low, high, places[2]._reshape(wanted), kind)


def _row_starts(rows):
    """The place of the first element of each row, as a column; 0 if there is one row."""
    count, n = rows.size // rows.shape[-1], rows.shape[-1]
    return 0 if count == 1 else arange_of(count, step=n)._reshape(*rows.shape[:-1], 1)


@fuse
def _places_of_shares(rows, starts, shares, method):
    """The places of the elements on both sides of each quantile in sorted rows, whose NaN come last, and the share of
    the second one."""
    count = (rows == rows).sum(axis=-1, dtype=np.int64, keepdims=True)
    # Of a row without numbers the first element, NaN.
    last = UFUNCS["maximum"](count - 1, 0)
    place = UFUNCS["maximum"](UFUNCS["minimum"](_place(method, count, shares), last), 0)
    first = np.floor(place).astype(np.int64)
    next_one = UFUNCS["minimum"](first + 1, last)
    return starts + first, starts + next_one, place - np.floor(place)


@fuse
def _interpolate(low, high, share, kind):
    """Interpolate from the nearer end, as NumPy does, so that the ends are exact."""
    low, high, share = low.astype(kind), high.astype(kind), share.astype(kind)
    step = high - low
    near = where(share >= 0.5, high - step * (1 - share), low + step * share)
    return where((low == high) | (share == 0), low, near)


@public()
def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):  # fmt: skip
    """Compute quantiles: the values below which given fractions of the elements are.

    q: the shares, from 0 to 1; a number or an array. Raises ValueError for others.
    axis: an int, several, or None for all axes.
    out: an array for the result.
    overwrite_input: accepted for NumPy's signature; the input is never changed.
    method: one of NumPy's: "linear", "lower", "higher", "midpoint", "nearest", "hazen", "weibull" ...
        (Hyndman and Fan, Sample quantiles in statistical packages, 1996).
    keepdims: whether reduced axes stay, with extent 1.
    weights: None. Weights raise TypeError.

    The axes of ``q`` come first in the result. NaN if an element is NaN. The type of the result is NumPy's: that of
    the elements if ``q`` is a Python number and they are floats, if ``q`` is of integers and the method "linear", and
    for methods that choose an element; else the common type of the elements and ``q``, at least a float.

    >>> gpuarray.quantile(gpuarray.array([1.0, 2.0, 3.0]), 0.25)
    array(1.5)
    """
    a, q = _checked(a, q, method, weights)
    return _quantile(a, q, axis, method, keepdims, out, by_row=False)


@public()
def percentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):  # fmt: skip
    """Compute quantiles for shares ``q`` from 0 to 100; the other parameters are those of :func:`quantile`.

    q: a number or an array of numbers from 0 to 100; ValueError for others.

    ``percentile(a, q)`` is ``quantile(a, q / 100)``, with its parameters, shapes, types and errors.

    >>> gpuarray.percentile(gpuarray.array([1.0, 2.0, 3.0]), 25)
    array(1.5)
    """
    a, q = _checked(a, q, method, weights, 100)
    return _quantile(a, q, axis, method, keepdims, out, by_row=False)


@public()
def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """Compute the median: the middle element in sorted order, or the mean of the two middle ones.

    Returns float64 for integers, else the dtype of ``a``. Parameters are those of :func:`quantile`. NaN if an
    element is NaN. Complex numbers are ordered by their real parts, then by their imaginary ones.

    >>> gpuarray.median(gpuarray.array([3, 9, 4, 1]))
    array(3.5)
    """
    a = as_array(a)
    rows, wide = _flattened(a, axis)
    n = rows.shape[-1]
    if n == 0:
        kind = a.dtype if a.dtype.kind in "fc" else float
        result = full(rows.shape[:-1], np.nan, kind)
    else:
        middle = _ranked(rows, [(n - 1) // 2, n // 2, n - 1])
        if a.dtype.kind == "V":  # bfloat16
            result = middle[..., 0].astype(a.dtype) if n % 2 else middle[..., :2].mean(-1)  # fmt: skip
        else:
            low, high, last = (middle[..., k] for k in range(3))
            result = _middle(low, last) if n % 2 else _mean_of_two(low, high, last)
    if keepdims:
        result = result._reshape(wide)
    return put_into(out, result)


def _ranked(rows, ranks):
    """The elements of these ranks of each row."""
    if rows.dtype.kind != "c":
        return _driver._array_select(rows, rows.ndim - 1, ranks)
    return take_along_axis(_sort(rows, rows.ndim - 1), np.reshape(ranks, (1,) * (rows.ndim - 1) + (-1,)), -1)  # fmt: skip


# For an odd number of elements, the middle one: a sum of two elements may overflow.
@fuse
def _middle(element, last):
    if element.dtype.kind not in "fc":
        return element.astype(np.float64)
    return where(np.isnan(last), last, element)


@fuse
def _mean_of_two(low, high, last):
    kind = low.dtype if low.dtype.kind in "fc" else np.dtype(np.float64)
    wide = np.dtype(np.float32) if kind == np.float16 else kind
    mean = ((low.astype(wide) + high.astype(wide)) / 2).astype(kind)
    if low.dtype.kind not in "fc":
        return mean
    return where(np.isnan(last), last, mean)


@fuse
def _interpolated(low, high, last, share, rest, side, kind):
    """As :func:`_interpolate` for one share, and NaN if the last element is NaN. If a quantile is an element,
    the next element is not used, because it may be infinite.

    rest: 1 - share. side: 0 for the share 0, 1 for shares below a half, else 2.
    """
    is_float = low.dtype.kind == "f"
    low, high = low.astype(kind), high.astype(kind)
    if side == 0:
        result = low
    else:
        step = high - low
        near = low + step * share if side == 1 else high - step * rest
        result = where(low == high, low, near)
    return where(np.isnan(last), kind.type(np.nan), result) if is_float else result


# Without NaN


@public()
def nanquantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):  # fmt: skip
    """Compute :func:`quantile` of the elements that are not NaN. NaN if all are NaN.

    Returns an array. All parameters, shapes, types and errors are those of :func:`quantile`. Elements are sorted,
    NaN last, so that the numbers of each row come first.

    >>> gpuarray.nanquantile(gpuarray.array([1.0, np.nan, 3.0]), 0.5)
    array(2.)
    """
    a, q = _checked(a, q, method, weights)
    return _quantile(a, q, axis, method, keepdims, out, by_row=True)


@public()
def nanpercentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):  # fmt: skip
    """Compute :func:`percentile` of the elements that are not NaN. NaN if all are NaN.

    q: a number or an array of numbers from 0 to 100.

    All else is as of :func:`nanquantile`.

    >>> gpuarray.nanpercentile(gpuarray.array([1.0, np.nan, 3.0]), 50)
    array(2.)
    """
    a, q = _checked(a, q, method, weights, 100)
    return _quantile(a, q, axis, method, keepdims, out, by_row=True)


@public()
def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """Compute :func:`median` of the elements that are not NaN. NaN if all are NaN.

    a: an array of numbers.

    The mean of the two middle elements for an even count. Integers give float64.

    >>> gpuarray.nanmedian(gpuarray.array([1.0, np.nan, 3.0]))
    array(2.)
    """
    a = as_array(a)
    if a.dtype.kind not in "fc":
        return median(a, axis, out, keepdims=keepdims)
    if a.size == 0:
        half = (np.asarray(0.5), a.dtype)
        return _quantile(a, half, axis, "midpoint", keepdims, out, by_row=True)
    rows, wide = _flattened(a, axis)
    rows = _sort(rows, rows.ndim - 1)
    rows = rows if rows._c_contiguous else rows.copy("C")
    shape, starts = rows.shape[:-1], _row_starts(rows)
    places = _middle_places(rows, starts)
    flat = rows._reshape(rows.size)
    low, high = (take_known(flat, place._reshape(shape)) for place in places)
    result = _mean_of_numbers(low, high)
    return put_into(out, result._reshape(wide) if keepdims else result)


@fuse
def _middle_places(rows, starts):
    """The places of the middle numbers of sorted rows, whose NaN come last. ``starts``: the place of each row."""
    count = (rows == rows).sum(axis=-1, dtype=np.int64, keepdims=True)
    # Of a row without numbers the first element, NaN.
    last = UFUNCS["maximum"](count - 1, 0)
    return starts + last // 2, starts + UFUNCS["minimum"](count // 2, last)


@fuse
def _mean_of_numbers(low, high):
    wide = np.dtype(np.float32) if low.dtype == np.float16 else low.dtype
    mean = (low.astype(wide) + high.astype(wide)) / 2
    return where(low == high, low, mean.astype(low.dtype))
