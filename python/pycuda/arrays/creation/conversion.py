"""Conversion of numbers, lists, host arrays and other libraries' arrays to arrays of the device."""

from __future__ import annotations

import numpy as np

from pycuda import _driver
from pycuda._driver import ArrayBase
from pycuda.arrays.creation.filled import empty, empty_as, empty_like
from pycuda.arrays.own_device import check_device
from pycuda.arrays.registry import public
from pycuda.arrays.ufuncs.tracing import Traced

_CPU, _CUDA = 1, 2  # DLPack's numbers for memory of the host and of a device

TYPE_CHECKING = False  # type checkers take it as True; `typing` is slow to import
if TYPE_CHECKING:
    from pycuda.arrays.array_class.gpu_array import GPUArray


def check_equal(first, second, message: str, error: type[Exception] = ValueError):
    """Raise ``error`` with the message and both values if the values differ."""
    if first != second:
        raise error(f"{message}: {first} and {second}")


def as_operand(value):
    """Return arrays of the device and numbers unchanged. Copy other values to the device."""
    if isinstance(value, (_driver.ArrayBase, bool, int, float, complex, np.generic)):
        return value
    return as_array(value)


def as_array(value) -> GPUArray:
    """Return arrays of the device unchanged. Copy numbers, lists and NumPy arrays to the device. Other libraries'
    arrays of the device lend their memory.

    A list may hold arrays of the device: they are stacked, as numpy does with arrays of its own.
    """
    if isinstance(value, ArrayBase):
        return value
    if holds_arrays(value):
        return _stacked([as_array(part) for part in value])
    lent = from_foreign(value)
    return to_gpu(_host_array(value)) if lent is None else lent


def wide_integers(value):
    """A host array of objects if ``value`` is, or holds, Python ints only, of which some have more than 64 bits.

    None for anything else. No dtype of the device holds such ints, but a comparison with them has an answer.
    """
    if isinstance(value, ArrayBase) or holds_arrays(value):
        return None
    host = value if isinstance(value, np.ndarray) else np.asarray(value)
    return host if host.dtype == object and _only_integers(host) else None


def _only_integers(host) -> bool:
    return host.size > 0 and all(isinstance(one, int) for one in host.flat)


def fitting_integers(wide, dtype):
    """The ints of :func:`wide_integers` that a type which compares with ``dtype`` exactly has.

    Returns (a host array with zeros for the others, which ones fit).
    """
    kind = np.dtype(dtype).kind
    if kind in "biu":
        limits = np.iinfo(np.int64 if kind == "b" else dtype)
        fits = np.asarray((wide >= limits.min) & (wide <= limits.max), np.bool_)
        return np.where(fits, wide, 0).astype(limits.dtype), fits
    nearest = nearest_floats(wide)
    fits = np.asarray(nearest == wide, np.bool_)
    return np.where(fits, nearest, 0.0), fits


def nearest_floats(wide):
    """The float64 nearest to each of the ints of :func:`wide_integers`, the greatest float for those above all floats."""
    most = int(np.finfo(np.float64).max)
    return np.asarray(np.clip(wide, -most, most), np.float64)


def check_width(value, name: str) -> None:
    """Raise OverflowError if the integers of an argument, such as indices, are Python ints of more than 64 bits."""
    if wide_integers(value) is not None:
        raise OverflowError(f"{name} must be integers of at most 64 bits")


def _host_array(value):
    """The value as a host array. Raises TypeError for Python ints of more than 64 bits, for which NumPy has objects."""
    host = np.asarray(value)
    if host.dtype == object and _only_integers(host):
        widest = max(host.flat, key=abs)
        shown = widest if widest.bit_length() < 200 else "of many digits"
        raise TypeError(
            f"Python integer {shown} has more than 64 bits; an array on the device cannot hold it"
        )
    return host


_NOT_FOREIGN = (ArrayBase, np.ndarray, np.generic, list, tuple, int, float, complex)


def from_foreign(value):
    """An array that sees the memory of another library's array of the device; None for anything else."""
    if isinstance(value, _NOT_FOREIGN):
        return None
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        return from_dlpack(value) if value.__dlpack_device__()[0] != _CPU else None
    if getattr(value, "__cuda_array_interface__", None) is not None:
        return _driver._array_from_interface(value)
    return None


def as_source(value):
    """:func:`as_array`, which leaves values that are traced for ``fuse`` as they are."""
    return value if isinstance(value, Traced) else as_array(value)


def holds_arrays(value) -> bool:
    """Whether a list or tuple has arrays of the device in it, at any depth."""
    return isinstance(value, (list, tuple)) and any(
        isinstance(one, ArrayBase) or holds_arrays(one) for one in value
    )


def _stacked(parts: list):
    """Stack the parts as rows of one array of their common type."""
    shape = parts[0].shape
    if any(part.shape != shape for part in parts):
        raise ValueError(
            "arrays in a list must have the same shape, not "
            + " and ".join(sorted({str(part.shape) for part in parts}))
        )
    return _driver._join("stack", parts, 0, None, None, "same_kind", None)


