"""Products of a sparse matrix with a vector, with a dense matrix, or with a sparse matrix.

A product by rows uses a group of lanes for each row, as many as the mean number of elements of a row (Bell and
Garland, Efficient sparse matrix-vector multiplication on CUDA, NVR-2008-004). Rows that are much longer
are divided into pieces, whose sums are added in order: a row of a million elements uses the whole device,
and results are the same in every run. A product by columns reads the elements in the order of the
rows, which is computed once for a structure.
"""

from __future__ import annotations

import numpy as np

from pycuda._driver import ArrayBase
from pycuda.arrays.creation.filled import empty
from pycuda.arrays.indexing.items import take_known
from pycuda.arrays.reductions.segments import join_segments
from pycuda.gpuarray import GPUArray, cumsum, flatnonzero, full, zeros
from pycuda.sparse import _host, _kernels, _library
from pycuda.sparse._kernels import (
    INDEX,
    LARGEST,
    blocks,
    check_count,
    for_each,
    kernel,
    new_indices,
)
from pycuda.sparse._structure import Structure, group, starts_of

_PART = 512  # rows per block of one thread
_FEW_COLUMNS = (
    4  # on a CPU, products with at most this many columns are products with vectors
)


class _Rows:
    """One launch: the rows from ``begins`` to ``ends``, of which the first ``limit`` elements are used."""

    def __init__(self, begins, ends, limit, columns, data, order) -> None:
        self.count = begins.size
        self.mean = columns.size / max(self.count, 1)
        self.dtype = data.dtype
        self.permuted = order is not None
        self.arguments = (begins, ends, limit, columns, data, order)

    def times_vector(self, x, out, accumulate: bool) -> None:
        if _kernels.is_serial():
            return self._times_serial(x, out, accumulate, 1, 1)
        lanes = 1
        while lanes < 32 and 2 * lanes <= self.mean:
            lanes *= 2
        multiply = kernel(
            "sparse_vector", "multiply", T=self.dtype, permuted=self.permuted, lanes=lanes
        )  # fmt: skip
        rows_of_block = 256 // lanes * 4
        return multiply(
            *self.arguments, x, out, self.count, int(accumulate),
            block=(256, 1, 1), grid=(blocks(self.count, rows_of_block), 1),
        )  # fmt: skip

    def _times_serial(self, x, out, accumulate, x_step, out_step) -> None:
        multiply = kernel(
            "sparse_vector_serial", "multiply",
            T=self.dtype, permuted=self.permuted, strided=x_step > 1,
        )  # fmt: skip
        # Several parts for each core. Each part takes some microseconds.
        part = min(_PART, max(16, blocks(self.count, 8 * _kernels.cores())))
        multiply(
            *self.arguments, x, out, self.count, int(accumulate), part, x_step, out_step,
            block=(1, 1, 1), grid=(blocks(self.count, part), 1),
        )  # fmt: skip

    def times_columns(self, b, out, accumulate: bool) -> None:
        wide = b.shape[1]
        if _kernels.is_serial() and wide <= _FEW_COLUMNS:
            for column in range(wide):
                self._times_serial(
                    b._ravel()[column:], out._ravel()[column:], accumulate, wide, wide
                )
            return
        lanes, each = 1, 1
        while lanes < 32 and lanes < wide:
            lanes *= 2
        while each < 4 and lanes * each < wide:
            each *= 2
        multiply = kernel(
            "sparse_columns", "multiply",
            T=self.dtype, permuted=self.permuted, lanes=lanes, each=each,
        )  # fmt: skip
        multiply(
            *self.arguments, b, out, self.count, int(accumulate), wide,
            block=(128, 1, 1),
            grid=(blocks(self.count, 128 // lanes), blocks(wide, lanes * each)),
        )  # fmt: skip


def _multiply(structure: Structure, data, order, dense, out, accumulate: bool) -> None:
    """``out (+)= A @ dense`` for contiguous arrays of one type, with extents above 0."""
    long = structure.long_rows()
    vector = dense.ndim == 1

    def launch(rows: _Rows, to, add: bool) -> None:
        (rows.times_vector if vector else rows.times_columns)(dense, to, add)

    rest = (long.limit, structure.columns, data, order)
    launch(_Rows(*structure.bounds(), *rest), out, accumulate)
    if long.rows is None:
        return
    parts = empty((long.begins.size, *dense.shape[1:]), data.dtype)
    launch(_Rows(long.begins, long.ends, *rest), parts, False)
    wide = 1 if vector else dense.shape[1]
    across = min(32, 1 << (wide - 1).bit_length())
    kernel("sparse_long_rows", "add_pieces", T=data.dtype)(
        parts, long.starts, long.rows, out, wide,
        block=(across, 256 // across, 1),
        grid=(long.rows.size, blocks(wide, across)),
    )  # fmt: skip


def times_dense(structure: Structure, data, by_columns: bool, dense: ArrayBase, out=None, order=None):  # fmt: skip
    """The product with a vector or a dense matrix. If ``out`` is given, the product is added to it.

    by_columns: whether the structure's rows are the matrix's columns.
    order: None, or for each element of the structure its number in ``data``.
    """
    kind = data.dtype
    if dense.dtype != kind:
        kind = np.result_type(kind, dense.dtype)
        check_number(kind)
        data = data.astype(kind, copy=False)
        dense = dense.astype(kind, copy=False)
    shape = (structure.minor if by_columns else structure.major, *dense.shape[1:])
    add = out is not None
    if out is None:
        out = empty(shape, kind)
    if 0 in shape:
        return out
    if structure.count == 0:
        return out if add else out.fill(0)
    dense = dense if dense._c_contiguous else dense.copy("C")
    arguments = (structure, data, by_columns, dense, out, add, order)
    if _library.multiply(*arguments) is None and _host.multiply(*arguments) is None:
        if by_columns:
            structure, order = structure.transposed()
        _multiply(structure, data, order, dense, out, add)
    return out


def check_number(dtype: np.dtype) -> None:
    """Raises TypeError for a type that the kernels do not support."""
    if dtype.kind not in "biufc" or dtype == np.float16:
        raise TypeError(
            f"sparse matrices have elements of bool, integers, float32, float64, complex64 or complex128, not {dtype}"
        )


# Sparse times sparse.

_LARGEST_EXPANSION = 1 << 26


def times_sparse(a: Structure, a_data, b: Structure, b_data):
    """(structure, data) of the product of two matrices, both by rows. The elements have the type of ``a_data``,
    which is that of ``b_data``. Rows may be unsorted, but must not have duplicates."""
    if a.count == 0 or b.count == 0:
        nothing = zeros(a.major + 1, INDEX)
        empty_one = Structure(nothing, new_indices(0), a.major, b.minor, (True, True))
        return empty_one, empty(0, a_data.dtype)
    for one in (_library, _host):
        made = one.times_sparse(a, a_data, b, b_data)
        if made is not None:
            return made
    if _kernels.is_serial():
        return _times_serially(a, a_data, b, b_data)
    return _times_expanded(a, a_data, b, b_data)


def _times_serially(a, a_data, b, b_data):
    rows, wide, kind = a.major, b.minor, a_data.dtype
    workers = max(1, min(_kernels.cores(), (1 << 28) // max(wide, 1), rows))
    part = max(1, min(256, blocks(rows, 8 * workers)))
    launch = {"block": (1, 1, 1), "grid": (workers, 1)}
    counts = zeros(rows + 1, INDEX)
    kernel("sparse_squares", "count_rows", T=kind)(
        a.starts, a.columns, b.starts, b.columns, rows, part, wide,
        full((workers, wide), -1, INDEX), counts[1:], **launch,
    )  # fmt: skip
    count = int(counts.sum(dtype=np.int64).get())
    check_count(count)
    starts = cumsum(counts, dtype=INDEX)
    columns, data = new_indices(count), empty(count, kind)
    kernel("sparse_squares", "multiply_rows", T=kind)(
        a.starts, a.columns, a_data, b.starts, b.columns, b_data, rows, part, wide,
        full((workers, wide), -1, INDEX), starts, columns, data, **launch,
    )  # fmt: skip
    return Structure(starts, columns, rows, wide, (False, False)), data


def _times_expanded(a, a_data, b, b_data):
    """Writes single products, as many at a time as memory allows; parts are divided at rows of ``a``."""
    counts = empty(a.count, np.int64)
    function = kernel("sparse_squares", "count_products", T=a_data.dtype)
    for_each(function, a.count, a.columns, a.count, b.starts, counts)
    ends = cumsum(counts)
    total = int(ends[-1].get())
    if total <= _LARGEST_EXPANSION:
        cuts = [(0, a.count, 0, total)]
    else:
        cuts = _cuts(a, ends)
    row_of, parts = a.rows(), []
    for k_first, k_last, first, last in cuts:
        parts.append(
            _expanded_part(a, a_data, b, b_data, row_of, ends, k_first, k_last, first, last)
        )  # fmt: skip
    rows, columns, data = (_joined(part) for part in zip(*parts, strict=True))
    check_count(columns.size)
    starts = starts_of(rows, a.major)
    return Structure(starts, columns, a.major, b.minor, (True, True)), data


def _joined(parts) -> GPUArray:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _cuts(a: Structure, ends):
    """Parts of whole rows with a limited number of products, if rows allow it."""
    starts = a.starts.get()
    host = np.concatenate([[0], ends.get()])
    products = host[starts]  # before each row
    cuts, row = [], 0
    while row < a.major:
        stop = int(np.searchsorted(products, products[row] + _LARGEST_EXPANSION, side="right")) - 1  # fmt: skip
        stop = min(max(stop, row + 1), a.major)
        k_first, k_last = int(starts[row]), int(starts[stop])
        if k_last > k_first and products[stop] - products[row] > LARGEST:
            raise ValueError(
                f"row {row} has {products[stop] - products[row]} products; at most {LARGEST} are possible"
            )
        if products[stop] > products[row]:
            cuts.append((k_first, k_last, int(products[row]), int(products[stop])))
        row = stop
    return cuts or [(0, 0, 0, 0)]


def _expanded_part(a, a_data, b, b_data, row_of, ends, k_first, k_last, first, last):
    count = last - first
    rows, columns, data = new_indices(count), new_indices(count), empty(count, a_data.dtype)  # fmt: skip
    function = kernel("sparse_squares", "expand", T=a_data.dtype)
    for_each(
        function, count, row_of, a.columns, a_data, ends, k_first, k_last, first, count,
        b.starts, b.columns, b_data, rows, columns, data,
    )  # fmt: skip
    return summed(rows, columns, data, (a.major, b.minor))


def summed(rows, columns, data, shape, is_sorted: bool = False):
    """(rows, columns, data), sorted by rows, then by columns, with duplicates added up in order."""
    if data.size == 0:
        return rows, columns, data
    if not is_sorted:
        _, order = group(columns, shape[1])
        _, order = group(rows, shape[0], order)
        rows, columns, data = (take_known(one, order) for one in (rows, columns, data))
    begins = empty(data.size, np.bool_)
    begins[:1] = True
    begins[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    places = flatnonzero(begins)
    if places.size == data.size:
        return rows, columns, data
    ends = empty(places.size, np.int64)
    ends[:-1] = places[1:]
    ends[-1:] = data.size
    kind = data.dtype
    name = "logical_or" if kind.kind == "b" else "add"
    return take_known(rows, places), take_known(columns, places), join_segments(name, data, places, ends - places)  # fmt: skip
