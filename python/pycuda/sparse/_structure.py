"""The positions of the elements of a compressed matrix. Matrices with the same structure share it.

A CSR matrix has rows of elements, a CSC matrix has columns. Here both are called rows ("major"), whose elements have
columns ("minor"). A structure never changes, so derived data is computed once: the rows that are
too long for one group of threads, and the structure of the transposed matrix.
"""

from __future__ import annotations

import numpy as np

from pycuda import _driver
from pycuda.arrays.indexing.items import take_known
from pycuda.gpuarray import (
    GPUArray,
    arange,
    concatenate,
    cumsum,
    flatnonzero,
    repeat,
    to_gpu,
    zeros,
)
from pycuda.sparse import _kernels
from pycuda.sparse._foreign import of_device
from pycuda.sparse._kernels import INDEX, LARGEST, blocks, for_each, kernel, new_indices

_INVALID, _UNSORTED, _REPEATED = 1, 2, 4


class LongRows:
    """The rows of a structure with more than ``limit`` elements; the further elements are divided into pieces.

    rows: the numbers of the long rows, int32.
    starts: for each long row its first piece, and the number of pieces; int32.
    begins, ends: the elements of each piece, int32.
    """

    __slots__ = ("begins", "ends", "limit", "rows", "starts")

    def __init__(self, limit: int, rows=None, starts=None, begins=None, ends=None):
        self.limit = limit
        self.rows = rows
        self.starts = starts
        self.begins = begins
        self.ends = ends


def _state_of(launch) -> int:
    found = zeros(1, np.uint32)
    launch(found)
    return int(found.get()[0])


