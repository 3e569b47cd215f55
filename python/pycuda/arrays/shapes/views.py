"""numpy's functions that give views: other shapes, orders of axes and parts of an array."""

from __future__ import annotations

from pycuda import _driver
from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.registry import public


@public(array_api=True, module=False)
def reshape(a, shape, order: str = "C", *, copy=None):
    """Return the elements with another shape: a view if the memory allows one, else a copy.

    shape: the extents; one of them may be -1 and follows from the others.
    order: "C" or "F", the order in which elements are read and placed; "A" is that of the array.
    copy: True always copies, False raises ValueError if a copy is necessary.

    Raises ValueError if the number of elements differs.

    >>> np.reshape(gpuarray.array([1, 2, 3, 4]), (2, -1))
    array([[1, 2],
           [3, 4]])
    """
    return a._reshape(shape, order=order, copy=copy)


@public()
def ravel(a, order: str = "C"):
    """Return all elements along one axis, without gaps: a view if the memory allows one, else a copy.

    order: "C" or "F", the order of the elements; "A" and "K" are that of the array.

    >>> gpuarray.ravel(gpuarray.array([[1, 2], [3, 4]]), "F")
    array([1, 3, 2, 4])
    """
    flat = as_array(a)._ravel(order)
    return flat if flat._c_contiguous else flat.copy("C")


@public()
def transpose(a, axes=None):
    """View an array with its axes in another order, by default reversed.

    axes: the order, a permutation of the axes. Raises ValueError for anything else.

    >>> gpuarray.transpose(gpuarray.array([[1, 2], [3, 4]]))
    array([[1, 3],
           [2, 4]])
    """
    return _driver._transpose(a, axes)


