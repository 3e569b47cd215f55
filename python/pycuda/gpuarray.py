"""Arrays on the device, with numpy's operations.

>>> import numpy
>>> import pycuda.autoinit
>>> from pycuda import gpuarray
>>> x = gpuarray.to_gpu(numpy.arange(4, dtype=numpy.float32))
>>> (2 * x + 1).get()
array([1., 3., 5., 7.], dtype=float32)

Functions take and return :class:`GPUArray`. The elementwise functions (``gpuarray.exp``, ``hypot``,
``maximum`` ...) are objects with numpy's keywords ``out``, ``where`` and ``dtype``. numpy's
functions accept device arrays as well: ``numpy.concatenate([x, y])`` is a GPUArray.
"""

from __future__ import annotations

import builtins

import numpy as np

from pycuda import _driver
from pycuda import driver as drv  # noqa: F401  (a name that PyCUDA's module has)
from pycuda._driver import ArrayBase
from pycuda.arrays import registry as _registry
from pycuda.arrays.array_class.copying import restored as _restored  # noqa: F401  (in pickles)
from pycuda.arrays.array_class.flags import ArrayFlags as ArrayFlags
from pycuda.arrays.array_class.gpu_array import GPUArray as GPUArray
from pycuda.arrays.creation.conversion import check_equal as _check_equal
from pycuda.arrays.creation.filled import empty as _empty
from pycuda.arrays.indexing.grids import mgrid as mgrid
from pycuda.arrays.indexing.grids import ogrid as ogrid
from pycuda.arrays.interop.vector_types import vec as vec
from pycuda.arrays.protocols import main_functions as _main_functions  # noqa: F401  (they fill the registry)
from pycuda.arrays.reductions.determinism import deterministic as deterministic

# The functions. gpuarray.pyi, which is generated from the same registry, lists them for readers and
# type checkers. Some of them shadow builtins here, so this module uses those from `builtins`.
globals().update(_registry.module_functions())


def __getattr__(name: str):
    if name == "elementwise":  # an attribute of PyCUDA's module; it imports this one
        from pycuda import elementwise

        return elementwise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# Names that dependent packages import.


def _get_common_dtype(a, b) -> np.dtype:
    return np.result_type(getattr(a, "dtype", a), getattr(b, "dtype", b))


def _get_broadcasted_binary_op_result(a, b, cq=None, dtype_getter=None, allocator=None):
    dtype = (dtype_getter or _get_common_dtype)(a, b)
    shape = np.broadcast_shapes(getattr(a, "shape", ()), getattr(b, "shape", ()))
    return _empty(shape, dtype, allocator=allocator)


def _compact_strides(a) -> tuple[int, ...]:
    """The strides of a contiguous array with the shape of ``a`` and with its memory order of axes."""
    strides, step = [0] * a.ndim, a.dtype.itemsize
    for axis in sorted(
        range(a.ndim), key=lambda axis: (builtins.abs(a.strides[axis]), -axis)
    ):
        strides[axis] = step
        step *= builtins.max(a.shape[axis], 1)
    return tuple(strides)


def _memcpy_discontig(dst, src, async_: bool = False, stream=None) -> None:
    """Copy between arrays of the same shape and type, on the host or the device."""
    _check_equal(src.shape, dst.shape, "src and dst must have the same shape")
    _check_equal(
        src.dtype, dst.dtype, "src and dst must have the same dtype", TypeError
    )
    if isinstance(dst, ArrayBase):
        if isinstance(src, ArrayBase):
            _driver._array_assign(dst, src, stream=stream)
        else:
            dst.set(src, async_, stream)
    else:
        src.get(dst, async_=async_, stream=stream)
