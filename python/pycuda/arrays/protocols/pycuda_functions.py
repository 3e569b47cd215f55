"""PyCUDA's functions of arrays that have another meaning, or no name, in NumPy."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from pycuda import _driver
from pycuda._driver import ArrayBase, _Work
from pycuda.arrays.creation.conversion import as_array, as_source
from pycuda.arrays.creation.filled import empty
from pycuda.arrays.creation.ranges import arange as _arange
from pycuda.arrays.indexing.selecting import take as _take
from pycuda.arrays.indexing.selecting import where
from pycuda.arrays.reductions.reductions import sum as _sum
from pycuda.arrays.registry import public

TYPE_CHECKING = False  # type checkers take it as True; `typing` is slow to import
if TYPE_CHECKING:
    from pycuda.arrays.array_class.gpu_array import GPUArray


@public(numpy=False)
def arange(
    *args, start=None, stop=None, step=None, dtype=None, stream=None, allocator=None
):
    """``arange([start,] stop[, step][, dtype])``: make a vector of evenly spaced numbers.

    start, stop, step: the first number, the end, which is not reached, and the distance; 0 and 1 by default.
    dtype: the type of the elements, by default NumPy's for the numbers. PyCUDA once chose float32, so any
        other type that is not asked for is announced with a UserWarning.
    stream, allocator: the stream of the work, and where the result's memory comes from.

    >>> gpuarray.arange(1, 7, 2, dtype=np.int32)
    array([1, 3, 5], dtype=int32)
    """
    args = list(args)
    if args and isinstance(args[-1], (np.dtype, type)):
        if dtype is not None:
            raise TypeError("arange() got dtype twice")
        dtype = args.pop()
    if len(args) > 3:
        raise ValueError("too many arguments")
    names = ("stop",) if len(args) == 1 else ("start", "stop", "step")
    given = {"start": start, "stop": stop, "step": step}
    for name, value in zip(names, args, strict=False):
        if given[name] is not None:
            raise TypeError(f"arange() got {name} twice")
        given[name] = value
    start, stop, step = given["start"], given["stop"], given["step"]
    if stop is None:
        raise ValueError("stop argument not specified")
    start = 0 if start is None else start
    step = 1 if step is None else step
    if dtype is None:
        if not type(start) is type(stop) is type(step) is int:
            dtype = np.result_type(*(np.asarray(x).dtype for x in (start, stop, step)))
        if dtype != np.float32:
            warnings.warn(
                "behavior change: arange guessed dtype other than float32. "
                "suggest specifying explicit dtype.",
                stacklevel=2,
            )
    return _arange(start, stop, step, dtype, stream=stream, allocator=allocator)


@public(numpy=False)
def reshape(a, *shape, order: str = "C", copy=None) -> GPUArray:
    """View the elements with another shape, in the order of memory; see :meth:`GPUArray.reshape`.

    a: an array.
    shape: the extents, as one tuple or as several ints; one of them may be -1, which is computed.

    Raises ValueError if the number of elements differs.

    >>> gpuarray.reshape(gpuarray.array([1, 2, 3, 4]), 2, -1)
    array([[1, 2],
           [3, 4]])
    """
    return a.reshape(*shape, order=order, copy=copy)


@public(numpy=False)
def if_positive(criterion, then_, else_, out=None, stream=None) -> GPUArray:
    """Choose elements of ``then_`` where ``criterion`` is greater than zero, elsewhere of ``else_``.

    then_, else_: arrays or numbers that broadcast to the shape of ``criterion``.
    out: an array for the result. stream: the stream of the work, by default the current one.

    >>> gpuarray.if_positive(gpuarray.array([-1, 2]), gpuarray.array([5, 6]), 0)
    array([0, 6])
    """
    with _Work(stream):
        return where(as_array(criterion) > 0, then_, else_, out=out)


@public(numpy=False)
def sum(a, dtype=None, stream=None, allocator=None, *, axis=None, out=None, keepdims=False, initial=None, where=True) -> GPUArray:  # fmt: skip
    """Add up all elements, or those over ``axis``, in the type of the elements.

    dtype: the type of the sums. By default it is that of the elements, so that sums of small integers
        overflow, as PyCUDA's do; ``numpy.sum(a)`` and ``a.sum()`` have 64 bits. Sums of bool are counts.
    stream, allocator: the stream of the work, and where the result's memory comes from.

    The other parameters are those of :meth:`GPUArray.sum`.

    >>> gpuarray.sum(gpuarray.array([100, 100], np.int8))
    array(-56, dtype=int8)
    """
    a = as_source(a)
    if dtype is None and a.dtype.kind in "iu":
        dtype = a.dtype
    return _sum(
        a, axis, dtype, out, keepdims, initial, where, stream=stream, allocator=allocator
    )  # fmt: skip


@public(numpy=False)
def dot(a, b, dtype=None, stream=None, allocator=None) -> GPUArray:
    """Add up the products of the elements of two arrays of one shape, without conjugation.

    This is PyCUDA's function, whose result is a number for all shapes. ``numpy.dot`` and :meth:`GPUArray.dot`
    multiply matrices.

    a, b: arrays of one shape, or numbers.
    dtype: the type of the products and sums, by default the common type of both arrays.
    stream, allocator: the stream of the work, and where the result's memory comes from.

    Raises ValueError for two shapes.

    >>> gpuarray.dot(gpuarray.array([1, 2]), gpuarray.array([3, 4]))
    array(11)
    """
    a, b = as_array(a), as_array(b)
    if a.shape != b.shape:
        raise ValueError(
            f"a and b must have the same shape, not {a.shape} and {b.shape}"
        )
    with _Work(stream, allocator):
        return _driver._array_reduce(
            "dot", a, b, dtype=None if dtype is None else np.dtype(dtype)
        )


@public(numpy=False)
def vdot(a, b, stream=None) -> GPUArray:
    """:func:`dot` of all elements, those of ``a`` conjugated; the arrays are flattened.

    a, b: arrays with equally many elements; ValueError else.
    stream: the stream of the work, by default the current one.

    Returns an array without axes, of the common type of both.

    >>> gpuarray.vdot(gpuarray.array([1j]), gpuarray.array([1j]))
    array(1.+0.j)
    """
    with _Work(stream):
        return dot(as_array(a).conj()._ravel(), as_array(b)._ravel())


@public(numpy=False)
def subset_sum(subset, a, dtype=None, stream=None, allocator=None) -> GPUArray:
    """:func:`sum` of the elements of ``a`` at the flat indices ``subset``.

    ``allocator`` makes the result's memory alone, as in PyCUDA.

    >>> gpuarray.subset_sum(gpuarray.array([0, 2]), gpuarray.array([1, 2, 3]))
    array(4)
    """
    with _Work(stream):
        chosen = _take(a, subset)
        return sum(chosen, dtype, allocator=allocator)


@public(numpy=False)
def subset_dot(subset, a, b, dtype=None, stream=None, allocator=None) -> GPUArray:
    """:func:`dot` of the elements of ``a`` and ``b`` at the flat indices ``subset``.

    ``allocator`` makes the result's memory alone, as in PyCUDA.

    >>> x = gpuarray.array([1, 2, 3])
    >>> gpuarray.subset_dot(gpuarray.array([0, 2]), x, x)
    array(10)
    """
    with _Work(stream):
        chosen = _take(a, subset), _take(b, subset)
        return dot(*chosen, dtype, allocator=allocator)


@public(numpy=False)
def subset_min(subset, a, stream=None) -> GPUArray:
    """Find the smallest of the elements of ``a`` at the flat indices ``subset``.

    subset: an array of integers; IndexError for one outside of ``a``.
    a: an array of numbers, read in C order.
    stream: the stream of the work, by default the current one.

    Returns an array without axes of the dtype of ``a``. Raises ValueError if ``subset`` has no elements.

    >>> gpuarray.subset_min(gpuarray.array([1, 2]), gpuarray.array([1, 5, 3]))
    array(3)
    """
    with _Work(stream):
        return _take(a, subset).min()


@public(numpy=False)
def subset_max(subset, a, stream=None) -> GPUArray:
    """Find the largest of the elements of ``a`` at the flat indices ``subset``.

    Returns an array without axes of the dtype of ``a``. Parameters and errors are those of :func:`subset_min`.

    >>> gpuarray.subset_max(gpuarray.array([0, 2]), gpuarray.array([1, 5, 3]))
    array(3)
    """
    with _Work(stream):
        return _take(a, subset).max()


@public(numpy=False)
def put(a, indices, values, stream=None) -> None:
    """Set the elements of ``a`` at flat ``indices`` to ``values``, a number or an array of as many elements.

    stream: the stream of the work, by default the current one.

    Raises ValueError for an array with gaps, IndexError for an index outside of the array.

    >>> x = gpuarray.zeros(4, np.int32)
    >>> gpuarray.put(x, gpuarray.array([1, 3]), 7)
    >>> x
    array([0, 7, 0, 7], dtype=int32)
    """
    with _Work(stream):
        flat = a.ravel()
        if flat.ptr != a.ptr:
            raise ValueError("put() expects a contiguous array")
        flat[indices if isinstance(indices, ArrayBase) else as_array(indices)] = values


@public(numpy=False)
def multi_take(arrays: Sequence, indices, out=None, stream=None) -> list[GPUArray]:
    """Take the elements at flat ``indices`` from each of several arrays.

    out: as many arrays for the results. stream: the stream of the work.

    >>> gpuarray.multi_take([gpuarray.array([1, 2]), gpuarray.array([3, 4])], gpuarray.array([1]))
    [array([2]), array([4])]
    """
    outs = [None] * len(arrays) if out is None else out
    return [
        _take(a, indices, out=o, stream=stream)
        for a, o in zip(arrays, outs, strict=True)
    ]


@public(numpy=False)
def multi_take_put(
    arrays: Sequence, dest_indices, src_indices, dest_shape=None, out=None, stream=None,
    src_offsets=None,
) -> list[GPUArray]:  # fmt: skip
    """Set ``out[dest_indices] = array[src_indices + offset]`` for each of several arrays.

    dest_shape: the shape of new results, by default that of ``dest_indices``. Elements that are not written
        are not set.
    out: as many arrays for the results.
    src_offsets: an int for each array, by default 0.
    stream: the stream of the work, by default the current one.

    >>> places = gpuarray.array([1, 0])
    >>> gpuarray.multi_take_put([gpuarray.array([5, 6, 7])], places, gpuarray.array([0, 2]))
    [array([7, 5])]
    """
    with _Work(stream):
        outs = _outputs(arrays, dest_indices, dest_shape, out)
        offsets = [0] * len(arrays) if src_offsets is None else src_offsets
        for source, result, offset in zip(arrays, outs, offsets, strict=True):
            places = (
                src_indices if not offset else src_indices.astype(np.int64) + offset
            )
            put(result, dest_indices, _take(source, places))
    return outs


@public(numpy=False)
def multi_put(
    arrays: Sequence, dest_indices, dest_shape=None, out=None, stream=None
) -> list[GPUArray]:
    """Set ``out[dest_indices] = array`` for each of several arrays; parameters as of :func:`multi_take_put`.

    arrays: the arrays to copy, each with as many elements as ``dest_indices``.
    dest_indices: an array of flat indices.

    Returns the list of results. Elements at other indices of new results are not set.

    >>> gpuarray.multi_put([gpuarray.array([5, 6])], gpuarray.array([1, 0]))
    [array([6, 5])]
    """
    with _Work(stream):
        outs = _outputs(arrays, dest_indices, dest_shape, out)
        for source, result in zip(arrays, outs, strict=True):
            put(result, dest_indices, source)
    return outs


def _outputs(arrays, indices, shape, out) -> list:
    if out is not None:
        return list(out)
    shape = indices.shape if shape is None else shape
    return [
        empty(shape, array.dtype, allocator=array._own_allocator) for array in arrays
    ]
