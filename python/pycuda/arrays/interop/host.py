"""NumPy's functions on the memory of arrays, where the device is the CPU.

There the memory of arrays is memory of the host, too: NumPy's LAPACK and its Fourier transforms read and
write that memory without a copy. A call

- waits for the stream, so that all work that was queued before is done: kernels that write an operand, and
  those of an earlier owner of the result's memory;
- computes in the calling thread, so that all work that is queued afterwards sees the result.

NumPy itself returns when its work is done, so nothing is lost by waiting. A stream that records a graph
cannot be waited for: own kernels go into the graph. Only speed depends on the way that is taken.
"""

from __future__ import annotations

import numpy as np

from pycuda import _driver
from pycuda._driver import ArrayBase
from pycuda.arrays.creation.conversion import as_array


class _Lent:
    """An array's memory as NumPy's array interface; keeps the array alive."""

    __slots__ = ("__array_interface__", "array")

    def __init__(self, array: ArrayBase) -> None:
        self.array = array
        self.__array_interface__ = {
            "data": (int(array.gpudata), not array._writable),
            "shape": array.shape,
            "strides": array.strides,
            "typestr": array.dtype.str,
            "version": 3,
        }


def views(*arrays: ArrayBase, stream=None) -> list[np.ndarray] | None:
    """NumPy's views of arrays, which the host may use at once; None where it never may.

    Arrays without elements have no memory: an empty array of NumPy's stands for them.
    """
    if not _driver._array_wait_for_host(stream):
        return None
    lent = [
        np.asarray(_Lent(one)) if one.size else np.empty(one.shape, one.dtype)
        for one in arrays
    ]
    if _driver._check_modes():
        for array, view in zip(arrays, lent, strict=True):
            if array.size:
                _mark_written(int(array.gpudata), view)
    return lent


def _mark_written(address: int, view: np.ndarray) -> None:
    """What NumPy writes there, no call of the driver tells."""
    reach = [
        (n - 1) * stride for n, stride in zip(view.shape, view.strides, strict=True)
    ]
    before = sum(min(r, 0) for r in reach)
    behind = sum(max(r, 0) for r in reach) + view.itemsize
    _driver._mark_written(address + before, behind - before)


def call(function, *arrays: ArrayBase, **options):
    """``function`` of NumPy's views of arrays; the results as arrays of the device. None where the host may
    not use the arrays."""
    lent = views(*arrays)
    if lent is None:
        return None
    with np.errstate(all="ignore"):  # kernels give no warnings
        result = function(*lent, **options)
    if isinstance(result, tuple):
        return tuple(as_array(np.asarray(one)) for one in result)
    return as_array(np.asarray(result))
