"""The methods of numpy's ufuncs on arrays of the device: ``numpy.add.reduce(x)``, ``numpy.hypot.accumulate(x)`` ..."""

from __future__ import annotations

import numpy as np

from pycuda import _driver
from pycuda.arrays.creation.conversion import as_array, put_into
from pycuda.arrays.creation.filled import full
from pycuda.arrays.reductions import reductions as _reductions
from pycuda.arrays.reductions import scans as _scans
from pycuda.arrays.reductions import segments as _segments
from pycuda.arrays.reductions.reducing import (
    axes_of_reduction,
    mask_of,
    packed,
    reduced_shape,
)
from pycuda.arrays.shapes.views import broadcast_to

#: The ufuncs for which the engine in C++ has a reduction.
_REDUCTIONS = {
    "add": _reductions.sum,
    "multiply": _reductions.prod,
    "minimum": _reductions.min,
    "maximum": _reductions.max,
    "logical_or": _reductions.any,
    "logical_and": _reductions.all,
}
_SCANS = {"add": "sum", "multiply": "prod", "minimum": "min", "maximum": "max"}
# The order of the operations does not change the result.
_ASSOCIATIVE = set(_REDUCTIONS) | set(
    """bitwise_and bitwise_or bitwise_xor logical_xor fmax fmin gcd lcm hypot logaddexp
    logaddexp2""".split()
)
_IDENTITY = {
    "bitwise_or": 0, "bitwise_xor": 0, "bitwise_and": -1, "logical_xor": False, "gcd": 0,
    "hypot": 0, "logaddexp": -np.inf, "logaddexp2": -np.inf, "add": 0, "multiply": 1,
    "logical_or": False, "logical_and": True,
}  # fmt: skip


def _loop_type(ufunc, array, dtype, out):
    """The type in which NumPy combines the elements. Raises TypeError if the ufunc has no loop for this type."""
    return getattr(np, ufunc.__name__).resolve_dtypes(
        (None if out is None else out.dtype, array.dtype, None),
        signature=(None if dtype is None else np.dtype(dtype), None, None),
        casting="unsafe",
        reduction=True,
    )[0]


def _only(out):
    """The array in ``out``. NumPy passes ``out`` as a tuple."""
    return out[0] if isinstance(out, tuple) else out


def reduce(ufunc, array, axis=0, dtype=None, out=None, keepdims=False, initial=np._NoValue, where=True):  # fmt: skip
    """NumPy's ``ufunc.reduce``. Ufuncs for which the engine has no reduction take log2(n) or n passes.

    initial: the first value; None takes the first element, also where the ufunc has an identity.
    """
    array, out, name = as_array(array), _only(out), ufunc.__name__
    is_plain = dtype is None and out is None and initial is np._NoValue
    if is_plain and where is True and name in _REDUCTIONS:
        return _REDUCTIONS[name](array, axis, keepdims=keepdims)
    kind = _loop_type(ufunc, array, dtype, out)
    axes = axes_of_reduction(axis, array.ndim)
    if len(axes) > 1 and name not in _ASSOCIATIVE:
        raise ValueError(
            f"reduction operation '{name}' is not reorderable, so at most one axis may be specified"
        )
    first = _first_value(name, array, axes, kind, initial)
    mask = mask_of(where, array.shape)
    if mask is not None and first is None:
        raise ValueError(
            f"reduction operation '{name}' does not have an identity, so to use a where mask one "
            "has to specify 'initial'"
        )
    if kind == np.bool_ and name.startswith("logical_"):
        array = array if array.dtype == np.bool_ else array != 0
    array = array.astype(kind, copy=False)
    shape = reduced_shape(array.shape, axes, keepdims)
    if array.size == 0:
        result = full(shape, 0 if first is None else first, kind)
    elif name in _REDUCTIONS:
        result = _engine_reduction(name, array, axes, kind, initial, mask)
    else:
        mask = None if mask is None else broadcast_to(mask, array.shape)
        result = _fold_axes(ufunc, array, axes, first, mask)
    return put_into(out, result._reshape(shape))


def _first_value(name, array, axes, kind, initial):
    """The first value of the reduction, of the type ``kind``; None if there is none."""
    if initial is not np._NoValue and initial is not None:
        return packed(initial, kind)
    if initial is np._NoValue and name in _IDENTITY:
        return np.asarray(_IDENTITY[name]).astype(kind)[()]
    if any(array.shape[axis] == 0 for axis in axes):
        raise ValueError(
            f"zero-size array to reduction operation {name} which has no identity"
        )
    return None


def _engine_reduction(name, array, axes, kind, initial, mask):
    options = {"axis": tuple(axes), "where": True if mask is None else mask}
    if name in ("add", "multiply"):
        options["dtype"] = kind
    if name not in ("logical_or", "logical_and"):
        return _REDUCTIONS[name](
            array, initial=None if initial is np._NoValue else initial, **options
        )
    result = _REDUCTIONS[name](array, **options)
    if initial is np._NoValue or initial is None:
        return result
    first = bool(packed(initial, np.dtype(bool)))
    return result | first if name == "logical_or" else result & first


