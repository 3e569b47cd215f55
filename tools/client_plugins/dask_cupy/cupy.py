"""Replaces CuPy in Dask's tests: CuPy's names for our arrays and for NumPy's functions of them.

Tests of Dask that are written for CuPy import this module instead of CuPy. It adds only names to
pycuda.dask.
"""

from __future__ import annotations

import importlib

import numpy as np

from pycuda import linalg  # noqa: F401  (a name that CuPy has)
from pycuda.arrays import registry
from pycuda.gpuarray import GPUArray as ndarray  # noqa: F401

__version__ = "14.0.0"  # the newest version whose behaviour the tests require

_FUNCTIONS = registry.functions_like_numpy()


def asnumpy(array, **kwargs):
    """The array on the host."""
    return array.get(**kwargs)


class random:  # noqa: N801  (a module of CuPy)
    """CuPy's module of this name. Dask imports CuPy during its own import, so pycuda.dask is imported later."""

    @staticmethod
    def default_rng(seed=None):
        return importlib.import_module("pycuda.dask").default_rng(seed)

    RandomState = None  # the plugin sets it after Dask's import


def __getattr__(name: str):
    """NumPy's function on the device, or NumPy's other names: types, nan."""
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    value = getattr(np, name)
    if isinstance(value, np.ufunc) or not callable(value) or isinstance(value, type):
        return value
    raise AttributeError(f"there is no {name}() for arrays of the device")
