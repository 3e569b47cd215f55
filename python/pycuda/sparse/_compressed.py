"""Matrices in CSR (by rows) and in CSC (by columns)."""

from __future__ import annotations

import numpy as np

from pycuda._driver import ArrayBase
from pycuda.arrays.indexing.items import take_known
from pycuda.gpuarray import GPUArray, arange, empty, flatnonzero
from pycuda.sparse import _host, _library, _pairs, _products
from pycuda.sparse._arithmetic import Arithmetic
from pycuda.sparse._base import MatrixMeaning, Sparse, check_device
from pycuda.sparse._indexing import Indexing
from pycuda.sparse._kernels import INDEX, new_indices, on_own_device
from pycuda.sparse._sources import Foreign, dense_of, extent_of, foreign, is_pair, typed
from pycuda.sparse._structure import Structure, check_shape, index_array, starts_of


class Compressed(Indexing, Arithmetic):
    """The common base of :class:`csr_array` and :class:`csc_array`.

    Elements are stored row by row (CSC: column by column). Element ``k`` of row ``i`` is ``data[k]`` in column
    ``indices[k]``, for ``k`` from ``indptr[i]`` to ``indptr[i + 1] - 1``.
    """

    _by_columns = False
    _structure: Structure

    @on_own_device
    def __init__(self, arg1, shape=None, dtype=None, copy: bool = False) -> None:
        dtype = None if dtype is None else np.dtype(dtype)
        if is_pair(arg1):
            self._set_empty(check_shape(arg1), np.float64 if dtype is None else dtype)
            return
        arg1 = foreign(arg1)
        if isinstance(arg1, Foreign) and arg1.format != self.format:
            arg1 = self._class(arg1.format)(arg1)
        if isinstance(arg1, Foreign) and shape is None:
            shape = arg1.shape
        if isinstance(arg1, tuple) and len(arg1) == 3:
            self._set_arrays(arg1, shape, dtype, copy)
            return
        if isinstance(arg1, tuple) and len(arg1) == 2:
            matrix = self._class("coo")(arg1, shape, dtype).asformat(self.format)
        elif isinstance(arg1, Sparse):
            matrix = arg1.asformat(self.format, copy)
        else:
            matrix = self._class("csr")._of_dense(dense_of(arg1, dtype)).asformat(self.format)  # fmt: skip
        if shape is not None and check_shape(shape) != matrix.shape:
            raise ValueError(f"the matrix has shape {matrix.shape}, not {tuple(shape)}")
        self._set(matrix._structure, matrix.data if dtype is None else matrix.data.astype(dtype, copy=False))  # fmt: skip

    def _set(self, structure: Structure, data: GPUArray) -> None:
        _products.check_number(data.dtype)
        extents = (structure.major, structure.minor)
        self._shape = extents[::-1] if self._by_columns else extents
        self._structure = structure
        self._data = data

    def _set_empty(self, shape, dtype) -> None:
        major, minor = shape[::-1] if self._by_columns else shape
        starts = GPUArray(major + 1, INDEX).fill(0)
        self._set(Structure(starts, new_indices(0), major, minor, (True, True)), empty(0, dtype))  # fmt: skip

    def _set_arrays(self, arrays, shape, dtype, copy) -> None:
        """Initialise from (data, indices, indptr)."""
        data = typed(arrays[0], dtype, copy)
        indices = index_array(arrays[1], "indices", np.iinfo(INDEX).max)
        starts = index_array(arrays[2], "indptr", np.iinfo(INDEX).max)
        if copy:
            indices, starts = (one.copy() if one is given else one for one, given in zip((indices, starts), arrays[1:], strict=True))  # fmt: skip
        if starts.size == 0:
            raise ValueError("indptr must have at least one element")
        if indices.shape != data.shape:
            raise ValueError(f"data and indices must have the same shape, not {data.shape} and {indices.shape}")  # fmt: skip
        if shape is None:
            extents = (starts.size - 1, extent_of(indices))
        else:
            shape = check_shape(shape)
            extents = shape[::-1] if self._by_columns else shape
        self._set(Structure.checked(starts, indices, *extents), data)

    @classmethod
    def _of(cls, structure: Structure, data: GPUArray):
        matrix = cls.__new__(cls)
        matrix._set(structure, data)
        return matrix

    @classmethod
    def _of_dense(cls, dense: ArrayBase):
        """A matrix by rows, from an array with two axes."""
        places = flatnonzero(dense)
        rows, columns = divmod(places, dense.shape[1]) if places.size else (places, places)  # fmt: skip
        structure = Structure(
            starts_of(rows.astype(INDEX), dense.shape[0]), columns.astype(INDEX), *dense.shape, (True, True)
        )  # fmt: skip
        return cls._of(structure, take_known(dense._ravel(), places))

    @property
    def _anchor(self) -> ArrayBase:
        return self._structure.starts

    def _with_data(self, data: GPUArray):
        return self._of(self._structure, data)

    @property
    def indices(self) -> GPUArray:
        """The column of each element (CSC: the row): a device vector of :attr:`nnz` int32.

        Do not change the vector: several matrices may share it.
        """
        return self._structure.columns

    @property
    def indptr(self) -> GPUArray:
        """The index pointers: a device vector of int32, with one element more than the matrix has rows (CSC: columns).

        The elements of row ``i`` are ``data[indptr[i]:indptr[i + 1]]``. Do not change the vector: several matrices may share it.
        """
        return self._structure.starts

    @property
    def has_sorted_indices(self) -> bool:
        """Whether the indices rise in each row (CSC: column), a bool; duplicates are allowed."""
        return self._structure.is_sorted

    @property
    def has_canonical_format(self) -> bool:
        """Whether the indices are sorted and distinct in each row (CSC: column), a bool."""
        return self._structure.is_canonical

    def _product(self, dense: ArrayBase, out):
        check_device(self, dense)
        return _products.times_dense(self._structure, self._data, self._by_columns, dense, out)  # fmt: skip

    def _on_host(self, cls):
        arrays = tuple(one.get() for one in (self._data, self.indices, self.indptr))
        return cls(arrays, shape=self.shape)

    # Conversions.

    @on_own_device
    def copy(self):
        """Return a copy of the matrix with copies of all arrays: data, indices and index pointers."""
        old = self._structure
        structure = Structure(
            old.starts.copy(), old.columns.copy(), old.major, old.minor, old.order
        )  # fmt: skip
        return self._of(structure, self._data.copy())

    def transpose(self, axes=None, copy: bool = False):
        """Transpose: CSR gives CSC, and CSC gives CSR, with the same arrays.

        axes: None or (1, 0). copy: True copies the arrays.

        >>> sparse.csr_array([[1, 2]]).transpose().shape
        (2, 1)
        """
        source = self._to_transpose(axes, copy)
        other = "csr" if self._by_columns else "csc"
        return self._class(other)._of(source._structure, source._data)

    @on_own_device
    def _converted(self, format: str):
        for one in (_library, _host):
            made = one.transpose(self._structure, self._data)
            if made is not None:
                return self._class(format)._of(*made)
        structure, order = self._structure.transposed()
        data = take_known(self._data, order) if order.size else self._data.copy()
        return self._class(format)._of(structure, data)

    def tocsr(self, copy: bool = False):
        """Convert the matrix to CSR. Elements of one row keep their order, and duplicates stay.

        copy: False returns a CSR matrix itself; True copies it.

        >>> sparse.csc_array(np.array([[1.0, 0.0], [2.0, 3.0]])).tocsr().indptr
        array([0, 1, 3], dtype=int32)
        """
        if self.format == "csr":
            return self.copy() if copy else self
        return self._converted("csr")

    def tocsc(self, copy: bool = False):
        """Convert the matrix to CSC. Elements of one column keep their order, and duplicates stay.

        copy: False returns a CSC matrix itself; True copies it.

        >>> sparse.csr_array(np.array([[1.0, 0.0], [2.0, 3.0]])).tocsc().indptr
        array([0, 2, 3], dtype=int32)
        """
        if self.format == "csc":
            return self.copy() if copy else self
        return self._converted("csc")

    @on_own_device
    def tocoo(self, copy: bool = True):
        """Convert the matrix to COO. Elements keep their order, and duplicates stay.

        copy: False shares the elements and one of the two arrays of indices with this matrix.

        >>> sparse.csr_array(np.array([[1.0, 0.0], [2.0, 3.0]])).tocoo().row
        array([0, 1, 1], dtype=int32)
        """
        major, minor = self._structure.rows(), self.indices
        data = self._data.copy() if copy else self._data
        minor = minor.copy() if copy else minor
        pair = (minor, major) if self._by_columns else (major, minor)
        in_order = not self._by_columns
        return self._class("coo")._of(
            pair, data, self.shape, in_order and self.has_sorted_indices,
            in_order and self.has_canonical_format,
        )  # fmt: skip

    # Operations that change the matrix.

    @on_own_device
    def sort_indices(self) -> None:
        """Sort the elements of each row (CSC: column) by their indices, in place. Elements with equal indices keep their order.

        Does nothing if the indices are sorted. :attr:`data` and :attr:`indices` are new arrays otherwise.

        >>> a = sparse.csr_array((np.float64([1, 2]), np.int32([1, 0]), np.int32([0, 2])))
        >>> a.sort_indices()
        >>> a.indices, a.data
        (array([0, 1], dtype=int32), array([2., 1.]))
        """
        structure, order = self._structure.in_order()
        if order is not None:
            self._set(structure, take_known(self._data, order))

    def sorted_indices(self):
        """Return a copy of the matrix with sorted indices.

        :meth:`sort_indices` sorts in place.
        """
        matrix = self.copy()
        matrix.sort_indices()
        return matrix

    @on_own_device
    def sum_duplicates(self) -> None:
        """Add up duplicates in their order, and sort the indices.

        >>> a = sparse.csr_array((np.float64([1, 2]), np.int32([0, 0]), np.int32([0, 2])))
        >>> a.sum_duplicates()
        >>> a.data
        array([3.])
        """
        if self.has_canonical_format:
            return
        self.sort_indices()
        old = self._structure
        if old.is_canonical:
            return
        extents = (old.major, old.minor)
        rows, columns, data = _products.summed(
            old.rows(), old.columns, self._data, extents, is_sorted=True
        )
        self._set(Structure(starts_of(rows, old.major), columns, *extents, (True, True)), data)  # fmt: skip

    @on_own_device
    def eliminate_zeros(self) -> None:
        """Drop stored elements that are 0, in place. Waits for the device, because the host must know the number of remaining elements.

        >>> a = sparse.csr_array(np.array([[1.0, 0.0], [2.0, 3.0]]))
        >>> a.data[0] = 0
        >>> a.eliminate_zeros()
        >>> a.nnz
        2
        """
        if self.nnz == 0:
            return
        places = flatnonzero(self._data)
        if places.size < self.nnz:
            self._set(self._structure.chosen(places), take_known(self._data, places))

    # Parts.

    @on_own_device
    def diagonal(self, k: int = 0) -> GPUArray:
        """Return the elements of a diagonal as a vector.

        k: the number of the diagonal; numbers above the main diagonal are positive. Raises ValueError if it is outside the matrix.

        >>> sparse.csr_array([[1, 2], [0, 3]]).diagonal()
        array([1, 3])
        """
        height, width = self.shape
        if k <= -height or k >= width:
            if k == 0:
                return empty(0, self.dtype)
            raise ValueError(f"diagonal {k} is outside a matrix of shape {self.shape}")  # fmt: skip
        count = min(height + min(k, 0), width - max(k, 0))
        first = arange(count, dtype=INDEX)
        rows, columns = first + np.int32(max(-k, 0)), first + np.int32(max(k, 0))
        pair = (columns, rows) if self._by_columns else (rows, columns)
        matrix = self._canonical()
        return _pairs.look_up(matrix._structure, matrix._data, *pair)


