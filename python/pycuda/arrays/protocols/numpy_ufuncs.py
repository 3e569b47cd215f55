"""numpy's ufuncs called on arrays of the device: ``numpy.sin(x)``, ``numpy.add.reduce(x)`` and so on."""

from __future__ import annotations

import numpy as np

from pycuda import _driver
from pycuda.arrays.linalg import products as _linalg
from pycuda.arrays.own_device import on_own_device
from pycuda.arrays.reductions import scans as _scans
from pycuda.arrays.reductions import segments as _segments
from pycuda.arrays.ufuncs.universal_functions import TWO_RESULTS, UFUNCS


def array_ufunc(self, ufunc, method, *inputs, **kwargs):
    """``numpy.sin(x)`` of an array on the device, and what else numpy's ufuncs do.

    All keywords but ``order``, ``subok`` and ``signature``; the methods reduce, accumulate, outer, at and
    reduceat.
    """
    return _on_device(self, ufunc, method, inputs, kwargs)


@on_own_device
def _on_device(array, ufunc, method, inputs, kwargs):
    name = ufunc.__name__
    kwargs.pop("subok", None)
    if kwargs.pop("order", "K") not in ("K", "A"):
        raise TypeError(f"numpy.{name}() of a GPUArray has no keyword order")
    if method == "__call__":
        return _call(name, inputs, kwargs)
    if method not in _METHODS and (method != "at" or name not in UFUNCS):
        raise TypeError(
            f"numpy.{name}.{method}() has no version for GPUArray; there are "
            + ", ".join(f"{one}()" for one in [*_METHODS, "at"])
        )
    if method == "at":
        return _segments.at(UFUNCS[name], *inputs, **kwargs)
    if name not in UFUNCS or UFUNCS[name].nin != 2:
        raise ValueError(f"numpy.{name}.{method}() wants a function of two operands")
    return _METHODS[method](UFUNCS[name], *inputs, **kwargs)


def _call(name, inputs, kwargs):
    function = _PRODUCTS.get(name) or TWO_RESULTS.get(name) or UFUNCS.get(name)
    if function is None:
        raise TypeError(f"numpy.{name}() has no version for GPUArray")
    for out in kwargs.get("out") or ():
        if out is not None and not isinstance(out, _driver.ArrayBase):
            raise TypeError(
                f"out of numpy.{name}() must be a GPUArray, not {type(out).__name__}; "
                "get() copies to the host"
            )
    return function(*inputs, **kwargs)


_REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "minimum": "min",
    "maximum": "max",
    "logical_or": "any",
    "logical_and": "all",
}
_SCANS = {"add": "sum", "multiply": "prod", "minimum": "min", "maximum": "max"}
_PRODUCTS = {
    "matmul": _linalg.matmul,
    "vecdot": _linalg.vecdot,
    "matvec": _linalg.matvec,
    "vecmat": _linalg.vecmat,
}
# In whatever order the elements are joined, the result is the same.
_ASSOCIATIVE = set(_REDUCTIONS) | set(
    """bitwise_and bitwise_or bitwise_xor logical_xor fmax fmin gcd lcm hypot logaddexp
    logaddexp2""".split()
)
_IDENTITY = {
    "bitwise_or": 0, "bitwise_xor": 0, "bitwise_and": -1, "logical_xor": False, "gcd": 0,
    "hypot": 0, "logaddexp": -np.inf, "logaddexp2": -np.inf, "add": 0, "multiply": 1,
    "logical_or": False, "logical_and": True,
}  # fmt: skip


def _reduce(ufunc, array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True):  # fmt: skip
    """numpy's ``ufunc.reduce``; those that are no reduction of ours, in log2(n) or n passes."""
    out = out[0] if isinstance(out, tuple) else out
    initial = None if initial is np._NoValue else initial
    name = ufunc.__name__
    if name in _REDUCTIONS and dtype is None and (initial is None):
        where = None if where is True else where
        return getattr(array, _REDUCTIONS[name])(
            axis=axis, out=out, keepdims=keepdims, where=where
        )
    if where is not True:
        if name not in _IDENTITY:
            raise TypeError(f"numpy.{name}.reduce() of a GPUArray has no keyword where")
        array = _driver._array_apply("where", where, array, _identity(ufunc, array))
    array = array if dtype is None else array.astype(dtype)
    axes = range(array.ndim) if axis is None else np.atleast_1d(axis).tolist()
    axes = sorted({one % array.ndim for one in axes}, reverse=True)
    if len(axes) > 1 and name not in _ASSOCIATIVE:
        raise ValueError(f"reduction operation {name!r} is not reorderable")
    shape = [1 if i in axes else n for i, n in enumerate(array.shape)]
    for one in axes:
        array = _fold(ufunc, array, one, initial)
    if initial is not None and name in _ASSOCIATIVE:
        array = ufunc(initial, array)
    if keepdims:
        array = array._reshape(shape)
    return array if out is None else UFUNCS["positive"](array, out=out)


def _identity(ufunc, array):
    """The value that changes nothing, in the array's type."""
    return np.asarray(_IDENTITY[ufunc.__name__]).astype(array.dtype)[()]


def _fold(ufunc, array, axis: int, initial):
    """The parts of an axis joined: neighbouring halves at once, or one after the other."""
    before = (slice(None),) * axis
    if array.shape[axis] == 0:
        if ufunc.__name__ not in _IDENTITY:
            raise ValueError(
                f"zero-size array to reduction operation {ufunc.__name__} which has no identity"
            )
        rest = array.any(axis)  # the shape that remains
        result = ufunc(array, array)._reshape(0)
        return _driver._array_empty(
            rest.shape, result.dtype, None, "C", type(array)
        ).fill(_identity(ufunc, result))
    if ufunc.__name__ not in _ASSOCIATIVE:
        start = initial is None
        result = array[(*before, 0)] if start else initial
        for i in range(start, array.shape[axis]):
            result = ufunc(result, array[(*before, i)])
        return result
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


def _accumulate(ufunc, array, axis=0, dtype=None, out=None):
    """numpy's ``ufunc.accumulate``; in log2(n) passes where the order does not matter, else n."""
    out = out[0] if isinstance(out, tuple) else out
    if ufunc.__name__ in _SCANS:
        return _scans.scan(_SCANS[ufunc.__name__], array, axis, dtype, out)
    axis %= array.ndim
    before = (slice(None),) * axis
    result = array.astype(array.dtype if dtype is None else dtype)
    if array.shape[axis]:
        first = ufunc(result[(*before, slice(1))], result[(*before, slice(1))])
        result = result.astype(first.dtype, copy=False)
    if ufunc.__name__ not in _ASSOCIATIVE:
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
    return result if out is None else UFUNCS["positive"](result, out=out)


def _outer(ufunc, a, b, **kwargs):
    """numpy's ``ufunc.outer``: each element of ``a`` with each of ``b``."""
    a, b = (
        one if isinstance(one, _driver.ArrayBase) else np.asarray(one)[()]
        for one in (a, b)
    )
    if isinstance(a, _driver.ArrayBase):
        a = a._reshape(a.shape + (1,) * np.ndim(b))
    return ufunc(a, b, **kwargs)


_METHODS = {
    "reduce": _reduce,
    "accumulate": _accumulate,
    "outer": _outer,
    "reduceat": _segments.reduceat,
}


def has_ufunc(name: str) -> bool:
    """Whether numpy's ufunc of that name takes arrays of the device."""
    return name in UFUNCS or name in TWO_RESULTS or name in _PRODUCTS
