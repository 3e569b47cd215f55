"""The product of a square matrix with a vector, with rows renumbered so that a row's columns are near each other.

PyCUDA divided the matrix with METIS into packets whose part of the vector fit into shared memory. Today, caches do
this; only the numbering remains. It is the reverse Cuthill-McKee ordering (Proc. 24th Nat. Conf. ACM,
157, 1969), level by level: vectors are permuted once, and the products then read them nearly in order.
"""

from __future__ import annotations

import numpy as np

from pycuda.gpuarray import GPUArray, take, to_gpu
from pycuda.sparse._compressed import csr_array
from pycuda.sparse._kernels import on_own_device


def _neighbours(starts, columns, rows):
    """The columns of all ``rows`` without duplicates, in ascending order."""
    lengths = starts[rows + 1] - starts[rows]
    first = np.repeat(starts[rows] - (np.cumsum(lengths) - lengths), lengths)
    return np.unique(columns[first + np.arange(lengths.sum())])


def reverse_cuthill_mckee(starts: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return an order of the rows of a symmetric CSR pattern in which connected rows are near each other.

    Each level of neighbours is ordered by the number of elements in the rows.

    >>> reverse_cuthill_mckee(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1]))
    array([2, 1, 0])
    """
    count = len(starts) - 1
    degree = np.diff(starts)
    seen = np.zeros(count, bool)
    order, levels = np.argsort(degree, kind="stable"), []
    for first in order:  # the row with the fewest elements of each connected component
        if seen[first]:
            continue
        level = np.array([first])
        while level.size:
            seen[level] = True
            levels.append(level)
            level = _neighbours(starts, columns, level)
            level = level[~seen[level]]
            level = level[np.argsort(degree[level], kind="stable")]
    return np.concatenate(levels)[::-1] if levels else np.zeros(0, np.intp)


class PacketedSpMV:
    """The product of a square matrix with permuted vectors.

    mat: a sparse matrix (of this package, of SciPy, of CuPy), of shape (n, n).
    is_symmetric: whether element (i, j) is stored if (j, i) is. If not, the numbering is that of the sum of the matrix
        and its transpose.
    dtype: the type of the elements and of vectors.

    ``permute(x)`` converts a vector to the numbering of the product, ``unpermute(y)`` converts it back:
    ``A @ x`` is ``unpermute(spmv(permute(x)))``. Raises ValueError for a matrix that is not square.

    >>> spmv = PacketedSpMV(sparse.csr_array([[1.0, 2.0], [0.0, 3.0]]), False, np.float64)
    >>> spmv.unpermute(spmv(spmv.permute(gpuarray.array([1.0, 10.0]))))
    array([21., 30.])
    """

    @on_own_device
    def __init__(self, mat, is_symmetric: bool, dtype) -> None:
        self.dtype = np.dtype(dtype)
        self.index_dtype = np.dtype(np.int32)
        matrix = csr_array(mat, dtype=self.dtype)
        self.shape = matrix.shape
        if self.shape[0] != self.shape[1]:
            raise ValueError(f"the matrix must be square, not of shape {self.shape}")
        pattern = matrix
        if not is_symmetric:
            pattern = abs(matrix).astype(bool) + abs(matrix.T.tocsr()).astype(bool)
        order = reverse_cuthill_mckee(pattern.indptr.get(), pattern.indices.get())
        back = np.empty_like(order)
        back[order] = np.arange(order.size)
        self.new2old_fetch_indices = to_gpu(order.astype(self.index_dtype))
        self.old2new_fetch_indices = to_gpu(back.astype(self.index_dtype))
        self._matrix = matrix[self.new2old_fetch_indices]
        if self._matrix.nnz:
            columns = self.old2new_fetch_indices[self._matrix.indices]
            self._matrix = csr_array((self._matrix.data, columns, self._matrix.indptr), self.shape)  # fmt: skip
        self._matrix.sort_indices()

    def permute(self, x: GPUArray) -> GPUArray:
        """Return a copy of a vector in the numbering of the product.

        x: a device vector in the numbering of the matrix.
        """
        return take(x, self.new2old_fetch_indices)

    def unpermute(self, x: GPUArray) -> GPUArray:
        """Return a copy of a vector in the numbering of the matrix: the inverse of :meth:`permute`.

        x: a device vector in the numbering of the product.
        """
        return take(x, self.old2new_fetch_indices)

    def __call__(self, x: GPUArray, y: GPUArray | None = None) -> GPUArray:
        """Multiply by a permuted vector.

        x: the vector in the order of :meth:`permute`, a device array of the matrix's dtype.
        y: a device array to which the product is added; by default a new one. Returned.

        Raises TypeError for another dtype.
        """
        if x.dtype != self.dtype or (y is not None and y.dtype != self.dtype):
            raise TypeError(f"x and y must have elements of {self.dtype}")
        return self._matrix._times_dense(x, y)
