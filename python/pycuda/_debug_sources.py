"""Sources of kernels as files, for a debugger to show: `python -m pycuda gdb` asks for them."""

from __future__ import annotations

import itertools
import os

# Where the files are; set if sources are to be compiled for debugging.
FOLDER = os.environ.get("PYCUDA_DEBUG_SOURCES")

_numbers = itertools.count()


def keep(text: str) -> str:
    """Writes the source to a file, and returns it with the file's name for the compiler.

    Each source gets a folder of its own under :data:`FOLDER`, in which it is called kernel.cu.
    """
    folder = os.path.join(FOLDER or "", f"{os.getpid()}-{next(_numbers)}")
    os.makedirs(folder)
    path = os.path.join(folder, "kernel.cu")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return f'#line 1 "{path}"\n{text}'