class csr_array(Compressed):
    """A matrix in compressed sparse rows; ``*`` multiplies elements, ``@`` matrices.

    arg1: one of
        - a dense array of two axes, of the device or the host;
        - a sparse matrix of any format, also SciPy's or CuPy's;
        - ``(rows, columns)``, for a matrix without elements;
        - ``(data, (row, col))``: the elements with their rows and columns; duplicates are added up;
        - ``(data, indices, indptr)``: row i has the columns ``indices[indptr[i]:indptr[i + 1]]``.
    shape: the extents, by default as large as the indices require.
    dtype: the type of the elements: bool, integers, float32, float64, complex64, complex128. By default the type
        of the operand.
    copy: whether the matrix may not share the operand's arrays.

    Indices are int32; other integers are converted. Raises ValueError for indices that do not fit or that are outside
    the matrix. Operations whose results have the same indices share the arrays of indices.

    >>> a = sparse.csr_array((np.float32([1, 2, 3]), np.int32([0, 1, 1]), np.int32([0, 2, 3])))
    >>> a @ gpuarray.array([1, 10], np.float32)
    array([21., 30.], dtype=float32)
    """

    format = "csr"


class csc_array(Compressed):
    """A matrix in compressed sparse columns; the parameters are those of :class:`csr_array`, with rows for columns.

    The first product with a vector computes the order of the elements by rows, and stores it (8 bytes for each element);
    all matrices with these indices use it.

    >>> sparse.csc_array([[1, 0], [2, 3]]).indices
    array([0, 1, 1], dtype=int32)
    """

    format = "csc"
    _by_columns = True


class csr_matrix(MatrixMeaning, csr_array):
    """As :class:`csr_array`, but ``*`` and ``**`` are products of matrices, and sums along an axis have two axes.

    >>> (sparse.csr_matrix([[1, 2], [0, 3]]) ** 2).toarray()
    array([[1, 8],
           [0, 9]])
    """


class csc_matrix(MatrixMeaning, csc_array):
    """As :class:`csc_array`, but ``*`` and ``**`` are products of matrices, and sums along an axis have two axes.

    >>> (sparse.csc_matrix([[1, 2], [0, 3]]) * gpuarray.array([1, 1]))
    array([3, 3])
    """
