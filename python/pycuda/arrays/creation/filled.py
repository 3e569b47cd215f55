"""Making arrays on the device, and copies of host arrays there."""

from __future__ import annotations

import math
import warnings

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


def arange_of(count: int, dtype=np.int64) -> GPUArray:
    """0, 1, 2 ... ``count`` - 1."""
    return _fill_range(empty(count, np.dtype(dtype)), 0, 1)


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


def arange(
    *args, start=None, stop=None, step=None, dtype=None, stream=None, allocator=None
):
    """``arange([start,] stop[, step][, dtype])``: evenly spaced numbers.

    Without ``dtype`` the type is numpy's for the numbers given; PyCUDA made float32 of them once,
    so another type is announced with a warning.
    """
    args = list(args)
    if args and isinstance(args[-1], (np.dtype, type)):
        if dtype is not None:
            raise TypeError("arange() got dtype twice")
        dtype = args.pop()
    if len(args) > 3:
        raise ValueError("too many arguments")
    names = ("stop",) if len(args) == 1 else ("start", "stop", "step")
    given = {"start": start, "stop": stop, "step": step}
    for name, value in zip(names, args, strict=False):
        if given[name] is not None:
            raise TypeError(f"arange() got {name} twice")
        given[name] = value
    start, stop, step = given["start"], given["stop"], given["step"]
    if stop is None:
        raise ValueError("stop argument not specified")
    start = 0 if start is None else start
    step = 1 if step is None else step
    if dtype is None:
        dtype = np.result_type(*(np.asarray(x).dtype for x in (start, stop, step)))
        if dtype != np.float32:
            warnings.warn(
                "behavior change: arange guessed dtype other than float32. "
                "suggest specifying explicit dtype.",
                stacklevel=2,
            )
    dtype = np.dtype(dtype)
    count = _builtin_max(0, math.ceil((stop - start) / step))
    with _Using(stream):
        return _fill_range(empty(count, dtype, allocator), start, step)


_builtin_max = max


def _fill_range(result, start, step):
    compute = result.dtype if result.dtype.kind != "b" else np.dtype(np.int64)
    return _driver._array_apply(
        "arange", compute.type(start), compute.type(step),
        out=result, dtype=compute, casting="unsafe",
    )  # fmt: skip


def linspace(start, stop, num: int = 50, endpoint: bool = True, dtype=None):
    """``num`` numbers from ``start`` to ``stop``, evenly spaced."""
    parts = num - 1 if endpoint else num
    step = (stop - start) / parts if parts > 0 else float("nan")
    kind = np.complex128 if isinstance(start + stop + 0.0, complex) else np.float64
    result = _fill_range(empty(num, kind), start, step if num > 1 else 0)
    if endpoint and num > 1:
        result[-1] = stop
    if dtype is not None and np.dtype(dtype).kind in "iu":
        result = _driver._array_apply("floor", result)
    return result if dtype is None else result.astype(dtype, copy=False)


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
