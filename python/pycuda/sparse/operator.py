"""Operators as PyCUDA had them, for :mod:`pycuda.sparse.cg`: objects with ``dtype``, ``shape`` and a call."""

from __future__ import annotations

import numpy as np

from pycuda.gpuarray import GPUArray


class OperatorBase:
    """What an operator has: ``dtype``, ``shape``, and a call with a vector that gives a vector."""

    @property
    def dtype(self) -> np.dtype:
        """The type of the vectors' elements."""
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        raise NotImplementedError

    def __call__(self, operand: GPUArray) -> GPUArray:
        """The operator on a vector."""
        raise NotImplementedError


class IdentityOperator(OperatorBase):
    """The identity of vectors of ``n`` elements of ``dtype``: returns its operand itself.

    >>> IdentityOperator(np.float32, 3).shape
    (3, 3)
    """

    def __init__(self, dtype, n: int) -> None:
        self._dtype = np.dtype(dtype)
        self._n = int(n)

    @property
    def dtype(self) -> np.dtype:
        """The type of the vectors' elements."""
        return self._dtype

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._n, self._n

    def __call__(self, operand: GPUArray) -> GPUArray:
        """``operand`` itself."""
        return operand


class DiagonalPreconditioner(OperatorBase):
    """The product with a diagonal matrix; ``diagonal`` is a vector of the device.

    As a preconditioner it has the inverses of the diagonal of the matrix.

    >>> DiagonalPreconditioner(gpuarray.array([0.5, 0.25]))(gpuarray.array([2.0, 4.0]))
    array([1., 1.])
    """

    def __init__(self, diagonal: GPUArray) -> None:
        self.diagonal = diagonal

    @property
    def dtype(self) -> np.dtype:
        """The type of the vectors' elements."""
        return self.diagonal.dtype

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.diagonal.size, self.diagonal.size

    def __call__(self, operand: GPUArray) -> GPUArray:
        """Each element of ``operand`` times the one of the diagonal."""
        return self.diagonal * operand
