"""Functions applied along axes, one vector after the other."""

from __future__ import annotations

import math

import numpy as np

from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.registry import public
from pycuda.arrays.shapes import axes as _axes
from pycuda.arrays.shapes.joining import stack
from pycuda.arrays.shapes.views import moveaxis


@public()
def apply_along_axis(func1d, axis: int, arr, *args, **kwargs):
    """Apply a function to each vector along an axis, one after the other.

    func1d: called as ``func1d(vector, *args, **kwargs)`` with an array of one axis; returns an array or a number.
    axis: the axis of the vectors.
    arr: the array. Raises ValueError if there is no vector.

    The results of the function stand in the place of ``axis``. A function that takes an axis itself is much faster.

    >>> gpuarray.apply_along_axis(gpuarray.sum, 1, gpuarray.array([[1, 2], [3, 4]]))
    array([3, 7])
    """
    arr = as_array(arr)
    axis = _axes.normalize_axis(axis, arr.ndim)
    moved = moveaxis(arr, axis, -1)
    outer_shape = moved.shape[:-1]
    vectors = moved._reshape(math.prod(outer_shape), moved.shape[-1])
    results = [as_array(func1d(vector, *args, **kwargs)) for vector in vectors]
    if not results:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    joined = stack(results)._reshape(*outer_shape, *results[0].shape)
    places = range(len(outer_shape), joined.ndim)
    return moveaxis(joined, tuple(places), tuple(axis + i for i in range(len(places))))


@public()
def apply_over_axes(func, a, axes):
    """Apply a reduction over one axis after the other; reduced axes stay, with extent 1.

    func: called as ``func(array, axis)``.
    axes: an int or several, which may repeat; None for all axes.

    >>> gpuarray.apply_over_axes(np.sum, gpuarray.array([[1, 2], [3, 4]]), (0, 1))
    array([[10]])
    """
    array = as_array(a)
    # As in NumPy, axis 0 is accepted for an array without axes.
    if axes is None:
        axes = range(array.ndim)
    for axis in np.atleast_1d(axes).tolist():
        axis = _axes.normalize_axis(axis, array.ndim) if array.ndim else axis
        result = func(array, axis)
        if result.ndim != array.ndim:
            shape = [1 if i == axis else n for i, n in enumerate(array.shape)]
            result = result._reshape(shape)
        array = result
    return array
