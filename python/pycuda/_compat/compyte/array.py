"""Strides of arrays, as programs compute them without numpy."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np


def f_contiguous_strides(itemsize: int, shape: Sequence[int]) -> tuple[int, ...]:
    """Strides in bytes of a contiguous array in Fortran order (the first axis varies fastest).

    >>> f_contiguous_strides(4, (2, 3))
    (4, 8)
    """
    if not shape:
        return ()
    return tuple(
        accumulate((max(extent, 1) for extent in shape[:-1]), _times, initial=itemsize)
    )


def c_contiguous_strides(itemsize: int, shape: Sequence[int]) -> tuple[int, ...]:
    """Strides in bytes of a contiguous array in C order (the last axis varies fastest).

    >>> c_contiguous_strides(4, (2, 3))
    (12, 4)
    """
    return f_contiguous_strides(itemsize, shape[::-1])[::-1]


def _times(left: int, right: int) -> int:
    return left * right


def equal_strides(
    strides1: Sequence[int], strides2: Sequence[int], shape: Sequence[int]
) -> bool:
    """Whether two arrays of this shape have equal strides; axes of length 0 or 1 do not count."""
    if len(strides1) != len(strides2) or len(strides2) != len(shape):
        return False
    return all(
        extent <= 1 or first == second
        for first, second, extent in zip(strides1, strides2, shape, strict=True)
    )


def is_f_contiguous_strides(
    strides: Sequence[int], itemsize: int, shape: Sequence[int]
) -> bool:
    """Whether the elements are contiguous in Fortran order."""
    return 0 in shape or equal_strides(
        strides, f_contiguous_strides(itemsize, shape), shape
    )


def is_c_contiguous_strides(
    strides: Sequence[int], itemsize: int, shape: Sequence[int]
) -> bool:
    """Whether the elements are contiguous in C order."""
    return 0 in shape or equal_strides(
        strides, c_contiguous_strides(itemsize, shape), shape
    )


class ArrayFlags:
    """``c_contiguous``, ``f_contiguous`` and ``forc`` (either) of an array."""

    def __init__(self, ary: object) -> None:
        itemsize = np.dtype(ary.dtype).itemsize
        self.f_contiguous = is_f_contiguous_strides(ary.strides, itemsize, ary.shape)
        self.c_contiguous = is_c_contiguous_strides(ary.strides, itemsize, ary.shape)
        self.forc = self.f_contiguous or self.c_contiguous

    def __repr__(self) -> str:
        return (
            f"  C_CONTIGUOUS : {self.c_contiguous}\n"
            f"  F_CONTIGUOUS : {self.f_contiguous}\n"
            f"  FORC : {self.forc}"
        )


def get_common_dtype(obj1: object, obj2: object, allow_double: bool) -> np.dtype:
    """The dtype of the result of two operands; no double precision if it is not allowed."""
    result = np.result_type(_dtype_of(obj1), _dtype_of(obj2))
    if allow_double:
        return result
    return {
        np.dtype(np.float64): np.dtype(np.float32),
        np.dtype(np.complex128): np.dtype(np.complex64),
    }.get(result, result)


def _dtype_of(operand: object) -> np.dtype:
    return operand.dtype if hasattr(operand, "dtype") else np.dtype(type(operand))


def as_strided(
    x: np.ndarray,
    shape: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> np.ndarray:
    """A view of ``x`` with another shape and other strides, without checks."""
    return np.lib.stride_tricks.as_strided(x, shape, strides)
