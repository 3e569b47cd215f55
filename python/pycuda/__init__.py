"""CUDA from Python, on NVIDIA GPUs and, without one, on the CPU.

Start with :mod:`pycuda.autoinit`, :mod:`pycuda.driver` and :mod:`pycuda.compiler`.
"""

VERSION = (2026, 11)
VERSION_STATUS = ""
VERSION_TEXT = ".".join(str(part) for part in VERSION) + VERSION_STATUS
__version__ = VERSION_TEXT
