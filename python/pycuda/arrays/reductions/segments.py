"""Reductions of segments of arrays: ``ufunc.at`` and ``ufunc.reduceat``.

``ufunc.at`` uses the scatter engine (core's array_rows.h) for operations and types that the engine supports. Else it sorts by
index first, and reduces segments.

The elements of a segment are contiguous. A thread combines up to 256 elements in their
order. For longer segments, the results of such pieces are combined in the same way. The order of operations depends only
on the lengths, so sums of floats are equal in every run.
"""

from __future__ import annotations

import numpy as np

from pycuda import _device_code, _driver
from pycuda._driver import ArrayBase
from pycuda.arrays.creation.conversion import as_array, values_to_gpu
from pycuda.arrays.creation.filled import empty
from pycuda.arrays.creation.ranges import arange_of
from pycuda.arrays.indexing.items import (
    as_places,
    check_bounds,
    flat_places,
    put_known,
    take_known,
)
from pycuda.arrays.indexing.selecting import flatnonzero
from pycuda.arrays.own_device import on_own_device
from pycuda.arrays.reductions.determinism import can_combine_rows
from pycuda.arrays.shapes import axes as _axes
from pycuda.arrays.shapes.joining import stack as _stack
from pycuda.arrays.shapes.views import broadcast_to
from pycuda.tools import context_dependent_memoize

_PIECE = 256
# Associative operations.
_JOINS = {
    "add", "multiply", "minimum", "maximum", "fmin", "fmax", "logical_and", "logical_or",
    "bitwise_and", "bitwise_or", "bitwise_xor",
}  # fmt: skip
# Operations on integers modulo a power of two.
_MODULAR = {"add", "subtract", "multiply"}
# x - a - b is x - (a + b): the values of a place are combined by this ufunc first.
_AT = {"subtract": "add", "divide": "multiply"}


@context_dependent_memoize
def _kernel(operation: str, dtype: np.dtype) -> _driver.Function:
    join = _driver._array_operation_source(operation, dtype, "Join")
    return _device_code.load("segments", before=join).get_function("join")


def can_join(name: str, dtype: np.dtype) -> bool:
    """Whether :func:`join_segments` supports an operation on a type."""
    if name not in _JOINS or dtype.kind not in "biufc":
        return False
    return dtype.kind != "c" or name in ("add", "multiply")


def join_segments(name: str, values: ArrayBase, starts, lengths):
    """Reduce ``values[starts[i]:starts[i] + lengths[i]]`` for each ``i``. Lengths are at least 1.

    starts, lengths: arrays of the device, or of the host: then nothing is read back, as a capture demands.
    """
    count, numbers = starts.size, arange_of
    if isinstance(starts, np.ndarray):
        numbers = np.arange
    if values.dtype == np.float16:  # computed in float32, as sums are
        whole = join_segments(name, values.astype(np.float32), starts, lengths)
        return whole.astype(np.float16)
    if count and int(lengths.max()) > _PIECE:
        pieces = (lengths + (_PIECE - 1)) // _PIECE
        first = np.cumsum(pieces) - pieces
        owner = np.repeat(numbers(count), pieces)
        begin = (numbers(owner.size) - first[owner]) * _PIECE
        left = lengths[owner] - begin
        values = _join(name, values, starts[owner] + begin, np.minimum(left, _PIECE))
        return join_segments(name, values, first, pieces)
    return _join(name, values, starts, lengths)