def put_into(out, result, casting: str = "unsafe"):
    """Copy a result to ``out``, which has its shape, and return ``out``. Without ``out``, return the result."""
    if out is None:
        return result
    if not isinstance(out, ArrayBase):
        raise TypeError(
            f"out must be a GPUArray, not {type(out).__name__}; get() copies to the host"
        )
    if out.shape != result.shape:
        raise ValueError(f"out must have the shape {result.shape}, not {out.shape}")
    return _driver._array_apply("copy", result, out=out, casting=casting)


def put_back(out, result):
    """:func:`put_into` for functions whose ``out`` NumPy converts to the result's type first, and back at the end.

    Raises TypeError if the type of ``out`` cannot be cast to that of the result safely.
    """
    if isinstance(out, ArrayBase) and not np.can_cast(out.dtype, result.dtype):
        raise TypeError(
            f"out has {out.dtype}, which cannot be cast safely to {result.dtype} of the result"
        )
    return put_into(out, result)


@public(numpy=False)
def to_gpu(ary, allocator=None) -> GPUArray:
    """Copy an array of NumPy, or of the device, to the device. The call returns when the copy is done.

    ary: the array. The order of its axes in memory is kept; strides are made contiguous.
    allocator: a function that returns memory for a number of bytes, by default the context's pool.

    Raises TypeError for elements that have no type on the device, such as objects.

    >>> gpuarray.to_gpu(np.float32([1, 2, 3]))
    array([1., 2., 3.], dtype=float32)
    """
    if not isinstance(ary, (ArrayBase, np.ndarray)):
        lent = from_foreign(ary)
        ary = ary if lent is None else lent
    if isinstance(ary, ArrayBase):
        return _copy_of_device_array(ary, allocator, None)
    return _driver._array_to_gpu(ary, allocator, None, None)


def values_to_gpu(values: np.ndarray) -> GPUArray:
    """As :func:`to_gpu` for values that a kernel reads. A single number is a fill, for which nothing waits."""
    if values.ndim == 0 and values.dtype.kind in "biufc":
        number = empty((), values.dtype)
        _driver._array_assign(number, values.item())
        return number
    return to_gpu(values)


@public(numpy=False)
def to_gpu_async(ary, allocator=None, stream=None) -> GPUArray:
    """:func:`to_gpu` that returns before the copy is done. ``ary`` is kept alive until the copy is done.

    stream: the stream of the copy, by default the current one.

    >>> stream = cuda.Stream()
    >>> x = gpuarray.to_gpu_async(np.int32([1, 2]), stream=stream)
    >>> stream.synchronize()
    >>> x
    array([1, 2], dtype=int32)
    """
    if isinstance(ary, ArrayBase):
        return _copy_of_device_array(ary, allocator, stream)
    return _driver._array_to_gpu(ary, allocator, stream, None)


def _copy_of_device_array(ary: ArrayBase, allocator, stream) -> GPUArray:
    """Copy an array of the device to memory from ``allocator``."""
    with _driver._Work(stream):
        result = (
            empty_like(ary, subok=False)
            if allocator is None
            else empty(ary.shape, ary.dtype, allocator=allocator)
        )
        _driver._array_assign(result, ary)
    return result


@public()
def copy(a, order: str = "K", subok: bool = False) -> GPUArray:
    """Copy an array.

    order: "K" keeps the order of the axes in memory; "C", "F" and "A" (as ``a``) make it contiguous.
    subok: whether the copy has the class of ``a`` if that is a subclass of GPUArray.

    >>> x = gpuarray.array([1, 2])
    >>> y = gpuarray.copy(x)
    >>> y += 1
    >>> x
    array([1, 2])
    """
    return _copied(as_array(a), order, subok)


def _copied(array, order: str, subok: bool) -> GPUArray:
    result = empty_as(array, order, None, type(array) if subok else None)
    _driver._array_assign(result, array)
    return result


@public()
def astype(x, dtype, /, *, copy: bool = True, device=None) -> GPUArray:
    """Convert the elements of an array to ``dtype``.

    copy: False returns the array itself if it has the type already.
    device: None, or the current context's device.

    >>> gpuarray.astype(gpuarray.array([1.7, -1.7]), np.int32)
    array([ 1, -1], dtype=int32)
    """
    check_device(device)
    return as_source(x).astype(dtype, copy=copy)


