"""The text of a source for the compiler."""

from __future__ import annotations

import re

from pycuda import driver

_FILE_NAME = re.compile(r"[^\s(){};]+\.(cu|cuh|c|cc|cpp|h|hpp|ptx)")


def text_of(source: object) -> str:
    """The source as a string. Raises CompileError for the name of a file."""
    text = str(source)
    if _FILE_NAME.fullmatch(text):
        reason = (
            "the source is the name of a file, not its text; pass open(name).read()"
        )
        raise driver.CompileError(f"{reason}: {text!r}", [])
    return text
