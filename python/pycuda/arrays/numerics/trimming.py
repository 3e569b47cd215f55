"""Arrays without the zeros at their ends: trim_zeros()."""

from __future__ import annotations

import numpy as np

from pycuda import _device_code, _driver
from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.creation.filled import zeros
from pycuda.arrays.reductions.reductions import any as any_of
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
    parts: list[slice] = [slice(None)] * array.ndim
    for one, (first, end) in zip(axes, _filled_parts(array, axes), strict=True):
        if end == 0:  # all are 0
            parts = [
                slice(0, 0) if k in axes else slice(None) for k in range(array.ndim)
            ]
            break
        parts[one] = slice(first if "f" in trim else None, end if "b" in trim else None)
    return array[tuple(parts)]


def _filled_parts(array, axes) -> list[tuple[int, int]]:
    """For each axis, the index of the first part that is not zero, and the index after the last one. (0, 0) if all
    parts are zero. The device is read once."""
    simple = array.dtype.kind in "biuf" and array.dtype != np.float16
    if not simple or array.ndim > 1 and array.dtype.kind != "b":
        array = array != 0
    ends = zeros((len(axes), 2), np.int64)
    for k, one in enumerate(axes):
        others = tuple(other for other in range(array.ndim) if other != one)
        line = any_of(array, others) if others else array
        if line.size == 0:
            return [(0, 0)] * len(axes)
        line = line if line._c_contiguous else line.copy()
        blocks = 8 * _driver.Context.get_device().multiprocessor_count
        _device_code.kernel("filled_part", "filled_part", "T", line.dtype)(
            line, line.size, ends[k], block=(256, 1, 1), grid=(min(-(-line.size // 1024), blocks), 1)
        )  # fmt: skip
    found = ends.get().tolist() if axes else []
    return [
        (array.shape[one] - first if end else 0, end)
        for one, (first, end) in zip(axes, found, strict=True)
    ]
