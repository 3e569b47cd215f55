"""NumPy's functions on the memory of arrays, if the device is the CPU.

In this case NumPy's LAPACK and Fourier transforms read and write the arrays' memory without a copy. A call

- waits for the stream, because earlier work may write an operand or use the result's memory;
- computes in the calling thread, so the result is complete before later work is queued.

A program cannot wait for a stream that records a graph. Then this package's own kernels are recorded. The two
implementations differ only in speed.
"""

from __future__ import annotations

import time

import numpy as np

from pycuda import _driver
from pycuda._driver import ArrayBase
from pycuda.arrays.creation.conversion import as_array


class _Lent:
    """The array interface of an array's memory. Keeps the array alive."""

    __slots__ = ("__array_interface__", "array")

    def __init__(self, array: ArrayBase) -> None:
        self.array = array
        self.__array_interface__ = {
            "data": (array.ptr, not array._writable),
            "shape": array.shape,
            "strides": array.strides,
            "typestr": array.dtype.str,
            "version": 3,
        }


def views(*arrays: ArrayBase) -> list[np.ndarray] | None:
    """Wait for the current stream and return NumPy's views of arrays; None if the host may not access the arrays.

    An array without elements has no memory and is replaced by an empty NumPy array. Raises ValueError for arrays of
    different devices.
    """
    if not _driver._array_wait_for_host(*arrays):
        return None
    lent = [
        np.asarray(_Lent(one)) if one.size else np.empty(one.shape, one.dtype)
        for one in arrays
    ]
    if _driver._check_modes():
        for array, view in zip(arrays, lent, strict=True):
            if array.size:
                _mark_written(array.ptr, view)
    return lent


def _mark_written(address: int, view: np.ndarray) -> None:
    """Tell the check modes that NumPy has written to arrays: no call of the driver shows this."""
    reach = [
        (n - 1) * stride for n, stride in zip(view.shape, view.strides, strict=True)
    ]
    before = sum(min(r, 0) for r in reach)
    behind = sum(max(r, 0) for r in reach) + view.itemsize
    _driver._mark_written(address + before, behind - before)


class computing:
    """``with computing("numpy.sort"):`` around a function of NumPy: without warnings, as kernels give none, and with an
    entry of that name in the profile's timeline."""

    __slots__ = ("_begin", "_name", "_warnings")

    def __init__(self, name: str) -> None:
        self._name = name
        self._warnings = np.errstate(all="ignore")

    def __enter__(self) -> None:
        self._warnings.__enter__()
        self._begin = time.monotonic_ns()

    def __exit__(self, *error) -> None:
        _driver._note_host_work(self._name, self._begin, time.monotonic_ns())
        self._warnings.__exit__(*error)


def call(function, *arrays: ArrayBase, **options):
    """``function`` of NumPy's views of arrays; the results as arrays of the device. None where the host may
    not use the arrays."""
    lent = views(*arrays)
    if lent is None:
        return None
    with computing(f"numpy.{function.__name__.strip('_')}"):
        result = function(*lent, **options)
    if isinstance(result, tuple):
        return tuple(as_array(np.asarray(one)) for one in result)
    return as_array(np.asarray(result))
