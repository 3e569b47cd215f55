"""The CUDA driver API: devices, contexts, memory, kernels.

>>> import pycuda.autoinit
>>> import pycuda.driver as cuda
>>> a_gpu = cuda.mem_alloc(1024)
>>> cuda.memset_d8(a_gpu, 7, 1024)
>>> cuda.from_device(a_gpu, 3, numpy.uint8)
array([7, 7, 7], dtype=uint8)
"""

from __future__ import annotations

import functools

from pycuda import _driver
from pycuda._driver import *  # noqa: F403  (every name of _driver is a name of pycuda.driver)
from pycuda._driver import (
    AlignedHostAllocation,
    Error,
    LogicError,
    ManagedAllocation,
    PagelockedHostAllocation,
    RegisteredHostMemory,
    _PageLockedMemoryPool,
    mem_alloc,
    memcpy_dtoh,
    memcpy_htod,
)

TYPE_CHECKING = False  # type checkers take it as True; `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ParamSpec

    import numpy as np
    from numpy.typing import ArrayLike, DTypeLike

    Shape = int | tuple[int, ...]
    _P = ParamSpec("_P")

CUDA_DEBUGGING = False

_ARRAY_FUNCTIONS = {
    "bind_array_to_texref",
    "dtype_to_array_format",
    "gpuarray_to_array",
    "make_multichannel_2d_array",
    "matrix_to_array",
    "matrix_to_texref",
    "np_to_array",
}


