"""The package's CUDA C++: compiles ``_device/NAME.cuh`` to modules.

The comment at the begin of a file names the types and constants that must be defined before it. A file includes
others of the folder with quotes; the compiler finds names in angle brackets.
"""

from __future__ import annotations

import functools
import os
import re

import numpy as np

from pycuda._c_types import dtype_to_ctype
from pycuda.tools import context_dependent_memoize

TYPE_CHECKING = False  # type checkers take it as True
if TYPE_CHECKING:
    from pycuda._driver import Function
    from pycuda.compiler import SourceModule

# Not pathlib, whose import takes a tenth of the time of importing arrays.
_FOLDER = os.path.join(os.path.dirname(__file__), "_device")
_INCLUDE = r'(?m)^#include "(\w+\.cuh)"\n'
_KERNEL = r'(?ms)^extern "C" __global__.*?^}\n'


@functools.cache
def _text(name: str) -> str:
    """The text of a file. Each included file is inserted once."""
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


def _with_kernel(text: str, kernel: str) -> str:
    """The text with one of its kernels, without the others."""

    def kept(found) -> str:
        declaration = found[0].partition("{")[0]
        return found[0] if re.search(rf"\b{kernel}\(", declaration) else ""

    return re.sub(_KERNEL, kept, text)


def load(name: str, *, before: str = "", kernel: str = "", **definitions) -> SourceModule:  # fmt: skip
    """Compile ``_device/name.cuh`` for the current context.

    ``definitions`` are inserted before the text, with their names: a dtype becomes a type, bool and int become
    constants, text becomes a macro. ``before`` is code that is inserted first. ``kernel`` is the only kernel that is
    compiled, by default all are: each takes its time.

    A kernel that a macro declares accepts numbers of NumPy types, whose sizes are checked. The parameters
    of other kernels are read from the text.
    """
    from pycuda.compiler import (
        SourceModule,  # imported here: arrays import this module, and few call this function
    )

    types = [value for value in definitions.values() if isinstance(value, np.dtype)]
    lines = []
    if any(dtype.kind == "c" for dtype in types):
        lines.append("#include <pycuda-complex.hpp>\n")
    if any(dtype == np.float16 for dtype in types):
        lines.append("#include <cuda_fp16.h>\n")
    lines += [_definition(key, value) for key, value in definitions.items()]
    text = _text(f"{name}.cuh")
    if kernel:  # the constants of the other kernels are not used
        text = "#pragma nv_diag_suppress 177\n" + _with_kernel(text, kernel)
    return SourceModule(before + "".join(lines) + text, no_extern_c=True)


@context_dependent_memoize
def kernel(file: str, name: str, definitions: str = "", *values) -> Function:
    """The kernel ``name`` of ``_device/file.cuh``, compiled without the file's other kernels, once for each context.

    definitions: the names that :func:`load` defines, in the order of their ``values``.
    """
    defined = dict(zip(definitions.split(), values, strict=True))
    return load(file, kernel=name, **defined).get_function(name)
