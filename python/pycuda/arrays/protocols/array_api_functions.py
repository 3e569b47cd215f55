"""The functions of the array API whose meaning in the standard differs from NumPy's."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pycuda._driver import ArrayBase
from pycuda.arrays.indexing import grids, selecting, triangles
from pycuda.arrays.own_device import check_device
from pycuda.arrays.registry import public
from pycuda.arrays.shapes import views


@public(numpy=False, module=False, array_api=True)
def astype(x, dtype, /, *, copy=True, device=None):
    """The elements converted to ``dtype``; complex numbers not to real ones."""
    check_device(device)
    if x.dtype.kind == "c" and np.dtype(dtype).kind not in "cb":
        raise TypeError(f"{x.dtype} is not converted to {dtype}: take real() first")
    return x.astype(dtype, copy=copy)


def _type_of(value):
    return value.dtype if isinstance(value, ArrayBase) else value


@public(numpy=False, module=False, array_api=True)
def can_cast(from_, to, /):
    """Whether a type (or an array's) can be converted by the standard's promotion rules."""
    from_, to = np.dtype(_type_of(from_)), np.dtype(to)
    families = ("b", "iu", "fc")  # between these, the standard promotes nothing
    same = any({from_.kind, to.kind} <= set(family) for family in families)
    return same and np.can_cast(from_, to)


@public(numpy=False, module=False, array_api=True)
def result_type(*arrays_and_dtypes):
    """The type that arrays, types and Python's numbers have together."""
    types = [_type_of(one) for one in arrays_and_dtypes]
    if all(isinstance(one, (int, float, complex)) for one in types):
        raise ValueError("result_type() wants at least one array or dtype")
    return np.result_type(*types)


class FloatLimits(NamedTuple):
    """What ``finfo()`` returns: Python's numbers, whatever the type."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype


class IntegerLimits(NamedTuple):
    """What ``iinfo()`` returns."""

    bits: int
    max: int
    min: int
    dtype: np.dtype


@public(numpy=False, module=False, array_api=True)
def finfo(type, /):
    """The limits of a floating point type; of a complex one, those of its parts."""
    limits = np.finfo(_type_of(type))
    numbers = (limits.eps, limits.max, limits.min, limits.smallest_normal)
    return FloatLimits(limits.bits, *map(float, numbers), limits.dtype)


@public(numpy=False, module=False, array_api=True)
def iinfo(type, /):
    """The limits of an integer type."""
    limits = np.iinfo(_type_of(type))
    return IntegerLimits(limits.bits, limits.max, limits.min, limits.dtype)


@public(numpy=False, module=False, array_api=True)
def broadcast_arrays(*arrays) -> list:
    """View all arrays with their common shape, as a list.

    >>> x, y = array_api.broadcast_arrays(gpuarray.zeros(3), gpuarray.zeros((2, 1)))
    >>> x.shape, y.shape
    ((2, 3), (2, 3))
    """
    return list(views.broadcast_arrays(*arrays))


@public(numpy=False, module=False, array_api=True)
def meshgrid(*arrays, indexing: str = "xy") -> list:
    """Make grids of coordinates from vectors, as a list; see :func:`pycuda.gpuarray.meshgrid`.

    >>> x, y = array_api.meshgrid(gpuarray.array([1, 2]), gpuarray.array([5, 6]))
    >>> y
    array([[5, 5],
           [6, 6]])
    """
    return list(grids.meshgrid(*arrays, indexing=indexing))


@public(numpy=False, module=False, array_api=True)
def take(x, indices, /, *, axis=None):
    """Take the elements at ``indices`` along ``axis``, which may be left out for a vector.

    indices: a vector of integers.

    Raises ValueError if there is no axis for an array of several, IndexError for an index outside.

    >>> array_api.take(gpuarray.array([5, 6, 7]), gpuarray.array([2, 0]))
    array([7, 5])
    """
    if axis is None and x.ndim != 1:
        raise ValueError(f"an array of {x.ndim} axes needs an axis")
    return selecting.take(x, indices, 0 if axis is None else axis)


@public(numpy=False, module=False, array_api=True)
def tril(x, /, *, k: int = 0):
    """Copy matrices with zeros above diagonal ``k``; ValueError for an array of fewer than two axes.

    >>> array_api.tril(gpuarray.ones((2, 2)))
    array([[1., 0.],
           [1., 1.]])
    """
    return triangles.tril(_matrices(x), k)


@public(numpy=False, module=False, array_api=True)
def triu(x, /, *, k: int = 0):
    """Copy matrices with zeros below diagonal ``k``; ValueError for an array of fewer than two axes.

    >>> array_api.triu(gpuarray.ones((2, 2)))
    array([[1., 1.],
           [0., 1.]])
    """
    return triangles.triu(_matrices(x), k)


def _matrices(x):
    if x.ndim < 2:
        raise ValueError(f"a matrix has at least two axes, this array has {x.ndim}")
    return x
