"""Arrays split into views along an axis."""

from __future__ import annotations

from pycuda import _driver
from pycuda.arrays.registry import public


@public()
def split(ary, indices_or_sections, axis: int = 0) -> list:
    """Split an array along an axis into views.

    indices_or_sections: the number of equal parts, or the indices at which parts begin.
    axis: the axis.

    Raises ValueError if the axis has no equal parts of that number.

    >>> gpuarray.split(gpuarray.array([1, 2, 3, 4]), 2)
    [array([1, 2]), array([3, 4])]
    """
    return _driver._split(ary, indices_or_sections, axis, True)


@public()
def array_split(ary, indices_or_sections, axis: int = 0) -> list:
    """Split an array along an axis into views that need not be equal: the first ones are longer by one.

    Parameters are those of :func:`split`.

    >>> gpuarray.array_split(gpuarray.array([1, 2, 3]), 2)
    [array([1, 2]), array([3])]
    """
    return _driver._split(ary, indices_or_sections, axis, False)


@public()
def hsplit(ary, indices_or_sections) -> list:
    """Split an array along the second axis, a vector along its only axis; see :func:`split`.

    ary: an array of at least one axis; ValueError for none.

    Returns a list of views.

    >>> gpuarray.hsplit(gpuarray.array([[1, 2], [3, 4]]), 2)
    [array([[1],
           [3]]), array([[2],
           [4]])]
    """
    if ary.ndim == 0:
        raise ValueError("hsplit() expects an array of at least one axis")
    return _driver._split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0, True)


@public()
def vsplit(ary, indices_or_sections) -> list:
    """Split an array along the first axis; see :func:`split`. Raises ValueError for a vector.

    ary: an array of at least two axes.

    Returns a list of views.

    >>> gpuarray.vsplit(gpuarray.array([[1, 2], [3, 4]]), 2)
    [array([[1, 2]]), array([[3, 4]])]
    """
    if ary.ndim < 2:
        raise ValueError("vsplit() expects an array of at least two axes")
    return _driver._split(ary, indices_or_sections, 0, True)


@public()
def dsplit(ary, indices_or_sections) -> list:
    """Split an array along the third axis; see :func:`split`. Raises ValueError for fewer than three axes.

    ary: an array of at least three axes.

    Returns a list of views.

    >>> [part.shape for part in gpuarray.dsplit(gpuarray.zeros((1, 2, 4)), 2)]
    [(1, 2, 2), (1, 2, 2)]
    """
    if ary.ndim < 3:
        raise ValueError("dsplit() expects an array of at least three axes")
    return _driver._split(ary, indices_or_sections, 2, True)


@public(array_api=True)
def unstack(x, /, *, axis: int = 0) -> tuple:
    """View each part of an array along an axis; the views do not have the axis. Returns a tuple.

    x: an array of at least one axis; ValueError for none.
    axis: the axis, by default the first one.

    The views share memory with ``x``. :func:`stack` is the inverse.

    >>> gpuarray.unstack(gpuarray.array([[1, 2], [3, 4]]))
    (array([1, 2]), array([3, 4]))
    """
    return _driver._unstack(x, axis)
