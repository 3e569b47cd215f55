"""Converts the operands from which matrices are made: host arrays, device arrays, matrices of other packages."""

from __future__ import annotations

import numpy as np

from pycuda._driver import ArrayBase
from pycuda.gpuarray import GPUArray, asarray, to_gpu
from pycuda.sparse._foreign import of_device
from pycuda.sparse._products import check_number


def is_pair(value) -> bool:
    """Whether a value is a shape: two integers."""
    return isinstance(value, tuple) and len(value) == 2 and all(isinstance(one, (int, np.integer)) for one in value)  # fmt: skip


def is_foreign(value) -> bool:
    """Whether a value is a sparse matrix of another package (SciPy, CuPy)."""
    return hasattr(value, "tocsr") and hasattr(value, "nnz") and not hasattr(value, "_anchor")  # fmt: skip


def foreign(value):
    """Convert a sparse matrix of another package to :class:`Foreign`; other objects are returned unchanged."""
    if not is_foreign(value):
        return value
    if len(value.shape) != 2:
        raise ValueError(f"a matrix must have two axes, not the shape {value.shape}")
    return Foreign(value)


class Foreign(tuple):
    """The arrays (data, indices, indptr) of another package's matrix in CSR or CSC, with its shape and format."""

    def __new__(cls, matrix):
        format = "csc" if getattr(matrix, "format", None) == "csc" else "csr"
        compressed = getattr(matrix, f"to{format}")()
        names = ("data", "indices", "indptr")
        made = super().__new__(cls, (of_device(getattr(compressed, name)) for name in names))  # fmt: skip
        made.shape = tuple(matrix.shape)
        made.format = format
        return made


def typed(values, dtype, copy: bool) -> GPUArray:
    """Elements as a device vector, of a type that matrices support."""
    if isinstance(values, (ArrayBase, np.ndarray)) or hasattr(values, "__cuda_array_interface__"):  # fmt: skip
        array = of_device(values)
    else:
        array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"data must be a vector, not an array of shape {array.shape}")
    check_number(array.dtype if dtype is None else dtype)
    if not isinstance(array, GPUArray):
        array = to_gpu(np.ascontiguousarray(array, dtype))
        return array
    converted = array if dtype is None else array.astype(dtype, copy=False)
    if (copy and converted is values) or not converted._c_contiguous:
        return converted.copy("C")
    return converted


def dense_of(value, dtype) -> GPUArray:
    """A dense operand as an array with two axes; a vector is one row."""
    array = asarray(value)
    if dtype is not None:
        array = array.astype(dtype, copy=False)
    check_number(array.dtype)
    if array.ndim < 2:
        array = array.reshape(1, array.size)
    if array.ndim != 2:
        raise ValueError(f"a matrix must have two axes, not the shape {array.shape}")
    return array


def extent_of(indices: GPUArray) -> int:
    """The smallest extent for these indices."""
    if indices.size == 0:
        return 0
    return int(indices.max().get()) + 1
