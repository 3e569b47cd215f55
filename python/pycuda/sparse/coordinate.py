"""The product of a COO matrix with a vector, with PyCUDA's interface."""

from __future__ import annotations

import numpy as np

from pycuda.gpuarray import GPUArray
from pycuda.sparse._coordinates import coo_array
from pycuda.sparse._kernels import on_own_device


class CoordinateSpMV:
    """The product of a matrix with vectors.

    mat: a sparse matrix (of this package, of SciPy, of CuPy) or a dense array of two axes.
    dtype: the type of the elements and of vectors.

    A call with ``x`` returns the product. If ``y`` is given, the product is added to it, and ``y`` is returned.

    >>> spmv = CoordinateSpMV(sparse.eye(2), np.float32)
    >>> spmv(gpuarray.array([1, 2], np.float32))
    array([1., 2.], dtype=float32)
    """

    @on_own_device
    def __init__(self, mat, dtype) -> None:
        self.dtype = np.dtype(dtype)
        self.index_dtype = np.dtype(np.int32)
        self._matrix = coo_array(mat, dtype=self.dtype)
        self.shape = self._matrix.shape
        self.nnz = self._matrix.nnz
        self.row_gpu = self._matrix.row
        self.col_gpu = self._matrix.col
        self.data_gpu = self._matrix.data

    def __call__(self, x: GPUArray, y: GPUArray | None = None) -> GPUArray:
        """Multiply by a vector.

        x: the vector, a device array of the matrix's dtype.
        y: a device array to which the product is added; by default a new one. Returned.

        Raises TypeError for another dtype.
        """
        if x.dtype != self.dtype or (y is not None and y.dtype != self.dtype):
            raise TypeError(f"x and y must have elements of {self.dtype}")
        return self._matrix._times_dense(x, y)
