"""Numbers, lists, host arrays and arrays of the device as arrays of the device."""

from __future__ import annotations

import numpy as np

from pycuda import _driver
from pycuda._driver import ArrayBase
from pycuda.arrays.creation.filled import empty

TYPE_CHECKING = False  # type checkers take it as True; `typing` is slow to import
if TYPE_CHECKING:
    from pycuda.arrays.array_class.gpu_array import GPUArray


def as_operand(value):
    """Arrays on the device and numbers as they are; what lives on the host is copied."""
    if isinstance(value, (_driver.ArrayBase, bool, int, float, complex, np.generic)):
        return value
    return as_array(value)


def copy(a, order: str = "K", subok: bool = False):
    """A new array with the same elements."""
    return as_array(a).copy(order)


def astype(x, dtype, /, *, copy: bool = True, device=None):
    """The elements converted to ``dtype``."""
    return x.astype(dtype, copy=copy)


def to_gpu(ary, allocator=None) -> GPUArray:
    """A copy of the numpy array ``ary`` on the device; the order of its axes is kept."""
    return _driver._array_to_gpu(ary, allocator, None, None)


def to_gpu_async(ary, allocator=None, stream=None) -> GPUArray:
    """:func:`to_gpu` that returns before the copy is done; ``ary`` is kept alive until then."""
    return _driver._array_to_gpu(ary, allocator, stream, None)


def as_array(value) -> GPUArray:
    """Arrays on the device as they are; numbers, lists and numpy arrays are copied there.

    A list may hold arrays of the device: they are stacked, as numpy does with arrays of its own.
    """
    if isinstance(value, ArrayBase):
        return value
    if holds_arrays(value):
        return _stacked([as_array(part) for part in value])
    return to_gpu(np.asarray(value))


def holds_arrays(value) -> bool:
    """Whether a list or tuple has arrays of the device in it, at any depth."""
    return isinstance(value, (list, tuple)) and any(
        isinstance(one, ArrayBase) or holds_arrays(one) for one in value
    )


def _stacked(parts: list):
    """The parts as rows of one array, of the type that holds all of them."""
    shape = parts[0].shape
    if any(part.shape != shape for part in parts):
        raise ValueError(
            "arrays in a list must have one shape, not "
            + " and ".join(sorted({str(part.shape) for part in parts}))
        )
    result = empty((len(parts), *shape), np.result_type(*(p.dtype for p in parts)))
    for place, part in enumerate(parts):
        _driver._array_assign(result[place], part)
    return result
