"""numpy's ufuncs called on arrays of the device: ``numpy.sin(x)``, ``numpy.add.reduce(x)`` and so on."""

from __future__ import annotations

import functools

import numpy as np

from pycuda import _driver
from pycuda.arrays.linalg import products as _linalg
from pycuda.arrays.own_device import on_own_device
from pycuda.arrays.protocols.ufunc_methods import METHODS
from pycuda.arrays.ufuncs.special_functions import SPECIAL
from pycuda.arrays.ufuncs.universal_functions import TWO_RESULTS, UFUNCS


@functools.cache
def is_ours(kind: type) -> bool:
    """Whether our ufuncs handle operands of this type: arrays of the device, NumPy's objects, and objects without a
    protocol, such as numbers."""
    protocol = getattr(kind, "__array_ufunc__", _NUMPYS)
    return protocol is _NUMPYS or issubclass(kind, _driver.ArrayBase)


_NUMPYS = np.ndarray.__array_ufunc__


def array_ufunc(self, ufunc, method, *inputs, **kwargs):
    """``numpy.sin(x)`` of an array on the device, and the methods of NumPy's ufuncs.

    All keywords but ``order``, ``subok`` and ``signature``; the methods reduce, accumulate, outer, at and
    reduceat. Returns NotImplemented if another operand has a protocol of its own, so that NumPy asks it (NEP 13).
    """
    for operand in (*inputs, *kwargs["out"]) if "out" in kwargs else inputs:
        if not is_ours(type(operand)):
            return NotImplemented
    function = None if kwargs else UFUNCS.get(ufunc.__name__)
    if not kwargs and method == "__call__":
        function = function or TWO_RESULTS.get(ufunc.__name__)
    if function is not None:  # these make the context of their arrays current
        if method == "__call__":
            return function(*inputs)
        if method == "at":
            return METHODS["at"](function, *inputs)
    return _on_device(self, ufunc, method, inputs, kwargs)


@on_own_device
def _on_device(array, ufunc, method, inputs, kwargs):
    name = ufunc.__name__
    kwargs.pop("subok", None)
    if kwargs.pop("order", "K") not in ("K", "A"):
        raise TypeError(f"numpy.{name}() of a GPUArray has no keyword order")
    if method == "__call__":
        return _call(ufunc, inputs, kwargs)
    if method not in METHODS or name not in UFUNCS:
        raise TypeError(
            f"numpy.{name}.{method}() has no version for GPUArray; there are "
            + ", ".join(f"{one}()" for one in METHODS)
        )
    if method != "at" and UFUNCS[name].nin != 2:
        raise ValueError(f"numpy.{name}.{method}() expects a function of two operands")
    _check_out(f"numpy.{name}.{method}()", kwargs)
    return METHODS[method](UFUNCS[name], *inputs, **kwargs)


def _check_out(called: str, kwargs) -> None:
    for out in kwargs.get("out") or ():
        if out is not None and not isinstance(out, _driver.ArrayBase):
            raise TypeError(
                f"out of {called} must be a GPUArray, not {type(out).__name__}; "
                "get() copies to the host"
            )


def _call(ufunc, inputs, kwargs):
    name = ufunc.__name__
    function = (
        _PRODUCTS.get(name)
        or TWO_RESULTS.get(name)
        or UFUNCS.get(name)
        or SPECIAL.get(name)  # of scipy.special
    )
    if function is None:
        called = f"numpy.{name}" if getattr(np, name, None) is ufunc else name
        raise TypeError(
            f"{called}() has no version for GPUArray; copy the array to the host with get()"
        )
    _check_out(f"numpy.{name}()", kwargs)
    return function(*inputs, **kwargs)


_PRODUCTS = {
    "matmul": _linalg.matmul,
    "vecdot": _linalg.vecdot,
    "matvec": _linalg.matvec,
    "vecmat": _linalg.vecmat,
}


@functools.cache
def operations() -> dict:
    """NumPy's ufuncs with one result, and the numbers of their operations in C++."""
    return {
        getattr(np, name): function._number
        for name, function in UFUNCS.items()
        if hasattr(np, name)
    }


def has_ufunc(name: str) -> bool:
    """Whether NumPy's ufunc of this name accepts arrays of the device."""
    return name in UFUNCS or name in TWO_RESULTS or name in _PRODUCTS
