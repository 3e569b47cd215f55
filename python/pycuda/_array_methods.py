"""Methods of GPUArray that are algorithms: scans, sorting, products."""

from __future__ import annotations

from pycuda import _array_linalg as _linalg
from pycuda import _array_scans as _scans
from pycuda import _array_sorting as _sorting
from pycuda import _driver
from pycuda._driver import ArrayBase


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
        result = _sorting.sort(self, axis, kind, order, stream=stream)
        _driver._array_assign(self, result, stream=stream)

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

    # Products

    def __matmul__(self, other):
        if not isinstance(other, ArrayBase):
            return NotImplemented
        return _linalg.matmul(self, other)

    def dot(self, b, out=None):
        """numpy's dot: over the last axis of this array and the last but one of ``b``."""
        return _linalg.dot(self, b, out)
