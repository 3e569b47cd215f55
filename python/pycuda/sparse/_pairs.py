"""Operations on the elements of two matrices with equal shapes, and look-ups of elements by row and column."""

from __future__ import annotations

import numpy as np

from pycuda.arrays.indexing.items import take_known
from pycuda.gpuarray import GPUArray, cumsum, empty, flatnonzero
from pycuda.sparse._kernels import INDEX, check_count, for_each, kernel, new_indices
from pycuda.sparse._structure import Structure, starts_of

# Operations that give 0 for two zeros, as CUDA C++ with x and y; comparisons give bool.
_SAME, _BOOL = False, True
OPERATIONS = {
    "add": ("x + y", _SAME),
    "subtract": ("x - y", _SAME),
    "maximum": ("x != x || x > y ? x : y", _SAME),
    "minimum": ("x != x || x < y ? x : y", _SAME),
    "not_equal": ("x != y", _BOOL),
    "less": ("x < y", _BOOL),
    "greater": ("x > y", _BOOL),
}


def _partners(a: Structure, a_rows, b: Structure, function):
    """(before, found): see find_partners() in sparse_pairs.cuh."""
    before, found = new_indices(a.count), new_indices(a.count)
    for_each(function, a.count, a_rows, a.columns, a.count, b.starts, b.columns, before, found)  # fmt: skip
    return before, found


def _functions(name: str, kind: np.dtype):
    text, is_truth = OPERATIONS.get(name, ("x", _SAME))
    result = np.dtype(bool) if is_truth else kind
    definitions = {"T": kind, "U": result, "OPERATION": text}
    return result, lambda one: kernel("sparse_pairs", one, **definitions)


def union(name: str, a: Structure, a_data: GPUArray, b: Structure, b_data: GPUArray):
    """(structure, data) of an operation of :data:`OPERATIONS` for all elements of either matrix.

    Both are canonical and have the same type. Waits for the device.
    """
    result, function = _functions(name, a_data.dtype)
    a_rows, b_rows = a.rows(), b.rows()
    find = function("find_partners")
    a_before, a_found = _partners(a, a_rows, b, find)
    b_before, b_found = _partners(b, b_rows, a, find)
    a_common, b_common = (
        cumsum(found, dtype=INDEX) if found.size else found
        for found in (a_found, b_found)
    )
    both = int(a_common[-1].get()) if a.count else 0
    count = a.count + b.count - both
    check_count(count)
    rows, columns, out = new_indices(count), new_indices(count), empty(count, result)
    for_each(
        function("place_first"), a.count, a_rows, a.columns, a_data, a.count,
        a_before, a_found, a_common, b_data, rows, columns, out,
    )  # fmt: skip
    for_each(
        function("place_second"), b.count, b_rows, b.columns, b_data, b.count,
        b_before, b_found, b_common, rows, columns, out,
    )  # fmt: skip
    starts = starts_of(rows, a.major)
    return Structure(starts, columns, a.major, a.minor, (True, True)), out


def intersection(a: Structure, a_data: GPUArray, b: Structure, b_data: GPUArray):
    """(structure, data) of the products of elements that both matrices have. Both are canonical."""
    _, function = _functions("multiply", a_data.dtype)
    before, found = _partners(a, a.rows(), b, function("find_partners"))
    places = flatnonzero(found)
    partner = take_known(before, places)
    return a.chosen(places), take_known(a_data, places) * take_known(b_data, partner)


def look_up(structure: Structure, data: GPUArray, rows: GPUArray, columns: GPUArray) -> GPUArray:  # fmt: skip
    """The elements of a canonical matrix at the given rows and columns (int32); 0 if an element is not stored."""
    out = empty(rows.size, data.dtype)
    if structure.count == 0:
        return out.fill(0) if out.size else out
    _, function = _functions("look_up", data.dtype)
    for_each(
        function("look_up"), rows.size, structure.starts, structure.columns, data, rows, columns, out, rows.size
    )  # fmt: skip
    return out
