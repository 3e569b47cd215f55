"""The functions of the array API whose meaning in the standard differs from NumPy's."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pycuda._driver import ArrayBase
from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.elementwise import elementwise
from pycuda.arrays.indexing import grids, selecting, triangles
from pycuda.arrays.own_device import check_device
from pycuda.arrays.registry import public
from pycuda.arrays.shapes import views


@public(numpy=False, module=False, array_api=True)
def astype(x, dtype, /, *, copy=True, device=None):
    """Convert the elements to ``dtype``; complex numbers are not converted to real ones, which raises TypeError.

    copy: False returns the array itself if it has the type already.
    device: None, or the current context's device.

    >>> array_api.astype(gpuarray.array([1, 2]), array_api.float32)
    array([1., 2.], dtype=float32)
    """
    check_device(device)
    x = as_array(x)
    if x.dtype.kind == "c" and np.dtype(dtype).kind not in "cb":
        raise TypeError(f"{x.dtype} cannot be converted to {dtype}: use real() first")
    return x.astype(dtype, copy=copy)


@public(numpy=False, module=False, array_api=True)
def clip(x, /, min=None, max=None):
    """Limit the elements to the interval from ``min`` to ``max``.

    min, max: arrays or numbers that are broadcast; None is no bound.

    Returns a new array. NaN stays NaN. Where ``min`` exceeds ``max``, the result is ``max``.

    >>> array_api.clip(gpuarray.array([1, 5, 9]), max=5)
    array([1, 5, 5])
    """
    return elementwise.clip(x, min, max)


def _type_of(value):
    return value.dtype if isinstance(value, ArrayBase) else value


@public(numpy=False, module=False, array_api=True)
def can_cast(from_, to, /):
    """Test whether a dtype, or that of an array, can be converted to another by the standard's promotion rules.

    from_: a dtype or an array.
    to: a dtype.

    Returns a bool of Python. A conversion is allowed if the common type of both is ``to``, so never from floats to
    integers. Raises TypeError for what is no dtype.

    >>> array_api.can_cast(array_api.int8, array_api.int16)
    True
    """
    from_, to = np.dtype(_type_of(from_)), np.dtype(to)
    families = ("b", "iu", "fc")  # the standard does not promote between these kinds
    same = any({from_.kind, to.kind} <= set(family) for family in families)
    return same and np.can_cast(from_, to)


@public(numpy=False, module=False, array_api=True)
def result_type(*arrays_and_dtypes):
    """Find the common type of arrays, dtypes and Python's numbers. ValueError for numbers alone.

    arrays_and_dtypes: at least one array or dtype, and any of these and of Python's numbers.

    Returns a dtype. A Python number adapts to the arrays, as NEP 50 says.

    >>> array_api.result_type(array_api.int8, 1)
    dtype('int8')
    """
    types = [_type_of(one) for one in arrays_and_dtypes]
    if all(isinstance(one, (int, float, complex)) for one in types):
        raise ValueError("result_type() expects at least one array or dtype")
    return np.result_type(*types)


class FloatLimits(NamedTuple):
    """The result of ``finfo()``. The values are Python's numbers for every type."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype


class IntegerLimits(NamedTuple):
    """The result of ``iinfo()``."""

    bits: int
    max: int
    min: int
    dtype: np.dtype


@public(numpy=False, module=False, array_api=True)
def finfo(type, /):
    """Return the limits of a floating-point dtype, or of the parts of a complex one: a named tuple of numbers.

    type: a dtype or an array.

    The named tuple has bits, eps, max, min, smallest_normal (numbers of Python) and dtype. Raises ValueError for a dtype
    that is no float.

    >>> array_api.finfo(array_api.float32).bits
    32
    """
    limits = np.finfo(_type_of(type))
    numbers = (limits.eps, limits.max, limits.min, limits.smallest_normal)
    return FloatLimits(limits.bits, *map(float, numbers), limits.dtype)


@public(numpy=False, module=False, array_api=True)
def iinfo(type, /):
    """Return the limits of an integer dtype: a named tuple of numbers.

    type: a dtype or an array.

    The named tuple has bits, max, min (ints of Python) and dtype. Raises ValueError for a dtype that is no integer.

    >>> array_api.iinfo(array_api.int8).max
    127
    """
    limits = np.iinfo(_type_of(type))
    return IntegerLimits(limits.bits, limits.max, limits.min, limits.dtype)


@public(numpy=False, module=False, array_api=True)
def broadcast_arrays(*arrays) -> list:
    """View all arrays with their common shape, as a list.

    arrays: arrays whose shapes broadcast, by NumPy's rules, to one.

    The views are read-only where elements stand in several places. Raises ValueError for shapes that do not fit.

    >>> x, y = array_api.broadcast_arrays(gpuarray.zeros(3), gpuarray.zeros((2, 1)))
    >>> x.shape, y.shape
    ((2, 3), (2, 3))
    """
    return list(views.broadcast_arrays(*arrays))


@public(numpy=False, module=False, array_api=True)
def meshgrid(*arrays, indexing: str = "xy") -> list:
    """Make grids of coordinates from vectors, as a list; see :func:`pycuda.gpuarray.meshgrid`.

    Each grid has an axis for each vector. Raises ValueError for another ``indexing``.

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

    x: an array of matrices (..., rows, columns).
    k: the diagonal: 0 is the main one, positive ones are above it.

    Returns a new array of the dtype of ``x``.

    >>> array_api.tril(gpuarray.ones((2, 2)))
    array([[1., 0.],
           [1., 1.]])
    """
    return triangles.tril(_matrices(x), k)


@public(numpy=False, module=False, array_api=True)
def triu(x, /, *, k: int = 0):
    """Copy matrices with zeros below diagonal ``k``; ValueError for an array of fewer than two axes.

    Elements on diagonal ``k`` stay. The parameters are those of :func:`tril`.

    >>> array_api.triu(gpuarray.ones((2, 2)))
    array([[1., 1.],
           [0., 1.]])
    """
    return triangles.triu(_matrices(x), k)


def _matrices(x):
    if x.ndim < 2:
        raise ValueError(f"a matrix has at least two axes, this array has {x.ndim}")
    return x
