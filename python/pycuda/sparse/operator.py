"""PyCUDA's operators for :mod:`pycuda.sparse.cg`: objects with ``dtype`` and ``shape`` that are called with a vector."""

from __future__ import annotations

import numpy as np

from pycuda.gpuarray import GPUArray


class OperatorBase:
    """The interface of an operator: ``dtype``, ``shape``, and a call that maps a vector to a vector.

    Subclasses define all three; here they raise NotImplementedError.
    """

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the vectors' elements."""
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns of the operator: a tuple of two ints."""
        raise NotImplementedError

    def __call__(self, operand: GPUArray) -> GPUArray:
        """Apply the operator. Returns a vector.

        operand: a vector, a device array of shape ``(shape[1],)`` and of the operator's dtype.
        """
        raise NotImplementedError


class IdentityOperator(OperatorBase):
    """The identity operator: a call returns the operand itself.

    dtype: the dtype of the vectors.
    n: the number of elements of the vectors.

    >>> IdentityOperator(np.float32, 3).shape
    (3, 3)
    """

    def __init__(self, dtype, n: int) -> None:
        self._dtype = np.dtype(dtype)
        self._n = int(n)

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the vectors' elements."""
        return self._dtype

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns of the operator: a tuple of two ints."""
        return self._n, self._n

    def __call__(self, operand: GPUArray) -> GPUArray:
        """Return ``operand`` itself, without a copy."""
        return operand


class DiagonalPreconditioner(OperatorBase):
    """The product with a diagonal matrix.

    diagonal: the diagonal, a vector on the device. For a Jacobi preconditioner, pass the reciprocals of the matrix's
      diagonal.

    >>> DiagonalPreconditioner(gpuarray.array([0.5, 0.25]))(gpuarray.array([2.0, 4.0]))
    array([1., 1.])
    """

    def __init__(self, diagonal: GPUArray) -> None:
        self.diagonal = diagonal

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the vectors' elements."""
        return self.diagonal.dtype

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns of the operator: a tuple of two ints."""
        return self.diagonal.size, self.diagonal.size

    def __call__(self, operand: GPUArray) -> GPUArray:
        """Multiply the elements of ``operand`` by the elements of the diagonal. Returns a new vector.

        operand: a device array of as many elements as the diagonal.
        """
        return self.diagonal * operand
