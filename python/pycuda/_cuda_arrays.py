"""CUDA arrays made from numpy and device arrays, and textures bound to them."""

from __future__ import annotations

import numpy as np

from pycuda import _driver

# The texel of a dtype: format and channels.
_FORMATS = {
    np.dtype(np.uint8): "UNSIGNED_INT8",
    np.dtype(np.uint16): "UNSIGNED_INT16",
    np.dtype(np.uint32): "UNSIGNED_INT32",
    np.dtype(np.int8): "SIGNED_INT8",
    np.dtype(np.int16): "SIGNED_INT16",
    np.dtype(np.int32): "SIGNED_INT32",
    np.dtype(np.float16): "HALF",
    np.dtype(np.float32): "FLOAT",
}
_IN_INT32 = {
    np.dtype(np.float64): 2,
    np.dtype(np.complex64): 2,
    np.dtype(np.complex128): 4,
}


def dtype_to_array_format(dtype: np.dtype | type) -> _driver.array_format:
    """The member of ``array_format`` for a dtype. Raises TypeError if there is none.

    >>> dtype_to_array_format(np.float32)
    pycuda._driver.array_format.FLOAT
    """
    try:
        return getattr(_driver.array_format, _FORMATS[np.dtype(dtype)])
    except KeyError:
        raise TypeError(
            f"no array format exists for the dtype {np.dtype(dtype)}"
        ) from None


def _texel(dtype: np.dtype) -> tuple[_driver.array_format, int]:
    """Format and channels; wide numbers occupy two or four channels of int32."""
    dtype = np.dtype(dtype)
    if dtype in _IN_INT32:
        return _driver.array_format.SIGNED_INT32, _IN_INT32[dtype]
    return dtype_to_array_format(dtype), 1


def _check_order(order: str) -> None:
    if order not in ("C", "F"):
        raise _driver.LogicError(f"order must be 'F' or 'C', not {order!r}")


def matrix_to_array(
    matrix: np.ndarray, order: str, allow_double_hack: bool = False
) -> _driver.Array:
    """A two-dimensional Array with a copy of ``matrix``.

    With order "C" a kernel's ``tex2D(tex, x, y)`` is ``matrix[y, x]``, with "F" ``matrix[x, y]``.
    ``allow_double_hack`` stores float64 as two int32, for ``fp_tex2D``.
    """
    _check_order(order)
    height, width = matrix.shape if order == "C" else matrix.shape[::-1]
    matrix = np.asarray(matrix, order=order)
    descriptor = _driver.ArrayDescriptor()
    descriptor.width, descriptor.height = width, height
    if matrix.dtype == np.float64 and allow_double_hack:
        descriptor.format, descriptor.num_channels = _texel(matrix.dtype)
    else:
        descriptor.format = dtype_to_array_format(matrix.dtype)
        descriptor.num_channels = 1
    array = _driver.Array(descriptor)
    _copy_rows(matrix, array, width * matrix.itemsize, height, "set_src_host")
    return array


def make_multichannel_2d_array(ndarray: np.ndarray, order: str) -> _driver.Array:
    """A two-dimensional Array whose texels have channels.

    ``ndarray`` has the shape (height, width, channels) with order "C", (channels, width, height)
    with "F".
    """
    _check_order(order)
    ndarray = np.asarray(ndarray, order=order)
    height, width, channels = ndarray.shape if order == "C" else ndarray.shape[::-1]
    descriptor = _driver.ArrayDescriptor()
    descriptor.width, descriptor.height = width, height
    descriptor.format = dtype_to_array_format(ndarray.dtype)
    descriptor.num_channels = channels
    array = _driver.Array(descriptor)
    row = width * channels * ndarray.itemsize
    _copy_rows(ndarray, array, row, height, "set_src_host")
    return array


def _copy_rows(
    source: object, array: _driver.Array, row_bytes: int, height: int, setter: str
) -> None:
    copy = _driver.Memcpy2D()
    getattr(copy, setter)(source)
    copy.set_dst_array(array)
    copy.width_in_bytes = copy.src_pitch = row_bytes
    copy.height = height
    copy(aligned=True)


def np_to_array(
    nparray: np.ndarray, order: str, allowSurfaceBind: bool = False
) -> _driver.Array:
    """An Array of two or three dimensions with a copy of ``nparray``.

    float64 and complex64 take two channels of int32, complex128 takes four. With
    ``allowSurfaceBind`` kernels may write to it; two dimensions then become layers of one.
    """
    _check_order(order)
    return _to_array(
        np.asarray(nparray, order=order), order, allowSurfaceBind, "set_src_host"
    )


def gpuarray_to_array(
    gpuarray: object, order: str, allowSurfaceBind: bool = False
) -> _driver.Array:
    """As :func:`np_to_array`, for a device array, which must be contiguous in ``order``."""
    _check_order(order)
    flags = gpuarray.flags
    if not (flags.c_contiguous if order == "C" else flags.f_contiguous):
        raise _driver.LogicError(f"the array is not contiguous in order {order!r}")
    return _to_array(gpuarray, order, allowSurfaceBind, "set_src_device")


def _to_array(source: object, order: str, surface: bool, setter: str) -> _driver.Array:
    shape = source.shape if order == "C" else source.shape[::-1]
    if len(shape) not in (2, 3):
        raise _driver.LogicError(
            f"an array must have 2 or 3 dimensions to become an Array, not {len(shape)}"
        )
    depth, height, width = (1, *shape) if len(shape) == 2 else shape
    descriptor = _driver.ArrayDescriptor3D()
    descriptor.width, descriptor.height = width, height
    descriptor.format, descriptor.num_channels = _texel(source.dtype)
    flags = _driver.array3d_flags
    if len(shape) == 3:
        descriptor.depth = depth
    elif surface:
        descriptor.depth = 1
        descriptor.flags |= flags.ARRAY3D_LAYERED
    if surface:
        descriptor.flags |= flags.SURFACE_LDST
    array = _driver.Array(descriptor)
    copy = _driver.Memcpy3D()
    getattr(copy, setter)(source if setter == "set_src_host" else source.gpudata)
    copy.set_dst_array(array)
    copy.width_in_bytes = copy.src_pitch = width * source.dtype.itemsize
    copy.src_height = copy.height = height
    copy.depth = depth
    copy()
    return array


def bind_array_to_texref(ary: _driver.Array, texref: _driver.TextureReference) -> None:
    """Bind ``ary`` to ``texref``: coordinates are clamped, the nearest texel is read."""
    texref.set_array(ary)
    texref.set_address_mode(0, _driver.address_mode.CLAMP)
    texref.set_address_mode(1, _driver.address_mode.CLAMP)
    texref.set_filter_mode(_driver.filter_mode.POINT)


def matrix_to_texref(
    matrix: np.ndarray, texref: _driver.TextureReference, order: str
) -> None:
    """Copy a matrix to an Array and bind it to ``texref``."""
    bind_array_to_texref(matrix_to_array(matrix, order), texref)
