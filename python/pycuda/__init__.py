"""CUDA from Python, on NVIDIA GPUs and, without one, on the CPU.

Start with :mod:`pycuda.autoinit`, :mod:`pycuda.driver` and :mod:`pycuda.compiler`.
"""

VERSION = (2026, 11)
VERSION_STATUS = ""
VERSION_TEXT = ".".join(str(part) for part in VERSION) + VERSION_STATUS
__version__ = VERSION_TEXT


def __getattr__(name: str):
    # Arrays are loaded when they are used: `import pycuda` alone needs no driver.
    if name == "fuse":
        from pycuda.fusion import fuse

        return fuse
    raise AttributeError(f"module 'pycuda' has no attribute {name!r}")
