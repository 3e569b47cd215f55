"""Functions that replace those of Dask which do not look up the type of a chunk.

For other arrays, each calls Dask's function.
"""

from __future__ import annotations

import dask.array.routines
import dask.array.utils
import numpy as np
from dask.array.utils import meta_from_array

from pycuda import gpuarray, linalg
from pycuda._driver import ArrayBase

_scipy_function = dask.array.utils.scipy_linalg_safe
_unique = dask.array.routines.unique
_unique_of_chunk = dask.array.routines._unique_internal


def scipy_linalg_safe(func_name, *args, **kwargs):
    """``scipy.linalg``'s function. For device chunks, PyCUDA's solve_triangular, by LU factors."""
    if not isinstance(args[0], ArrayBase):
        return _scipy_function(func_name, *args, **kwargs)
    if func_name != "solve_triangular":
        raise NotImplementedError(
            f"scipy.linalg.{func_name}() does not support arrays of the device"
        )
    return _solve_triangular(*args, **kwargs)


def _solve_triangular(a, b, lower=False):
    return linalg.solve(np.tril(a) if lower else np.triu(a), b)


def unique_of_chunk(ar, indices, counts, return_inverse=False):
    """Distinct elements as structs: values, first indices and sums of counts."""
    if not isinstance(ar, ArrayBase):
        return _unique_of_chunk(ar, indices, counts, return_inverse)
    values, first, inverse = np.unique(ar, return_index=True, return_inverse=True)
    fields = {"values": values}
    if indices is not None:
        # Equal elements are in the order of their indices, in Dask's chunks and in concatenated
        # chunks.
        fields["indices"] = gpuarray.asarray(indices)[first]
    if return_inverse:
        fields["inverse"] = gpuarray.arange(values.size, dtype=np.intp)
    if counts is not None:
        weights = gpuarray.asarray(counts).astype(np.float64)
        fields["counts"] = np.bincount(inverse, weights, minlength=values.size)
    kinds = [
        (name, values.dtype if name == "values" else np.intp)
        for name in ("values", "indices", "inverse", "counts")
        if name in fields
    ]
    result = gpuarray.empty(values.shape, np.dtype(kinds))
    for name, field in fields.items():
        result[name] = field.astype(result.dtype[name])
    return result


def unique(ar, return_index=False, return_inverse=False, return_counts=False):
    """``numpy.unique`` of a Dask array; the results have the type of its chunks."""
    if not isinstance(meta_from_array(ar), ArrayBase):
        return _unique(ar, return_index, return_inverse, return_counts)
    if not (return_index or return_inverse or return_counts):
        return dask.array.routines.unique_no_structured_arr(ar)
    results = _unique(ar, return_index, return_inverse, return_counts)
    for one in results:
        one._meta = gpuarray.empty((0,) * one.ndim, one.dtype)
    return results


def register() -> None:
    """Replace Dask's functions by functions that accept device chunks."""
    dask.array.unique = dask.array.routines.unique = unique
    dask.array.utils.scipy_linalg_safe = scipy_linalg_safe
    dask.array.routines._unique_internal = unique_of_chunk
