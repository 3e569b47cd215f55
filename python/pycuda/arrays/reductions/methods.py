"""The methods of arrays that reduce them over axes; see pycuda.gpuarray."""

from __future__ import annotations

import numpy as np

from pycuda import _driver
from pycuda._driver import ArrayBase, _Using
from pycuda._driver import _array_apply as apply
from pycuda.arrays.creation.conversion import to_gpu
from pycuda.arrays.reductions import means as _means
from pycuda.arrays.ufuncs.universal_functions import UFUNCS


def _by_place(axis, out, stream, allocator):
    """The arguments of any() and all(); PyCUDA's stream and allocator stand where numpy has others."""
    if isinstance(axis, _driver.Stream):
        if stream is not None:
            raise TypeError("there are two streams among the arguments")
        axis, stream = None, axis
    if out is not None and not isinstance(out, ArrayBase) and callable(out):
        if allocator is not None:
            raise TypeError("there are two allocators among the arguments")
        out, allocator = None, out
    return axis, out, stream, allocator


class ReductionMethods:
    """What GPUArray inherits. ``axis`` is an int, several, or None for all axes; axes count from the end
    where they are negative. ``keepdims`` leaves reduced axes with an extent of 1, ``where`` is an array of
    bool that names the elements to use, ``stream`` is the stream of the work (None: the current one)."""

    __slots__ = ()

    def _reduce(
        self, name, axis=None, dtype=None, out=None, keepdims=False, where=None, stream=None,
        others=(),
    ):  # fmt: skip
        if stream is not None:
            with _Using(stream):
                return self._reduce(
                    name, axis, dtype, out, keepdims, where, None, others
                )
        if where is not None and not isinstance(where, ArrayBase):
            where = None if where is True else to_gpu(np.asarray(where, np.bool_))
        result = _driver._array_reduce(
            name, self, *others, axes=_means.axis_bits(axis, self.ndim), keepdims=keepdims,
            dtype=None if dtype is None else np.dtype(dtype), where=where,
        )  # fmt: skip
        return result if out is None else apply("copy", result, out=out)

    def sum(
        self, axis=None, dtype=None, out=None, keepdims=False, where=None, stream=None
    ):
        """The sum over ``axis`` (None: all), pairwise and the same in each run."""
        return self._reduce("sum", axis, dtype, out, keepdims, where, stream)

    def prod(
        self, axis=None, dtype=None, out=None, keepdims=False, where=None, stream=None
    ):
        """The product over ``axis``."""
        return self._reduce("prod", axis, dtype, out, keepdims, where, stream)

    def min(self, axis=None, out=None, keepdims=False, where=None, stream=None):
        """The smallest element; NaN where there is one. Raises ValueError without elements."""
        return self._reduce("min", axis, None, out, keepdims, where, stream)

    def max(self, axis=None, out=None, keepdims=False, where=None, stream=None):
        """The largest element; NaN where there is one. Raises ValueError without elements."""
        return self._reduce("max", axis, None, out, keepdims, where, stream)

    def any(
        self,
        axis=None,
        out=None,
        keepdims=False,
        where=None,
        stream=None,
        allocator=None,
    ):
        """Whether any element is true, of type bool. Takes PyCUDA's ``any(stream, allocator)`` too."""
        axis, out, stream, allocator = _by_place(axis, out, stream, allocator)
        with _Using(stream, allocator):
            return self._reduce("any", axis, None, out, keepdims, where)

    def all(
        self,
        axis=None,
        out=None,
        keepdims=False,
        where=None,
        stream=None,
        allocator=None,
    ):
        """Whether all elements are true, of type bool. Takes PyCUDA's ``all(stream, allocator)`` too."""
        axis, out, stream, allocator = _by_place(axis, out, stream, allocator)
        with _Using(stream, allocator):
            return self._reduce("all", axis, None, out, keepdims, where)

    def argmin(self, axis=None, out=None, keepdims=False, stream=None):
        """The first index of the smallest element, of type int64."""
        return self._reduce("argmin", axis, None, out, keepdims, None, stream)

    def argmax(self, axis=None, out=None, keepdims=False, stream=None):
        """The first index of the largest element, of type int64."""
        return self._reduce("argmax", axis, None, out, keepdims, None, stream)

    def mean(
        self, axis=None, dtype=None, out=None, keepdims=False, where=None, stream=None
    ):
        """The mean over ``axis``; of integers in float64."""
        with _Using(stream):
            return _means.mean(self, axis, dtype, out, keepdims, where)

    def var(
        self,
        axis=None,
        dtype=None,
        out=None,
        ddof=0,
        keepdims=False,
        where=None,
        stream=None,
    ):
        """The variance over ``axis``, from the deviations from the mean."""
        with _Using(stream):
            return _means.variance(self, axis, dtype, out, ddof, keepdims, where)

    def std(
        self,
        axis=None,
        dtype=None,
        out=None,
        ddof=0,
        keepdims=False,
        where=None,
        stream=None,
    ):
        """The standard deviation over ``axis``."""
        with _Using(stream):
            return _means.deviation(self, axis, dtype, out, ddof, keepdims, where)

    def ptp(self, axis=None, out=None, keepdims=False):
        """The largest element less the smallest."""
        return UFUNCS["subtract"](
            self.max(axis, keepdims=keepdims),
            self.min(axis, keepdims=keepdims),
            out=out,
        )
