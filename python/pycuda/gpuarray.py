"""Arrays on the device, with numpy's arithmetic.

>>> import pycuda.autoinit
>>> from pycuda import gpuarray
>>> x = gpuarray.to_gpu(numpy.arange(4, dtype=numpy.float32))
>>> (2 * x + 1).get()
array([1., 3., 5., 7.], dtype=float32)
"""

from __future__ import annotations

import numpy as np

from pycuda import _driver
from pycuda._driver import ArrayBase


class ArrayFlags:
    """How an array lies in memory: ``c_contiguous``, ``f_contiguous``, ``forc`` (either)."""

    def __init__(self, ary: ArrayBase) -> None:
        self.c_contiguous = ary._c_contiguous
        self.f_contiguous = ary._f_contiguous
        self.forc = self.c_contiguous or self.f_contiguous

    def __repr__(self) -> str:
        return f"ArrayFlags(c_contiguous={self.c_contiguous}, f_contiguous={self.f_contiguous})"


class GPUArray(ArrayBase):
    """An array on the device: elements of ``dtype`` in the given ``shape``.

    Memory comes from a pool of the current context, or from ``allocator(nbytes)``; ``gpudata``
    is memory that is there already. ``strides`` are in bytes; without them the elements lie one
    after the other in ``order`` "C" or "F".
    """

    __slots__ = ()
    __array_priority__ = 100

    def __init__(
        self,
        shape,
        dtype,
        allocator=None,
        base=None,
        gpudata=None,
        strides=None,
        order: str = "C",
    ) -> None:
        _driver._array_init(
            self, shape, dtype, allocator, base, gpudata, strides, order
        )

    @property
    def flags(self) -> ArrayFlags:
        """How the elements lie in memory."""
        return ArrayFlags(self)

    @property
    def __cuda_array_interface__(self) -> dict:
        return {
            "shape": self.shape,
            "strides": self.strides,
            "data": (self.ptr, False),
            "typestr": self.dtype.str,
            "stream": None,
            "version": 3,
        }

    def get(self, ary=None, pagelocked=False, async_=False, stream=None):
        """The elements on the host: a new numpy array, or ``ary`` filled."""
        if ary is None:
            ary = np.ndarray(self.shape, self.dtype, strides=self.strides)
        _driver._array_get_bytes(self, ary, stream)
        return ary


_driver._register_array_class(GPUArray)


def to_gpu(ary, allocator=None) -> GPUArray:
    """A copy of the numpy array ``ary`` on the device."""
    return _driver._array_to_gpu(ary, allocator, None, None)


def empty(shape, dtype=np.float64, allocator=None, order: str = "C") -> GPUArray:
    """A new array whose elements are not set."""
    return _driver._array_empty(shape, dtype, allocator, order, None)
