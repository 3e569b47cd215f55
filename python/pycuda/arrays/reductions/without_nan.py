"""Reductions that ignore NaN."""

from __future__ import annotations

import numpy as np

from pycuda.arrays.checks import raise_if
from pycuda.arrays.creation.conversion import as_array, put_back, put_into
from pycuda.arrays.indexing.selecting import where as where_
from pycuda.arrays.reductions.means import delta_of, mean, var
from pycuda.arrays.reductions.reducing import (
    check_first_value,
    given,
    joined,
    mask_of,
    reduce,
)
from pycuda.arrays.reductions.scans import cumprod, cumsum
from pycuda.arrays.registry import public
from pycuda.arrays.shapes.axes import fused_axes
from pycuda.arrays.shapes.views import broadcast_to
from pycuda.arrays.ufuncs.fusing import fuse
from pycuda.arrays.ufuncs.universal_functions import UFUNCS


def _is_float(a) -> bool:
    return a.dtype.kind in "fcV"


def _numbers(a, where):
    """The mask of the elements to reduce, those that are not NaN and for which ``where`` is true; True for all."""
    mask = mask_of(where)
    if not _is_float(a):
        return True if mask is None else mask
    numbers = ~UFUNCS["isnan"](a)
    return numbers if mask is None else numbers & mask


def _counted(a, axis, keepdims, where):
    numbers = _numbers(a, where)
    if numbers is True:
        return None
    spread = broadcast_to(numbers, a.shape)
    return reduce(spread, "count_nonzero", axis, keepdims=keepdims)


@public()
def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True, *, stream=None):  # fmt: skip
    """Add up the elements that are not NaN; parameters as of :meth:`GPUArray.sum`.

    Returns an array. A sum of no numbers is 0.

    >>> gpuarray.nansum(gpuarray.array([1.0, np.nan, 2.0]))
    array(3.)
    """
    return _joined("nansum", a, axis, dtype, out, keepdims, initial, where, stream)


@public()
def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True, *, stream=None):  # fmt: skip
    """Multiply the elements that are not NaN; parameters as of :meth:`GPUArray.prod`. A product of no numbers is 1.

    Returns an array. All parameters are those of :func:`nansum`; the product is multiplied by ``initial``. Small
    integers are multiplied in 64 bits by default.

    >>> gpuarray.nanprod(gpuarray.array([3.0, np.nan, 2.0]))
    array(6.)
    """
    return _joined("nanprod", a, axis, dtype, out, keepdims, initial, where, stream)


@public()
def nanmin(a, axis=None, out=None, keepdims=False, initial=None, where=True, *, stream=None):  # fmt: skip
    """Find the smallest element that is not NaN; parameters as of :meth:`GPUArray.min`. NaN if all are NaN.

    axis, out, keepdims, stream: as of :func:`nansum`.
    initial: a number that the result is not above; needed with ``where`` and for no elements, ValueError without.
    where: an array of bool: the elements to look at.

    The result has the dtype of ``a``.

    >>> gpuarray.nanmin(gpuarray.array([3.0, np.nan, 2.0]))
    array(2.)
    """
    return _joined("nanmin", a, axis, None, out, keepdims, initial, where, stream)


@public()
def nanmax(a, axis=None, out=None, keepdims=False, initial=None, where=True, *, stream=None):  # fmt: skip
    """Find the largest element that is not NaN; parameters as of :meth:`GPUArray.max`. NaN if all are NaN.

    Parameters and errors are those of :func:`nanmin`; the result is not below ``initial``.

    >>> gpuarray.nanmax(gpuarray.array([3.0, np.nan, 2.0]))
    array(3.)
    """
    return _joined("nanmax", a, axis, None, out, keepdims, initial, where, stream)


# The universal function that combines two results.
_UFUNCS = {"nansum": "add", "nanprod": "multiply", "nanmin": "fmin", "nanmax": "fmax"}


def _joined(name, a, axis, dtype, out, keepdims, initial, where, stream):
    a, ufunc = as_array(a), _UFUNCS[name]
    if ufunc in ("fmin", "fmax"):
        check_first_value(ufunc, initial, where)
    kind = name if _is_float(a) else name[3:]
    return joined(
        kind, ufunc, a, axis, dtype, out, keepdims, initial, where, stream, None
    )


@public()
def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """Compute the mean of the elements that are not NaN; parameters as of :meth:`GPUArray.mean`. NaN if all are NaN.

    Returns an array. Sums are pairwise, as of ``numpy.sum`` here.

    >>> gpuarray.nanmean(gpuarray.array([3.0, np.nan, 2.0]))
    array(2.5)
    """
    a = as_array(a)
    if where is True and a.dtype.kind in "fc":
        result = _mean_of_numbers(
            a, fused_axes(axis, a.ndim), dtype, bool(given(keepdims, False))
        )
        return put_into(out, result)
    return mean(a, axis, dtype, out, keepdims, where=_numbers(a, where))


@fuse
def _mean_of_numbers(a, axis, dtype, keepdims):
    return a.mean(axis, dtype, None, keepdims, where=a == a)


