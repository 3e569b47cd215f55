"""Reductions over axes: sums, products, minima and maxima, truth, counts."""

from __future__ import annotations

from pycuda import _driver
from pycuda._driver import ArrayBase, _Work
from pycuda.arrays.creation.conversion import as_array, put_back, put_into
from pycuda.arrays.reductions.reducing import (
    check_first_value,
    given,
    joined,
    mask_of,
    reduce,
)
from pycuda.arrays.registry import public
from pycuda.arrays.shapes.axes import fused_axes
from pycuda.arrays.ufuncs.fusing import fuse
from pycuda.arrays.ufuncs.tracing import traceable
from pycuda.arrays.ufuncs.universal_functions import UFUNCS


@public(array_api=True, module=False)
@traceable
def sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True, *, stream=None, allocator=None):  # fmt: skip
    """Add up the elements over axes.

    axis: an int, several, or None for all axes. Negative axes count from the end.
    dtype: the type of the sums. By default integers below 64 bits are summed in 64 bits, all other types
        in their own.
    out: an array for the result, which is cast to the array's dtype.
    keepdims: whether reduced axes stay, with extent 1.
    initial: a number that is added to the sum.
    where: an array of bool that broadcasts to ``a``; elements where it is False are left out.
    stream: the stream of the work, by default the current one.
    allocator: a function that returns the result's memory, by default the allocator of ``a``.

    Floating-point sums are pairwise. The order of the additions depends on the shape alone, so that each
    device and each run has the same result; 16-bit floats are summed in float32. A sum of no elements is 0.
    Raises numpy.exceptions.AxisError for an axis that ``a`` does not have.

    >>> x = gpuarray.array([[1, 2], [3, 4]])
    >>> x.sum(axis=0)
    array([4, 6])
    >>> np.sum(x, where=x > 1)
    array(9)
    """
    return joined(
        "sum", "add", a, axis, dtype, out, keepdims, initial, where, stream, allocator
    )


@public(array_api=True)
@traceable
def prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True, *, stream=None, allocator=None):  # fmt: skip
    """Multiply the elements over axes; parameters and types as of :meth:`GPUArray.sum`.

    initial: a number by which the product is multiplied.

    The order of the multiplications depends on the shape alone. The result of no elements is 1.

    >>> gpuarray.prod(gpuarray.array([[1, 2], [3, 4]]), axis=1)
    array([ 2, 12])
    """
    return joined(
        "prod", "multiply", a, axis, dtype, out, keepdims, initial, where, stream, allocator,
    )  # fmt: skip


def _extremum(name, ufunc, a, axis, out, keepdims, initial, where, stream, allocator):
    check_first_value(ufunc, initial, where)
    return joined(
        name, ufunc, a, axis, None, out, keepdims, initial, where, stream, allocator
    )


@public(array_api=True, aliases="amin", pycuda="a stream")
@traceable
def min(a, axis=None, out=None, keepdims=False, initial=None, where=True, *, stream=None, allocator=None):  # fmt: skip
    """Find the smallest element over axes. The result is NaN if an element is NaN.

    axis: an int, several, or None for all axes.
    out: an array for the result.
    keepdims: whether reduced axes stay, with extent 1.
    initial: a number that the result does not exceed; the result of no elements.
    where: an array of bool that broadcasts to ``a``: the elements to use. ``initial`` must be given, too.
    stream, allocator: the stream of the work, and where the result's memory comes from.

    Raises ValueError for no elements without ``initial``. Complex numbers are compared by their real parts,
    then by their imaginary parts.

    >>> gpuarray.min(gpuarray.array([[3, 2], [1, 4]]), axis=0)
    array([1, 2])
    """
    return _extremum(
        "min", "minimum", a, axis, out, keepdims, initial, where, stream, allocator
    )


@public(array_api=True, aliases="amax", pycuda="a stream")
@traceable
def max(a, axis=None, out=None, keepdims=False, initial=None, where=True, *, stream=None, allocator=None):  # fmt: skip
    """Find the largest element over axes; parameters and errors as of :func:`min`.

    The result is NaN if an element is NaN; ``initial`` is a number that the result is not below.

    >>> gpuarray.max(gpuarray.array([[3, 2], [1, 4]]), axis=0)
    array([3, 4])
    """
    return _extremum(
        "max", "maximum", a, axis, out, keepdims, initial, where, stream, allocator
    )


def _by_place(axis, out, stream, allocator):
    """Read the arguments of any() and all(): PyCUDA has stream and allocator at positions where NumPy has others."""
    if isinstance(axis, _driver.Stream):
        if stream is not None:
            raise TypeError("stream was passed twice")
        axis, stream = None, axis
    if out is not None and not isinstance(out, ArrayBase) and callable(out):
        if allocator is not None:
            raise TypeError("allocator was passed twice")
        out, allocator = None, out
    return axis, out, stream, allocator


