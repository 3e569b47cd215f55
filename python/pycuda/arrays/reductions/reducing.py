"""Shared by all reductions: axes, masks, first values, and the call of the engine in C++."""

from __future__ import annotations

import numpy as np

from pycuda import _driver
from pycuda._driver import ArrayBase, _Work
from pycuda.arrays.creation.conversion import as_array, put_into
from pycuda.arrays.creation.filled import full
from pycuda.arrays.shapes.axes import normalize_axis
from pycuda.arrays.ufuncs.universal_functions import UFUNCS, as_mask


def axis_bits(axis, ndim: int) -> int:
    """The axes as bits of a number; None means all axes."""
    if axis is None:
        return (1 << ndim) - 1
    if type(axis) is int and -ndim <= axis < ndim:
        return 1 << axis % ndim
    bits = 0
    for one in axis if isinstance(axis, (tuple, list)) else (axis,):
        one = normalize_axis(one, ndim)
        if bits >> one & 1:
            raise ValueError("duplicate value in 'axis'")
        bits |= 1 << one
    return bits


def bits_of_reduction(axis, ndim: int) -> int:
    """:func:`axis_bits` of a ufunc's reduction. As in NumPy, 0 and -1 are accepted for an array without axes."""
    if ndim == 0 and not isinstance(axis, (tuple, list)) and axis in (0, -1):
        return 0
    return axis_bits(axis, ndim)


def axes_of_reduction(axis, ndim: int) -> list[int]:
    """The axes over which a ufunc is reduced, in increasing order."""
    bits = bits_of_reduction(axis, ndim)
    return [one for one in range(ndim) if bits >> one & 1]


def packed(value, dtype):
    """Convert a number as NumPy does in an assignment to an element.

    Raises OverflowError for an int that does not fit, TypeError for a complex number and a real type.
    """
    if isinstance(value, ArrayBase):
        return value.astype(dtype, copy=False)._reshape(())
    element = np.empty((), dtype)
    element[()] = value
    return element[()]


def reduce(
    ary, name, axis=None, dtype=None, out=None, keepdims=False, where=None, stream=None, others=(), **finish,
):  # fmt: skip
    """Reduce an array over axes by the engine's operation ``name``.

    out: an array for the result. The result is cast to the type of ``out``.
    where: None or True for all elements, else an array of bool.
    others: further operands of the operation.
    finish: ``divisor``, a number by which floats and complex numbers are divided before they are written; ``root=True``
        for the square root of the quotient; ``finished``, the type of the result.
    """
    if stream is not None:
        with _Work(stream):
            return reduce(
                ary, name, axis, dtype, out, keepdims, where, None, others, **finish
            )
    if where is not None and not isinstance(where, ArrayBase):
        where = None if where is True else as_mask(where)
    result = _driver._array_reduce(
        name, ary, *others, axes=bits_of_reduction(axis, ary.ndim), keepdims=keepdims,
        dtype=None if dtype is None else np.dtype(dtype), where=where, **finish,
    )  # fmt: skip
    return put_into(out, result)


def given(value, otherwise=None):
    """The argument; ``otherwise`` for None and for NumPy's mark of a missing argument."""
    return otherwise if value is None or value is np._NoValue else value


def mask_of(where, shape=None):
    """The mask of a reduction: None, or an array of bool.

    Raises TypeError for an array of another type, and ValueError if the mask does not broadcast to ``shape``, the shape
    of the array that is reduced.
    """
    if where is True or where is np._NoValue:
        return None
    mask = as_mask(where)
    if shape is not None and np.broadcast_shapes(mask.shape, shape) != shape:
        raise ValueError(
            f"a mask of shape {mask.shape} cannot be broadcast to shape {shape}"
        )
    return mask


def check_first_value(ufunc: str, initial, where) -> None:
    """Raise ValueError for a mask without a first value if the ufunc has no identity."""
    if mask_of(where) is not None and given(initial) is None:
        raise ValueError(
            f"reduction operation '{ufunc}' does not have an identity, so to use a where mask one "
            "has to specify 'initial'"
        )


def joined(
    name, ufunc, a, axis, dtype, out, keepdims, initial, where, stream, allocator
):
    """Reduce by the engine's operation ``name``, and combine the result with the first value ``initial`` by ``ufunc``.

    The first value takes the result's type.
    """
    plain = where is True and out is dtype is initial is stream is allocator is None
    if plain and isinstance(a, ArrayBase):  # the usual call, which shall cost little
        return _driver._array_reduce(
            name, a, axes=bits_of_reduction(axis, a.ndim), keepdims=bool(given(keepdims, False))
        )  # fmt: skip
    a, keepdims, initial = as_array(a), bool(given(keepdims, False)), given(initial)
    mask = mask_of(where, a.shape)
    if dtype is None and ufunc in ("add", "multiply") and isinstance(out, ArrayBase):
        dtype = np.promote_types(
            out.dtype, a.dtype
        )  # as in NumPy; integers are not widened to 64 bits
    with _Work(stream, allocator):
        if initial is not None and ufunc not in ("add", "multiply"):
            axes = axes_of_reduction(axis, a.ndim)
            if any(a.shape[one] == 0 for one in axes):
                shape = reduced_shape(a.shape, axes, keepdims)
                result = full(shape, packed(initial, a.dtype), a.dtype)
                return put_into(out, result)
        result = reduce(a, name, axis, dtype, None, keepdims, mask)
        if initial is not None:
            result = UFUNCS[ufunc](result, packed(initial, result.dtype))
        return put_into(out, result)


def reduced_shape(shape, axes, keepdims: bool) -> tuple[int, ...]:
    """The shape without ``axes``; with ``keepdims``, these axes have extent 1."""
    if keepdims:
        return tuple(1 if i in axes else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in axes)
