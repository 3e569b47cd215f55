"""The arguments of kernels made from expressions, as the user declares them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pycuda._c_types import COMMENT, Argument, VectorArg, dtype_to_ctype, parse_c_arg


def parse_arguments(arguments: str | Sequence[Argument | str]) -> list[Argument]:
    """The arguments in a list such as ``"float *x, int n"``, or in a sequence of them.

    Raises ValueError if a declaration cannot be parsed or has an unknown type.

    >>> parse_arguments("float *x, int n")
    [VectorArg('x', float32), ScalarArg('n', int32)]
    """
    if isinstance(arguments, str):
        arguments = _split(arguments)
    return [
        parse_c_arg(argument) if isinstance(argument, str) else argument
        for argument in arguments
    ]


def _split(declarations: str) -> list[str]:
    """Split at commas that are not inside <>, () or comments."""
    declarations = re.sub(COMMENT, " ", declarations)
    if not declarations.strip():
        return []
    parts, depth = [""], 0
    for letter in declarations:
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def describe_arguments(
    arguments: Sequence[Argument],
) -> list[tuple[bool, str, str, int]]:
    """Arguments in the format that the C++ kernels take."""
    return [
        (
            isinstance(argument, VectorArg),
            dtype_to_ctype(argument.dtype),
            argument.name,
            argument.dtype.itemsize,
        )
        for argument in arguments
    ]
