"""Methods of GPUArray that are algorithms: scans, sorting, selecting, products."""

from __future__ import annotations

import numpy as np

from pycuda import _driver
from pycuda._driver import ArrayBase
from pycuda.arrays.elementwise.elementwise import clip
from pycuda.arrays.indexing import selecting as _selecting
from pycuda.arrays.indexing.assigning import put
from pycuda.arrays.indexing.choosing import choose
from pycuda.arrays.indexing.triangles import trace
from pycuda.arrays.linalg import products as _linalg
from pycuda.arrays.reductions import scans as _scans
from pycuda.arrays.shapes.repeating import repeat
from pycuda.arrays.sorting import sorting as _sorting


class AlgorithmMethods:
    """What GPUArray inherits; see the functions of the same names in pycuda.gpuarray."""

    __slots__ = ()

    def cumsum(self, axis=None, dtype=None, out=None, stream=None):
        """The sums of the elements up to each one, along ``axis`` or over all in C order."""
        return _scans.cumsum(self, axis, dtype, out, stream=stream)

    def cumprod(self, axis=None, dtype=None, out=None, stream=None):
        """The products of the elements up to each one, along ``axis`` or over all in C order."""
        return _scans.cumprod(self, axis, dtype, out, stream=stream)

    def sort(self, axis: int = -1, kind=None, order=None, *, stable=None, stream=None):
        """Sort the elements along ``axis`` in place, stably; NaN comes last."""
        if axis is None:
            raise TypeError(
                "sort() in place wants an axis; pycuda.gpuarray.sort() takes None"
            )
        with _driver._Using(stream):
            _driver._array_assign(self, _sorting.sort(self, axis, kind, order))

    def argsort(self, axis=-1, kind=None, order=None, *, stable=None, stream=None):
        """The places (int64) of the elements in sorted order; equal ones stay in their order."""
        return _sorting.argsort(self, axis, kind, order, stream=stream)

    def partition(self, kth, axis: int = -1, kind="introselect", order=None):
        """Bring element ``kth`` where it is in the sorted array, in place."""
        _driver._array_assign(self, _sorting.partition(self, kth, axis, kind, order))

    def argpartition(self, kth, axis=-1, kind="introselect", order=None):
        """The places of the elements in the order of :meth:`partition`."""
        return _sorting.argpartition(self, kth, axis, kind, order)

    def searchsorted(self, v, side="left", sorter=None):
        """Where ``v``'s elements would go in this sorted array."""
        return _sorting.searchsorted(self, v, side, sorter)

    # Selecting

    def clip(self, min=None, max=None, out=None):
        """The elements held between ``min`` and ``max``."""
        return clip(self, min, max, out)

    def take(self, indices, axis=None, out=None, mode: str = "raise"):
        """The elements (or parts along ``axis``) at the places."""
        return _selecting.take(self, indices, axis, out, mode)

    def put(self, indices, values, mode: str = "raise") -> None:
        """Write values at places in C order."""
        put(self, indices, values, mode)

    def repeat(self, repeats, axis=None):
        """Each element (or part along ``axis``) ``repeats`` times."""
        return repeat(self, repeats, axis)

    def nonzero(self) -> tuple:
        """The places of the elements that are not zero, an array for each axis."""
        return _selecting.nonzero(self)

    def compress(self, condition, axis=None, out=None):
        """The elements (or parts along ``axis``) where the condition holds."""
        return _selecting.compress(condition, self, axis, out)

    def choose(self, choices, out=None, mode: str = "raise"):
        """For each element, which is a number, an element of that choice."""
        return choose(self, choices, out, mode)

    def trace(
        self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype=None, out=None
    ):
        """The sum of a diagonal."""
        return trace(self, offset, axis1, axis2, dtype, out)

    def tobytes(self, order: str = "C") -> bytes:
        """The elements' bytes, on the host."""
        return self.get().tobytes(order)

    # Products

    def __imatmul__(self, other):
        if not isinstance(other, ArrayBase):
            return NotImplemented
        result = _linalg.matmul(self, other)
        if result.shape != self.shape:
            raise ValueError(
                f"a product of shape {result.shape} cannot be put into an array of shape {self.shape}"
            )
        if not np.can_cast(result.dtype, self.dtype, "same_kind"):
            raise TypeError(f"{result.dtype} cannot be cast to {self.dtype}")
        _driver._array_assign(self, result)
        return self

    def __matmul__(self, other):
        if not isinstance(other, ArrayBase):
            return NotImplemented
        return _linalg.matmul(self, other)

    def __rmatmul__(self, other):
        if not isinstance(other, ArrayBase):
            return NotImplemented
        return _linalg.matmul(other, self)

    def dot(self, b, out=None):
        """numpy's dot: over the last axis of this array and the last but one of ``b``."""
        return _linalg.dot(self, b, out)
