"""Validation of index arguments."""

from __future__ import annotations

import numpy as np

from pycuda.arrays.creation.conversion import as_array, check_width
from pycuda.arrays.creation.ranges import arange_of
from pycuda.arrays.shapes import axes as _axes
from pycuda.arrays.ufuncs.universal_functions import UFUNCS


def wrapped_indices(indices, extent: int, mode: str):
    """Bring indices into bounds as NumPy's ``mode`` says: "raise", "wrap" or "clip"."""
    if mode == "raise":
        return indices
    if extent == 0:
        if indices.size:
            raise IndexError("cannot take elements from an axis of length 0")
        return indices
    if mode == "wrap":
        return UFUNCS["remainder"](indices.astype(np.int64, copy=False), extent)
    if mode == "clip":
        return indices.clip(0, extent - 1)
    raise ValueError(f"mode must be 'raise', 'wrap' or 'clip', not {mode!r}")


def as_indices(value, bools: bool = False):
    """An array of integers on the device; an empty list is one. ``bools``: whether bools are 0 and 1, as in numpy.take."""
    check_width(value, "indices")
    array = as_array(value)
    if array.size == 0 and array.dtype.kind == "f" and not hasattr(value, "dtype"):
        return array.astype(np.int64)
    if bools and array.dtype.kind == "b":
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"indices must be of integers, not of {array.dtype}")
    return array


def places_along_axis(arr, indices, axis: int) -> tuple:
    axis = _axes.normalize_axis(axis, arr.ndim)
    if indices.ndim != arr.ndim:
        raise ValueError(
            f"indices and array must have the same number of axes, not {indices.ndim} and {arr.ndim}"
        )
    places = []
    for one in range(arr.ndim):
        shape = [1] * arr.ndim
        shape[one] = arr.shape[one]
        places.append(
            indices if one == axis else arange_of(arr.shape[one])._reshape(shape)
        )
    return tuple(places)