@public(array_api=True, pycuda="a stream allocator")
@traceable
def any(a, axis=None, out=None, keepdims=False, *, where=True, stream=None, allocator=None):  # fmt: skip
    """Test whether any element over axes is true, that is not zero. NaN is true.

    axis: an int, several, or None for all axes. As a method, ``any(stream, allocator)`` is PyCUDA's call.
    out: an array for the result, by default a new one of bool.
    keepdims: whether reduced axes stay, with extent 1.
    where: an array of bool that broadcasts to ``a``: the elements to test.
    stream, allocator: the stream of the work, and where the result's memory comes from.

    >>> gpuarray.any(gpuarray.array([[0, 0], [0, 3]]), axis=0)
    array([False,  True])
    """
    return _test("any", a, axis, out, keepdims, where, stream, allocator)


@public(array_api=True, pycuda="a stream allocator")
@traceable
def all(a, axis=None, out=None, keepdims=False, *, where=True, stream=None, allocator=None):  # fmt: skip
    """Test whether all elements over axes are true; parameters as of :func:`any`.

    Returns an array of bool. Elements are true if they are not zero; NaN is true. True for no elements.

    >>> gpuarray.all(gpuarray.array([[1, 0], [1, 3]]), axis=0)
    array([ True, False])
    """
    return _test("all", a, axis, out, keepdims, where, stream, allocator)


def _test(name: str, a, axis, out, keepdims, where, stream, allocator):
    plain = where is True and out is axis is stream is allocator is None
    if plain and isinstance(a, ArrayBase):  # the usual call, which shall cost little
        return _driver._array_reduce(name, a, keepdims=bool(given(keepdims, False)))
    axis, out, stream, allocator = _by_place(axis, out, stream, allocator)
    with _Work(stream, allocator):
        return reduce(
            as_array(a), name, axis, None, out, bool(given(keepdims, False)), mask_of(where)
        )  # fmt: skip


@public(array_api=True)
@traceable
def argmin(a, axis=None, out=None, keepdims=False, *, stream=None, allocator=None):
    """Find the index of the first smallest element, of type int64; the first NaN if there is one.

    axis: the axis, or None for the index into the flattened array.
    out: an array for the result.
    keepdims: whether the reduced axis is kept with extent 1.
    stream, allocator: the stream of the work, and where the result's memory comes from.

    Raises ValueError if there are no elements.

    >>> gpuarray.argmin(gpuarray.array([[3, 2], [1, 4]]), axis=1)
    array([1, 0])
    """
    return _index("argmin", a, axis, out, keepdims, stream, allocator)


@public(array_api=True)
@traceable
def argmax(a, axis=None, out=None, keepdims=False, *, stream=None, allocator=None):
    """Find the index of the first largest element; parameters and errors as of :func:`argmin`.

    Returns an array of int64. NaN counts as the largest number. Raises ValueError for no elements.

    >>> gpuarray.argmax(gpuarray.array([[3, 2], [1, 4]]), axis=1)
    array([0, 1])
    """
    return _index("argmax", a, axis, out, keepdims, stream, allocator)


def _index(name: str, a, axis, out, keepdims, stream, allocator):
    keepdims = bool(given(keepdims, False))
    if axis is out is stream is allocator is None and isinstance(a, ArrayBase):
        return _driver._array_reduce(name, a, keepdims=keepdims)
    with _Work(stream, allocator):
        return put_back(out, reduce(as_array(a), name, axis, None, None, keepdims))


@public()
def ptp(a, axis=None, out=None, keepdims=False, *, stream=None, allocator=None):
    """Subtract the smallest element over axes from the largest: the range of the values.

    Returns an array of the dtype of ``a``. Parameters and errors are those of :func:`min`. Integers overflow as in
    NumPy.

    >>> gpuarray.ptp(gpuarray.array([3, 9, 4]))
    array(6)
    """
    a, keepdims = as_array(a), bool(given(keepdims, False))
    with _Work(stream, allocator):
        if a.dtype.kind == "V":
            low, high = min(a, axis, keepdims=keepdims), max(a, axis, keepdims=keepdims)
            result = UFUNCS["subtract"](high, low)
        else:
            result = _range(a, fused_axes(axis, a.ndim), keepdims)
        return put_into(out, result, "same_kind")


@fuse
def _range(a, axes, keepdims):
    return a.max(axes, None, keepdims) - a.min(axes, None, keepdims)


@public(array_api=True)
def count_nonzero(a, axis=None, *, keepdims=False, stream=None):
    """Count the elements over axes that are not zero, as int64. NaN is not zero.

    axis: an int, several, or None for all axes.
    keepdims: whether reduced axes stay, with extent 1.
    stream: the stream of the work, by default the current one.

    Returns an array of int64. Raises numpy.exceptions.AxisError for an axis that ``a`` does not have.

    >>> gpuarray.count_nonzero(gpuarray.array([[0, 7], [1, 7]]), axis=0)
    array([1, 2])
    """
    with _Work(stream):
        return reduce(
            as_array(a), "count_nonzero", axis, None, None, bool(given(keepdims, False))
        )
