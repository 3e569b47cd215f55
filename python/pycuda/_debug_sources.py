"""Writes sources of kernels to files, so that a debugger can show them. Used by `python -m pycuda gdb`."""

from __future__ import annotations

import itertools
import os

# The folder of the files; set if kernels are compiled for debugging.
FOLDER = os.environ.get("PYCUDA_DEBUG_SOURCES")

_numbers = itertools.count()


def keep(text: str) -> str:
    """Writes the source to a file, and returns the source with the file's name for the compiler.

    Each source has a separate folder in :data:`FOLDER`, where its name is kernel.cu.
    """
    folder = os.path.join(FOLDER or "", f"{os.getpid()}-{next(_numbers)}")
    os.makedirs(folder)
    path = os.path.join(folder, "kernel.cu")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return f'#line 1 "{path}"\n{text}'
