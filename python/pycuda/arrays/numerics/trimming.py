"""Arrays without the zeros at their ends: trim_zeros()."""

from __future__ import annotations

from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.reductions.reductions import any as any_of
from pycuda.arrays.reductions.reductions import argmax
from pycuda.arrays.registry import public
from pycuda.arrays.shapes.axes import normalize_axes


@public()
def trim_zeros(filt, trim: str = "fb", axis=None):
    """View an array without the zeros at the front and at the back.

    trim: "f" for the front, "b" for the back, "fb" for both.
    axis: an int, several, or None for all axes.

    The places of the first and the last other element are read back. Raises ValueError for another ``trim``.

    >>> gpuarray.trim_zeros(gpuarray.array([0, 0, 1, 0, 2, 0]))
    array([1, 0, 2])
    """
    array = as_array(filt)
    trim = trim.lower()
    if trim not in ("f", "b", "fb", "bf"):
        raise ValueError(f"trim must be 'f', 'b' or 'fb', not {trim!r}")
    axes = normalize_axes(axis, array.ndim)
    filled = array if array.dtype.kind == "b" else array != 0
    parts: list[slice] = [slice(None)] * array.ndim
    for one in axes:
        others = tuple(k for k in range(array.ndim) if k != one)
        line = any_of(filled, others) if others else filled
        extent = array.shape[one]
        first = int(argmax(line)) if extent else 0
        if extent == 0 or not bool(line[first]):  # all are 0
            parts = [
                slice(0, 0) if k in axes else slice(None) for k in range(array.ndim)
            ]
            break
        last = extent - 1 - int(argmax(line[::-1]))
        parts[one] = slice(
            first if "f" in trim else None, last + 1 if "b" in trim else None
        )
    return array[tuple(parts)]
