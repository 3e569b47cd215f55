"""Element types, lengths and factors of Fourier transforms."""

from __future__ import annotations

import functools
import math
import operator

import numpy as np

from pycuda import _driver


def scale_of(norm, count: int, inverse: bool) -> float:
    """The factor of a transform of ``count`` elements in all."""
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(
            f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".'
        )
    if norm == "ortho":
        return 1 / math.sqrt(count)
    return 1 / count if inverse == (norm != "forward") else 1.0


@functools.cache
def complex_type(dtype: np.dtype) -> np.dtype:
    if dtype.kind not in "biufc":
        raise TypeError(f"a Fourier transform is not defined for elements of {dtype}")
    single = dtype in (np.float16, np.float32, np.complex64)
    return np.dtype(np.complex64 if single else np.complex128)


def real_type(kind) -> np.dtype:
    return np.dtype(np.float32 if kind == np.complex64 else np.float64)


def length_of(n, extent: int) -> int:
    n = extent if n is None else operator.index(n)
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    return n


def empty(shape, dtype, like):
    """A new C-contiguous array of the class of ``like``."""
    return _driver._array_empty(tuple(shape), dtype, None, "C", type(like))
