"""Python's part of an array operation runs on the array's device, as the kernels do."""

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
