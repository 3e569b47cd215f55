"""IPython magics: one compiles a cell of CUDA C++, one profiles a cell of Python.

Load the extension, then write kernels in a cell::

    %load_ext pycuda.ipython

    %%cuda -std=c++17
    __global__ void twice(float *a) { a[threadIdx.x] *= 2; }

Then the notebook's variable ``twice`` is the kernel, and ``_cuda_module`` is the module.

A cell that begins with ``%%cuda_profile`` runs as Python code, and the notebook shows the report of its
kernels (:mod:`pycuda.profile`). ``%%cuda_profile p`` gives the profile the name ``p``, too.
"""

from __future__ import annotations

from pycuda.compiler import SourceModule
from pycuda.profile import Profile


def compile_cell(line: str, cell: str) -> dict[str, object]:
    """Compile a cell. Returns its kernels by name.

    line: options of the compiler, separated by spaces.
    cell: the source in CUDA C++.
    """
    module = SourceModule(cell, options=line.split())
    names = {name: module.get_function(name) for name in module.module.function_names()}
    return {**names, "_cuda_module": module}


def load_ipython_extension(ipython: object) -> None:
    """Create a context and define the magics ``%%cuda`` and ``%%cuda_profile``. ``%load_ext pycuda.ipython`` calls this function.

    ipython: the InteractiveShell of IPython.
    """
    import pycuda.autoinit  # noqa: F401

    def cuda(line: str, cell: str) -> None:
        found = compile_cell(line, cell)
        ipython.push(found)
        names = sorted(name for name in found if not name.startswith("_"))
        print("kernels:", ", ".join(names))

    def cuda_profile(line: str, cell: str) -> Profile:
        with Profile() as recorded:
            ipython.run_cell(cell)
        if name := line.strip():
            ipython.push({name: recorded})
        return recorded

    for magic in (cuda, cuda_profile):
        ipython.register_magic_function(
            magic, magic_kind="cell", magic_name=magic.__name__
        )
