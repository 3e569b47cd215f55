"""Matrices in COO: each element with its row and its column."""

from __future__ import annotations

import numpy as np

from pycuda._driver import ArrayBase
from pycuda.arrays.indexing.items import take_known
from pycuda.gpuarray import GPUArray, empty, flatnonzero
from pycuda.sparse import _host, _kernels, _products
from pycuda.sparse._arithmetic import Arithmetic
from pycuda.sparse._base import MatrixMeaning, Sparse, check_device
from pycuda.sparse._kernels import INDEX, new_indices, on_own_device
from pycuda.sparse._sources import (
    dense_of,
    extent_of,
    foreign,
    is_foreign,
    is_pair,
    typed,
)
from pycuda.sparse._structure import (
    Structure,
    check_shape,
    coordinates_state,
    group,
    index_array,
    starts_of,
)  # fmt: skip


class Coordinates(Arithmetic):
    """The base of :class:`coo_array`: element ``k`` is ``data[k]`` in row ``row[k]`` and column ``col[k]``.

    Elements may have any order. Operations add up duplicates.
    """

    @on_own_device
    def __init__(self, arg1, shape=None, dtype=None, copy: bool = False) -> None:
        dtype = None if dtype is None else np.dtype(dtype)
        if is_foreign(arg1) and getattr(arg1, "format", None) == "coo" and len(arg1.shape) == 2:  # fmt: skip
            if shape is not None and check_shape(shape) != tuple(arg1.shape):
                raise ValueError(f"the matrix has shape {tuple(arg1.shape)}, not {tuple(shape)}")  # fmt: skip
            arg1, shape = (arg1.data, (arg1.row, arg1.col)), arg1.shape
        arg1 = foreign(arg1)
        if is_pair(arg1):
            kind = np.float64 if dtype is None else dtype
            pair = (new_indices(0), new_indices(0))
            self._set(pair, empty(0, kind), check_shape(arg1), True, True)
        elif isinstance(arg1, tuple) and len(arg1) == 2:
            self._set_coordinates(arg1, shape, dtype, copy)
        elif isinstance(arg1, Sparse):
            matrix = arg1.tocoo(copy=copy)
            self._take(matrix, shape, dtype)
        else:
            if isinstance(arg1, tuple) and len(arg1) == 3:
                matrix = self._class(getattr(arg1, "format", "csr"))(
                    arg1, getattr(arg1, "shape", shape)
                )
            else:
                matrix = self._class("csr")._of_dense(dense_of(arg1, dtype))
            self._take(matrix.tocoo(copy=False), shape, dtype)

    def _take(self, matrix, shape, dtype) -> None:
        if shape is not None and check_shape(shape) != matrix.shape:
            raise ValueError(f"the matrix has shape {matrix.shape}, not {tuple(shape)}")
        data = matrix.data if dtype is None else matrix.data.astype(dtype, copy=False)
        self._set(
            (matrix.row, matrix.col), data, matrix.shape, matrix._is_sorted, matrix.has_canonical_format
        )  # fmt: skip

    def _set(self, pair, data, shape, is_sorted: bool, is_canonical: bool) -> None:
        _products.check_number(data.dtype)
        self._pair = pair
        self._data = data
        self._shape = shape
        self._is_sorted = is_sorted
        self._is_canonical = is_canonical
        self._by_rows = None
        self._device = GPUArray(1, INDEX) if data.size == 0 else pair[0]

    def _set_coordinates(self, arrays, shape, dtype, copy) -> None:
        """Initialise from (data, (row, col))."""
        data = typed(arrays[0], dtype, copy)
        try:
            given = tuple(arrays[1])
            rows, columns = (index_array(one, name, np.iinfo(INDEX).max) for one, name in zip(given, ("row", "col"), strict=True))  # fmt: skip
        except TypeError:
            raise TypeError("a matrix by coordinates is made from (data, (row, col))") from None  # fmt: skip
        if copy:
            rows, columns = (mine.copy() if mine is one else mine for mine, one in zip((rows, columns), given, strict=True))  # fmt: skip
        if not rows.shape == columns.shape == data.shape:
            raise ValueError(
                f"row, col and data must have the same length, not {rows.size}, {columns.size} and {data.size}"
            )
        if shape is None:
            if data.size == 0:
                raise ValueError("the shape of a matrix without elements must be given")
            shape = (extent_of(rows), extent_of(columns))
        shape = check_shape(shape)
        state = coordinates_state(rows, columns, shape)
        self._set((rows, columns), data, shape, *state)

    @classmethod
    def _of(cls, pair, data, shape, is_sorted: bool, is_canonical: bool):
        matrix = cls.__new__(cls)
        matrix._set(pair, data, shape, is_sorted, is_canonical)
        return matrix

    @property
    def _anchor(self) -> ArrayBase:
        return self._device

    def _with_data(self, data: GPUArray):
        matrix = self._of(self._pair, data, self._shape, self._is_sorted, self._is_canonical)  # fmt: skip
        matrix._by_rows = self._by_rows
        return matrix

    @property
    def row(self) -> GPUArray:
        """The row of each element: a device vector of :attr:`nnz` int32.

        Do not change the vector: several matrices may share it.
        """
        return self._pair[0]

    @property
    def col(self) -> GPUArray:
        """The column of each element: a device vector of :attr:`nnz` int32.

        Do not change the vector: several matrices may share it.
        """
        return self._pair[1]

    @property
    def coords(self) -> tuple[GPUArray, GPUArray]:
        """The tuple (:attr:`row`, :attr:`col`)."""
        return self._pair

    @property
    def has_canonical_format(self) -> bool:
        """Whether the elements are sorted by row, then by column, without duplicates; a bool."""
        return self._is_canonical

    def _structure_by_rows(self):
        """(structure, order); order is None if it does not change. Duplicates stay."""
        if self._by_rows is None:
            rows, columns = self._pair
            with _kernels.kept_data():
                if self._is_sorted:
                    starts, order = starts_of(rows, self.shape[0]), None
                else:
                    _, order = group(columns, self.shape[1])
                    starts, order = group(rows, self.shape[0], order)
                    columns = take_known(columns, order)
            structure = Structure(starts, columns, *self.shape, (True, self._is_canonical))  # fmt: skip
            self._by_rows = structure, order
        return self._by_rows

    def _product(self, dense: ArrayBase, out):
        check_device(self, dense)
        structure, order = self._structure_by_rows()
        return _products.times_dense(structure, self._data, False, dense, out, order)

    def _on_host(self, cls):
        rows, columns = (one.get() for one in self._pair)
        return cls((self._data.get(), (rows, columns)), shape=self.shape)

    # Conversions.

    @on_own_device
    def copy(self):
        """Return a copy of the matrix with copies of all arrays: data, row and col."""
        pair = tuple(one.copy() for one in self._pair)
        return self._of(pair, self._data.copy(), self.shape, self._is_sorted, self._is_canonical)  # fmt: skip

    def transpose(self, axes=None, copy: bool = False):
        """Transpose: a COO matrix with the same arrays.

        axes: None or (1, 0). copy: True copies the arrays.

        >>> sparse.coo_array([[1, 2]]).transpose().shape
        (2, 1)
        """
        source = self._to_transpose(axes, copy)
        return self._of(source._pair[::-1], source._data, self.shape[::-1], self.nnz < 2, self.nnz < 2)  # fmt: skip

    @on_own_device
    def tocsr(self, copy: bool = False):
        """Convert the matrix to CSR. A stable sort orders the elements by rows, then columns; duplicates are added up.

        copy: False may share arrays with this matrix if it is sorted already.

        >>> rows, columns = np.int32([1, 0, 1]), np.int32([0, 1, 0])
        >>> sparse.coo_array((np.float64([1, 2, 3]), (rows, columns))).tocsr().data
        array([2., 4.])
        """
        if not self._is_sorted and self._by_rows is None:
            made = _host.compress(*self._pair, self._data, self.shape)
            if made is not None:
                return self._class("csr")._of(*made)
        structure, order = self._structure_by_rows()
        data = self._data if order is None else take_known(self._data, order)
        matrix = self._class("csr")._of(structure, data)
        if order is not None and not structure.is_canonical:
            state = coordinates_state(structure.rows(), structure.columns, self.shape)
            structure.order = state
        if not structure.is_canonical:
            matrix.sum_duplicates()
        return matrix.copy() if copy else matrix

    def tocsc(self, copy: bool = False):
        """Convert the matrix to CSC. Elements are sorted by columns, then rows, and duplicates are added up.

        copy: False may share arrays with this matrix.
        """
        return self.transpose().tocsr(copy).transpose()

    def tocoo(self, copy: bool = False):
        """Return the matrix itself.

        copy: True returns a copy with copies of all arrays.
        """
        return self.copy() if copy else self

    # Operations that change the matrix.

    @on_own_device
    def sum_duplicates(self) -> None:
        """Add up duplicates in their order, and sort the elements by rows, then columns.

        >>> a = sparse.coo_array((np.float64([1, 2]), (np.int32([0, 0]), np.int32([1, 1]))))
        >>> a.sum_duplicates()
        >>> a.data
        array([3.])
        """
        if self._is_canonical:
            return
        rows, columns, data = _products.summed(*self._pair, self._data, self.shape, self._is_sorted)  # fmt: skip
        self._set((rows, columns), data, self.shape, True, True)

    @on_own_device
    def eliminate_zeros(self) -> None:
        """Remove stored elements that are 0, in place.

        The call waits for the device, because the host must know the number of remaining elements.
        """
        if self.nnz == 0:
            return
        places = flatnonzero(self._data)
        if places.size < self.nnz:
            pair = tuple(take_known(one, places) for one in self._pair)
            data = take_known(self._data, places)
            self._set(pair, data, self.shape, self._is_sorted, self._is_canonical)

    def diagonal(self, k: int = 0) -> GPUArray:
        """Return a diagonal as a dense vector. Duplicates are added up.

        k: the diagonal: 0 is the main one, a positive number is above it. ValueError outside the matrix.

        >>> sparse.eye(3).tocoo().diagonal()
        array([1., 1., 1.])
        """
        return self.tocsr().diagonal(k)

    def __getitem__(self, key):
        raise TypeError(f"a {type(self).__name__} cannot be indexed: use tocsr()[...]")  # fmt: skip


class coo_array(Coordinates):
    """A matrix by coordinates: each element with its row and its column; ``*`` multiplies elements, ``@`` matrices.

    The parameters are those of :class:`csr_array`. Elements of ``(data, (row, col))`` keep their order, and duplicates
    stay; conversions and :meth:`sum_duplicates` add them up.

    The first product computes the order of the elements by rows, and stores it.

    >>> a = sparse.coo_array((np.float32([1, 2]), (np.int32([1, 0]), np.int32([0, 1]))), shape=(2, 2))
    >>> a.toarray()
    array([[0., 2.],
           [1., 0.]], dtype=float32)
    """

    format = "coo"


class coo_matrix(MatrixMeaning, coo_array):
    """As :class:`coo_array`, but ``*`` and ``**`` are products of matrices, and sums along an axis have two axes.

    >>> sparse.coo_matrix([[1, 2]]) * gpuarray.array([1, 1])
    array([3])
    """
