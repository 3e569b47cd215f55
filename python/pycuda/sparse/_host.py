"""SciPy's loops for the memory of matrices, if the device is a CPU with few cores and SciPy is installed.

The host can then access the arrays' memory; see pycuda.arrays.interop.host. SciPy's loops use one core and
check no addresses. This package's kernels use all cores, and the device checks each of their accesses, which
takes about as long as the access. So SciPy is faster on few cores, and kernels are faster on more cores.

The loops are called by the names that SciPy's matrices use; a SciPy without them is not used. Each
function here returns None if this package's kernels must do the work. Results are allocated before the wait for
the stream, so that the wait includes earlier users of their memory.
"""

from __future__ import annotations

import functools

import numpy as np

from pycuda.arrays.interop import host
from pycuda.gpuarray import GPUArray, empty
from pycuda.sparse import _kernels
from pycuda.sparse._kernels import new_indices
from pycuda.sparse._structure import Structure

FEW_CORES = 3

_NAMES = (
    "csr_matvec", "csc_matvec", "csr_matvecs", "csc_matvecs", "csr_matmat", "csr_matmat_maxnnz", "csr_tocsc",
    "coo_tocsr", "csr_has_canonical_format", "csr_sort_indices", "csr_sum_duplicates",
)  # fmt: skip


@functools.cache
def _tools():
    try:
        from scipy.sparse import _sparsetools
    except ImportError:
        return None
    return _sparsetools if all(hasattr(_sparsetools, name) for name in _NAMES) else None


def _is_used() -> bool:
    return (
        _kernels.is_serial() and _kernels.cores() <= FEW_CORES and _tools() is not None
    )


def _views(*arrays):
    return host.views(*arrays) if _is_used() else None


def multiply(structure: Structure, data, by_columns: bool, dense, out, add: bool, order) -> GPUArray | None:  # fmt: skip
    """``out (+)= A @ dense``, for contiguous arrays of one type; see times_dense() in _products.py."""
    arrays = [structure.starts, structure.columns, data, dense, out]
    lent = _views(*arrays, *([] if order is None else [order]))
    if lent is None:
        return None
    starts, columns, values, operand, result, *order_view = lent
    if order_view:
        values = values[order_view[0]]
    if not add:
        result[...] = 0
    extents = (structure.major, structure.minor)[:: -1 if by_columns else 1]
    name = "csc_matvec" if by_columns else "csr_matvec"
    function = getattr(_tools(), name + "s" * (dense.ndim - 1))
    wide = dense.shape[1:]
    with np.errstate(all="ignore"):
        function(*extents, *wide, starts, columns, values, operand.ravel(), result.ravel())  # fmt: skip
    return out


def times_sparse(a: Structure, a_data, b: Structure, b_data):
    """(structure, data) of the product of two matrices by rows. Rows are not sorted."""
    inputs = (a.starts, a.columns, a_data, b.starts, b.columns, b_data)
    lent = _views(*inputs)
    if lent is None:
        return None
    extents = (a.major, b.minor)
    pattern = (lent[0], lent[1], lent[3], lent[4])
    count = _tools().csr_matmat_maxnnz(*extents, *pattern)
    _kernels.check_count(count)
    made = new_indices(a.major + 1), new_indices(count), empty(count, a_data.dtype)
    lent = host.views(*inputs, *made)
    if lent is None:
        return None
    _tools().csr_matmat(*extents, *lent)
    count = int(lent[6][-1])
    return Structure(made[0], made[1][:count], *extents, (False, False)), made[2][
        :count
    ]


def transpose(structure: Structure, data):
    """(structure, data) by columns."""
    if not _is_used():
        return None
    made = new_indices(structure.minor + 1), new_indices(structure.count), empty(structure.count, data.dtype)  # fmt: skip
    lent = host.views(structure.starts, structure.columns, data, *made)
    if lent is None:
        return None
    _tools().csr_tocsc(structure.major, structure.minor, *lent)
    canonical = structure.is_canonical or bool(
        _tools().csr_has_canonical_format(structure.minor, lent[3], lent[4])
    )
    other = Structure(made[0], made[1], structure.minor, structure.major, (True, canonical))  # fmt: skip
    return other, made[2]


def compress(rows, columns, data, shape):
    """(structure, data) by rows, from coordinates; sorted, with duplicates added up."""
    if not _is_used():
        return None
    count = data.size
    made = new_indices(shape[0] + 1), new_indices(count), empty(count, data.dtype)
    lent = host.views(rows, columns, data, *made)
    if lent is None:
        return None
    tools, (starts, minor, values) = _tools(), lent[3:]
    tools.coo_tocsr(*shape, count, *lent)
    if not tools.csr_has_canonical_format(shape[0], starts, minor):
        tools.csr_sort_indices(shape[0], starts, minor, values)
        tools.csr_sum_duplicates(*shape, starts, minor, values)
    count = int(starts[-1])
    return Structure(made[0], made[1][:count], *shape, (True, True)), made[2][:count]
