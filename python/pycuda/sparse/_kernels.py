"""Kernels for sparse matrices (``_device/sparse_*.cuh``), and the common code of their launches."""

from __future__ import annotations

import contextlib
import functools

import numpy as np

from pycuda import _device_code, _driver
from pycuda._driver import ArrayBase
from pycuda.driver import Context, device_attribute
from pycuda.gpuarray import GPUArray, empty
from pycuda.tools import context_dependent_memoize

TYPE_CHECKING = False  # type checkers take it as True; `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

INDEX = np.dtype(np.int32)
LARGEST = np.iinfo(INDEX).max


def is_serial() -> bool:
    """Whether a device's threads are the cores of a CPU, so that blocks of one thread are fast."""
    return _driver._array_threads_are_cores()


def cores() -> int:
    """The number of the device's multiprocessors, or of the CPU's cores."""
    return Context.get_device().get_attribute(device_attribute.MULTIPROCESSOR_COUNT)


@context_dependent_memoize
def _function(file: str, name: str, definitions: tuple) -> _driver.Function:
    return _device_code.load(file, **dict(definitions)).get_function(name)


def kernel(file: str, name: str, **definitions) -> _driver.Function:
    """The kernel ``name`` of ``_device/file.cuh`` for the current context."""
    return _function(file, name, tuple(definitions.items()))


def blocks(count: int, each: int) -> int:
    """The number of blocks of ``each`` that cover ``count``."""
    return -(-count // each)


def check_count(count: int) -> None:
    """Raises ValueError if int32 indices cannot count the elements."""
    if count > LARGEST:
        raise ValueError(
            f"the result would have {count} elements; int32 indices allow at most {LARGEST}"
        )


def for_each(function: _driver.Function, count: int, *args) -> None:
    """Launch one thread for each of ``count`` items, in blocks of 256."""
    if count:
        function(*args, block=(256, 1, 1), grid=(blocks(count, 256), 1))


def _array_in(argument) -> ArrayBase | None:
    """An array, that of a sparse matrix, or the first one in a list or tuple."""
    if isinstance(argument, ArrayBase):
        return argument
    if not isinstance(argument, (list, tuple)):
        return getattr(argument, "_anchor", None)
    for item in argument:
        if isinstance(item, (int, float, complex)):  # a row of numbers
            return None
        array = _array_in(item)
        if array is not None:
            return array
    return None


def on_own_device(function: Callable) -> Callable:
    """Wrap a function or a method: it runs in the context of the first array or matrix among its arguments."""

    @functools.wraps(function)
    def run(*args, **kwargs):
        for argument in (*args, *kwargs.values()):
            array = _array_in(argument)
            if array is None:
                continue
            context = _driver._array_context(array)
            if context is None:
                break
            with _driver._Work(context=context):
                return function(*args, **kwargs)
        return function(*args, **kwargs)

    return run


@contextlib.contextmanager
def kept_data() -> Iterator[None]:
    """Compute data that is stored in a structure: not in a capture, and done at the end, because other streams use it."""
    with _driver._OutsideCapture():
        yield
        _driver._wait_for_work()


def indices_of(array: ArrayBase) -> GPUArray:
    """Integers as contiguous int32; the array itself if it is contiguous int32."""
    if array.dtype == INDEX and array._c_contiguous:
        return array
    return array.astype(INDEX, copy=False).copy("C")


def new_indices(count: int) -> GPUArray:
    """An uninitialised array for ``count`` indices."""
    return empty(count, INDEX)