@public()
def array(object, dtype=None, *, copy=True, order: str = "K", subok: bool = False, ndmin: int = 0) -> GPUArray:  # fmt: skip
    """Make an array of numbers, nested lists, a host array, or an array of the device.

    dtype: the type of the elements, by default that of ``object``.
    copy: True always copies. None copies if necessary. False raises ValueError if a copy is necessary.
    order: the order of the axes in memory: "C", "F", or "K" and "A", which keep that of ``object``.
    subok: whether a copy of an array of a subclass of GPUArray has that class.
    ndmin: the least number of axes; new ones of extent 1 are put in front.

    >>> gpuarray.array([[1, 2], [3, 4]], np.float32)
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    lent = None if isinstance(object, ArrayBase) else from_foreign(object)
    object = object if lent is None else lent
    on_host = not hasattr(object, "dtype") and not holds_arrays(object)
    if dtype is not None and on_host:
        # Convert numbers directly to this type. A type in between would round large numbers.
        object = np.asarray(object, dtype)
    result = as_array(object)
    if copy is False and result is not object:
        raise ValueError("host data needs a copy, but copy is False")
    fits = dtype is None or np.dtype(dtype) == result.dtype
    if not fits:
        if copy is False:
            raise ValueError("another dtype needs a copy, but copy is False")
        result = result.astype(dtype)
    if (order == "C" and not result._c_contiguous) or (
        order == "F" and not result._f_contiguous
    ):
        if copy is False:
            raise ValueError("another order needs a copy, but copy is False")
        result = _copied(result, order, subok)
    elif copy and result is object:
        result = _copied(result, order, subok)
    if result.ndim < ndmin:
        result = result._reshape((1,) * (ndmin - result.ndim) + result.shape)
    return result


@public(array_api=True, aliases="asanyarray")
def asarray(a, dtype=None, order=None, *, device=None, copy=None) -> GPUArray:
    """Return an array of the device unchanged if it has the wanted dtype and order, else a copy.

    a: numbers, nested lists, a host array, an array of the device, or an object with ``__dlpack__`` or
        ``__cuda_array_interface__``, whose memory the result sees.
    dtype, order: as of :func:`array`; None keeps those of ``a``.
    device: None, or the current context's device.
    copy: True always copies, False raises ValueError if a copy is necessary.

    >>> x = gpuarray.array([1, 2])
    >>> gpuarray.asarray(x) is x
    True
    """
    check_device(device)
    if hasattr(a, "__dlpack__") and not isinstance(a, (ArrayBase, np.ndarray)):
        a = from_dlpack(a)
    return array(a, dtype, copy=copy, order=order or "K")


@public()
def ascontiguousarray(a, dtype=None) -> GPUArray:
    """Return an array in C order, copied if ``a`` is not one; with at least one axis.

    a: an array, or anything that numpy.asarray takes.
    dtype: the type of the result, by default that of ``a``.

    Returns ``a`` itself if nothing has to change. Raises TypeError for elements that no kernel knows, such as objects.

    >>> x = gpuarray.array([[1, 2], [3, 4]])
    >>> gpuarray.ascontiguousarray(x.T).flags.c_contiguous
    True
    """
    if dtype is None and isinstance(a, ArrayBase) and a._c_contiguous and a.ndim:
        return a
    return array(a, dtype, copy=None, order="C", ndmin=1)


@public()
def asfortranarray(a, dtype=None) -> GPUArray:
    """Return an array in Fortran order, copied if ``a`` is not one; with at least one axis.

    a: an array, or anything that numpy.asarray takes.
    dtype: the type of the result, by default that of ``a``.

    In Fortran order the first index runs fastest. Returns ``a`` itself if nothing has to change.

    >>> gpuarray.asfortranarray(gpuarray.array([[1, 2], [3, 4]])).flags.f_contiguous
    True
    """
    if dtype is None and isinstance(a, ArrayBase) and a._f_contiguous and a.ndim:
        return a
    return array(a, dtype, copy=None, order="F", ndmin=1)


@public(numpy=False, array_api=True)
def from_dlpack(x, /, *, device=None, copy=None):
    """Make an array that sees the memory of another library's array; of a host array, a copy.

    x: any object with ``__dlpack__``, such as a torch tensor.
    device: None, or the device of the result: that of ``x``, for a host array the current context's.
    copy: True always copies; False raises ValueError if a copy is necessary.

    Memory of a device that is not current belongs to the primary context of its device. Raises BufferError for memory
    of another kind of device.

    >>> gpuarray.from_dlpack(np.arange(3.0))
    array([0., 1., 2.])
    """
    kind, number = x.__dlpack_device__()
    if kind == _CPU:
        check_device(device)
        if copy is False:
            raise ValueError("a host array needs a copy, but copy is False")
        return to_gpu(np.from_dlpack(x))
    with _driver._Work(context=_context_of_device(kind, number)):
        check_device(device)
        stream = _driver._stream_number() or 1
        try:
            capsule = x.__dlpack__(stream=stream, max_version=(1, 1))
        except TypeError:  # made before DLPack 1.0
            capsule = x.__dlpack__(stream=stream)
        result = _driver._array_from_dlpack(capsule)
        return result.copy() if copy else result


def _context_of_device(kind: int, number: int):
    """The primary context of DLPack's device; None if the current context is on it, or there is no such device."""
    current = _driver.Context.get_device().handle
    if kind != _CUDA or number == current or number >= _driver.Device.count():
        return None
    return _driver.Device(number).retain_primary_context()
