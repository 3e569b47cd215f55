"""The array API standard (2024.12) for device arrays: ``x.__array_namespace__()``.

This module has the standard's names and signatures, for programs that are written against the standard
(scikit-learn, SciPy and others). docs/array_api.md lists the tests and the missing functions.
"""

from __future__ import annotations

import math

import numpy as np

from pycuda import fft as fft
from pycuda import linalg as linalg
from pycuda.arrays import registry as _registry
from pycuda.arrays.own_device import check_device as _check_device
from pycuda.arrays.own_device import current_device as _current_device
from pycuda.arrays.protocols.array_api_functions import FloatLimits as FloatLimits
from pycuda.arrays.protocols.array_api_functions import IntegerLimits as IntegerLimits
from pycuda.arrays.ufuncs.universal_functions import (
    UniversalFunction as _UniversalFunction,
)

__array_api_version__ = "2024.12"

# Constants and types.

e, pi, inf, nan, newaxis = math.e, math.pi, math.inf, math.nan, None
bool = np.dtype("bool")
int8, int16, int32, int64 = (np.dtype(f"int{bits}") for bits in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64))
float32, float64 = np.dtype("float32"), np.dtype("float64")
complex64, complex128 = np.dtype("complex64"), np.dtype("complex128")
isdtype = np.isdtype

# The functions. array_api.pyi, which is generated from the same registry, lists them for readers
# and type checkers.
_FUNCTIONS = _registry.array_api_functions()
ELEMENTWISE: list[str] = [
    name for name, one in _FUNCTIONS.items() if isinstance(one, _UniversalFunction)
]
globals().update(_FUNCTIONS)

# Information about the namespace.


class _Info:
    """The result of ``__array_namespace_info__()``."""

    def capabilities(self) -> dict:
        """Whether there are data-dependent operations, and the maximum number of axes."""
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": 32,
        }

    def default_device(self) -> str:
        """The device of the current context."""
        return _current_device()

    def devices(self) -> list[str]:
        """The devices on which arrays can be created now: that of the current context."""
        return [_current_device()]

    def default_dtypes(self, *, device=None) -> dict:
        """The types of new arrays."""
        _check_device(device)
        return {
            "real floating": float64,
            "complex floating": complex128,
            "integral": int64,
            "indexing": int64,
        }

    def dtypes(self, *, device=None, kind=None) -> dict:
        """The types by name, all or those of one kind."""
        _check_device(device)
        names = [bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64]
        names += [float32, float64, complex64, complex128]
        return {
            dtype.name: dtype
            for dtype in names
            if kind is None or np.isdtype(dtype, kind)
        }


def __array_namespace_info__():
    """Queries about the namespace, its types and devices."""
    return _Info()