def __getattr__(name: str) -> object:
    # These need numpy, whose import is slow, and which not every program uses.
    if name == "np":  # an attribute of PyCUDA's module, too
        import numpy

        return numpy
    if name in _ARRAY_FUNCTIONS:
        from pycuda import _cuda_arrays

        return getattr(_cuda_arrays, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def get_curand_version() -> tuple[int, int, int]:
    """Return the version of cuRAND whose sequences :mod:`pycuda.curandom` implements; cuRAND is not used.

    >>> len(cuda.get_curand_version())
    3
    """
    return (10, 4, 0)


def set_debugging(flag: bool = True) -> None:
    """Compile kernels for debugging from now on, or stop doing so.

    flag: True compiles with ``-g -G``, without a cache, and keeps the compiler's files.

    >>> cuda.set_debugging()
    >>> cuda.set_debugging(False)
    """
    global CUDA_DEBUGGING
    CUDA_DEBUGGING = flag


class CompileError(Error):
    """Raised when the compiler or the linker refuses a source.

    msg: a summary. command_line: the compiler and its options, a list. stdout, stderr: the compiler's texts; ``stderr`` has
    its messages with line numbers. ``str()`` of the error has all of these. kept_in: the folder of the compiler's files,
    empty without ``keep``.

    >>> try:
    ...     compiler.SourceModule("__global__ void f() { undefined(); }")
    ... except cuda.CompileError as error:
    ...     print("undefined" in error.stderr)
    True
    """

    def __init__(
        self,
        msg: str,
        command_line: list[str],
        stdout: str | None = None,
        stderr: str | None = None,
    ) -> None:
        super().__init__(msg)
        self.msg = msg
        self.command_line = command_line
        self.stdout = stdout
        self.stderr = stderr
        self.kept_in = ""

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions are copied and pickled with their arguments.
        made_of = (self.msg, self.command_line, self.stdout, self.stderr)
        return type(self), made_of, {"kept_in": self.kept_in}

    def __str__(self) -> str:
        text = self.msg
        if self.command_line:
            text += f"\n[command: {' '.join(self.command_line)}]"
        if self.stdout:
            text += f"\n[stdout:\n{self.stdout}]"
        if self.stderr:
            text += f"\n[stderr:\n{self.stderr}]"
        return text


class capture:  # noqa: N801  (used as a function)
    """Record the work that is put into a stream, without running it: ``with capture(stream) as recording:``.

    Afterwards ``recording.graph`` is the :class:`Graph`; its ``instantiate()`` can be launched.

    >>> stream, x = cuda.Stream(), gpuarray.zeros(2)
    >>> with cuda.capture(stream) as recording:
    ...     cuda.memset_d8_async(x.gpudata, 255, x.nbytes, stream)
    >>> recording.graph.instantiate().launch(stream)
    >>> stream.synchronize()
    >>> np.isnan(x)
    array([ True,  True])
    """

    def __init__(self, stream: _driver.Stream, mode: int | None = None) -> None:
        self.stream = stream
        self.mode = _driver.capture_mode.THREAD_LOCAL if mode is None else mode
        self.graph: _driver.Graph | None = None

    def __enter__(self) -> capture:
        _driver.begin_capture(self.stream, self.mode)
        return self

    def __exit__(self, *failure: object) -> None:
        try:
            self.graph = _driver.end_capture(self.stream)
        except Error:
            if failure[0] is None:  # else the failure inside the block is raised
                raise


# Argument handlers: host arrays as arguments of a kernel.


class ArgumentHandler:
    """A kernel argument that has to be prepared before the launch or read after it.

    Methods ``pre_call(stream)`` and ``post_call(stream)`` of a subclass are called before and after the launch.
    """

    def __init__(self, array: ArrayLike) -> None:
        self.array = array
        self.dev_alloc = None
        flags = getattr(array, "flags", None)
        if getattr(flags, "fnc", False):
            _warn_of_fortran_order(type(self).__name__, array)

    def get_device_alloc(self) -> _driver.DeviceAllocation:
        """Return the device memory that replaces the array in the launch: a DeviceAllocation of the same size.

        The first call allocates the memory, later calls return the same memory.
        """
        if self.dev_alloc is None:
            self.dev_alloc = mem_alloc_like(self.array)
        return self.dev_alloc

    def pre_call(self, stream: _driver.Stream | None) -> None:
        """Prepare the device memory before the launch. This base class does nothing.

        stream: the Stream of the launch, or None.
        """


def _warn_of_fortran_order(handler: str, array: np.ndarray) -> None:
    import warnings

    shape, name = array.shape, f"{handler}()"
    warnings.warn(
        f"the array of {name} is in Fortran order, as a transposed array is: a kernel finds its {shape[-1]} columns "
        f"one after the other in memory, not its {shape[0]} rows; numpy.ascontiguousarray() makes an array of rows",
        stacklevel=3,
    )


class In(ArgumentHandler):
    """A host array that a kernel reads. It is copied to the device before the launch.

    >>> module = compiler.SourceModule("__global__ void f(int *y, int *x) { *y = *x + 1; }")
    >>> y = np.zeros(1, np.int32)
    >>> module.get_function("f")(cuda.Out(y), cuda.In(np.int32([4])), block=(1, 1, 1))
    >>> y
    array([5], dtype=int32)
    """

    def pre_call(self, stream: _driver.Stream | None) -> None:
        """Copy the array to its device memory.

        stream: the Stream of the launch. The call waits for the copy.
        """
        memcpy_htod(self.get_device_alloc(), self.array)


class Out(ArgumentHandler):
    """A host array that a kernel writes. It is copied from the device after the launch; the call waits for that.

    For an example see :class:`In`.
    """

    def post_call(self, stream: _driver.Stream | None) -> None:
        """Copy the device memory to the array.

        stream: the Stream of the launch, which is synchronized first; None for the default stream.
        """
        if stream is not None:
            stream.synchronize()
        memcpy_dtoh(self.array, self.get_device_alloc())


class InOut(In, Out):
    """A host array that a kernel reads and writes.

    The array is copied to the device before the kernel runs, and back afterwards. The call waits for the result.

    >>> module = compiler.SourceModule("__global__ void f(int *x) { *x += 1; }")
    >>> x = np.int32([4])
    >>> module.get_function("f")(cuda.InOut(x), block=(1, 1, 1))
    >>> x
    array([5], dtype=int32)
    """


_driver._register_handler(In, 1)
_driver._register_handler(Out, 2)
_driver._register_handler(InOut, 3)


# Device memory.


def mem_alloc_like(ary: ArrayLike) -> _driver.DeviceAllocation:
    """Allocate device memory of as many bytes as ``ary`` has. Returns a :class:`DeviceAllocation`.

    >>> cuda.mem_alloc_like(np.zeros(4)).size
    32
    """
    try:
        nbytes = ary.nbytes
    except AttributeError:
        raise TypeError(
            f"could not determine array length of {type(ary).__name__!r}: it has no nbytes"
        ) from None
    return mem_alloc(nbytes)


def to_device(bf_obj: ArrayLike) -> _driver.DeviceAllocation:
    """Copy a host array, or any object with the buffer protocol, to the device. Returns a :class:`DeviceAllocation`.

    The elements are in C order on the device, for any strides of ``bf_obj``.

    >>> memory = cuda.to_device(np.int32([1, 2]))
    >>> cuda.from_device(memory, 2, np.int32)
    array([1, 2], dtype=int32)
    """
    view = memoryview(bf_obj)
    allocation = mem_alloc(view.nbytes)
    memcpy_htod(allocation, bf_obj if view.c_contiguous else view.tobytes())
    return allocation


def from_device(
    devptr: object, shape: Shape, dtype: DTypeLike, order: str = "C"
) -> np.ndarray:
    """Copy memory of the device to a new host array.

    devptr: the address, or an object that has one. shape, dtype, order: those of the host array.

    >>> cuda.from_device(cuda.to_device(np.int32([1, 2])), (2,), np.int32)
    array([1, 2], dtype=int32)
    """
    import numpy as np

    result = np.empty(shape, dtype, order)
    memcpy_dtoh(result, devptr)
    return result


def from_device_like(devptr: object, other_ary: np.ndarray) -> np.ndarray:
    """Copy memory of the device to a new host array with the shape, dtype and order of ``other_ary``.

    >>> cuda.from_device_like(cuda.to_device(np.int32([1, 2])), np.zeros(2, np.int32))
    array([1, 2], dtype=int32)
    """
    import numpy as np

    result = np.empty_like(other_ary)
    memcpy_dtoh(result, devptr)
    return result


# Host memory that is accessible to the device.


def _extents(shape: Shape) -> tuple[int, ...]:
    import operator

    try:
        extents = (operator.index(shape),)
    except TypeError:
        try:
            extents = tuple(map(operator.index, shape))
        except TypeError:
            raise TypeError(
                f"a shape must be an int or a tuple of ints, not {shape!r}"
            ) from None
    if min(extents, default=0) < 0:
        raise ValueError(f"negative dimensions are not allowed: the shape is {shape}")
    return extents


def _array_in(make_memory, shape: Shape, dtype: DTypeLike, order: str) -> np.ndarray:
    """An array in the memory that ``make_memory(nbytes)`` returns; the memory is the array's base."""
    import math

    import numpy as np

    if order not in ("C", "F"):
        raise LogicError(f"unrecognized order specifier {order!r}: use 'C' or 'F'")
    dtype = np.dtype(dtype)
    if dtype.hasobject:
        raise TypeError(f"device memory cannot hold Python objects ({dtype})")
    extents = _extents(shape)
    memory = make_memory(math.prod(extents) * dtype.itemsize)
    return np.ndarray(extents, dtype, buffer=memory, order=order)


def _order_of(array: np.ndarray) -> str:
    if array.flags.c_contiguous:
        return "C"
    if array.flags.f_contiguous:
        return "F"
    raise ValueError("could not detect array order: the array is not contiguous")


def _zeros(make: Callable[_P, np.ndarray], example: str) -> Callable[_P, np.ndarray]:
    """``pagelocked_zeros`` of ``pagelocked_empty``: calls ``make``, and fills the array with zeros."""

    @functools.wraps(make)
    def zeros(*args: _P.args, **named: _P.kwargs) -> np.ndarray:
        array = make(*args, **named)
        array.fill(0)
        return array

    name = zeros.__name__ = zeros.__qualname__ = make.__name__.replace("empty", "zeros")
    zeros.__doc__ = f"""Make an array as :func:`{make.__name__}` does, and fill it with zeros.

    >>> cuda.{name}({example})
    array([0, 0], dtype=int32)
    """
    return zeros


def pagelocked_empty(
    shape: Shape, dtype: DTypeLike, order: str = "C", mem_flags: int = 0
) -> np.ndarray:
    """Make a host array in page-locked memory, which the device copies from and to directly.

    shape, dtype, order: those of the array, as of numpy.empty.
    mem_flags: of :class:`host_alloc_flags`.

    The array's ``base`` owns the memory. Raises MemoryError if there is none.

    >>> cuda.pagelocked_empty((2, 3), np.float32).shape
    (2, 3)
    """
    return _array_in(
        lambda nbytes: PagelockedHostAllocation(nbytes, mem_flags), shape, dtype, order
    )


def pagelocked_empty_like(array: np.ndarray, mem_flags: int = 0) -> np.ndarray:
    """Make a page-locked host array with the shape, dtype and order of ``array``; see :func:`pagelocked_empty`.

    >>> cuda.pagelocked_empty_like(np.zeros((2, 3), np.int8)).dtype
    dtype('int8')
    """
    return pagelocked_empty(array.shape, array.dtype, _order_of(array), mem_flags)


pagelocked_zeros = _zeros(pagelocked_empty, "2, np.int32")
pagelocked_zeros_like = _zeros(pagelocked_empty_like, "np.ones(2, np.int32)")


def aligned_empty(
    shape: Shape, dtype: DTypeLike, order: str = "C", alignment: int = 4096
) -> np.ndarray:
    """Make a host array whose address is a multiple of ``alignment`` bytes, a power of two.

    >>> cuda.aligned_empty(3, np.float32, alignment=4096).ctypes.data % 4096
    0
    """
    return _array_in(
        lambda nbytes: AlignedHostAllocation(nbytes, alignment), shape, dtype, order
    )


def aligned_empty_like(array: np.ndarray, alignment: int = 4096) -> np.ndarray:
    """Make an aligned host array with the shape, dtype and order of ``array``.

    >>> cuda.aligned_empty_like(np.zeros((2, 3))).shape
    (2, 3)
    """
    return aligned_empty(array.shape, array.dtype, _order_of(array), alignment)


aligned_zeros = _zeros(aligned_empty, "2, np.int32")
aligned_zeros_like = _zeros(aligned_empty_like, "np.ones(2, np.int32)")


def managed_empty(
    shape: Shape, dtype: DTypeLike, order: str = "C", mem_flags: int = 0
) -> np.ndarray:
    """Make an array with one address for the host and the device. Kernels take it as an argument.

    mem_flags: of :class:`mem_attach_flags`; 0 stands for GLOBAL.

    The host may use the array when the device is done. Raises MemoryError if there is no memory.

    >>> cuda.managed_empty((2, 3), np.float32).shape
    (2, 3)
    """
    return _array_in(
        lambda nbytes: ManagedAllocation(
            max(nbytes, 1), mem_flags or _driver.mem_attach_flags.GLOBAL
        ),
        shape,
        dtype,
        order,
    )


def managed_empty_like(array: np.ndarray, mem_flags: int = 0) -> np.ndarray:
    """Make a managed array with the shape, dtype and order of ``array``; see :func:`managed_empty`.

    >>> cuda.managed_empty_like(np.zeros((2, 3))).shape
    (2, 3)
    """
    return managed_empty(array.shape, array.dtype, _order_of(array), mem_flags)


managed_zeros = _zeros(managed_empty, "2, np.int32")
managed_zeros_like = _zeros(managed_empty_like, "np.ones(2, np.int32)")


def register_host_memory(ary: np.ndarray, flags: int = 0) -> np.ndarray:
    """Page-lock the memory of a host array as long as the returned view exists.

    ary: the array. flags: of :class:`mem_host_register_flags`.

    The device copies from and to page-locked memory directly.

    >>> cuda.register_host_memory(cuda.aligned_zeros(2, np.int32))
    array([0, 0], dtype=int32)
    """
    import numpy as np

    if not isinstance(ary, np.ndarray):
        raise TypeError(f"ary must be a numpy.ndarray, not {type(ary).__name__}")
    if not ary.flags.c_contiguous:
        raise ValueError("only C-contiguous arrays can be registered")
    return np.ndarray(ary.shape, ary.dtype, buffer=RegisteredHostMemory(ary, flags))


class PageLockedMemoryPool(_PageLockedMemoryPool):
    """Page-locked host memory of the current context, kept for reuse.

    >>> pool = cuda.PageLockedMemoryPool()
    >>> array = pool.allocate(4, np.float32)
    >>> del array
    >>> pool.held_blocks
    1
    """

    def allocate(self, shape: Shape, dtype: DTypeLike, order: str = "C") -> np.ndarray:
        """Make an array whose ``base`` returns its memory to the pool when it is destroyed.

        shape, dtype, order: those of the array, as of numpy.empty.

        >>> cuda.PageLockedMemoryPool().allocate((2, 3), np.float32).shape
        (2, 3)
        """
        return _array_in(self._allocate, shape, dtype, order)


# For `from pycuda.driver import *`: includes the names that __getattr__ loads.
__all__ = [
    name
    for name in [*globals(), *sorted(_ARRAY_FUNCTIONS)]
    if not name.startswith("_")
    and name not in ("TYPE_CHECKING", "annotations", "functools")
]
