"""CUDA C++ that goes with the package: ``_device/NAME.cuh``, made into modules.

A file says in its head which types and constants it wants before it. It includes others of the folder in
quotes; what stands in angle brackets is found by the compiler.
"""

from __future__ import annotations

import functools
import os
import re

import numpy as np

from pycuda._c_types import dtype_to_ctype

TYPE_CHECKING = False  # type checkers take it as True
if TYPE_CHECKING:
    from pycuda.compiler import SourceModule

# Not pathlib: it takes a tenth of the time that importing arrays takes.
_FOLDER = os.path.join(os.path.dirname(__file__), "_device")
_INCLUDE = r'(?m)^#include "(\w+\.cuh)"\n'


@functools.cache
def _text(name: str) -> str:
    """The text of a file, with the files that it includes, each once."""
    seen = set()

    def expand(file: str) -> str:
        if file in seen:
            return ""
        seen.add(file)
        with open(os.path.join(_FOLDER, file), encoding="utf-8") as source:
            text = source.read().replace("#pragma once\n", "")
        return re.sub(_INCLUDE, lambda found: expand(found[1]), text)

    return expand(name)


def _definition(name: str, value) -> str:
    if isinstance(value, np.dtype):
        return f"using {name} = {dtype_to_ctype(value)};\n"
    if isinstance(value, bool):
        return f"constexpr bool {name} = {str(value).lower()};\n"
    if isinstance(value, int):
        return f"constexpr int {name} = {value};\n"
    return f"#define {name} {value}\n"


def load(name: str, *, before: str = "", **definitions) -> SourceModule:
    """The module of ``_device/name.cuh`` for the current context.

    ``definitions`` stand before the text, by their names there: a dtype becomes a type, bool and int become
    constants, text becomes a macro. ``before`` is code in front of all.

    A kernel that a macro declares takes numbers of NumPy's types, whose sizes are checked. The parameters
    of others are read from the text.
    """
    from pycuda.compiler import (
        SourceModule,  # only now: arrays load this module, and few call it
    )

    types = [value for value in definitions.values() if isinstance(value, np.dtype)]
    lines = []
    if any(dtype.kind == "c" for dtype in types):
        lines.append("#include <pycuda-complex.hpp>\n")
    if any(dtype == np.float16 for dtype in types):
        lines.append("#include <cuda_fp16.h>\n")
    lines += [_definition(key, value) for key, value in definitions.items()]
    return SourceModule(
        before + "".join(lines) + _text(f"{name}.cuh"), no_extern_c=True
    )
