"""Bits of bytes: packbits(), unpackbits()."""

from __future__ import annotations

import math
import operator

import numpy as np

from pycuda import _device_code
from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.creation.filled import empty
from pycuda.arrays.registry import public
from pycuda.arrays.shapes import axes as _axes


@public()
def packbits(a, /, axis=None, bitorder: str = "big"):
    """Pack elements to bits: 1 for each element that is not 0.

    a: an array of bool or of integers.
    axis: the axis along which 8 elements become a byte; None takes the elements in C order.
    bitorder: "big": the first element is the highest bit of its byte; "little": the lowest.

    Returns an array of uint8. The last byte of an axis is filled up with zeros. Raises TypeError for other elements.

    >>> gpuarray.packbits(gpuarray.array([1, 0, 1, 0, 0, 0, 0, 1, 1]))
    array([161, 128], dtype=uint8)
    """
    array = as_array(a)
    big = _is_big(bitorder)
    if array.dtype.kind not in "biu":
        raise TypeError(
            f"packbits() expects an array of bool or of integers, not of {array.dtype}"
        )
    array, axis = _along(array, axis)
    extent = array.shape[axis]
    packed = -(-extent // 8)
    result = empty((*array.shape[:axis], packed, *array.shape[axis + 1 :]), np.uint8)
    behind = math.prod(array.shape[axis + 1 :])
    if result.size == 0:
        return result
    whole = array.size == 8 * result.size and behind == 1
    if whole and array.dtype.itemsize == 1 and array.ptr % 8 == 0:
        _launch(np.dtype(np.uint8), big, "pack_words", result.size, array, result)
    else:
        kernel = (array.dtype, big, "pack_bits", result.size, array, result)
        _launch(*kernel, extent, packed, behind)
    return result


@public()
def unpackbits(a, /, axis=None, count=None, bitorder: str = "big"):
    """Unpack bits to elements of uint8 that are 0 or 1.

    a: an array of uint8.
    axis: the axis along which a byte becomes 8 elements; None takes the bytes in C order.
    count: how many elements the result has along the axis. Zeros are added at the end; a negative number is the number of
        elements that are left out there. None: all.
    bitorder: "big": the highest bit is the first element; "little": the lowest.

    Raises TypeError for other elements, ValueError for a negative ``count`` beyond the number of elements.

    >>> gpuarray.unpackbits(gpuarray.array([161], np.uint8))
    array([1, 0, 1, 0, 0, 0, 0, 1], dtype=uint8)
    """
    array = as_array(a)
    big = _is_big(bitorder)
    if array.dtype != np.uint8:
        raise TypeError(f"unpackbits() expects an array of uint8, not of {array.dtype}")
    array, axis = _along(array, axis)
    packed = array.shape[axis]
    extent = 8 * packed if count is None else operator.index(count)
    if extent < 0:
        extent += 8 * packed
        if extent < 0:
            raise ValueError(
                f"count={count} leaves out more than the {8 * packed} bits of an axis"
            )
    result = empty((*array.shape[:axis], extent, *array.shape[axis + 1 :]), np.uint8)
    behind = math.prod(array.shape[axis + 1 :])
    if result.size == 0:
        return result
    kind = np.dtype(np.uint8)
    if 8 * array.size == result.size and behind == 1 and result.ptr % 8 == 0:
        _launch(kind, big, "unpack_words", array.size, array, result)
    else:
        kernel = (kind, big, "unpack_bits", result.size, array, result)
        _launch(*kernel, extent, packed, behind)
    return result


def _is_big(bitorder: str) -> bool:
    if bitorder not in ("big", "little"):
        raise ValueError(f"bitorder must be 'big' or 'little', not {bitorder!r}")
    return bitorder == "big"


def _along(array, axis):
    """The contiguous array, flattened for None, and the axis from the front. An array without axes gets one."""
    if array.ndim == 0 and axis is not None:
        array = array._reshape(1)
    if axis is None:
        array, axis = array._ravel(), 0
    else:
        axis = _axes.normalize_axis(axis, array.ndim)
    return array if array._c_contiguous else array.copy("C"), axis


def _launch(kind, big, name, n, source, result, *extents) -> None:
    _device_code.kernel("bits", name, "T BIG", kind, big)(
        source, result, n, *extents, block=(256, 1, 1), grid=(-(-n // 256), 1)
    )