class Structure:
    """``starts`` (major + 1) and ``columns``, both int32: row i has the elements starts[i] to starts[i + 1] - 1.

    order: (is_sorted, is_canonical), whether columns rise in each row, and whether additionally no column occurs twice
        in a row. None: unknown, the first access to one of them finds out and waits for the device.
    """

    __slots__ = ("_long_rows", "_bounds", "_transposed", "columns", "major", "minor", "order", "starts")  # fmt: skip

    def __init__(
        self, starts: GPUArray, columns: GPUArray, major: int, minor: int, order: tuple[bool, bool] | None
    ):  # fmt: skip
        self.starts = starts
        self.columns = columns
        self.major = major
        self.minor = minor
        self.order = order
        self._long_rows = None
        self._bounds = None
        self._transposed = None

    def __reduce__(self):
        """Derived data is not pickled or copied with a matrix."""
        return Structure, (self.starts, self.columns, self.major, self.minor, self.order)  # fmt: skip

    @classmethod
    def checked(cls, starts: GPUArray, columns: GPUArray, major: int, minor: int) -> Structure:  # fmt: skip
        """Create a structure from a program's arrays. Raises ValueError if they are not a valid matrix of this shape.

        Waits for the device.
        """
        count = columns.size
        if starts.shape != (major + 1,):
            raise ValueError(
                f"index pointers of shape {starts.shape} do not fit a matrix with {major} rows (CSC: columns), expected ({major + 1},)"
            )
        made = cls(starts, columns, major, minor, None)
        if made._find_order() & _INVALID:
            raise ValueError(
                f"index pointers must rise from 0 to {count}, the number of elements, and indices must be from 0 to {minor - 1}"
            )
        return made

    def _find_order(self) -> int:
        """Set ``order``. Return the state that the kernel found."""
        function = kernel("sparse_structure", "check_rows")
        state = _state_of(
            lambda found: for_each(
                function, max(self.major, self.count, 1),
                self.starts, self.major, self.columns, self.count, self.minor, found,
            )
        )  # fmt: skip
        in_order = not state & _UNSORTED
        self.order = in_order, in_order and not state & _REPEATED
        return state

    def _known_order(self) -> tuple[bool, bool]:
        if self.order is None:
            with _kernels.kept_data():
                self._find_order()
        return self.order

    @property
    def is_sorted(self) -> bool:
        """Whether columns rise in each row. May wait for the device."""
        return self._known_order()[0]

    @property
    def is_canonical(self) -> bool:
        """Whether additionally no column occurs twice in a row. May wait for the device."""
        return self._known_order()[1]

    @property
    def count(self) -> int:
        """The number of stored elements."""
        return self.columns.size

    def bounds(self) -> tuple[GPUArray, GPUArray]:
        """The begins and the ends of the rows."""
        if self._bounds is None:
            self._bounds = self.starts[:-1], self.starts[1:]
        return self._bounds

    def rows(self) -> GPUArray:
        """The row of each element, int32."""
        rows = new_indices(self.count)
        if self.count:
            kernel("sparse_structure", "find_rows")(
                self.starts, self.major, rows, self.count,
                block=(256, 1, 1), grid=(blocks(self.count, 1024), 1),
            )  # fmt: skip
        return rows

    def lengths(self) -> GPUArray:
        """The number of elements of each row, int32."""
        begins, ends = self.bounds()
        return ends - begins

    def long_rows(self) -> LongRows:
        """The rows that products divide into pieces. The first call waits for the device."""
        if self._long_rows is None:
            mean = self.count // max(self.major, 1)
            least = 1 << 16 if _kernels.is_serial() else 1 << 9
            with _kernels.kept_data():
                self._long_rows = self.rows_longer_than(max(least, 16 * mean))
        return self._long_rows

    def rows_longer_than(self, limit: int) -> LongRows:
        """:class:`LongRows` for this limit; pieces have at most ``limit`` elements, too."""
        if self.count <= limit:
            return LongRows(limit)
        lengths = self.lengths()
        long = flatnonzero(lengths > limit)
        if long.size == 0:
            return LongRows(limit)
        over = (take_known(lengths, long) - limit).astype(np.int64)
        pieces = (over + (limit - 1)) // limit
        ends = cumsum(pieces)
        starts = concatenate([to_gpu(np.zeros(1, np.int64)), ends])
        owner = repeat(arange(long.size, dtype=np.int64), pieces)
        number = arange(owner.size, dtype=np.int64) - take_known(starts, owner)
        row = take_known(long, owner)
        begin = take_known(self.starts, row) + (number + 1) * limit
        end = np.minimum(begin + limit, take_known(self.starts, row + 1))
        parts = [array.astype(INDEX) for array in (long, starts, begin, end)]
        return LongRows(limit, *parts)

    def transposed(self) -> tuple[Structure, GPUArray]:
        """The structure by columns, and for each of its elements the number in this structure, int32. The first call waits."""
        if self._transposed is None:
            with _kernels.kept_data():
                starts, order = group(self.columns, self.minor)
                rows = take_known(self.rows(), order) if self.count else new_indices(0)
                canonical = self.is_canonical or self._is_canonical_by(starts, rows)
                other = Structure(
                    starts, rows, self.minor, self.major, (True, canonical)
                )
            self._transposed = other, order
        return self._transposed

    def _is_canonical_by(self, starts, rows) -> bool:
        return Structure.checked(starts, rows, self.minor, self.major).is_canonical

    def in_order(self) -> tuple[Structure, GPUArray | None]:
        """The structure with sorted rows, and for each of its elements the number in this structure; None if it is unchanged."""
        if self.is_sorted:
            return self, None
        _, order = group(self.columns, self.minor)
        starts, order = group(self.rows(), self.major, order)
        columns = take_known(self.columns, order)
        canonical = Structure.checked(starts, columns, self.major, self.minor).is_canonical  # fmt: skip
        return Structure(starts, columns, self.major, self.minor, (True, canonical)), order  # fmt: skip

    def chosen(self, places: GPUArray) -> Structure:
        """The structure of selected elements, given by their numbers in ascending order."""
        starts = _driver._array_search(places, self.starts.astype(np.int64))
        starts = starts.astype(INDEX)
        return Structure(
            starts, take_known(self.columns, places), self.major, self.minor, self.order
        )  # fmt: skip


