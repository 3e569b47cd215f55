"""Making arrays on the device, and copies of host arrays there."""

from __future__ import annotations

import math

import numpy as np

from pycuda import _driver
from pycuda._driver import ArrayBase, _Using
from pycuda.arrays.own_device import on_own_device

TYPE_CHECKING = False  # type checkers take it as True; `typing` is slow to import
if TYPE_CHECKING:
    from pycuda.arrays.array_class.gpu_array import GPUArray


def splay(n: int, dev=None) -> tuple[tuple[int, int], tuple[int, int, int]]:
    """Grid and block that spread ``n`` elements over a device, as PyCUDA does."""
    from pycuda.driver import Context, device_attribute

    dev = Context.get_device() if dev is None else dev
    warp = dev.get_attribute(device_attribute.WARP_SIZE)
    most_blocks = 4 * 8 * dev.get_attribute(device_attribute.MULTIPROCESSOR_COUNT)
    if n < warp:
        return (1, 1), (warp, 1, 1)
    if n < most_blocks * warp:
        return (-(-n // warp), 1), (warp, 1, 1)
    if n < most_blocks * 128:
        warps = -(-n // (most_blocks * warp))
        return (most_blocks, 1), (warps * warp, 1, 1)
    return (most_blocks, 1), (128, 1, 1)


def empty(shape, dtype=np.float64, allocator=None, order: str = "C") -> GPUArray:
    """A new array whose elements are not set."""
    return _driver._array_empty(shape, dtype, allocator, order, None)


def full(shape, fill_value, dtype=None, allocator=None, order: str = "C", stream=None):
    """A new array with all elements ``fill_value``."""
    if dtype is None:
        dtype = np.asarray(fill_value).dtype
    with _Using(stream):
        return empty(shape, dtype, allocator, order).fill(fill_value)


def zeros(shape, dtype=np.float64, allocator=None, order: str = "C", stream=None):
    """A new array of zeros; of structs, of zero bytes."""
    with _Using(stream):
        ary = empty(shape, dtype, allocator, order)
        return ary.fill(np.zeros((), ary.dtype) if ary.dtype.kind == "V" else 0)


def ones(shape, dtype=np.float64, allocator=None, order: str = "C", stream=None):
    """A new array of ones."""
    with _Using(stream):
        return empty(shape, dtype, allocator, order).fill(1)


@on_own_device
def empty_as(other, order: str = "K", dtype=None, cls=None, shape=None) -> GPUArray:
    """An array like ``other``; "K" keeps the order of its axes in memory."""
    dtype = other.dtype if dtype is None else np.dtype(dtype)
    if order not in ("C", "F", "A", "K"):
        raise ValueError(f"order must be 'C', 'F', 'A' or 'K', not {order!r}")
    allocator = getattr(other, "_own_allocator", None)
    if shape is not None and tuple(np.atleast_1d(shape)) != other.shape:
        return _driver._array_empty(shape, dtype, allocator, "C", cls)
    c, f = other.flags.c_contiguous, other.flags.f_contiguous
    if order == "A":
        order = "F" if f and not c else "C"
    if order == "K" and not c:
        return _empty_in_memory_order(other, dtype, allocator, cls)
    return _driver._array_empty(
        other.shape, dtype, allocator, "F" if order == "F" else "C", cls
    )


def _empty_in_memory_order(other, dtype, allocator, cls):
    strides = np.abs(np.array(other.strides, np.int64))
    axes = np.argsort(-strides, kind="stable")
    flat = _driver._array_empty(math.prod(other.shape), dtype, allocator, "C", cls)
    steps, step = [0] * len(axes), dtype.itemsize
    for axis in reversed(axes):
        steps[axis] = step
        step *= _at_least_one(other.shape[axis])
    return _driver._array_view(flat, 0, other.shape, steps, None)


def _at_least_one(extent: int) -> int:
    return extent or 1


def empty_like(other_ary, dtype=None, order: str = "K") -> GPUArray:
    """An array of the same shape whose elements are not set."""
    return empty_as(other_ary, order, dtype, _class_of(other_ary))


def zeros_like(other_ary, dtype=None, order: str = "K") -> GPUArray:
    """An array of zeros of the same shape."""
    return empty_like(other_ary, dtype, order).fill(0)


def ones_like(other_ary, dtype=None, order: str = "K") -> GPUArray:
    """An array of ones of the same shape."""
    return empty_like(other_ary, dtype, order).fill(1)


def full_like(other_ary, fill_value, dtype=None, order: str = "K") -> GPUArray:
    """An array of the same shape with all elements ``fill_value``."""
    return empty_like(other_ary, dtype, order).fill(fill_value)


def _class_of(ary):
    return type(ary) if isinstance(ary, ArrayBase) else None


def eye(N: int, M: int | None = None, k: int = 0, dtype=np.float64, order: str = "C"):
    """A matrix of zeros with ones on the diagonal ``k``."""
    result = zeros((N, N if M is None else M), dtype, order=order)
    diagonal = result.diagonal(k)
    if diagonal.size:
        diagonal.fill(1)
    return result


def identity(n: int, dtype=np.float64):
    """A square matrix of zeros with ones on the diagonal."""
    return eye(n, dtype=dtype)