@public()
def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):  # fmt: skip
    """Compute the variance of the elements that are not NaN; parameters as of :meth:`GPUArray.var`.

    The result is NaN if there are no more numbers than ``ddof``.

    >>> gpuarray.nanvar(gpuarray.array([3.0, np.nan, 1.0]))
    array(1.)
    """
    ddof = delta_of(ddof, correction)
    result = _spread(a, axis, dtype, ddof, keepdims, where, mean, root=False)
    return put_into(out, result)


@public()
def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):  # fmt: skip
    """Compute the standard deviation of the elements that are not NaN; parameters as of :func:`nanvar`.

    Returns an array. NaN where no number is left.

    >>> gpuarray.nanstd(gpuarray.array([3.0, np.nan, 1.0]))
    array(1.)
    """
    ddof = delta_of(ddof, correction)
    result = _spread(a, axis, dtype, ddof, keepdims, where, mean, root=True)
    return put_into(out, result, "same_kind")


def _spread(a, axis, dtype, ddof, keepdims, where, mean, root):
    """The variance of the numbers, or its square root."""
    a, keepdims = as_array(a), bool(given(keepdims, False))
    if where is True and mean is None and ddof in (0, 1) and a.dtype.kind in "fc":
        axes = fused_axes(axis, a.ndim)
        return _spread_of_numbers(a, axes, dtype, ddof, keepdims, root)
    result = var(
        a, axis, dtype, None, ddof, keepdims, where=_numbers(a, where), mean=mean
    )
    count = _counted(a, axis, keepdims, where)
    if count is not None and ddof:
        result = where_(count <= ddof, result.dtype.type(np.nan), result)
    return UFUNCS["sqrt"](result) if root else result


@fuse
def _spread_of_numbers(a, axis, dtype, ddof, keepdims, root):
    function = a.std if root else a.var
    return function(axis, dtype, None, ddof, keepdims, where=a == a)


@public()
def nanargmin(a, axis=None, out=None, *, keepdims=False):
    """Find the index of the first smallest number; parameters as of :func:`argmin`. ValueError if all are NaN.

    Returns an array of int64. The test for NaN waits for the device.

    >>> gpuarray.nanargmin(gpuarray.array([3.0, np.nan, 2.0]))
    array(2)
    """
    return _nan_index("argmin", np.inf, a, axis, out, keepdims)


@public()
def nanargmax(a, axis=None, out=None, *, keepdims=False):
    """Find the index of the first largest number; parameters as of :func:`argmin`. ValueError if all are NaN.

    Returns an array of int64. Parameters and errors are those of :func:`nanargmin`.

    >>> gpuarray.nanargmax(gpuarray.array([3.0, np.nan, 2.0]))
    array(0)
    """
    return _nan_index("argmax", -np.inf, a, axis, out, keepdims)


def _nan_index(name, worst, a, axis, out, keepdims):
    a, keepdims = as_array(a), bool(given(keepdims, False))
    if _is_float(a):
        axes = fused_axes(axis, a.ndim)
        if a.size and a.dtype.kind in "fc" and (axes is None or len(axes) == 1):
            index, missing = _index_of_numbers(a, name, worst, axes, keepdims)
            raise_if(missing, "All-NaN slice encountered", ValueError)
            return put_back(out, index)
        missing = UFUNCS["isnan"](a)
        if a.size:
            raise_if(missing.all(axis), "All-NaN slice encountered", ValueError)
        a = where_(missing, a.dtype.type(worst), a)
    return getattr(a, name)(axis, out, keepdims)


@fuse
def _index_of_numbers(a, name, worst, axes, keepdims):
    missing = a != a
    index = getattr(np.where(missing, a.dtype.type(worst), a), name)(
        axes, None, keepdims
    )
    return index, missing.all(axes)


@public()
def nancumsum(a, axis=None, dtype=None, out=None):
    """Compute the cumulative sum with NaN as zero; parameters as of :func:`cumsum`.

    Returns an array of the shape of ``a``, a vector for ``axis=None``.

    >>> gpuarray.nancumsum(gpuarray.array([1.0, np.nan, 2.0]))
    array([1., 1., 3.])
    """
    return cumsum(_without_nan(as_array(a), 0), axis, dtype, out)


@public()
def nancumprod(a, axis=None, dtype=None, out=None):
    """Compute the cumulative product with NaN as one; parameters as of :func:`cumsum`.

    Returns an array of the shape of ``a``, a vector for ``axis=None``. The parameters are those of
    :func:`nancumsum`, the types those of :func:`cumprod`.

    >>> gpuarray.nancumprod(gpuarray.array([3.0, np.nan, 2.0]))
    array([3., 3., 6.])
    """
    return cumprod(_without_nan(as_array(a), 1), axis, dtype, out)


def _without_nan(a, value):
    if not _is_float(a):
        return a
    if a.dtype.kind == "V":
        return where_(UFUNCS["isnan"](a), a.dtype.type(value), a)
    return _filled(a, value)


@fuse
def _filled(a, value):
    return np.where(a != a, a.dtype.type(value), a)
