"""The device of an array, and Python's part of an operation run there, as the kernels are."""

from __future__ import annotations

import functools

from pycuda import _driver


def on_own_device(function):
    """The function, in the context of the array that is its first argument."""

    @functools.wraps(function)
    def run(array, *args, **kwargs):
        if not isinstance(array, _driver.ArrayBase):  # numpy's, or an object's own
            return function(array, *args, **kwargs)
        context = _driver._array_context(array)
        if context is None:
            return function(array, *args, **kwargs)
        with _driver._InContext(context):
            return function(array, *args, **kwargs)

    return run


def current_device() -> str:
    """The device of the current context, which new arrays are on."""
    from pycuda.driver import Context

    return f"cuda:{Context.get_device().handle}"


def check_device(device) -> None:
    """ValueError where ``device`` is neither None nor the current context's."""
    if device is not None and device != current_device():
        raise ValueError(
            f"device must be None or {current_device()!r}, that of the current context, "
            f"not {device!r}"
        )
