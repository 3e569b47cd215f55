"""Methods of GPUArray that are functions of arrays: reductions, scans, sorting, selecting, products."""

from __future__ import annotations

import operator

import numpy as np

from pycuda import _driver
from pycuda._driver import ArrayBase
from pycuda.arrays.elementwise import elementwise as _elementwise
from pycuda.arrays.indexing import assigning as _assigning
from pycuda.arrays.indexing import choosing as _choosing
from pycuda.arrays.indexing import selecting as _selecting
from pycuda.arrays.indexing import triangles as _triangles
from pycuda.arrays.linalg import products as _products
from pycuda.arrays.reductions import means as _means
from pycuda.arrays.reductions import reducing as _reducing
from pycuda.arrays.reductions import reductions as _reductions
from pycuda.arrays.reductions import scans as _scans
from pycuda.arrays.shapes import axes as _axes
from pycuda.arrays.shapes import repeating as _repeating
from pycuda.arrays.sorting import sorting as _sorting
from pycuda.arrays.ufuncs.universal_functions import UFUNCS


class AlgorithmMethods:
    """Methods that GPUArray inherits. Most are public functions, whose first argument is the array."""

    __slots__ = ()

    # Reductions

    _reduce = _reducing.reduce
    sum = _reductions.sum
    prod = _reductions.prod
    min = _reductions.min
    max = _reductions.max
    any = _reductions.any
    all = _reductions.all
    argmin = _reductions.argmin
    argmax = _reductions.argmax
    ptp = _reductions.ptp
    mean = _means.mean
    var = _means.var
    std = _means.std

    # Scans and sorting

    cumsum = _scans.cumsum
    cumprod = _scans.cumprod
    argsort = _sorting.argsort
    argpartition = _sorting.argpartition
    searchsorted = _sorting.searchsorted

    def sort(self, axis: int = -1, kind=None, order=None, *, stable=None, descending=False, stream=None) -> None:  # fmt: skip
        """Sort the elements in place along ``axis``; parameters as of :func:`pycuda.gpuarray.sort`.

        Raises TypeError for ``axis=None``.

        >>> x = gpuarray.array([3, 1, 2])
        >>> x.sort()
        >>> x
        array([1, 2, 3])
        """
        if axis is None:
            raise TypeError(
                "sort() in place expects an axis; pycuda.gpuarray.sort() takes None"
            )
        with _driver._Work(stream):
            _driver._array_assign(
                self,
                _sorting.sort(
                    self, axis, kind, order, stable=stable, descending=descending
                ),
            )

    def partition(self, kth, axis: int = -1, kind="introselect", order=None) -> None:
        """Partition the elements in place; parameters as of :func:`pycuda.gpuarray.partition`.

        Raises ValueError for a place outside of the axis, or a read-only array.

        >>> x = gpuarray.array([3, 1, 2])
        >>> x.partition(0)
        >>> x[0]
        array(1)
        """
        _driver._array_assign(self, _sorting.partition(self, kth, axis, kind, order))

    # Selecting

    clip = _elementwise.clip
    take = _selecting.take
    put = _assigning.put
    repeat = _repeating.repeat
    nonzero = _selecting.nonzero
    choose = _choosing.choose
    trace = _triangles.trace

    def compress(self, condition, axis=None, out=None):
        """Take the elements where a condition holds; parameters as of :func:`pycuda.gpuarray.compress`.

        Returns a new array. The call waits for the device, which counts the elements.

        >>> gpuarray.array([4, 5, 6]).compress([True, False, True])
        array([4, 6])
        """
        return _selecting.compress(condition, self, axis, out)

    def tobytes(self, order: str = "C") -> bytes:
        """Copy the bytes of the elements to the host, in ``order`` "C" or "F".

        The bytes are contiguous, for any strides of the array. The call waits for the device.

        >>> gpuarray.array([1, 2], np.uint8).tobytes()
        b'\\x01\\x02'
        """
        return self.get().tobytes(order)

    # Products

    dot = _products.dot

    def __imatmul__(self, other):
        if not isinstance(other, ArrayBase):
            return NotImplemented
        result = _products.matmul(self, other)
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
        return _products.matmul(self, other)

    def __rmatmul__(self, other):
        if not isinstance(other, ArrayBase):
            return NotImplemented
        return _products.matmul(other, self)

    def round(self, decimals: int = 0, out=None):
        """Round the elements to a number of decimal places; see :func:`pycuda.gpuarray.round`.

        Halves are rounded to even. Integers stay integers. Raises TypeError for bool and decimals.

        >>> gpuarray.array([0.5, 1.5, 2.5]).round()
        array([0., 2., 2.])
        """
        decimals = operator.index(decimals)
        if self.dtype.kind == "b" and decimals != 0:
            raise TypeError(
                f"elements of bool cannot be rounded to {decimals} decimals"
            )
        if self.dtype.kind in "iu" and decimals >= 0:
            return UFUNCS["positive"](self, out=out) if out is not None else self.copy()
        if self.dtype.kind in "iu":
            scale = 10.0**-decimals
            result = (UFUNCS["rint"](self / scale) * scale).astype(self.dtype)
            return result if out is None else UFUNCS["positive"](result, out=out)
        if decimals == 0:
            return UFUNCS["rint"](self, out=out)
        if (
            self.dtype.kind == "c"
        ):  # apart: an infinite part leaves the other one as it is
            result = self.copy()
            for part in (_axes.part_of(result, 0), _axes.part_of(result, 1)):
                part._assign(part.round(decimals))
            return result if out is None else UFUNCS["positive"](result, out=out)
        scale = 10.0 ** abs(decimals)
        if decimals > 0:
            return UFUNCS["divide"](UFUNCS["rint"](self * scale), scale, out=out)
        return UFUNCS["multiply"](UFUNCS["rint"](self / scale), scale, out=out)

    __round__ = round
