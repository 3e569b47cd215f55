"""The device of an array, and a decorator that runs a function in the context of this device."""

from __future__ import annotations

import functools

from pycuda import _driver


def on_own_device(function):
    """Decorate a function: it runs in the context of its first argument, an array."""

    @functools.wraps(function)
    def run(array, *args, **kwargs):
        if not isinstance(array, _driver.ArrayBase):  # a NumPy array, or another object
            return function(array, *args, **kwargs)
        context = _driver._array_context(array)
        if context is None:
            return function(array, *args, **kwargs)
        with _driver._InContext(context):
            return function(array, *args, **kwargs)

    return run


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