def identity_structure(n: int) -> Structure:
    """The structure of the identity matrix of ``n`` rows."""
    return Structure(
        arange(n + 1, dtype=INDEX), arange(n, dtype=INDEX), n, n, (True, True)
    )


def starts_of(keys: GPUArray, groups: int) -> GPUArray:
    """For sorted keys from 0 to ``groups`` - 1: the begin of each key, and the number of keys at the end; int32."""
    starts = new_indices(groups + 1)
    function = kernel("sparse_structure", "find_starts")
    for_each(function, groups + 1, keys, keys.size, starts, groups)
    return starts


def group(keys: GPUArray, groups: int, before: GPUArray | None = None):
    """(starts, order): the numbers of elements grouped by keys, which are int32 from 0 to ``groups`` - 1.

    before: the order of elements with equal keys, int32; None is the order of their numbers.
    """
    if keys.size == 0:
        return zeros(groups + 1, INDEX), new_indices(0)
    if _kernels.is_serial() and groups <= 8 * keys.size + 1024:
        return _group_serially(keys, groups, before)
    order = None if before is None else before.astype(np.int64)
    order = _driver._array_argsort(keys, 0, False, order)
    return starts_of(take_known(keys, order), groups), order.astype(INDEX)


def _group_serially(keys, groups, before):
    count, parts = keys.size, min(_kernels.cores(), 8, groups)
    starts, order = zeros(groups + 1, INDEX), new_indices(count)
    launch = {"block": (1, 1, 1), "grid": (parts, 1)}
    kernel("sparse_structure", "count_keys")(keys, count, starts[1:], groups, **launch)
    starts = cumsum(starts, dtype=INDEX)
    kernel("sparse_structure", "order_keys")(
        keys, None if before is None else before, count, starts.copy(), order, groups, **launch
    )  # fmt: skip
    return starts, order


def coordinates_state(rows: GPUArray, columns: GPUArray, shape: tuple[int, int]) -> tuple[bool, bool]:  # fmt: skip
    """(sorted, canonical) of coordinates. Raises ValueError if one is out of bounds. Waits for the device."""
    if rows.size == 0:
        return True, True
    function = kernel("sparse_structure", "check_coordinates")
    state = _state_of(
        lambda found: for_each(
            function, rows.size, rows, columns, rows.size, *shape, found
        )
    )
    if state & _INVALID:
        raise ValueError(
            f"rows must be from 0 to {shape[0] - 1} and columns from 0 to {shape[1] - 1}, for a matrix "
            f"of shape {shape}"
        )
    in_order = not state & _UNSORTED
    return in_order, in_order and not state & _REPEATED


def check_shape(shape) -> tuple[int, int]:
    """A pair of extents. Raises ValueError for other values."""
    try:
        rows, columns = (int(extent) for extent in shape)
    except (TypeError, ValueError):
        raise ValueError(f"shape must be two integers, not {shape!r}") from None
    if not 0 <= rows <= LARGEST or not 0 <= columns <= LARGEST:
        raise ValueError(f"extents must be from 0 to {LARGEST} (int32), not {(rows, columns)}")  # fmt: skip
    return rows, columns


def index_array(values, name: str, largest: int) -> GPUArray:
    """A program's indices, as int32 on the device. Raises ValueError if they are not integers or do not fit int32."""
    array = of_device(values)
    array = array if isinstance(array, GPUArray) else np.asarray(array)
    if array.ndim != 1:
        raise ValueError(f"{name} must be a vector, not of shape {array.shape}")
    if array.size == 0:
        return new_indices(0)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be integers, not {array.dtype}")
    if array.dtype.itemsize >= 4 and array.dtype != INDEX:
        low, high = array.min(), array.max()
        low, high = (int(x.get() if isinstance(x, GPUArray) else x) for x in (low, high))  # fmt: skip
        if low < 0 or high > largest:
            raise ValueError(f"{name} must be from 0 to {largest}, not from {low} to {high}; indices are int32")  # fmt: skip
    if isinstance(array, GPUArray):
        return _kernels.indices_of(array)
    return to_gpu(np.ascontiguousarray(array, INDEX))
