"""softcuda's cuBLAS and so on for tests: calls by ctypes, on arrays of pycuda."""

import ctypes
import os

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda.driver as cuda
from pycuda import gpuarray

LETTERS = {"S": np.float32, "D": np.float64, "C": np.complex64, "Z": np.complex128}


def load(name):
    """The library `name`, such as "libcublas.so.13". Skips the test on a GPU."""
    if not is_softcuda():
        pytest.skip("NVIDIA's libraries are used on a GPU")
    folder = pytest.importorskip("softcuda_libraries").FOLDER
    return ctypes.CDLL(os.path.join(folder, name))


def pointer(value):
    """An argument that is an address: of an array on the device or on the host, of a C object, or null."""
    if value is None:
        return ctypes.c_void_p()
    if isinstance(value, gpuarray.GPUArray):
        return ctypes.c_void_p(int(value.gpudata) if value.size else None)
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.byref(value)


def argument(value):
    """An argument of a C function. Integers are passed as 64 bits, of which a function may use 32."""
    if isinstance(value, int):
        return ctypes.c_longlong(value)
    if isinstance(value, ctypes.c_void_p | ctypes.c_float | ctypes.c_double):
        return value
    return pointer(value)


class Handle:
    """A library's handle: its functions take it as their first argument, and must succeed."""

    def __init__(self, library, prefix, create, destroy):
        self.library, self.prefix, self.destroy = library, prefix, destroy
        self.handle = ctypes.c_void_p()
        assert getattr(library, create)(ctypes.byref(self.handle)) == 0

    def status(self, name, *arguments):
        function = getattr(self.library, self.prefix + name)
        return function(self.handle, *map(argument, arguments))

    def __getattr__(self, name):
        def call(*arguments):
            status = self.status(name, *arguments)
            assert status == 0, f"{self.prefix}{name} returned {status}"

        return call

    def close(self):
        assert getattr(self.library, self.destroy)(self.handle) == 0


def on_device(array):
    """A copy on the device, in the columns' order of BLAS."""
    return gpuarray.to_gpu(np.asfortranarray(array).ravel(order="K"))


def columns(array, rows, count):
    """The host's copy of a matrix in the columns' order."""
    return array.get().reshape(count, rows).T


def random(rng, shape, dtype):
    values = rng.standard_normal(shape)
    if np.issubdtype(dtype, np.complexfloating):
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype)


def addresses(arrays):
    """The device's array of the arrays' addresses."""
    return gpuarray.to_gpu(np.array([int(a.gpudata) for a in arrays], np.uint64))


def capture(stream, calls):
    """The graph of the calls on the stream."""
    with cuda.capture(stream) as recording:
        calls()
    return recording.graph


def synchronize():
    cuda.Context.synchronize()