@public(array_api=True)
def permute_dims(a, axes=None):
    """View an array with its axes in another order; :func:`transpose` by the array API's name.

    a: an array.
    axes: for each axis of the view, that of ``a``; None reverses their order.

    Nothing is copied. Raises ValueError unless ``axes`` names each axis once.

    >>> gpuarray.permute_dims(gpuarray.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    return _driver._transpose(a, axes)


@public(array_api=True)
@public("linalg")
def matrix_transpose(x):
    """View matrices with rows and columns exchanged, that is the last two axes. ValueError for fewer than two axes.

    x: an array (..., m, n); the view is (..., n, m).

    Nothing is copied, and complex elements are not conjugated.

    >>> gpuarray.matrix_transpose(gpuarray.array([[1, 2], [3, 4]]))
    array([[1, 3],
           [2, 4]])
    """
    return _driver._matrix_transpose(x)


@public()
def swapaxes(a, axis1: int, axis2: int):
    """View an array with two axes exchanged.

    a: an array.
    axis1, axis2: the axes; negative ones count from the end.

    Nothing is copied. Raises numpy.exceptions.AxisError for an axis that ``a`` does not have.

    >>> gpuarray.swapaxes(gpuarray.zeros((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    return _driver._swapaxes(a, axis1, axis2)


@public(array_api=True)
def moveaxis(a, source, destination):
    """View an array with axes moved to other places; the other axes keep their order.

    source, destination: the axes, and their places in the result: an int or as many in both.

    >>> gpuarray.moveaxis(gpuarray.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    return _driver._moveaxis(a, source, destination)


@public()
def rollaxis(a, axis: int, start: int = 0):
    """View an array with ``axis`` moved in front of the axis ``start``. :func:`moveaxis` is easier to read.

    a: an array.
    axis: the axis to move.
    start: the axis in front of which it is put, by default the first one.

    Nothing is copied. Raises numpy.exceptions.AxisError for an axis that ``a`` does not have.

    >>> gpuarray.rollaxis(gpuarray.zeros((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    return _driver._rollaxis(a, axis, start)


@public(array_api=True)
def squeeze(a, axis=None):
    """View an array without axes of extent 1: all of them, or those of ``axis``.

    Raises ValueError for an axis of another extent.

    >>> gpuarray.squeeze(gpuarray.zeros((1, 3, 1))).shape
    (3,)
    """
    return _driver._squeeze(a, axis)


@public(array_api=True)
def expand_dims(a, axis=0):
    """View an array with new axes of extent 1.

    axis: the places of the new axes in the result, an int or several.

    >>> gpuarray.expand_dims(gpuarray.zeros(3), 0).shape
    (1, 3)
    """
    return _driver._expand_dims(a, axis)


@public(array_api=True)
def broadcast_to(array, shape, subok: bool = False):
    """View an array repeated along new axes in front and along axes of extent 1, without a copy.

    The view is read-only, because several of its elements are one in memory.

    shape: the shape of the view. Raises ValueError if the array does not broadcast to it.
    subok: accepted for NumPy's signature; a view has the class of its array.

    >>> gpuarray.broadcast_to(gpuarray.array([1, 2]), (2, 2))
    array([[1, 2],
           [1, 2]])
    """
    return _driver._broadcast_to(array, shape)


@public()
def broadcast_arrays(*args, subok: bool = False) -> tuple:
    """View all arrays with their common shape. Returns a tuple. ValueError if there is no common shape.

    subok: accepted for NumPy's signature; a view has the class of its array.

    Arrays that have the common shape are returned as they are. Views of all others are read-only.

    >>> x, y = gpuarray.broadcast_arrays(gpuarray.array([1, 2]), gpuarray.array([[3], [4]]))
    >>> y
    array([[3, 3],
           [4, 4]])
    """
    return _driver._broadcast_arrays(args)


@public()
def atleast_1d(*arys):
    """View arrays with at least one axis. Returns one array, or a tuple for several.

    arys: arrays, or anything that numpy.asarray takes.

    Nothing is copied but numbers and arrays of the host. Only numbers and arrays without axes get one, of extent 1.

    >>> gpuarray.atleast_1d(gpuarray.array(5))
    array([5])
    """
    return _driver._at_least(1, arys)


@public()
def atleast_2d(*arys):
    """View arrays with at least two axes; new ones are put in front. Returns one array, or a tuple for several.

    arys: arrays, or anything that numpy.asarray takes.

    Nothing is copied but numbers and arrays of the host. A vector of n elements becomes (1, n).

    >>> gpuarray.atleast_2d(gpuarray.array([5, 6]))
    array([[5, 6]])
    """
    return _driver._at_least(2, arys)


@public()
def atleast_3d(*arys):
    """View arrays with at least three axes: (1, n, 1) for a vector, (m, n, 1) for a matrix.

    arys: arrays, or anything that numpy.asarray takes.

    Nothing is copied but numbers and arrays of the host. Returns one array, or a tuple for several.

    >>> gpuarray.atleast_3d(gpuarray.zeros((2, 3))).shape
    (2, 3, 1)
    """
    return _driver._at_least(3, arys)


@public(array_api=True)
def flip(m, axis=None):
    """View an array with the order of the elements reversed along an axis, several, or all (None).

    m: an array.
    axis: an int, several, or None.

    The view has negative strides; ``.copy()`` makes a contiguous array of it.

    >>> gpuarray.flip(gpuarray.array([1, 2, 3]))
    array([3, 2, 1])
    """
    return _driver._flip(m, axis)


@public()
def fliplr(m):
    """View an array with the second axis reversed. ValueError for fewer than two axes.

    m: an array of at least two axes: the columns of a matrix, from left to right, are reversed.

    Nothing is copied: the view has a negative stride.

    >>> gpuarray.fliplr(gpuarray.array([[1, 2], [3, 4]]))
    array([[2, 1],
           [4, 3]])
    """
    return _flipped("fliplr", m, 1)


@public()
def flipud(m):
    """View an array with the first axis reversed. ValueError for an array without axes.

    m: an array of at least one axis. The rows of a matrix are reversed, from top to bottom; a vector is reversed as a
        whole.

    >>> gpuarray.flipud(gpuarray.array([[1, 2], [3, 4]]))
    array([[3, 4],
           [1, 2]])
    """
    return _flipped("flipud", m, 0)


def _flipped(name: str, m, axis: int):
    m = as_array(m)
    if m.ndim <= axis:
        least = "two axes" if axis else "one axis"
        raise ValueError(f"{name}() expects an array of at least {least}")
    return _driver._flip(m, axis)


@public()
def rot90(m, k: int = 1, axes=(0, 1)):
    """View an array turned by ``k`` quarters, from the first of ``axes`` towards the second.

    Raises ValueError unless ``axes`` are two different ones.

    >>> gpuarray.rot90(gpuarray.array([[1, 2], [3, 4]]))
    array([[2, 4],
           [1, 3]])
    """
    return _driver._rot90(m, k, axes)


@public()
def diagonal(a, offset: int = 0, axis1: int = 0, axis2: int = 1):
    """View the diagonal of two axes, which becomes the last axis.

    offset: which diagonal: 0 is the main one, positive ones are above it.
    axis1, axis2: the two axes.

    >>> gpuarray.diagonal(gpuarray.array([[1, 2], [3, 4]]))
    array([1, 4])
    """
    return _driver._diagonal(a, offset, axis1, axis2)
