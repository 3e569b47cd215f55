"""Rows, columns and elements of compressed matrices, by index."""

from __future__ import annotations

import operator

import numpy as np

from pycuda._driver import ArrayBase
from pycuda.arrays.indexing.items import take_known
from pycuda.gpuarray import (
    GPUArray,
    arange,
    asarray,
    concatenate,
    cumsum,
    flatnonzero,
    to_gpu,
    zeros,
)
from pycuda.sparse import _pairs
from pycuda.sparse._kernels import (
    INDEX,
    check_count,
    for_each,
    kernel,
    new_indices,
    on_own_device,
)
from pycuda.sparse._structure import Structure


def _number(index: int, extent: int) -> int:
    """The number of a row or column, which may count from the end. Raises IndexError if it is out of bounds."""
    if not -extent <= index < extent:
        raise IndexError(f"index {index} is out of bounds for an extent of {extent}")
    return index + extent if index < 0 else index


def _is_integer(value) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, (ArrayBase, np.ndarray, bool))  # fmt: skip


def _chosen(index, extent: int):
    """An index of one axis: a range with step 1, or an array of int32 on the device."""
    if _is_integer(index):
        first = _number(operator.index(index), extent)
        return range(first, first + 1)
    if isinstance(index, slice):
        found = range(*index.indices(extent))
        if found.step == 1 or len(found) < 2:
            return range(found.start, found.start + len(found))
        return arange(found.start, found.stop, found.step, dtype=INDEX)
    array = asarray(index)
    if array.ndim != 1:
        raise IndexError(f"an index of rows or columns must be a vector, not an array of shape {array.shape}")  # fmt: skip
    if array.dtype == bool:
        if array.size != extent:
            raise IndexError(f"a mask of {array.size} elements does not fit an extent of {extent}")  # fmt: skip
        return flatnonzero(array).astype(INDEX)
    if array.size == 0:
        return new_indices(0)
    if array.dtype.kind not in "iu":
        raise IndexError(f"indices must be integers or bool, not {array.dtype}")
    low, high = int(array.min().get()), int(array.max().get())
    for one in (low, high):
        _number(one, extent)
    array = array.astype(np.int64)
    return (np.where(array < 0, array + extent, array) if low < 0 else array).astype(INDEX)  # fmt: skip


class Indexing:
    """``A[rows, columns]`` of CSR and CSC; assignments are not supported."""

    __slots__ = ()

    @on_own_device
    def __getitem__(self, key):
        """``A[i, j]``, an element; ``A[i]``, ``A[i:j]``, ``A[:, j]``, ``A[[0, 2]]``: a matrix of rows and columns.

        Indices are integers, slices, vectors of integers, masks; they may be device arrays. An integer gives a matrix
        with one row or column. Two vectors give single elements, as a device vector. Waits for the device.
        Raises IndexError for indices outside the matrix.
        """
        key = key if isinstance(key, tuple) else (key, slice(None))
        if len(key) != 2 or any(one is None or one is Ellipsis for one in key):
            raise IndexError(f"a matrix must be indexed by rows and columns, without None and ..., not by {key!r}")  # fmt: skip
        rows, columns = key
        if _is_integer(rows) and _is_integer(columns):
            pair = (_number(operator.index(one), extent) for one, extent in zip((rows, columns), self.shape, strict=True))  # fmt: skip
            rows, columns = (to_gpu(np.array([one], INDEX)) for one in pair)
            return self._elements(rows, columns).reshape(())
        if not isinstance(rows, slice) and not isinstance(columns, slice) and not _is_integer(rows) and not _is_integer(columns):  # fmt: skip
            rows, columns = (_chosen(one, extent) for one, extent in zip((rows, columns), self.shape, strict=True))  # fmt: skip
            if rows.shape != columns.shape:
                raise IndexError(f"vectors of {rows.size} rows and {columns.size} columns must have the same length")  # fmt: skip
            return self._elements(rows, columns)
        chosen = [_chosen(one, extent) for one, extent in zip((rows, columns), self.shape, strict=True)]  # fmt: skip
        major, minor = chosen[::-1] if self._by_columns else chosen
        return self._major(major)._minor(minor)

    def _elements(self, rows: GPUArray, columns: GPUArray) -> GPUArray:
        matrix = self._canonical()
        pair = (columns, rows) if self._by_columns else (rows, columns)
        return _pairs.look_up(matrix._structure, matrix._data, *pair)

    def getrow(self, i: int):
        """Return row ``i`` as a matrix of shape (1, columns); -1 is the last row. Raises IndexError for another row.

        >>> sparse.csr_array(np.array([[1.0, 0.0], [2.0, 3.0]])).getrow(1).toarray()
        array([[2., 3.]])
        """
        return self[operator.index(i), :]

    def getcol(self, i: int):
        """Return column ``i`` as a matrix of shape (rows, 1); -1 is the last column. Raises IndexError for another column.

        >>> sparse.csr_array(np.array([[1.0, 0.0], [2.0, 3.0]])).getcol(0).toarray()
        array([[1.],
               [2.]])
        """
        return self[:, operator.index(i)]

    def _major(self, chosen):
        """Select rows. Here and below, rows are columns if the format is CSC."""
        old = self._structure
        if isinstance(chosen, range):
            if len(chosen) == old.major:
                return self
            starts = old.starts[chosen.start : chosen.stop + 1]
            first, last = (int(one) for one in starts[:: max(len(chosen), 1)].get()[[0, -1]])  # fmt: skip
            structure = Structure(
                starts - np.int32(first), old.columns[first:last].copy(), len(chosen), old.minor,
                old.order,
            )  # fmt: skip
            return self._of(structure, self._data[first:last].copy())
        return self._listed_rows(chosen)

    def _listed_rows(self, chosen: GPUArray):
        old = self._structure
        lengths = old.lengths()[chosen] if chosen.size else new_indices(0)
        total = int(lengths.sum(dtype=np.int64).get()) if chosen.size else 0
        check_count(total)
        starts = zeros(1, INDEX)
        if chosen.size:
            starts = concatenate([starts, cumsum(lengths, dtype=INDEX)])
        places = new_indices(total)
        made = Structure(starts, places, chosen.size, old.minor, old.order)  # fmt: skip
        for_each(
            kernel("sparse_structure", "choose_rows"), total, old.starts, chosen, starts, made.rows(), places, total
        )  # fmt: skip
        made.columns = take_known(old.columns, places)
        return self._of(made, take_known(self._data, places))

    def _minor(self, chosen):
        """Select columns."""
        old = self._structure
        if isinstance(chosen, range):
            if len(chosen) == old.minor:
                return self
            if old.count == 0:
                places = flatnonzero(zeros(0, bool))
            else:
                inside = (old.columns >= chosen.start) & (old.columns < chosen.stop)
                places = flatnonzero(inside)
            kept = old.chosen(places)
            structure = Structure(
                kept.starts, kept.columns - np.int32(chosen.start), old.major, len(chosen), old.order
            )  # fmt: skip
            return self._of(structure, take_known(self._data, places))
        other = "csr" if self._by_columns else "csc"
        turned = self.asformat(other)._listed_rows(chosen)
        return turned.asformat(self.format)
