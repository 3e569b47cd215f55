"""An IPython magic that compiles a cell of CUDA C++.

Load the extension, then write kernels in a cell::

    %load_ext pycuda.ipython

    %%cuda -std=c++17
    __global__ void twice(float *a) { a[threadIdx.x] *= 2; }

After that ``twice`` is a kernel of the notebook, and ``_cuda_module`` the module.
"""

from __future__ import annotations

from pycuda.compiler import SourceModule


def compile_cell(line: str, cell: str) -> dict[str, object]:
    """The kernels of the source ``cell`` by name; ``line`` has options of the compiler."""
    module = SourceModule(cell, options=line.split())
    names = {name: module.get_function(name) for name in module.module.function_names()}
    return {**names, "_cuda_module": module}


def load_ipython_extension(ipython: object) -> None:
    """What ``%load_ext pycuda.ipython`` calls: makes a context and defines ``%%cuda``."""
    import pycuda.autoinit  # noqa: F401

    def cuda(line: str, cell: str) -> None:
        found = compile_cell(line, cell)
        ipython.push(found)
        names = sorted(name for name in found if not name.startswith("_"))
        print("kernels:", ", ".join(names))

    ipython.register_magic_function(cuda, magic_kind="cell", magic_name="cuda")
