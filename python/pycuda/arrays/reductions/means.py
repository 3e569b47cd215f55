"""Means, variances and standard deviations of arrays; see pycuda.gpuarray."""

from __future__ import annotations

import math

import numpy as np

from pycuda._c_types import real_type
from pycuda._driver import ArrayBase
from pycuda.arrays.shapes import axes as _axes
from pycuda.arrays.shapes.views import broadcast_to
from pycuda.arrays.ufuncs.universal_functions import UFUNCS


def axis_bits(axis, ndim: int) -> int:
    """The axes as the bits of a number; None is all of them."""
    if axis is None:
        return (1 << ndim) - 1
    bits = 0
    for one in axis if isinstance(axis, (tuple, list)) else (axis,):
        one = _axes.normalize_axis(one, ndim)
        if bits >> one & 1:
            raise ValueError("duplicate value in 'axis'")
        bits |= 1 << one
    return bits


def _count(ary, axis, keepdims: bool, where):
    """How many elements go into each result of a reduction: a number, or an array of them."""
    if where is not None and where is not True:
        counted = broadcast_to(where, ary.shape)
        return counted._reduce("count_nonzero", axis, keepdims=keepdims)
    bits = axis_bits(axis, ary.ndim)
    return math.prod(n for i, n in enumerate(ary.shape) if bits >> i & 1)


def _types_of_mean(ary, dtype):
    """The type of a mean, and the one to compute it in: sums of 16-bit floats need float32."""
    if dtype is None:
        dtype = np.float64 if ary.dtype.kind in "iub" else ary.dtype
    dtype = np.dtype(dtype)
    is_small_float = dtype.itemsize == 2 and dtype.kind in "fV"
    return dtype, np.dtype(np.float32) if is_small_float else dtype


def _divide_by_count(total, count, dtype, out):
    """A mean without elements is NaN, with numpy's type."""
    if not isinstance(count, ArrayBase):
        count = total.dtype.type(count) if total.dtype.kind in "fc" else count
    mean = UFUNCS["divide"](total, count, out=out, dtype=total.dtype)
    return mean if out is not None else mean.astype(dtype, copy=False)


def mean(ary, axis, dtype, out, keepdims, where):
    dtype, computed = _types_of_mean(ary, dtype)
    total = ary._reduce("sum", axis, computed, None, keepdims, where)
    count = _count(ary, axis, keepdims, where)
    return _divide_by_count(total, count, dtype, out)


def _variance(ary, axis, computed, dtype, out, ddof, keepdims, where):
    """In one reading of the array; under a mask, whose mean is not near the first element, in two."""
    if where is None or where is True:
        squares = ary._reduce("variation", axis, computed, None, keepdims)
    else:
        about = mean(ary, axis, computed, None, True, where)
        squares = ary._reduce(
            "squared_deviations", axis, computed, None, keepdims, where, None, (about,)
        )  # fmt: skip
    count = _count(ary, axis, keepdims, where) - ddof
    return _divide_by_count(squares, count, real_type(dtype), out)


def variance(ary, axis, dtype, out, ddof, keepdims, where):
    dtype, computed = _types_of_mean(ary, dtype)
    return _variance(ary, axis, computed, dtype, out, ddof, keepdims, where)


def deviation(ary, axis, dtype, out, ddof, keepdims, where):
    """The root of the variance; of 16-bit floats it has a value where the variance is too great."""
    dtype, computed = _types_of_mean(ary, dtype)
    result = _variance(ary, axis, computed, computed, None, ddof, keepdims, where)
    result = UFUNCS["sqrt"](result, out=result if out is None else out)
    return result if out is not None else result.astype(real_type(dtype), copy=False)
