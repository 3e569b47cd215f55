"""Making arrays on the device, and copies of host arrays there."""

from __future__ import annotations

import numpy as np

from pycuda import _driver
from pycuda._driver import ArrayBase, _Work
from pycuda.arrays.own_device import check_device, on_own_device
from pycuda.arrays.registry import public

TYPE_CHECKING = False  # type checkers take it as True; `typing` is slow to import
if TYPE_CHECKING:
    from pycuda.arrays.array_class.gpu_array import GPUArray


@public(numpy=False)
def splay(n: int, dev=None) -> tuple[tuple[int, int], tuple[int, int, int]]:
    """Choose a grid and a block that spread ``n`` elements over a device, as PyCUDA does.

    n: the number of elements.
    dev: the device, by default that of the current context.

    Returns (grid, block), tuples of two and three ints.

    >>> gpuarray.splay(10)
    ((1, 1), (32, 1, 1))
    """
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


@public(array_api=True, pycuda="shape dtype allocator order")
def empty(shape, dtype=np.float64, order: str = "C", *, device=None, allocator=None) -> GPUArray:  # fmt: skip
    """Make an array whose elements are not set.

    shape: the extents of the axes, a tuple or one int.
    dtype: the type of the elements, by default float64.
    order: "C" (the last axis is contiguous in memory) or "F" (the first axis is).
    device: None, or the current context's device, as "cuda:0".
    allocator: a function that returns memory for a number of bytes, by default the context's pool.

    Raises ValueError for a negative extent or another device, MemoryError where there is no memory.

    >>> gpuarray.empty((2, 3), np.float32).shape
    (2, 3)
    """
    if device is not None:
        check_device(device)
    if dtype is None:
        dtype = np.float64
    if order not in ("C", "F"):
        raise ValueError(f"order must be 'C' or 'F', not {order!r}")
    return _driver._array_empty(shape, dtype, allocator, order, None)


@public(array_api=True, pycuda="shape fill_value dtype allocator order stream")
def full(shape, fill_value, dtype=None, order: str = "C", *, device=None, allocator=None, stream=None) -> GPUArray:  # fmt: skip
    """Make an array with all elements equal to ``fill_value``.

    dtype: the type of the elements, by default NumPy's type for ``fill_value``.
    stream: the stream of the work, by default the current one.

    The other parameters and the errors are those of :func:`empty`.

    >>> gpuarray.full(3, 7)
    array([7, 7, 7])
    """
    if dtype is None:
        dtype = getattr(fill_value, "dtype", None) or np.asarray(fill_value).dtype
    if stream is not None:
        with _Work(stream):
            return full(shape, fill_value, dtype, order, device=device, allocator=allocator)  # fmt: skip
    result = empty(shape, dtype, order, device=device, allocator=allocator)
    return filled(result, _cast_value(fill_value, result.dtype))


def filled(array, value):
    """Set all elements of an array to a number or an array that is broadcast. Returns the array."""
    if type(value) in (int, float, bool) and array.dtype.kind != "V":
        _driver._array_assign(array, value)
    else:
        array._assign(value)
    return array


def _cast_value(value, dtype):
    """Cast a number as NumPy's full() does, which permits every cast: 1.5 becomes 1 for integers."""
    loses = isinstance(value, (float, complex)) and dtype.kind in "biu"
    if loses or isinstance(value, complex) and dtype.kind == "f":
        return np.asarray(value).astype(dtype)[()]
    return value


@public(array_api=True, pycuda="shape dtype allocator order stream")
def zeros(shape, dtype=np.float64, order: str = "C", *, device=None, allocator=None, stream=None) -> GPUArray:  # fmt: skip
    """Make an array of zeros; elements that are structs have zero bytes.

    Parameters and errors are those of :func:`empty`; ``stream`` is the stream of the work.

    >>> gpuarray.zeros((2, 2), np.int32)
    array([[0, 0],
           [0, 0]], dtype=int32)
    """
    if stream is not None:
        with _Work(stream):
            return zeros(shape, dtype, order, device=device, allocator=allocator)
    ary = empty(shape, dtype, order, device=device, allocator=allocator)
    return filled(ary, np.zeros((), ary.dtype) if ary.dtype.kind == "V" else 0)


@public(array_api=True, pycuda="shape dtype allocator order stream")
def ones(shape, dtype=np.float64, order: str = "C", *, device=None, allocator=None, stream=None) -> GPUArray:  # fmt: skip
    """Make an array of ones.

    Parameters and errors are those of :func:`empty`; ``stream`` is the stream of the work.

    >>> gpuarray.ones(3)
    array([1., 1., 1.])
    """
    if stream is not None:
        with _Work(stream):
            return ones(shape, dtype, order, device=device, allocator=allocator)
    return filled(empty(shape, dtype, order, device=device, allocator=allocator), 1)


