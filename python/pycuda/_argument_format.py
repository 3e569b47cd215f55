"""The format strings of Function.prepare()."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np


def format_of(arg_types: Iterable[object]) -> str:
    """One format string of the struct module for a sequence of argument types.

    An item is a numpy type or dtype, or a format string. Any other object means a pointer.

    >>> format_of(["P", np.int32, np.dtype([("x", "f4", 4)])])
    'Pi16s'
    """
    return "".join(_format_of_one(arg_type) for arg_type in arg_types)


def _format_of_one(arg_type: object) -> str:
    if isinstance(arg_type, str):
        return arg_type
    if isinstance(arg_type, type) and issubclass(arg_type, (np.number, np.bool_)):
        arg_type = np.dtype(arg_type)
    if isinstance(arg_type, np.dtype):
        return f"{arg_type.itemsize}s" if arg_type.char == "V" else arg_type.char
    return "P"
