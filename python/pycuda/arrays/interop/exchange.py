"""Arrays shared with other libraries: DLPack, and the array API standard's attributes."""

from __future__ import annotations

import importlib

import numpy as np

from pycuda import _driver

_CPU, _CUDA = 1, 2


def dlpack_device(self) -> tuple[int, int]:
    """DLPack's (type, number) of the device: type 2 is CUDA, also where softcuda is the driver."""
    return _CUDA, _driver._array_device(self)


def dlpack(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    """A capsule with which another library sees the same memory.

    ``stream``: the borrower's, in which the array is then ready (a handle; 1 the default stream, 2
    the thread's own, -1 for no waiting). ``dl_device`` (1, 0) copies to the host. Raises BufferError
    for another device, for elements that DLPack does not know, where ``copy=False`` forbids a copy
    that is needed, and for a read-only array if ``max_version`` is below (1, 0).
    """
    own = dlpack_device(self)
    if dl_device is not None and tuple(dl_device) != own:
        if tuple(dl_device) != (_CPU, 0):
            raise BufferError(f"no copy to device {tuple(dl_device)} from {own}")
        if copy is False:
            raise BufferError("a transfer to the host needs a copy, but copy is False")
        return self.get().__dlpack__(max_version=max_version)
    versioned = max_version is not None and max_version[0] >= 1
    lent = self.copy() if copy else self
    return _driver._array_to_dlpack(lent, stream, versioned, bool(copy))


def array_namespace(self, *, api_version: str | None = None):
    """The module with the functions of the array API standard: pycuda.array_api."""
    if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
        raise ValueError(
            f"the array API standard {api_version!r} is not supported; expected 2024.12 or older"
        )
    return importlib.import_module("pycuda.array_api")


def device_of(self) -> str:
    """The device that the array is on: "cuda:0"."""
    return f"cuda:{_driver._array_device(self)}"


def device_number(device) -> int:
    """The number of a device: of ``1``, ``"cuda:1"`` or a :class:`pycuda.driver.Device`.

    Raises ValueError for anything else, and for a number that no device has.
    """
    number = device
    if isinstance(device, _driver.Device):
        number = device.handle
    elif isinstance(device, str) and device.startswith("cuda:"):
        number = int(device[5:]) if device[5:].isdecimal() else device
    count = _driver.Device.count()
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
        raise ValueError(
            'device must be a number, "cuda:0", "cpu" or a pycuda.driver.Device, '
            f"not {device!r}"
        )
    if not 0 <= number < count:
        raise ValueError(
            f"there is no device {int(number)}; there are {count}, numbered from 0"
        )
    return int(number)


def to_device(self, device, /, *, stream=None):
    """Return the array itself for its own device, a copy on another device, a NumPy array for "cpu".

    device: a number, "cuda:1", "cpu" or a :class:`pycuda.driver.Device`; ValueError for anything else.
    stream: a stream that is waited for first.

    A copy between devices uses peer access if the devices have it. The call waits for all work on the array's
    device, and the copy is done on return. The copy is C-contiguous, or Fortran-contiguous if the array is.

    >>> gpuarray.array([1, 2]).to_device("cpu")
    array([1, 2])
    """
    if isinstance(device, str) and device == "cpu":
        return self.get(stream=stream)
    number = device_number(device)
    if number == _driver._array_device(self):
        return self
    source = self
    if not (self._c_contiguous or self._f_contiguous):
        source = self.copy("C")
    here = _driver.Device(_driver._array_device(source)).retain_primary_context()
    there = _driver.Device(number).retain_primary_context()
    order = "C" if source._c_contiguous else "F"
    if stream is not None:
        stream.synchronize()
    here.synchronize()  # any stream of its device may have work with the array
    with _driver._Work(context=there):
        # In the stream of the copy's memory, which earlier work there may still use.
        result = _driver._array_empty(
            source.shape, source.dtype, None, order, type(source)
        )
        if source.size:
            _driver.memcpy_peer_async(result, source, source.nbytes, there, here)
            _driver._wait_for_work()
    return result


class ExchangeMethods:
    """Methods of GPUArray that share its memory with other libraries."""

    __slots__ = ()
    __dlpack__ = dlpack
    __dlpack_device__ = dlpack_device
    __array_namespace__ = array_namespace
    device = property(device_of)
    to_device = to_device