def _fold_axes(ufunc, array, axes, first, mask):
    """Reduce the axes one after the other. The first value is combined at the end or at the start."""
    if not axes:  # no axis is reduced
        array, axes = array[None], [0]
        mask = None if mask is None else mask[None]
    if ufunc.__name__ not in _ASSOCIATIVE:
        return _fold_in_order(ufunc, array, axes[0], first, mask)
    if mask is not None:
        # For a ufunc without an identity, using the first value twice does not change the result.
        neutral = _IDENTITY.get(ufunc.__name__, first)
        neutral = np.asarray(neutral).astype(array.dtype)[()]
        array = _driver._array_apply("where", mask, array, neutral)
    axes = tuple(axes)
    for axis in sorted(axes, reverse=True):
        array = _fold(ufunc, array, axis)
    # A single element is not the result yet: gcd() of one number is its magnitude. It is also a view.
    if first is None:
        return array.copy()
    result = ufunc(first, array)
    if mask is None or ufunc.__name__ not in ("hypot", "gcd", "lcm"):
        return result
    # The result is a magnitude. If no element is reduced, the result is the first value with its sign.
    return _driver._array_apply("where", _reductions.any(mask, axes), result, first)


def _fold_in_order(ufunc, array, axis: int, first, mask):
    before = (slice(None),) * axis
    start = first is None
    result = array[(*before, 0)] if start else full(reduced_shape(array.shape, [axis], False), first, array.dtype)  # fmt: skip
    dtype = None if ufunc.__name__ == "ldexp" else array.dtype
    for i in range(start, array.shape[axis]):
        joined = ufunc(result, array[(*before, i)], dtype=dtype)
        if mask is not None:
            joined = _driver._array_apply("where", mask[(*before, i)], joined, result)
        result = joined
    return result.copy() if array.shape[axis] == 1 else result


def _fold(ufunc, array, axis: int):
    """Reduce an axis by combining its two halves repeatedly. Returns a view if the axis has one element."""
    before = (slice(None),) * axis
    while (extent := array.shape[axis]) > 1:
        half = extent // 2
        low, high = (
            array[(*before, slice(half))],
            array[(*before, slice(half, 2 * half))],
        )
        joined = ufunc(low, high)
        if extent % 2:
            first = (*before, slice(1))
            joined[first] = ufunc(
                joined[first], array[(*before, slice(extent - 1, None))]
            )
        array = joined
    return array[(*before, 0)]


def accumulate(ufunc, array, axis=0, dtype=None, out=None):
    """NumPy's ``ufunc.accumulate``. Takes log2(n) passes if the order does not matter, else n."""
    array, out, name = as_array(array), _only(out), ufunc.__name__
    if array.ndim == 0:
        raise TypeError("cannot accumulate on a scalar")
    kind = _loop_type(ufunc, array, dtype, out)
    axes = axes_of_reduction(axis, array.ndim)
    if len(axes) != 1:
        raise ValueError(f"accumulate() expects one axis, not {len(axes)}")
    axis = axes[0]
    if name in _SCANS:
        return put_into(out, _scans.scan(_SCANS[name], array, axis, kind))
    if kind == np.bool_ and name.startswith("logical_"):
        array = array != 0
    before = (slice(None),) * axis
    result = array.astype(kind)
    if name not in _ASSOCIATIVE:
        for i in range(1, array.shape[axis]):
            one = (*before, i)
            ufunc(result[(*before, i - 1)], result[one], out=result[one])
    else:
        step = 1
        while step < array.shape[axis]:
            before_step = result[(*before, slice(None, -step))].copy()
            later = result[(*before, slice(step, None))]
            ufunc(before_step, later, out=later)
            step *= 2
    return put_into(out, result)


def outer(ufunc, a, b, **kwargs):
    """NumPy's ``ufunc.outer``: all pairs of an element of ``a`` and one of ``b``."""
    a, b = (
        one if isinstance(one, _driver.ArrayBase) else np.asarray(one)[()]
        for one in (a, b)
    )
    if isinstance(a, _driver.ArrayBase):
        a = a._reshape(a.shape + (1,) * np.ndim(b))
    return ufunc(a, b, **kwargs)


def reduceat(ufunc, array, indices, axis=0, dtype=None, out=None):
    """numpy's ``ufunc.reduceat``."""
    array, out = as_array(array), _only(out)
    if array.ndim == 0:
        raise TypeError("cannot reduceat on a scalar")
    kind = _loop_type(ufunc, array, dtype, out)
    return put_into(out, _segments.reduceat(ufunc, array, indices, axis, kind))


METHODS = {
    "reduce": reduce,
    "accumulate": accumulate,
    "outer": outer,
    "reduceat": reduceat,
    "at": _segments.at,
}
