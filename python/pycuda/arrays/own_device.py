"""The device of an array, and functions that run in the context of their arrays."""

from __future__ import annotations

import types

from pycuda import _driver

# Wrap a function: it runs in the context of the arrays among its arguments, and in lists and tuples of them. Arrays of
# two devices are a ValueError that names both.
# Programs call functions of the registry, and methods of GPUArray, through such a wrapper; so a function may make
# arrays, load kernels and call other functions without a thought of the device.
on_own_device = _driver._ArrayFunction


def methods_on_own_device(cls: type) -> type:
    """Decorate a class of arrays: its methods, and those of its base classes in Python, run in the context of the array."""
    for owner in (cls, *cls.__bases__):
        if owner is _driver.ArrayBase:
            continue
        for name, value in list(vars(owner).items()):
            if isinstance(value, types.FunctionType) and name != "__init__":
                setattr(owner, name, on_own_device(value, not name.startswith("_")))
    return cls


def current_device() -> str:
    """The device of the current context. New arrays are made on it."""
    from pycuda.driver import Context

    return f"cuda:{Context.get_device().handle}"


def check_device(device) -> None:
    """Raise ValueError if ``device`` is neither None nor the device of the current context."""
    if device is not None and device != current_device():
        raise ValueError(
            f"device must be None or {current_device()!r}, that of the current context, "
            f"not {device!r}"
        )
