"""Methods of GPUArray that are algorithms: scans, sorting, products."""

from __future__ import annotations

from pycuda import _array_scans as _scans


class AlgorithmMethods:
    """What GPUArray inherits; see the functions of the same names in pycuda.gpuarray."""

    __slots__ = ()

    def cumsum(self, axis=None, dtype=None, out=None, stream=None):
        """The sums of the elements up to each one, along ``axis`` or over all in C order."""
        return _scans.cumsum(self, axis, dtype, out, stream=stream)

    def cumprod(self, axis=None, dtype=None, out=None, stream=None):
        """The products of the elements up to each one, along ``axis`` or over all in C order."""
        return _scans.cumprod(self, axis, dtype, out, stream=stream)
