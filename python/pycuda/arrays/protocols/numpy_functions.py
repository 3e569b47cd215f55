"""NumPy's functions called on arrays of the device: ``numpy.concatenate([x, y])`` gives a GPUArray."""

from __future__ import annotations

import functools

import numpy as np

from pycuda import _driver
from pycuda.arrays import registry
from pycuda.arrays.own_device import on_own_device
from pycuda.arrays.protocols import main_functions as _main_functions  # noqa: F401


@functools.cache
def functions() -> dict:
    """A dict from NumPy's functions to PyCUDA's. At first without those of numpy.linalg and numpy.fft, whose modules load
    slowly: :func:`function_for` adds them."""
    return registry.numpy_functions()


def function_for(func):
    """PyCUDA's function in the place of NumPy's function ``func``; None if there is none."""
    table = functions()
    if func not in table:
        from pycuda.arrays.protocols import all_functions  # noqa: F401

        table.update(registry.numpy_functions())
    return table.get(func)


@functools.cache
def is_ours(kind: type) -> bool:
    """Whether our functions handle arguments of this type: arrays of the device and of the host."""
    return (
        issubclass(kind, _driver.ArrayBase)
        or kind.__array_function__ is np.ndarray.__array_function__
    )


def array_function(self, func, types, args, kwargs):
    """Call our version of NumPy's function ``func``, an argument of which is an array of the device.

    Returns NotImplemented if another argument has a protocol of its own, so that NumPy asks it (NEP 18).
    """
    if not all(map(is_ours, types)):
        return NotImplemented
    ours = function_for(func)
    if ours is None:
        name = f"{func.__module__}.{func.__name__}"
        raise TypeError(
            f"{name}() does not support GPUArray; copy the array to the host with get() (docs/numpy_functions.md lists the supported functions)"
        )
    return _on_device_of(self, ours, args, kwargs)


@on_own_device
def _on_device_of(array, ours, args, kwargs):
    return ours(*args, **kwargs)
