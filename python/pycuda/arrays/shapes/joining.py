"""numpy's functions that make one array of several, or a larger one of one."""

from __future__ import annotations

from pycuda import _driver
from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.registry import public


def _along(axis: int, part) -> tuple:
    return (slice(None),) * axis + (part,)


@public(array_api="concat", aliases="concat")
def concatenate(
    arrays, axis=0, out=None, allocator=None, *, dtype=None, casting="same_kind"
):
    """Join arrays along an axis.

    arrays: the arrays, whose shapes are equal but for ``axis``.
    axis: the axis; None joins all elements of each array, in C order.
    out: an array for the result.
    allocator: a function that returns the result's memory, by default the allocator of the first array that
        has one. PyCUDA's ``concatenate(arrays, axis, allocator)`` works, too.
    dtype: the type of the result, by default the common type of all arrays.
    casting: which casts of types are allowed, as in NumPy; others raise TypeError.

    Raises ValueError for no arrays and for shapes that do not fit.

    >>> gpuarray.concatenate([gpuarray.array([1, 2]), gpuarray.array([3])])
    array([1, 2, 3])
    """
    if out is not None:
        out, allocator = _out_or_allocator(out, allocator)
    return _driver._join("concatenate", arrays, axis, out, dtype, casting, allocator)


def _out_or_allocator(out, allocator):
    """Tell PyCUDA's allocator from NumPy's ``out``, which have the same position."""
    if out is not None and not isinstance(out, _driver.ArrayBase) and callable(out):
        if allocator is not None:
            raise TypeError("allocator was passed twice")
        return None, out
    return out, allocator


@public(array_api=True)
def stack(arrays, axis=0, out=None, allocator=None, *, dtype=None, casting="same_kind"):
    """Join arrays of one shape along a new axis.

    axis: the place of the new axis in the result.

    The other parameters and errors are those of :func:`concatenate`.

    >>> gpuarray.stack([gpuarray.array([1, 2]), gpuarray.array([3, 4])], axis=1)
    array([[1, 3],
           [2, 4]])
    """
    if out is not None:
        out, allocator = _out_or_allocator(out, allocator)
    return _driver._join("stack", arrays, axis, out, dtype, casting, allocator)


@public(aliases="row_stack")
def vstack(tup, *, dtype=None, casting: str = "same_kind"):
    """Join arrays along the first axis; vectors are rows.

    dtype, casting: as of :func:`concatenate`.

    >>> gpuarray.vstack([gpuarray.array([1, 2]), gpuarray.array([3, 4])])
    array([[1, 2],
           [3, 4]])
    """
    return _driver._join("vstack", tup, None, None, dtype, casting, None)


@public()
def hstack(tup, *, dtype=None, casting: str = "same_kind"):
    """Join arrays along the second axis; vectors along their only axis.

    dtype, casting: as of :func:`concatenate`.

    >>> gpuarray.hstack([gpuarray.array([1, 2]), gpuarray.array([3, 4])])
    array([1, 2, 3, 4])
    """
    return _driver._join("hstack", tup, None, None, dtype, casting, None)


@public()
def dstack(tup):
    """Join arrays along the third axis. Vectors have the shape (1, n, 1), matrices (m, n, 1).

    tup: a sequence of arrays, or one array, whose first axis is the sequence.

    The result has the common type of the arrays. Raises ValueError for no arrays, or extents that differ along the other
    axes.

    >>> gpuarray.dstack([gpuarray.array([1, 2]), gpuarray.array([3, 4])])
    array([[[1, 3],
            [2, 4]]])
    """
    return _driver._join("dstack", tup, None, None, None, "same_kind", None)


@public()
def column_stack(tup):
    """Join arrays along the second axis; vectors are columns.

    tup: a sequence of vectors and matrices with equally many elements or rows.

    The result has the common type of the arrays. Raises ValueError for no arrays, or different numbers of rows.

    >>> gpuarray.column_stack([gpuarray.array([1, 2]), gpuarray.array([3, 4])])
    array([[1, 3],
           [2, 4]])
    """
    return _driver._join("column_stack", tup, None, None, None, "same_kind", None)


@public()
def append(arr, values, axis=None):
    """Join an array and further values along an axis; None joins all elements of both.

    arr: an array.
    values: an array of the same number of axes, or of any shape if ``axis`` is None.
    axis: the axis along which the values are added.

    Returns a new array of the common type; ``arr`` does not change.

    >>> gpuarray.append(gpuarray.array([1, 2]), [3, 4])
    array([1, 2, 3, 4])
    """
    return _driver._join(
        "concatenate", (arr, values), axis, None, None, "same_kind", None
    )


@public()
def block(arrays):
    """Join nested lists of arrays: the innermost lists along the last axis, the next ones along the last but one.

    Raises ValueError for lists of different depth or of no elements.

    >>> x = gpuarray.ones((1, 2), np.int8)
    >>> gpuarray.block([[x, 2 * x], [3 * x, 4 * x]])
    array([[1, 1, 2, 2],
           [3, 3, 4, 4]], dtype=int8)
    """
    depth = _depth(arrays)
    most = max(depth, max((leaf.ndim for leaf in _leaves(arrays)), default=0))
    return _join_block(arrays, depth, most, 0)


def _depth(arrays) -> int:
    if not isinstance(arrays, list):
        return 0
    if not arrays:
        raise ValueError("block() expects no empty lists")
    depths = {_depth(one) for one in arrays}
    if len(depths) != 1:
        raise ValueError("all lists of block() must have the same nesting depth")
    return depths.pop() + 1


def _leaves(arrays):
    if not isinstance(arrays, list):
        yield as_array(arrays)
        return
    for one in arrays:
        yield from _leaves(one)


def _join_block(arrays, depth: int, most: int, level: int):
    if level == depth:
        array = as_array(arrays)
        return array._reshape((1,) * (most - array.ndim) + array.shape)
    parts = [_join_block(one, depth, most, level + 1) for one in arrays]
    return concatenate(parts, most - depth + level)
