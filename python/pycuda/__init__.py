"""CUDA from Python, on NVIDIA GPUs and, without one, on the CPU.

Start with :mod:`pycuda.autoinit`, :mod:`pycuda.driver` and :mod:`pycuda.compiler`.
"""

from pycuda._version import __version__ as __version__

VERSION = tuple(int(part) for part in __version__.split("."))
VERSION_STATUS = ""
VERSION_TEXT = __version__ + VERSION_STATUS


def __getattr__(name: str):
    # Arrays are loaded when they are used: `import pycuda` alone needs no driver.
    if name == "fuse":
        from pycuda.fusion import fuse

        return fuse
    raise AttributeError(f"module 'pycuda' has no attribute {name!r}")
