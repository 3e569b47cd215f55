"""numpy's functions that give views: other shapes, orders of axes and parts of an array."""

from __future__ import annotations

import operator

import numpy as np

from pycuda.arrays.creation.filled import as_array
from pycuda.arrays.shapes import axes as _indexing


def shape(a) -> tuple[int, ...]:
    """The extents of the axes."""
    return a.shape


def ndim(a) -> int:
    """How many axes."""
    return a.ndim


def size(a, axis=None) -> int:
    """How many elements, or how many along ``axis`` (an int or a tuple)."""
    if axis is None:
        return a.size
    count = 1
    for one in normalize_axes(axis, a.ndim):
        count *= a.shape[one]
    return count


def normalize_axes(axis, count: int) -> tuple[int, ...]:
    """The axes counted from the front; None is all. ValueError where one comes twice."""
    if axis is None:
        return tuple(range(count))
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple(_indexing.normalize_axis(one, count) for one in axes)
    if len(set(axes)) != len(axes):
        raise ValueError(f"an axis comes twice in {axis}")
    return axes


def reshape(a, shape, order: str = "C", *, copy=None):
    """The same elements with another shape; a view where the memory allows it."""
    return a._reshape(shape, order=order, copy=copy)


def ravel(a, order: str = "C"):
    """All elements along one axis; a view where that is possible."""
    return a._ravel(order)


def transpose(a, axes=None):
    """A view with the axes in another order, by default reversed."""
    return a.transpose(axes)


def permute_dims(a, axes=None):
    """A view with the axes in another order, by default reversed."""
    return a.transpose(axes)


def matrix_transpose(x):
    """A view with the last two axes exchanged."""
    if x.ndim < 2:
        raise ValueError(f"a matrix has at least two axes, this array has {x.ndim}")
    return x.swapaxes(-1, -2)


def swapaxes(a, axis1: int, axis2: int):
    """A view with two axes exchanged."""
    axes = list(range(a.ndim))
    axis1, axis2 = normalize_axes(axis1, a.ndim)[0], normalize_axes(axis2, a.ndim)[0]
    axes[axis1], axes[axis2] = axes[axis2], axes[axis1]
    return a.transpose(axes)


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


def rollaxis(a, axis: int, start: int = 0):
    """A view with ``axis`` moved in front of the axis ``start``."""
    axis = _indexing.normalize_axis(axis, a.ndim)
    if not -a.ndim <= start <= a.ndim:
        raise np.exceptions.AxisError(start, a.ndim)
    start = start + a.ndim if start < 0 else start
    axes = [one for one in range(a.ndim) if one != axis]
    axes.insert(start - 1 if axis < start else start, axis)
    return a.transpose(axes)


def squeeze(a, axis=None):
    """A view without axes of length 1: all of them, or those of ``axis``."""
    return a.squeeze(axis)


def expand_dims(a, axis):
    """A view with new axes of length 1 at the places ``axis`` of the result."""
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    places = normalize_axes(tuple(axes), a.ndim + len(axes))
    return a[
        tuple(None if i in places else slice(None) for i in range(a.ndim + len(places)))
    ]


def broadcast_to(array, shape, subok: bool = False):
    """A view repeated along new axes and those of length 1."""
    return _indexing.broadcast_to(as_array(array), shape)


def broadcast_arrays(*args, subok: bool = False) -> tuple:
    """Views of all arrays with the shape that they have in common."""
    arrays = [as_array(array) for array in args]
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    return tuple(_indexing.broadcast_to(array, shape) for array in arrays)


def atleast_1d(*arys):
    """The arrays with at least one axis."""
    return _each(lambda a: a._reshape(1) if a.ndim == 0 else a, arys)


def atleast_2d(*arys):
    """The arrays with at least two axes; new ones stand in front."""
    return _each(lambda a: a._reshape((1,) * (2 - a.ndim) + a.shape), arys)


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


