"""CUDA from Python, on NVIDIA GPUs and, without one, on the CPU.

Start with :mod:`pycuda.autoinit`, :mod:`pycuda.driver` and :mod:`pycuda.compiler`.
"""

import importlib
import os

from pycuda._version import __version__ as __version__

TYPE_CHECKING = False  # type checkers take it as True; `typing` is slow to import
if TYPE_CHECKING:
    from pycuda.check import check as check
    from pycuda.profile import profile as profile
    from pycuda.tune import tune as tune

# Modules of PyCUDA that only older programs import: pycuda.compyte, pycuda._cluda, pycuda._mymako,
# pycuda._pvt_struct. The import system finds them in this folder, too.
__path__.append(os.path.join(os.path.dirname(__file__), "_compat"))

VERSION = tuple(int(part) for part in __version__.split("."))
VERSION_STATUS = ""
VERSION_TEXT = __version__ + VERSION_STATUS

if "PYCUDA_PROFILE_SOURCES" in os.environ:
    # `python -m pycuda profile` runs this program, which may use arrays alone.
    importlib.import_module("pycuda._profile_sources")


def __getattr__(name: str):
    # Loaded at their first use, because `import pycuda` alone must not need a driver.
    if name == "fuse":
        from pycuda.fusion import fuse

        return fuse
    if name in ("check", "profile", "tune"):
        return importlib.import_module(f"pycuda.{name}")
    raise AttributeError(
        f"module 'pycuda' has no attribute {name!r}; functions of arrays are in "
        "pycuda.gpuarray, those of devices in pycuda.driver"
    )