@on_own_device
def empty_as(other, order: str = "K", dtype=None, cls=None, shape=None) -> GPUArray:
    """Make an array of the shape of ``other``; "K" keeps the order of the axes in memory."""
    if order not in ("C", "F", "A", "K"):
        raise ValueError(f"order must be 'C', 'F', 'A' or 'K', not {order!r}")
    if shape is not None and tuple(np.atleast_1d(shape)) != other.shape:
        dtype = other.dtype if dtype is None else np.dtype(dtype)
        allocator = getattr(other, "_own_allocator", None)
        return _driver._array_empty(shape, dtype, allocator, "C", cls)
    if isinstance(other, ArrayBase):
        return _driver._array_empty_as(other, order, dtype, cls)
    like = np.empty_like(other, dtype, order)  # no element is written
    flat = _driver._array_empty(like.size, like.dtype, None, "C", cls)
    return _driver._array_view(flat, 0, like.shape, like.strides, None)


@public(array_api=True, pycuda="other_ary=prototype dtype order")
def empty_like(prototype, dtype=None, order: str = "K", subok: bool = True, shape=None, *, device=None) -> GPUArray:  # fmt: skip
    """Make an array like another one, whose elements are not set.

    prototype: the array whose shape, dtype, class and allocator the result has.
    dtype, shape: the result's type and shape, if they are to differ.
    order: "K" keeps the order of the axes in memory. "C", "F" and "A" (as ``prototype``) are contiguous.
    subok: whether the result has the class of ``prototype`` if that is a subclass of GPUArray.
    device: None, or the device of ``prototype``.

    >>> x = gpuarray.zeros((2, 3), np.int16)
    >>> gpuarray.empty_like(x).dtype
    dtype('int16')
    """
    if device is not None:
        _check_device_of(prototype, device)
    if isinstance(prototype, ArrayBase) and subok and shape is None:
        # The usual call, which shall cost little. The order is checked below.
        if order == "K":
            return _driver._array_empty_as(prototype, order, dtype, type(prototype))
    elif not hasattr(prototype, "dtype"):
        prototype = np.asarray(prototype)
    cls = type(prototype) if subok and isinstance(prototype, ArrayBase) else None
    return empty_as(prototype, order, dtype, cls, shape)


def _check_device_of(array, device) -> None:
    """Raise ValueError if ``device`` is not the array's device."""
    if isinstance(array, ArrayBase):
        own = f"cuda:{_driver._array_device(array)}"
        if device != own:
            raise ValueError(
                f"device must be None or {own!r}, the array's, not {device!r}"
            )
    else:
        check_device(device)


@public(array_api=True, pycuda="other_ary=prototype dtype order")
def zeros_like(prototype, dtype=None, order: str = "K", subok: bool = True, shape=None, *, device=None) -> GPUArray:  # fmt: skip
    """Make an array of zeros like another one.

    All parameters are those of :func:`empty_like`; ``order`` "K" keeps the order of the axes in memory.

    The memory is set by the driver in the current stream, so that the call does not wait for the device.

    >>> gpuarray.zeros_like(gpuarray.array([1, 2]))
    array([0, 0])
    """
    return filled(empty_like(prototype, dtype, order, subok, shape, device=device), 0)


@public(array_api=True, pycuda="other_ary=prototype dtype order")
def ones_like(prototype, dtype=None, order: str = "K", subok: bool = True, shape=None, *, device=None) -> GPUArray:  # fmt: skip
    """Make an array of ones like another one.

    All parameters are those of :func:`empty_like`. A kernel in the current stream writes the ones.

    >>> gpuarray.ones_like(gpuarray.array([1.5, 2.5]))
    array([1., 1.])
    """
    return filled(empty_like(prototype, dtype, order, subok, shape, device=device), 1)


@public(array_api=True, pycuda="other_ary=a fill_value dtype order")
def full_like(a, fill_value, dtype=None, order: str = "K", subok: bool = True, shape=None, *, device=None) -> GPUArray:  # fmt: skip
    """Make an array like ``a`` with all elements equal to ``fill_value``, which is cast to the dtype.

    The other parameters are those of :func:`empty_like`.

    >>> gpuarray.full_like(gpuarray.array([1, 2]), 7)
    array([7, 7])
    """
    result = empty_like(a, dtype, order, subok, shape, device=device)
    return filled(result, _cast_value(fill_value, result.dtype))


@public(array_api=True)
def eye(N: int, M: int | None = None, k: int = 0, dtype=np.float64, order: str = "C", *, device=None) -> GPUArray:  # fmt: skip
    """Make a matrix with ones on a diagonal and zeros elsewhere.

    N, M: the number of rows and of columns; M is N by default.
    k: which diagonal: 0 is the main one, positive ones are above it.

    ``dtype``, ``order`` and ``device`` are those of :func:`empty`.

    >>> gpuarray.eye(2, 3, k=1)
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    result = zeros((N, N if M is None else M), dtype, order, device=device)
    diagonal = result.diagonal(k)
    if diagonal.size:
        diagonal.fill(1)
    return result


@public()
def identity(n: int, dtype=np.float64) -> GPUArray:
    """Make a square matrix of ``n`` rows with ones on the main diagonal and zeros elsewhere.

    n: the number of rows and of columns.
    dtype: the type of the elements.

    Raises ValueError for a negative ``n``. :func:`eye` also makes other diagonals and shapes.

    >>> gpuarray.identity(2)
    array([[1., 0.],
           [0., 1.]])
    """
    return eye(n, dtype=dtype)
