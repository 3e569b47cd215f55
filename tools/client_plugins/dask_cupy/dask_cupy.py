"""A pytest plugin: Dask treats our arrays as CuPy's, so that its tests of CuPy run with them."""

import sys

import cupy
import dask.array.backends
import dask.utils
from dask.array.backends import array_creation_dispatch

import pycuda.dask
from pycuda.gpuarray import GPUArray


def is_cupy_type(x) -> bool:
    """The check that Dask's test helpers make before they copy to the host."""
    return isinstance(x, GPUArray) or x is GPUArray


# An installed CuPy has this package as well. It needs CuPy itself, in whose place is cupy.py.
sys.modules["cupyx"] = None

for _module in ("creation", "routines", "utils"):
    _imported = __import__(f"dask.array.{_module}", fromlist=["is_cupy_type"])
    _imported.is_cupy_type = is_cupy_type
dask.utils.is_cupy_type = is_cupy_type
# pycuda.dask has already registered what Dask registers for CuPy.
dask.array.backends.register_cupy = pycuda.dask._dispatch.register
cupy.random.RandomState = pycuda.dask.RandomState
array_creation_dispatch.register_backend("cupy", pycuda.dask.PyCUDABackendEntrypoint())


def pytest_configure(config):
    config.addinivalue_line("markers", "gpu: needs a device")
    config.addinivalue_line("markers", "flaky: run again where it fails")
