"""softcuda's devices, queried with the driver's functions."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from softcuda import library

# Numbers of CUdevice_attribute in cuda.h.
_MULTIPROCESSOR_COUNT = 16
_COMPUTE_CAPABILITY_MAJOR = 75
_COMPUTE_CAPABILITY_MINOR = 76


@dataclass(frozen=True)
class Device:
    """A device of softcuda.

    number: the ordinal. name: the device's name, with the processor's. compute_capability: (major, minor).
    multiprocessors: how many there are; a multiprocessor is a thread of the host. memory: size in bytes.
    """

    number: int
    name: str
    compute_capability: tuple[int, int]
    multiprocessors: int
    memory: int


class _Driver:
    """The functions of libsoftcuda.so that are needed here. A result other than 0 raises RuntimeError."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(library())
        self.call("cuInit", 0)

    def call(self, function: str, *arguments: object) -> None:
        result = getattr(self._library, function)(*arguments)
        if result != 0:
            text = ctypes.c_char_p()
            self._library.cuGetErrorName(result, ctypes.byref(text))
            name = text.value.decode() if text.value else str(result)
            raise RuntimeError(f"{function} of {library()} failed: {name}")

    def number(self, function: str, *arguments: object) -> int:
        value = ctypes.c_int()
        self.call(function, ctypes.byref(value), *arguments)
        return value.value

    def device(self, number: int) -> Device:
        name = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", name, len(name), number)
        memory = ctypes.c_size_t()
        self.call("cuDeviceTotalMem_v2", ctypes.byref(memory), number)
        major, minor, multiprocessors = (
            self.number("cuDeviceGetAttribute", attribute, number)
            for attribute in (
                _COMPUTE_CAPABILITY_MAJOR,
                _COMPUTE_CAPABILITY_MINOR,
                _MULTIPROCESSOR_COUNT,
            )
        )
        return Device(
            number,
            name.value.decode(),
            (major, minor),
            multiprocessors,
            memory.value,
        )


def devices() -> list[Device]:
    """The devices that a program finds with this process's environment.

    This initialises softcuda in this process: later changes of its settings have no effect here. Raises
    FileNotFoundError if there is no libsoftcuda.so, OSError if the library cannot be loaded, and
    RuntimeError if a setting is wrong.
    """
    driver = _Driver()
    return [
        driver.device(number) for number in range(driver.number("cuDeviceGetCount"))
    ]
