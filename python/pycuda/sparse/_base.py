"""The common base of matrices of all formats."""

from __future__ import annotations

import operator

import numpy as np

from pycuda import _driver
from pycuda._driver import ArrayBase
from pycuda.gpuarray import GPUArray, asarray
from pycuda.sparse import _products
from pycuda.sparse._foreign import of_device
from pycuda.sparse._kernels import on_own_device
from pycuda.sparse._structure import identity_structure

# The public classes, by format and by whether * is the product of matrices.
CLASSES: dict[tuple[str, bool], type] = {}


def is_number(value) -> bool:
    """Whether a value is a number, or an array of one element without axes."""
    if isinstance(value, (bool, int, float, complex, np.number, np.bool_)):
        return True
    return isinstance(value, (ArrayBase, np.ndarray)) and value.shape == ()


def _check_not_number(operand) -> None:
    if is_number(operand):
        raise ValueError("@ expects a matrix or a vector; multiply by a number with *")


def _elementwise(name: str):
    def method(self):
        matrix = self._canonical()
        return matrix._with_data(getattr(np, name)(matrix.data))

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"Apply ``numpy.{name}``, which maps 0 to 0, to each element: a new matrix. Duplicates are added up first."
    return method


class Sparse:
    """A sparse matrix on the device, of any format. Programs make an object of a subclass, such as :class:`csr_array`.

    Names and meaning are those of SciPy's sparse arrays. Operators: ``@`` is the product of matrices, ``*`` with a number
    scales, ``*`` with a matrix multiplies element by element (the product of matrices for classes with the name
    ``_matrix``), ``+``, ``-`` and comparisons take sparse matrices. Operations return before the device is done, unless
    their description says that they wait. Elements are bool, integers, float32, float64, complex64 or complex128; indices
    are int32.

    >>> a = sparse.csr_array(np.array([[1.0, 0.0], [2.0, 3.0]]))
    >>> a @ gpuarray.array([1.0, 1.0])
    array([1., 5.])
    """

    ndim = 2
    format = ""
    __array_ufunc__ = None  # operators of NumPy's numbers and arrays call this class
    __array_priority__ = 11.0
    _is_matrix = False
    _shape: tuple[int, int]
    _data: GPUArray

    # The interface that each format implements.

    def _rows(self):
        """(structure, data, order) by rows, where element k is ``data[k]``, or ``data[order[k]]``."""
        raise NotImplementedError

    def _with_data(self, data: GPUArray):
        """A matrix with the same structure and other elements."""
        raise NotImplementedError

    @property
    def _anchor(self) -> ArrayBase:
        """An array on the device of the matrix; it is never empty."""
        raise NotImplementedError

    def __init_subclass__(cls, **options) -> None:
        super().__init_subclass__(**options)
        if cls.__name__ == f"{cls.format}_{'matrix' if cls._is_matrix else 'array'}":
            CLASSES[cls.format, cls._is_matrix] = cls

    def _class(self, format: str) -> type:
        """The class of a format, with the same meaning of ``*`` as this class."""
        return CLASSES[format, self._is_matrix]

    # Attributes.

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns: a tuple of two ints."""
        return self._shape

    @property
    def data(self) -> GPUArray:
        """The stored elements, a device vector of :attr:`nnz` numbers.

        The vector may be changed in place. Another vector of the same length may be assigned; another shape raises ValueError.
        """
        return self._data

    @data.setter
    def data(self, values) -> None:
        values = asarray(values)
        if values.shape != (self.nnz,):
            raise ValueError(f"data must have shape {(self.nnz,)}, not {values.shape}")
        _products.check_number(values.dtype)
        self._data = values

    @property
    def dtype(self) -> np.dtype:
        """The type of the elements."""
        return self._data.dtype

    @property
    def nnz(self) -> int:
        """The number of stored elements, an int.

        Stored zeros and duplicates count. :meth:`count_nonzero` counts elements that are not 0.

        >>> sparse.csr_array(np.array([[1.0, 0.0], [2.0, 3.0]])).nnz
        3
        """
        return self._data.size

    @property
    def size(self) -> int:
        """The number of stored elements, an int: the same number as :attr:`nnz`."""
        return self.nnz

    @property
    def T(self):
        """The transposed matrix. It shares the elements and the indices with this matrix.

        A CSR matrix gives a CSC matrix, a CSC matrix a CSR matrix, and COO a COO matrix.

        >>> sparse.csr_array(np.array([[1.0, 0.0], [2.0, 3.0]])).T.format
        'csc'
        """
        return self.transpose()

    @property
    def H(self):
        """The conjugate transpose: the transposed matrix with conjugated copies of the elements.

        It shares the indices with this matrix.

        >>> sparse.csr_array(np.array([[1j, 2.0]])).H.toarray()
        array([[0.-1.j],
               [2.-0.j]])
        """
        return self.transpose().conj()

    @property
    def real(self):
        """The real parts of the elements: a matrix that shares the indices with this matrix.

        For a real matrix the result shares the elements, too.
        """
        return self._with_data(self.data.real)

    @property
    def imag(self):
        """The imaginary parts of the elements: a matrix that shares the indices with this matrix.

        For a real matrix the result stores a zero for each stored element.
        """
        return self._with_data(self.data.imag)

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} of {self.nnz} stored elements, shape {self.shape}, "
            f"dtype {self.dtype}, on the device>"
        )

    def __len__(self):
        raise TypeError("the length of a sparse matrix is ambiguous: use shape[0] or nnz")  # fmt: skip

    def __bool__(self) -> bool:
        if self.shape == (1, 1):
            return self.nnz != 0
        raise ValueError("the truth value of a sparse matrix is ambiguous: use nnz")

    def __iter__(self):
        return (self[row] for row in range(self.shape[0]))

    # Conversions.

    def _canonical(self):
        """This matrix without duplicates; the matrix itself if it has none."""
        if self.has_canonical_format:
            return self
        result = self.copy()
        result.sum_duplicates()
        return result

    def _to_transpose(self, axes, copy: bool):
        """The matrix whose arrays a transpose shares: itself, or a copy. Raises ValueError for other axes."""
        if axes is not None and tuple(axes) != (1, 0):
            raise ValueError(f"axes must be None or (1, 0), not {axes!r}")
        return self.copy() if copy else self

    def asformat(self, format: str | None, copy: bool = False):
        """Convert to ``"csr"``, ``"csc"`` or ``"coo"``; None keeps the format. Raises ValueError for another format.

        copy: whether the result may not share arrays with this matrix.
        """
        if format is None or format == self.format:
            return self.copy() if copy else self
        if format not in ("csr", "csc", "coo"):
            raise ValueError(f"format must be 'csr', 'csc' or 'coo', not {format!r}")
        return getattr(self, f"to{format}")(copy=copy)

    def get(self, stream=None):
        """Copy to the host. Returns SciPy's matrix of the same format. Raises ImportError without SciPy.

        stream: the stream of the copies, by default the current one.
        """
        import scipy.sparse

        cls = getattr(scipy.sparse, f"{self.format}_{'matrix' if self._is_matrix else 'array'}")  # fmt: skip
        with _driver._Work(stream):
            return self._on_host(cls)

    @on_own_device
    def toarray(self, order: str = "C") -> GPUArray:
        """Convert to a dense array; elements stored several times are added up.

        order: "C" or "F".

        >>> sparse.eye(2).toarray()
        array([[1., 0.],
               [0., 1.]])
        """
        if order not in ("C", "F"):
            raise ValueError(f'order must be "C" or "F", not {order!r}')
        dense = GPUArray(self.shape, self.dtype, order=order).fill(0)
        if self.nnz == 0:
            return dense
        matrix = self.tocoo()._canonical()
        rows, columns = matrix.row.astype(np.int64), matrix.col
        if order == "C":
            dense._ravel()[rows * self.shape[1] + columns] = matrix.data
        else:
            dense.T._ravel()[columns.astype(np.int64) * self.shape[0] + rows] = matrix.data  # fmt: skip
        return dense

    todense = toarray

    def astype(self, dtype, copy: bool = True):
        """Convert the elements to another type; ``copy=False`` returns the matrix itself if it has that type.

        >>> sparse.eye(2).astype(np.complex64).dtype
        dtype('complex64')
        """
        dtype = np.dtype(dtype)
        _products.check_number(dtype)
        if dtype == self.dtype:
            return self.copy() if copy else self
        return self._with_data(self.data.astype(dtype))

    def conj(self, copy: bool = True):
        """Conjugate the elements. Returns a matrix of the same format and places.

        copy: False returns a real matrix itself; by default a real matrix is copied.

        >>> sparse.csr_array(np.array([[1j, 0.0]])).conj().toarray()
        array([[0.-1.j, 0.+0.j]])
        """
        if self.dtype.kind != "c":
            return self.copy() if copy else self
        return self._with_data(self.data.conj())

    conjugate = conj

    # Arithmetic with numbers.

    def __neg__(self):
        return self._with_data(-self.data)

    def __abs__(self):
        matrix = self._canonical()
        return matrix._with_data(abs(matrix.data))

    def _scaled(self, number):
        return self._with_data(self.data * number)

    def __truediv__(self, other):
        """Divide each element by a number, or by the element of a dense array; the latter gives a dense array."""
        if is_number(other):
            return self._with_data(self.data / other)
        if isinstance(other, (ArrayBase, np.ndarray)):
            return self.multiply(1 / asarray(other))
        return NotImplemented

    def power(self, n, dtype=None):
        """Raise each element to the power ``n``, which is a number above 0. Duplicates are added up first.

        dtype: the type of the result, by default derived from the elements' type. Raises ValueError for ``n`` of 0 or less,
        which would make a dense matrix.

        >>> (3 * sparse.eye(2)).power(2).data
        array([9., 9.])
        """
        if not is_number(n):
            raise NotImplementedError(f"the power of a matrix must be a number, not {type(n).__name__}")  # fmt: skip
        if not n > 0:
            raise ValueError(f"n must be above 0, not {n}: the result would be dense")
        matrix = self._canonical()
        matrix = matrix if dtype is None else matrix.astype(dtype)
        return matrix._with_data(matrix.data**n)

    # Products.

    @on_own_device
    def _times_dense(self, dense: ArrayBase, out=None) -> GPUArray:
        if dense.ndim not in (1, 2):
            raise ValueError(f"the operand must have one or two axes, not {dense.ndim}")
        if dense.shape[0] != self.shape[1]:
            raise ValueError(
                f"a matrix of shape {self.shape} cannot be multiplied by an array of shape {dense.shape}: "
                f"{self.shape[1]} columns, {dense.shape[0]} rows"
            )
        if out is not None and (out.shape != (self.shape[0], *dense.shape[1:]) or not out._c_contiguous):  # fmt: skip
            raise ValueError(f"out must be C-contiguous, of shape {(self.shape[0], *dense.shape[1:])}")  # fmt: skip
        if out is not None:
            _driver._array_require_writable(out, "out")
        return self._product(dense, out)

    def __matmul__(self, other):
        if isinstance(other, Sparse):
            return self._times_sparse(other)
        _check_not_number(other)
        if isinstance(other, ArrayBase):
            return self._times_dense(other)
        other = of_device(other)
        if isinstance(other, (ArrayBase, np.ndarray, list, tuple)):
            return self._times_dense(asarray(other))
        other = as_sparse(other, type(self))
        return NotImplemented if other is None else self._times_sparse(other)

    def __rmatmul__(self, other):
        _check_not_number(other)
        if isinstance(other, (ArrayBase, np.ndarray, list, tuple)):
            other = asarray(other)
            return self.transpose()._times_dense(other.T).T
        other = as_sparse(other, type(self))
        return NotImplemented if other is None else other._times_sparse(self)

    def dot(self, other):
        """The product with a matrix or a vector, like ``@``; a number scales the matrix.

        >>> (2 * sparse.eye(2)).dot(gpuarray.array([1.0, 3.0]))
        array([2., 6.])
        """
        return self._scaled(other) if is_number(other) else self @ other

    @on_own_device
    def _times_sparse(self, other: Sparse):
        if self.shape[1] != other.shape[0]:
            raise ValueError(
                f"a matrix of shape {self.shape} cannot be multiplied by one of shape {other.shape}: "
                f"{self.shape[1]} columns, {other.shape[0]} rows"
            )
        check_device(self, other)
        kind = np.result_type(self.dtype, other.dtype)
        if self.format == other.format == "csc":  # A B is the transpose of B^T A^T
            return other.transpose()._times_sparse(self.transpose()).transpose()
        a, b = self.tocsr(), other.tocsr()
        structure, data = _products.times_sparse(
            a._structure, a.data.astype(kind, copy=False), b._structure, b.data.astype(kind, copy=False)
        )  # fmt: skip
        return self._class("csr")._of(structure, data)

    def __pow__(self, n):
        """``A ** n``: for ``csr_array`` and similar classes, of each element; for ``csr_matrix``, the matrix power."""
        return self.power(n)

    # Reductions.

    @on_own_device
    def sum(self, axis=None, dtype=None):
        """Add up all elements, or those along an axis.

        axis: 0 adds the rows: an array (columns,), for ``csr_matrix`` and similar classes (1, columns). 1 adds the columns:
            (rows,) or (rows, 1). None adds all elements: an array without axes.
        dtype: the type of the result, by default that of the elements; integers are added as int64 or uint64.

        >>> sparse.csr_array([[1, 2], [0, 3]]).sum(axis=0)
        array([1, 5])
        """
        if axis not in (None, 0, 1, -1, -2):
            raise ValueError(f"axis must be None, 0, 1, -1 or -2, not {axis!r}")
        kind = np.dtype(dtype) if dtype is not None else self.dtype
        if dtype is None and kind.kind in "biu":
            kind = np.dtype(np.uint64 if kind.kind == "u" else np.int64)
        if axis is None:
            return self.data.sum(dtype=kind)
        along = axis % 2
        matrix = self.transpose() if along == 0 else self
        ones = GPUArray(matrix.shape[1], kind).fill(1)
        result = matrix.astype(kind, copy=False)._times_dense(ones)
        if self._is_matrix:
            return result.reshape(1, -1) if along == 0 else result.reshape(-1, 1)
        return result

    def mean(self, axis=None, dtype=None):
        """Return the mean of all elements, including those that are not stored, or of those along an axis; see :meth:`sum`.

        Integers give float64.

        >>> sparse.csr_array([[1, 2], [0, 3]]).mean(axis=0)
        array([0.5, 2.5])
        """
        kind = np.dtype(dtype) if dtype is not None else self.dtype
        if dtype is None and kind.kind in "biu":
            kind = np.dtype(np.float64)
        count = self.shape[0] * self.shape[1] if axis is None else self.shape[axis % 2]
        if count == 0:
            raise ZeroDivisionError(f"the mean of no elements is not defined: the shape is {self.shape}")  # fmt: skip
        return self.sum(axis, kind) / kind.type(count)

    def trace(self, offset: int = 0):
        """Add up the elements of a diagonal. Returns an array without axes.

        offset: which diagonal: 0 is the main one, positive ones are above it.

        >>> sparse.csr_array(np.array([[1.0, 0.0], [2.0, 3.0]])).trace()
        array(4.)
        """
        return self.diagonal(offset).sum()

    def count_nonzero(self) -> int:
        """Count the elements that are not 0, an int. Duplicates are added up first. Waits for the device.

        >>> a = sparse.csr_array(np.array([[1.0, 0.0], [2.0, 3.0]]))
        >>> a.data[0] = 0
        >>> a.nnz, a.count_nonzero()
        (3, 2)
        """
        matrix = self._canonical()
        return int((matrix.data != 0).sum(dtype=np.int64).get()) if matrix.nnz else 0


for _name in (
    "sqrt", "sin", "tan", "arcsin", "arctan", "sinh", "tanh", "arcsinh", "arctanh", "expm1", "log1p", "sign",
    "floor", "ceil", "trunc", "rint", "deg2rad", "rad2deg",
):  # fmt: skip
    setattr(Sparse, _name, _elementwise(_name))


class MatrixMeaning:
    """The difference between ``csr_matrix`` and ``csr_array``: ``*`` and ``**`` are products of matrices."""

    _is_matrix = True

    def __mul__(self, other):
        return self._scaled(other) if is_number(other) else self @ other

    def __rmul__(self, other):
        return self._scaled(other) if is_number(other) else other @ self

    def __pow__(self, n):
        """The matrix power with ``n`` factors; ``n`` is an integer of at least 0."""
        n = operator.index(n)
        if self.shape[0] != self.shape[1]:
            raise TypeError(f"the power needs a square matrix, not shape {self.shape}")  # fmt: skip
        if n < 0:
            raise ValueError(f"the power must be at least 0, not {n}")
        ones = GPUArray(self.shape[0], self.dtype).fill(1)
        one = self._class("csr")._of(identity_structure(self.shape[0]), ones)
        result = one.asformat(self.format)
        factor = self
        while n:
            if n & 1:
                result = result @ factor
            n >>= 1
            if n:
                factor = factor @ factor
        return result

    def getnnz(self) -> int:
        """The number of stored elements."""
        return self.nnz


def check_device(a, b) -> None:
    """Raises ValueError if two operands are on different devices."""
    devices = [_driver._array_device(getattr(one, "_anchor", one)) for one in (a, b)]
    if devices[0] != devices[1]:
        raise ValueError(
            f"the operands are on different devices, {devices[0]} and {devices[1]}"
        )


def as_sparse(value, cls: type):
    """Convert a sparse matrix of SciPy or CuPy to ``cls``. Returns PyCUDA's matrices unchanged, and None for other objects."""
    if isinstance(value, Sparse):
        return value
    return cls(value) if hasattr(value, "tocsr") and hasattr(value, "nnz") else None
