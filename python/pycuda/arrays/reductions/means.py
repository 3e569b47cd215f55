"""Means, variances and standard deviations."""

from __future__ import annotations

import math

import numpy as np

from pycuda import _driver
from pycuda._c_types import real_type
from pycuda._driver import ArrayBase, _Work
from pycuda.arrays.checks import raise_if
from pycuda.arrays.creation.conversion import as_array, put_into
from pycuda.arrays.creation.filled import full
from pycuda.arrays.reductions.reducing import axis_bits, given, mask_of, reduce
from pycuda.arrays.registry import public
from pycuda.arrays.shapes.axes import fused_axes, normalize_axes
from pycuda.arrays.shapes.views import broadcast_to
from pycuda.arrays.ufuncs.fusing import fuse
from pycuda.arrays.ufuncs.tracing import traceable
from pycuda.arrays.ufuncs.universal_functions import UFUNCS


def _count(ary, axis, keepdims: bool, where):
    """The number of elements for each result of a reduction: a number, or an array."""
    if where is not None and where is not True:
        counted = broadcast_to(where, ary.shape)
        return reduce(counted, "count_nonzero", axis, keepdims=keepdims)
    if axis is None:
        return ary.size
    bits = axis_bits(
        axis, ary.ndim
    )  # an array without axes has no axis 0 for a mean; a sum accepts axis 0
    return math.prod(n for i, n in enumerate(ary.shape) if bits >> i & 1)


def _types_of_mean(ary, dtype):
    """The type of a mean, and the type of its computation: sums of 16-bit floats need float32."""
    if dtype is None:
        dtype = np.float64 if ary.dtype.kind in "iub" else ary.dtype
    dtype = np.dtype(dtype)
    is_small_float = dtype.itemsize == 2 and dtype.kind in "fV"
    return dtype, np.dtype(np.float32) if is_small_float else dtype


# The type of a mean and of its computation, for the types of elements.
_KINDS = {
    np.dtype(kind): tuple(map(np.dtype, (mean, computed)))
    for kinds, mean, computed in (
        ("?bhilqBHILQ", "d", "d"),
        ("e", "e", "f"),
        *zip("fdFD", "fdFD", "fdFD", strict=True),
    )  # fmt: skip
    for kind in kinds
}


def _divide_by_count(total, count, dtype, out):
    """Divide. A mean of no elements is NaN of NumPy's type. The quotient of integers is cast to their type."""
    is_integer = total.dtype.kind in "iub"
    if not isinstance(count, ArrayBase):
        count = count if is_integer else total.dtype.type(count)
    computed = None if is_integer else total.dtype
    if out is not None and out.dtype == dtype == computed and out.shape == total.shape:
        return UFUNCS["divide"](total, count, out=out, dtype=computed)
    mean = UFUNCS["divide"](total, count, dtype=computed)
    return put_into(out, mean.astype(dtype, copy=False))


def _is_traced_with(ary, dtype, where) -> bool:
    """Whether a fused function has the types of a reduction under a mask."""
    return where is not None and ary.dtype.kind != "V" and (dtype is None or np.dtype(dtype).kind in "fc")  # fmt: skip


@fuse
def _masked_mean(ary, where, axes, dtype, keepdims):
    return ary.mean(axes, dtype, None, keepdims, where=where)


@fuse
def _masked_spread(ary, where, axes, dtype, ddof, keepdims, root):
    function = ary.std if root else ary.var
    return function(axes, dtype, None, ddof, keepdims, where=where)


def _mean(ary, axis, dtype, out, keepdims, where):
    if _is_traced_with(ary, dtype, where):
        axes = fused_axes(axis, ary.ndim)
        return put_into(out, _masked_mean(ary, where, axes, dtype, keepdims))
    dtype, computed = _types_of_mean(ary, dtype)
    count = _count(ary, axis, keepdims, where)
    if where is None and computed.kind in "fc":
        return reduce(
            ary, "sum", axis, computed, out, keepdims, divisor=count, finished=dtype
        )
    total = reduce(ary, "sum", axis, computed, None, keepdims, where)
    return _divide_by_count(total, count, dtype, out)


@public(array_api=True)
@traceable
def mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True, stream=None, allocator=None):  # fmt: skip
    """Compute the arithmetic mean over axes.

    axis: an int, several, or None for all axes.
    dtype: the type of the result. By default integers and bool have float64, all other types their own;
        16-bit floats are summed in float32.
    out: an array for the result.
    keepdims: whether reduced axes stay, with extent 1.
    where: an array of bool that broadcasts to ``a``: the elements to use.
    stream, allocator: the stream of the work, and where the result's memory comes from.

    The mean of no elements is NaN.

    >>> gpuarray.mean(gpuarray.array([[1, 2], [3, 4]]), axis=0)
    array([2., 3.])
    """
    a, keepdims = as_array(a), keepdims is True or bool(given(keepdims, False))
    if where is True and out is None and stream is None and allocator is None:
        kinds = _KINDS.get(a.dtype) if dtype is None else None
        if kinds is not None:  # the usual call
            return _driver._array_reduce(
                "sum", a, axes=axis_bits(axis, a.ndim), keepdims=keepdims, dtype=kinds[1],
                divisor=_count(a, axis, keepdims, None), finished=kinds[0],
            )  # fmt: skip
    with _Work(stream, allocator):
        return _mean(a, axis, dtype, out, keepdims, mask_of(where, a.shape))