def _join(name, values, starts, lengths):
    out = empty(starts.size, values.dtype)
    if starts.size:
        _kernel(name, values.dtype)(
            values, as_array(starts), as_array(lengths), out, starts.size,
            block=(256, 1, 1), grid=(-(-starts.size // 256), 1),
        )  # fmt: skip
    return out


def segments_of_equal(ordered: ArrayBase) -> tuple:
    """The starts and lengths of the runs of equal elements in a sorted vector of integers."""
    size = ordered.size
    if size == 0:
        return empty(0, np.int64), empty(0, np.int64)
    differs = empty(size, np.bool_)
    differs[:1] = True
    differs[1:] = ordered[1:] != ordered[:-1]
    starts = flatnonzero(differs)
    ends = empty(starts.size, np.int64)
    ends[:-1] = starts[1:]
    ends[-1:] = size
    return starts, ends - starts


# ufunc.at


def at(ufunc, a, indices, b=None) -> None:
    """``a[indices] = ufunc(a[indices], b)``, once for each occurrence of an index."""
    if not isinstance(a, ArrayBase):
        raise TypeError(
            f"{ufunc.__name__}.at() expects an array of the device, not {type(a).__name__}"
        )
    if (b is None) == (ufunc.nin == 2):
        raise TypeError(
            f"{ufunc.__name__}.at() expects {ufunc.nin} operands, not {2 - (b is None)}"
        )
    _driver._array_require_writable(a, f"the array of {ufunc.__name__}.at()")
    _at(a, ufunc, indices, b)


@on_own_device
def _at(a, ufunc, indices, b) -> None:
    name = ufunc.__name__
    if b is not None:
        b = _values_of_engine(name, a, b)
        if b.dtype == a.dtype and can_combine_rows(name, a.dtype):
            places = _places_of_rows(a, indices)
            if places is None:
                return _in_order(a, _combine, name, indices, b)
            if not _driver._array_combine_rows(name, a, places, b):
                check_bounds(places, 0, a.shape[0])
            return
    _in_order(a, _at_places, ufunc, indices, b)


def _places_of_rows(a, indices):
    """Indices of the first axis as integers of the device; None if ``indices`` are others."""
    if isinstance(indices, tuple) and len(indices) == 1:
        indices = indices[0]
    if isinstance(indices, (list, np.ndarray)):
        indices = np.asarray(indices)
    is_index = hasattr(indices, "dtype") and indices.dtype.kind in "iu"
    return as_places(indices) if is_index and a.ndim else None


def _in_order(a, function, operation, indices, b) -> None:
    """Call a function on ``a`` in C order: on a copy, which is assigned back, if ``a`` has another order."""
    whole = a if a._c_contiguous else a.copy("C")
    function(whole, operation, indices, b)
    if whole is not a:
        a[...] = whole


def _combine(a, name: str, indices, b) -> None:
    """``ufunc.at`` by the scatter engine on the flat array."""
    places = flat_places(a, indices)
    b = broadcast_to(b, places.shape)
    _driver._array_combine_rows(name, a._ravel(), places, b, checked=False)


def _at_places(a, ufunc, indices, b) -> None:
    places = arange_of(a.size)._reshape(a.shape)[indices]
    if b is not None:
        b = broadcast_to(b, places.shape)._ravel()
    _at_flat(ufunc, a._ravel(), places._ravel(), b)


def _values_of_engine(name: str, a, b):
    """The values as an array, of the type of ``a`` if each step then has the same result."""
    if not isinstance(b, ArrayBase):
        host = np.asarray(b)
        if host.dtype != a.dtype and host.size == 1 and a.dtype.kind in "iufc":
            own = host.astype(a.dtype)
            exact = a.dtype.kind in "fc" and host.dtype.kind in "biuf" or name in _MODULAR and host.dtype.kind in "biu"  # fmt: skip
            if exact and own == host:
                return values_to_gpu(own)
        b = values_to_gpu(host)
    if b.dtype != a.dtype and name in _MODULAR and a.dtype.kind in "iu" and b.dtype.kind in "biu":  # fmt: skip
        return b.astype(a.dtype)
    return b


def _at_flat(ufunc, flat, places, b) -> None:
    # The result is cast to the array's type with any pair of types. NumPy does so in this function only.
    kind = (ufunc(flat[:0]) if b is None else ufunc(flat[:0], b[:0])).dtype
    if places.size == 0:
        return
    order = _driver._array_argsort(places, 0)
    ordered = take_known(places, order)
    starts, lengths = segments_of_equal(ordered)
    once = take_known(ordered, starts)
    most = int(lengths.max().get())
    name = _AT.get(ufunc.__name__, ufunc.__name__)
    if b is not None:
        b = take_known(b, order)
        # If each step casts to the array's type, the values cannot be combined first.
        if most == 1 or can_join(name, kind) and np.can_cast(kind, flat.dtype, "same_kind"):  # fmt: skip
            if most > 1:
                b = join_segments(name, b.astype(kind, copy=False), starts, lengths)
            joined = ufunc(take_known(flat, once), b).astype(flat.dtype, copy=False)
            return put_known(flat, once, joined)
    for turn in range(most):  # the turn-th occurrence of each index
        there = flatnonzero(lengths > turn)
        chosen = take_known(once, there)
        operands = [take_known(flat, chosen)]
        if b is not None:
            operands.append(take_known(b, take_known(starts, there) + turn))
        put_known(flat, chosen, ufunc(*operands).astype(flat.dtype, copy=False))


# ufunc.reduceat


def reduceat(ufunc, array, indices, axis: int, kind: np.dtype):
    """``ufunc.reduce(array[indices[i]:indices[i + 1]])`` for each ``i``, in the type ``kind``; where that is empty,
    the element ``array[indices[i]]``."""
    axis = _axes.normalize_axis(axis, array.ndim)
    places = np.asarray(indices.get() if isinstance(indices, ArrayBase) else indices)
    if places.ndim != 1:
        raise ValueError(f"the indices must be a vector, not of {places.ndim} axes")
    places = places.astype(np.int64)
    extent = array.shape[axis]
    for place in places[(places < 0) | (places >= extent)][:1]:
        raise IndexError(
            f"index {place} out-of-bounds in {ufunc.__name__}.reduceat [0, {extent})"
        )
    ends = np.append(places[1:], extent)
    lengths = np.maximum(ends - places, 1)
    name = ufunc.__name__
    before = (slice(None),) * axis
    if name.startswith("logical") and array.dtype != np.bool_:
        array = array != 0
    array = array.astype(kind, copy=False)
    if can_join(name, kind) and places.size:
        moved = array.transpose(
            [i for i in range(array.ndim) if i != axis] + [axis]
        ).copy("C")
        rows = moved.shape[:-1]
        count = moved.size // extent
        starts = (np.arange(count)[:, None] * extent + places).ravel()
        result = join_segments(name, moved._ravel(), starts, np.tile(lengths, count))
        result = result._reshape(*rows, places.size)
        result = result.transpose(
            [*range(axis), array.ndim - 1, *range(axis, array.ndim - 1)]
        )
    else:
        parts = [
            getattr(np, name).reduce(array[(*before, slice(at, at + n))], axis=axis)
            for at, n in zip(places.tolist(), lengths.tolist(), strict=True)
        ]
        shape = [0 if i == axis else n for i, n in enumerate(array.shape)]
        result = _stack(parts, axis) if parts else empty(shape, kind)
    return result.copy("C")
