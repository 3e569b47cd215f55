"""numpy's functions that give views: other shapes, orders of axes and parts of an array."""

from __future__ import annotations

import numpy as np

from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.registry import public
from pycuda.arrays.shapes import axes as _axes
from pycuda.arrays.shapes.axes import normalize_axes


@public(array_api=True, module=False)
def reshape(a, shape, order: str = "C", *, copy=None):
    """The same elements with another shape; a view where the memory allows it."""
    return a._reshape(shape, order=order, copy=copy)


@public()
def ravel(a, order: str = "C"):
    """All elements along one axis; a view where that is possible."""
    return a._ravel(order)


@public()
def transpose(a, axes=None):
    """A view with the axes in another order, by default reversed."""
    return a.transpose(axes)


@public(array_api=True)
def permute_dims(a, axes=None):
    """A view with the axes in another order, by default reversed."""
    return a.transpose(axes)


@public(array_api=True)
@public("linalg")
def matrix_transpose(x):
    """A view with the last two axes exchanged."""
    if x.ndim < 2:
        raise ValueError(f"a matrix has at least two axes, this array has {x.ndim}")
    return x.swapaxes(-1, -2)


@public()
def swapaxes(a, axis1: int, axis2: int):
    """A view with two axes exchanged."""
    axes = list(range(a.ndim))
    axis1, axis2 = normalize_axes(axis1, a.ndim)[0], normalize_axes(axis2, a.ndim)[0]
    axes[axis1], axes[axis2] = axes[axis2], axes[axis1]
    return a.transpose(axes)


@public(array_api=True)
def moveaxis(a, source, destination):
    """A view with the axes ``source`` at the places ``destination``; the others keep their order."""
    sources = normalize_axes(source, a.ndim)
    places = normalize_axes(destination, a.ndim)
    if len(sources) != len(places):
        raise ValueError(
            f"source has {len(sources)} axes, destination has {len(places)}"
        )
    axes = [axis for axis in range(a.ndim) if axis not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        axes.insert(place, axis)
    return a.transpose(axes)


@public()
def rollaxis(a, axis: int, start: int = 0):
    """A view with ``axis`` moved in front of the axis ``start``."""
    axis = _axes.normalize_axis(axis, a.ndim)
    if not -a.ndim <= start <= a.ndim:
        raise np.exceptions.AxisError(start, a.ndim)
    start = start + a.ndim if start < 0 else start
    axes = [one for one in range(a.ndim) if one != axis]
    axes.insert(start - 1 if axis < start else start, axis)
    return a.transpose(axes)


@public(array_api=True)
def squeeze(a, axis=None):
    """A view without axes of length 1: all of them, or those of ``axis``."""
    return a.squeeze(axis)


@public(array_api=True)
def expand_dims(a, axis=0):
    """A view with new axes of length 1 at the places ``axis`` of the result."""
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    places = normalize_axes(tuple(axes), a.ndim + len(axes))
    return a[
        tuple(None if i in places else slice(None) for i in range(a.ndim + len(places)))
    ]


@public(array_api=True)
def broadcast_to(array, shape, subok: bool = False):
    """A view repeated along new axes and those of length 1."""
    ary = as_array(array)
    shape = tuple(shape) if np.iterable(shape) else (shape,)
    added = len(shape) - ary.ndim
    strides = [0] * added
    if added < 0:
        raise ValueError(f"cannot broadcast shape {ary.shape} to {shape}")
    for own, wanted, stride in zip(ary.shape, shape[added:], ary.strides, strict=True):
        if own not in (1, wanted):
            raise ValueError(f"cannot broadcast shape {ary.shape} to {shape}")
        strides.append(stride if own == wanted else 0)
    return ary._view(0, shape, strides)


@public()
def broadcast_arrays(*args, subok: bool = False) -> tuple:
    """Views of all arrays with the shape that they have in common."""
    arrays = [as_array(array) for array in args]
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    return tuple(broadcast_to(array, shape) for array in arrays)


@public()
def atleast_1d(*arys):
    """The arrays with at least one axis."""
    return _each(lambda a: a._reshape(1) if a.ndim == 0 else a, arys)


@public()
def atleast_2d(*arys):
    """The arrays with at least two axes; new ones stand in front."""
    return _each(lambda a: a._reshape((1,) * (2 - a.ndim) + a.shape), arys)


@public()
def atleast_3d(*arys):
    """The arrays with at least three axes, as numpy places them."""

    def widen(a):
        if a.ndim < 2:
            return atleast_1d(a)[None, :, None]
        return a[..., None] if a.ndim == 2 else a

    return _each(widen, arys)


def _each(function, arys):
    results = tuple(function(as_array(array)) for array in arys)
    return results[0] if len(results) == 1 else results


@public(array_api=True)
def flip(m, axis=None):
    """A view with the order of the elements reversed along ``axis`` (None: all axes)."""
    axes = normalize_axes(axis, m.ndim)
    return m[tuple(slice(None, None, -1 if i in axes else 1) for i in range(m.ndim))]


@public()
def fliplr(m):
    """A view with the second axis reversed."""
    if m.ndim < 2:
        raise ValueError("fliplr() wants an array of at least two axes")
    return flip(m, 1)


@public()
def flipud(m):
    """A view with the first axis reversed."""
    if m.ndim < 1:
        raise ValueError("flipud() wants an array of at least one axis")
    return flip(m, 0)


@public()
def rot90(m, k: int = 1, axes=(0, 1)):
    """A view turned by ``k`` quarters, from the first of ``axes`` towards the second."""
    if len(axes) != 2:
        raise ValueError(f"axes must be two, not {len(axes)}")
    first, second = normalize_axes(tuple(axes), m.ndim)
    k %= 4
    if k == 0:
        return m[...]
    if k == 2:
        return flip(m, (first, second))
    if k == 1:
        return swapaxes(flip(m, second), first, second)
    return flip(swapaxes(m, first, second), second)


@public()
def diagonal(a, offset: int = 0, axis1: int = 0, axis2: int = 1):
    """A view of the diagonal of two axes, which becomes the last axis."""
    return a.diagonal(offset, axis1, axis2)
