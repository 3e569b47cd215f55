"""Functions that Dask looks up by the type of a chunk."""

from __future__ import annotations

import copyreg
import math

import numpy as np
from dask.array.backends import percentile
from dask.array.dispatch import (
    concatenate_lookup,
    divide_lookup,
    einsum_lookup,
    empty_lookup,
    nannumel_lookup,
    numel_lookup,
    percentile_lookup,
    take_lookup,
    tensordot_lookup,
    to_numpy_dispatch,
)
from dask.base import normalize_token
from dask.sizeof import sizeof

from pycuda import gpuarray
from pycuda._driver import ArrayBase


def _count(x, **kwargs):
    """The number of elements along ``axis``, on the array's device."""
    axis = kwargs.get("axis")
    axes = range(x.ndim) if axis is None else np.atleast_1d(axis)
    axes = {int(one) % max(x.ndim, 1) for one in axes}
    count = math.prod(x.shape[one] for one in axes)
    if kwargs.get("keepdims", False):
        shape = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
    else:
        shape = tuple(n for i, n in enumerate(x.shape) if i not in axes)
    return np.full_like(x, count, shape=shape, dtype=kwargs.get("dtype", np.float64))


def _count_numbers(x, **kwargs):
    """:func:`_count` for the elements that are not NaN."""
    if x.dtype.kind not in "fc":
        return _count(x, **kwargs)
    return np.sum(~np.isnan(x), **kwargs)


def _divide(x1, x2, out=None, dtype=None):
    """The quotient in ``dtype``; for a count of 0, NaN or infinity as in IEEE arithmetic."""
    result = np.divide(x1, x2, out=out)
    return result if dtype is None else result.astype(dtype, copy=False)


def _einsum(*operands, **kwargs):
    """``casting`` and ``order``, which Dask passes, do not affect a product of promoted types."""
    dtype = kwargs.pop("dtype", None)
    for name in ("casting", "order"):
        kwargs.pop(name, None)
    result = np.einsum(*operands, **kwargs)
    return result if dtype is None else result.astype(dtype, copy=False)


def _size_of(array) -> int:
    """The bytes of device memory that the array keeps allocated."""
    return int(array.nbytes)


def _token(array):
    """A token that is equal for equal arrays: class, type, shape, and the elements' bytes."""
    return type(array).__name__, normalize_token(array.get())


def _restored(host, attributes):
    """Restore an array from a pickle; importing this module has set a default context in the process."""
    array = gpuarray.to_gpu(host)
    vars(array).update(attributes)
    return array


def _reduce(array):
    """The pickled form of an array while pycuda.dask is imported."""
    return _restored, (array.get(), vars(array))


def register() -> None:
    """Register all functions for our arrays and their subclasses."""
    for lookup, function in (
        (concatenate_lookup, np.concatenate),
        (take_lookup, np.take),
        (tensordot_lookup, np.tensordot),
        (einsum_lookup, _einsum),
        (empty_lookup, gpuarray.empty),
        (divide_lookup, _divide),
        (percentile_lookup, percentile),
        (numel_lookup, _count),
        (nannumel_lookup, _count_numbers),
        (to_numpy_dispatch, lambda data, **_: data.get()),
        (sizeof, _size_of),
        (normalize_token, _token),
    ):
        lookup.register(ArrayBase, function)
    copyreg.pickle(gpuarray.GPUArray, _reduce)