def _squares(ary, axis, computed, keepdims, where, mean, **finish):
    """The sums of the squared deviations from the mean.

    One pass over the array. Two passes if there is a mask, because the first element is then a poor estimate
    of the mean; one if the mean is known.
    """
    if where is None and mean is None:
        return reduce(ary, "variation", axis, computed, None, keepdims, **finish)
    about = mean
    if mean is None:
        about = _mean(ary, axis, computed, None, True, where)
    return reduce(
        ary, "squared_deviations", axis, computed, None, keepdims, where, None,
        (as_array(about).astype(computed, copy=False),), **finish,
    )  # fmt: skip


def delta_of(ddof, correction):
    """The number subtracted from the count: ``ddof``, or ``correction``, the array API's name for it."""
    correction = given(correction)
    if correction is None:
        return ddof
    if ddof != 0:
        raise ValueError(
            "ddof and correction are two names of one parameter: pass only one"
        )
    return correction


@public(array_api=True)
@traceable
def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None, stream=None, allocator=None):  # fmt: skip
    """Compute the variance over axes: the mean squared deviation from the mean.

    ddof, correction: two names of the number that is subtracted from the count before the division.
    mean: the mean, if it is known; of the shape that ``keepdims=True`` gives.

    The other parameters and the types are those of :func:`mean`; the variance of complex numbers is real.
    One pass, in which partial sums are merged pairwise (Chan, Golub and LeVeque, Updating formulae and a
    pairwise algorithm for computing sample variances, 1979).

    >>> gpuarray.var(gpuarray.array([1.0, 2.0, 3.0, 4.0]))
    array(1.25)
    """
    ddof = delta_of(ddof, correction)
    with _Work(stream, allocator):
        return put_into(
            out, _spread(a, axis, dtype, ddof, keepdims, where, mean, root=False)
        )


def _spread(a, axis, dtype, ddof, keepdims, where, mean, root):
    """The variance, or its square root, in the type that follows from ``dtype``."""
    a, keepdims, mean = as_array(a), bool(given(keepdims, False)), given(mean)
    mask = mask_of(where, a.shape)
    if mean is None and _is_traced_with(a, dtype, mask):
        axes = fused_axes(axis, a.ndim)
        return _masked_spread(a, mask, axes, dtype, ddof, keepdims, root)
    finished, computed = _types_of_mean(a, dtype)
    if dtype is None:
        finished = real_type(finished)
    count = _less(_count(a, axis, keepdims, mask), ddof)
    if not isinstance(count, ArrayBase):
        return _squares(
            a, axis, computed, keepdims, mask, mean, divisor=count, root=root, finished=finished
        )  # fmt: skip
    squares = _squares(a, axis, computed, keepdims, mask, mean)
    result = UFUNCS["divide"](squares, count, dtype=squares.dtype)
    if root:
        result = UFUNCS["sqrt"](result, out=result)
    return result.astype(finished, copy=False)


def _less(count, ddof):
    """The count minus the degrees of freedom, at least 0. With 0 the result is NaN or infinite."""
    if isinstance(count, ArrayBase):
        return UFUNCS["maximum"](count - ddof, 0)
    return max(count - ddof, 0)


@public(array_api=True)
@traceable
def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None, stream=None, allocator=None):  # fmt: skip
    """Compute the standard deviation over axes, the square root of :func:`var`; parameters as there.

    Returns real numbers: float32 for complex64, float64 for integers. The deviation of 16-bit floats has a value
    even if their variance overflows.

    >>> gpuarray.std(gpuarray.array([1.0, 3.0]), correction=1) ** 2
    array(2.)
    """
    ddof = delta_of(ddof, correction)
    with _Work(stream, allocator):
        result = _spread(a, axis, dtype, ddof, keepdims, where, mean, root=True)
        return put_into(out, result, "same_kind")


@public()
def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    """Compute the weighted mean over axes.

    axis: an int, several, or None for all axes.
    weights: numbers of the shape of ``a``, or of the shape of the axes. None weighs all elements equally.
    returned: True returns (mean, sum of the weights).
    keepdims: whether reduced axes stay, with extent 1.

    Means of integers are float64. Raises ZeroDivisionError if weights add up to zero, TypeError or
    ValueError if their shape does not fit.

    >>> gpuarray.average(gpuarray.array([1.0, 2.0]), weights=gpuarray.array([3, 1]))
    array(1.25)
    """
    a, keepdims = as_array(a), bool(given(keepdims, False))
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
    result, total = _weighted(a, weights, fused_axes(axis, a.ndim), kind, keepdims)
    raise_if(
        _has_zero(total), "Weights sum to zero, can't be normalized", ZeroDivisionError
    )
    return (result, total) if returned else result


@fuse
def _has_zero(x):
    return (x == 0).any()


@fuse
def _weighted(a, weights, axes, kind, keepdims):
    total = weights.sum(axes, kind, None, keepdims)
    products = a.astype(kind) * weights.astype(kind)
    return products.sum(axes, kind, None, keepdims) / total, total


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
