"""Sums, element-wise products and comparisons of matrices of all formats."""

from __future__ import annotations

import numpy as np

from pycuda._driver import ArrayBase
from pycuda.gpuarray import asarray, broadcast_to
from pycuda.sparse import _pairs
from pycuda.sparse._base import Sparse, as_sparse, check_device, is_number
from pycuda.sparse._kernels import on_own_device


def _is_dense(value) -> bool:
    return isinstance(value, (ArrayBase, np.ndarray, list, tuple))


class Arithmetic(Sparse):
    """The base of classes of all formats: operators of two matrices."""

    @on_own_device
    def _with(self, name: str, other):
        """An operation of _pairs.py with another sparse matrix."""
        if self.shape != other.shape:
            raise ValueError(f"matrices of shapes {self.shape} and {other.shape} must have the same shape")  # fmt: skip
        check_device(self, other)
        kind = np.result_type(self.dtype, other.dtype)
        if name == "subtract" and kind.kind == "b":
            raise TypeError("matrices of bool cannot be subtracted")
        if kind.kind == "c" and name not in ("add", "subtract", "multiply", "not_equal"):  # fmt: skip
            raise TypeError(
                f"{name} is not defined for {kind}: complex numbers have no order"
            )
        format = "csc" if self.format == other.format == "csc" else "csr"
        a, b = (one.asformat(format)._canonical() for one in (self, other))
        operands = (
            a._structure, a.data.astype(kind, copy=False), b._structure, b.data.astype(kind, copy=False)
        )  # fmt: skip
        if name == "multiply":
            structure, data = _pairs.intersection(*operands)
        else:
            structure, data = _pairs.union(name, *operands)
        result = self._class(format)._of(structure, data)
        if name not in ("add", "subtract", "multiply"):
            result.eliminate_zeros()
        return result

    def _sum_with(self, name: str, other, swapped: bool = False):
        if is_number(other):
            if other == 0:
                return -self if swapped and name == "subtract" else self.copy()
            raise NotImplementedError("adding a number that is not 0 gives a dense matrix: use toarray()")  # fmt: skip
        if _is_dense(other):
            dense, other = self.toarray(), asarray(other)
            pair = (other, dense) if swapped else (dense, other)
            return getattr(np, name)(*pair)
        other = as_sparse(other, type(self))
        if other is None:
            return NotImplemented
        return other._with(name, self) if swapped else self._with(name, other)

    def __add__(self, other):
        """The sum with a sparse matrix, which is sparse, or with a dense array, which is dense."""
        return self._sum_with("add", other)

    def __radd__(self, other):
        return self._sum_with("add", other, swapped=True)

    def __sub__(self, other):
        return self._sum_with("subtract", other)

    def __rsub__(self, other):
        return self._sum_with("subtract", other, swapped=True)

    def __mul__(self, other):
        """The product of each element with a number, or with the element of another matrix or of a dense array."""
        return self._scaled(other) if is_number(other) else self.multiply(other)

    __rmul__ = __mul__

    def multiply(self, other):
        """Multiply by the elements of a sparse matrix, of a dense array that broadcasts to this shape, or by a number.

        The result is sparse.

        >>> sparse.csr_array([[1, 2], [0, 3]]).multiply(gpuarray.array([10, 100])).toarray()
        array([[ 10, 200],
               [  0, 300]])
        """
        if is_number(other):
            return self._scaled(other)
        if _is_dense(other):
            return self._times_elements(asarray(other))
        other = as_sparse(other, type(self))
        if other is None:
            raise TypeError("multiply() expects a matrix, an array or a number")
        return self._with("multiply", other)

    @on_own_device
    def _times_elements(self, dense):
        pairs = zip(dense.shape[::-1], self.shape[::-1], strict=False)
        if dense.ndim > 2 or any(one not in (1, whole) for one, whole in pairs):
            raise ValueError(f"an array of shape {dense.shape} does not broadcast to {self.shape}")  # fmt: skip
        matrix = self.tocoo()
        dense = broadcast_to(dense, self.shape)
        kind = np.result_type(self.dtype, dense.dtype)
        if matrix.nnz == 0:
            return self.astype(kind)
        data = matrix.data * dense[matrix.row, matrix.col]
        return matrix._with_data(data).asformat(self.format)

    def _extreme(self, name: str, other):
        if is_number(other):
            if (other > 0) if name == "maximum" else (other < 0):
                raise NotImplementedError(f"the {name} with {other} gives a dense matrix: use toarray()")  # fmt: skip
            result = self._canonical()
            result = result._with_data(getattr(np, name)(result.data, self.dtype.type(other)))  # fmt: skip
            result.eliminate_zeros()
            return result
        if _is_dense(other):
            return getattr(np, name)(self.toarray(), asarray(other))
        other = as_sparse(other, type(self))
        if other is None:
            raise TypeError(f"{name}() expects a matrix, an array or a number")
        return self._with(name, other)

    def maximum(self, other):
        """Take the larger one of each two elements. Returns a sparse matrix.

        other: a sparse matrix of the same shape, or a number of at most 0: a larger number would make a dense matrix, and
          raises NotImplementedError.

        >>> a = sparse.csr_array(np.array([[1.0, 0.0], [-2.0, 3.0]]))
        >>> a.maximum(0).toarray()
        array([[1., 0.],
               [0., 3.]])
        """
        return self._extreme("maximum", other)

    def minimum(self, other):
        """Take the smaller one of each two elements. Returns a sparse matrix.

        other: a sparse matrix of the same shape, or a number of at least 0: a smaller number would make a dense matrix, and
          raises NotImplementedError.

        >>> a = sparse.csr_array(np.array([[1.0, 0.0], [-2.0, 3.0]]))
        >>> a.minimum(0).toarray()
        array([[ 0.,  0.],
               [-2.,  0.]])
        """
        return self._extreme("minimum", other)

    def _compared(self, name: str, other):
        other = as_sparse(other, type(self))
        if other is None:
            raise NotImplementedError(f"{name} compares two sparse matrices; use toarray() for others")  # fmt: skip
        return self._with(name, other)

    def __ne__(self, other):
        """A matrix of bool that is True where two sparse matrices differ."""
        return self._compared("not_equal", other)

    def __lt__(self, other):
        return self._compared("less", other)

    def __gt__(self, other):
        return self._compared("greater", other)

    def __eq__(self, other):
        raise NotImplementedError("the result of == would be dense: use (a != b).nnz == 0, or toarray()")  # fmt: skip

    __hash__ = object.__hash__