def flip(m, axis=None):
    """A view with the order of the elements reversed along ``axis`` (None: all axes)."""
    axes = normalize_axes(axis, m.ndim)
    return m[tuple(slice(None, None, -1 if i in axes else 1) for i in range(m.ndim))]


def fliplr(m):
    """A view with the second axis reversed."""
    if m.ndim < 2:
        raise ValueError("fliplr() wants an array of at least two axes")
    return flip(m, 1)


def flipud(m):
    """A view with the first axis reversed."""
    if m.ndim < 1:
        raise ValueError("flipud() wants an array of at least one axis")
    return flip(m, 0)


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


def diagonal(a, offset: int = 0, axis1: int = 0, axis2: int = 1):
    """A view of the diagonal of two axes, which becomes the last axis."""
    return a.diagonal(offset, axis1, axis2)


def split(ary, indices_or_sections, axis: int = 0) -> list:
    """Views of equal parts, or of what lies between the given indices."""
    if np.ndim(indices_or_sections) == 0:
        parts = operator.index(indices_or_sections)
        if ary.shape[axis] % parts:
            raise ValueError(
                f"an axis of {ary.shape[axis]} is not divided into {parts} equal parts"
            )
    return array_split(ary, indices_or_sections, axis)


def array_split(ary, indices_or_sections, axis: int = 0) -> list:
    """The same with parts that need not be equal: the first ones are longer by one."""
    axis = _indexing.normalize_axis(axis, ary.ndim)
    extent = ary.shape[axis]
    if np.ndim(indices_or_sections) == 0:
        parts = operator.index(indices_or_sections)
        if parts <= 0:
            raise ValueError(f"the number of parts must be positive, not {parts}")
        each, more = divmod(extent, parts)
        ends = np.cumsum([each + (i < more) for i in range(parts)]).tolist()[:-1]
    else:
        ends = [operator.index(end) for end in indices_or_sections]
    before = (slice(None),) * axis
    bounds = zip([None, *ends], [*ends, None], strict=True)
    return [ary[(*before, slice(start, stop))] for start, stop in bounds]


def hsplit(ary, indices_or_sections) -> list:
    """:func:`split` along the second axis; of a vector along its only one."""
    if ary.ndim == 0:
        raise ValueError("hsplit() wants an array of at least one axis")
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def vsplit(ary, indices_or_sections) -> list:
    """:func:`split` along the first axis."""
    if ary.ndim < 2:
        raise ValueError("vsplit() wants an array of at least two axes")
    return split(ary, indices_or_sections, 0)


def dsplit(ary, indices_or_sections) -> list:
    """:func:`split` along the third axis."""
    if ary.ndim < 3:
        raise ValueError("dsplit() wants an array of at least three axes")
    return split(ary, indices_or_sections, 2)


def unstack(x, /, *, axis: int = 0) -> tuple:
    """Views of the array's parts along ``axis``, which goes."""
    if x.ndim == 0:
        raise ValueError("unstack() wants an array of at least one axis")
    return tuple(moveaxis(x, axis, 0))


def real(val):
    """The real part."""
    return val.real


def imag(val):
    """The imaginary part."""
    return val.imag


def isrealobj(x) -> bool:
    """Whether the type is not complex."""
    return not iscomplexobj(x)


def iscomplexobj(x) -> bool:
    """Whether the type is complex."""
    return x.dtype.kind == "c"


def may_share_memory(a, b, max_work=None) -> bool:
    """Whether the bytes between the first and the last element of both overlap."""
    (low, high), (begin, end) = _bounds(a), _bounds(b)
    return low < end and begin < high


def _bounds(ary) -> tuple[int, int]:
    if not ary.size:
        return 0, 0
    steps = [(n - 1) * step for n, step in zip(ary.shape, ary.strides, strict=True)]
    low = ary.ptr + sum(step for step in steps if step < 0)
    return low, ary.ptr + sum(step for step in steps if step > 0) + ary.itemsize
