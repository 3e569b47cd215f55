"""The text of a source for the compiler."""

from __future__ import annotations

import re
from types import FunctionType

from pycuda import driver

_FILE_NAME = re.compile(r"[^\s(){};]+\.(cu|cuh|c|cc|cpp|h|hpp|ptx)")
# Any other object is a source by its str(), such as a template of text.
_NO_TEXT = (type(None), bytes, bytearray, list, tuple, dict, int, float, FunctionType)


def text_of(source: object) -> str:
    """The source as a string. Raises TypeError for an object without text, CompileError for the name of a file."""
    if isinstance(source, _NO_TEXT):
        advice = ": decode it" if isinstance(source, bytes | bytearray) else ""
        if isinstance(source, FunctionType):
            advice = ": a kernel is written in CUDA C++; pycuda.fuse compiles expressions of arrays"
        kind = "None" if source is None else type(source).__name__
        raise TypeError(f"source must be text, not {kind}{advice}")
    text = str(source)
    if _FILE_NAME.fullmatch(text):
        reason = (
            "the source is the name of a file, not its text; pass open(name).read()"
        )
        raise driver.CompileError(f"{reason}: {text!r}", [])
    return text
