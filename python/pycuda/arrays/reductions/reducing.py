"""What all reductions do: axes, masks, first values, and the call of the engine."""

from __future__ import annotations

import numpy as np

from pycuda import _driver
from pycuda._driver import ArrayBase, _Using
from pycuda._driver import _array_apply as apply
from pycuda.arrays.creation.conversion import as_array, to_gpu
from pycuda.arrays.creation.filled import full
from pycuda.arrays.shapes.axes import normalize_axes, normalize_axis
from pycuda.arrays.ufuncs.universal_functions import UFUNCS


def axis_bits(axis, ndim: int) -> int:
    """The axes as the bits of a number; None is all of them."""
    if axis is None:
        return (1 << ndim) - 1
    bits = 0
    for one in axis if isinstance(axis, (tuple, list)) else (axis,):
        one = normalize_axis(one, ndim)
        if bits >> one & 1:
            raise ValueError("duplicate value in 'axis'")
        bits |= 1 << one
    return bits


def reduce(
    ary, name, axis=None, dtype=None, out=None, keepdims=False, where=None, stream=None, others=(),
):  # fmt: skip
    """Reduce an array over axes by the engine's operation ``name``.

    where: None or True for all elements, else an array of bool.
    others: further operands of the operation.
    """
    if stream is not None:
        with _Using(stream):
            return reduce(ary, name, axis, dtype, out, keepdims, where, None, others)
    if where is not None and not isinstance(where, ArrayBase):
        where = None if where is True else to_gpu(np.asarray(where, np.bool_))
    result = _driver._array_reduce(
        name, ary, *others, axes=axis_bits(axis, ary.ndim), keepdims=keepdims,
        dtype=None if dtype is None else np.dtype(dtype), where=where,
    )  # fmt: skip
    return result if out is None else apply("copy", result, out=out)


def given(value, otherwise=None):
    """The argument, or ``otherwise`` for None and for NumPy's mark of an argument that is absent."""
    return otherwise if value is None or value is np._NoValue else value


def mask_of(where):
    """What limits a reduction: None, or an array of bool."""
    where = given(where, True)
    if where is True:
        return None
    mask = as_array(where)
    return mask if mask.dtype.kind == "b" else mask != 0


def with_initial(ufunc: str, reduce, a, axis, out, keepdims, initial):
    """The result of ``reduce(out)``, joined with a first value by a universal function."""
    initial = given(initial)
    if initial is None:
        return reduce(out)
    if isinstance(initial, ArrayBase):
        initial = initial._reshape(())
    if ufunc in ("maximum", "minimum") and a.size == 0:
        axes = normalize_axes(axis, a.ndim)
        if any(a.shape[one] == 0 for one in axes):
            shape = _reduced_shape(a.shape, axes, keepdims)
            result = full(shape, 0, a.dtype) if out is None else out
            result.fill(initial)
            return result
    result = UFUNCS[ufunc](reduce(None), initial)
    return result if out is None else UFUNCS["positive"](result, out=out)


def _reduced_shape(shape, axes, keepdims: bool) -> tuple[int, ...]:
    if keepdims:
        return tuple(1 if i in axes else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in axes)
