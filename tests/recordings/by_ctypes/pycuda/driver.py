"""The part of pycuda.driver that the recordings use, with ctypes alone.

For a processor for which the driver in software has been built, but not the Python module. PYCUDA_DRIVER is the
path of the driver. The primary context of the first device is current after the import.
"""

import ctypes
import os

import numpy as np

_library = ctypes.CDLL(os.environ["PYCUDA_DRIVER"])


class Error(RuntimeError):
    """A function of the driver has failed."""


def _call(function, *arguments):
    result = getattr(_library, function)(*arguments)
    if result != 0:
        raise Error(f"{function} failed with {result}")


class Device:
    def __init__(self, ordinal):
        self._handle = ctypes.c_int()
        _call("cuDeviceGet", ctypes.byref(self._handle), ordinal)

    def name(self):
        text = ctypes.create_string_buffer(256)
        _call("cuDeviceGetName", text, 256, self._handle)
        return text.value.decode()


class DeviceAllocation:
    """Device memory, freed with this object."""

    def __init__(self, size):
        self.size = size
        self.address = ctypes.c_uint64()
        _call("cuMemAlloc_v2", ctypes.byref(self.address), ctypes.c_size_t(size))

    def __del__(self):
        if self.address:
            _library.cuMemFree_v2(self.address)


class Function:
    """A kernel whose arguments are device memory and numbers of NumPy."""

    def __init__(self, module, name):
        self._module = module  # keeps it loaded
        self._handle = ctypes.c_void_p()
        _call(
            "cuModuleGetFunction",
            ctypes.byref(self._handle),
            module.handle,
            name.encode(),
        )

    def __call__(self, *arguments, block, grid):
        values = [
            argument.address
            if isinstance(argument, DeviceAllocation)
            else ctypes.create_string_buffer(argument.tobytes())
            for argument in arguments
        ]
        pointers = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        extents = [*grid, *(1,) * (3 - len(grid)), *block, *(1,) * (3 - len(block))]
        _call("cuLaunchKernel", self._handle, *extents, 0, None, pointers, None)
        _call("cuCtxSynchronize")


class Module:
    def __init__(self, image):
        self.handle = ctypes.c_void_p()
        _call("cuModuleLoadData", ctypes.byref(self.handle), image)

    def __del__(self):
        if self.handle:
            _library.cuModuleUnload(self.handle)

    def get_function(self, name):
        return Function(self, name)


def module_from_buffer(image):
    return Module(image)


def mem_alloc(size):
    return DeviceAllocation(size)


def memset_d32(memory, word, count):
    _call("cuMemsetD32_v2", memory.address, word, ctypes.c_size_t(count))


def to_device(array):
    array = np.ascontiguousarray(array)
    memory = mem_alloc(array.nbytes)
    pointer = ctypes.c_void_p(array.ctypes.data)
    _call("cuMemcpyHtoD_v2", memory.address, pointer, ctypes.c_size_t(array.nbytes))
    return memory


def memcpy_dtoh(array, memory):
    pointer = ctypes.c_void_p(array.ctypes.data)
    _call("cuMemcpyDtoH_v2", pointer, memory.address, ctypes.c_size_t(array.nbytes))


def from_device(memory, shape, dtype):
    array = np.empty(shape, dtype)
    memcpy_dtoh(array, memory)
    return array


def _make_context():
    device, context = ctypes.c_int(), ctypes.c_void_p()
    _call("cuInit", 0)
    _call("cuDeviceGet", ctypes.byref(device), 0)
    _call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    _call("cuCtxSetCurrent", context)


_make_context()
