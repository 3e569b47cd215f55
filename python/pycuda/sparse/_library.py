"""NVIDIA's cuSPARSE, if it is installed, for the products and transposes in which it is quicker than this package's kernels.

cuSPARSE has matrices of float32, float64, complex64 and complex128. Its products may add numbers in another order in
each run, so ``gpuarray.deterministic(True)`` keeps to this package's kernels. Each function here returns None if this
package's kernels must do the work.
"""

from __future__ import annotations

import numpy as np

from pycuda import _driver
from pycuda.arrays.reductions.determinism import is_deterministic
from pycuda.gpuarray import GPUArray, empty
from pycuda.sparse._kernels import new_indices
from pycuda.sparse._structure import Structure

#: A product with a vector takes two launches of cuSPARSE and one of this package.
LEAST = 1 << 16


def takes(dtype: np.dtype) -> bool:
    """Whether cuSPARSE was found and has matrices of this type."""
    return dtype.kind in "fc" and _driver._sparse_takes(dtype)


def _arrays(structure: Structure, data) -> tuple:
    return structure.starts, structure.columns, data


def multiply(structure: Structure, data, by_columns: bool, dense, out, add: bool, order) -> GPUArray | None:  # fmt: skip
    """``out (+)= A @ dense``, for contiguous arrays of one type; see times_dense() in _products.py.

    By rows, this package's kernel is quicker for float32 if no row is much longer than the others. By columns, this
    package's kernel reads the elements in another order than memory has.
    """
    if order is not None or dense.ndim != 1 or structure.count < LEAST:
        return None
    if is_deterministic() or not takes(data.dtype):
        return None
    is_even = data.dtype == np.float32 and structure.long_rows().rows is None
    if is_even and not by_columns:
        return None
    data = data if data._c_contiguous else data.copy("C")
    _driver._sparse_times_vector(
        *_arrays(structure, data), structure.minor, by_columns, dense, out, add
    )
    return out


def times_sparse(a: Structure, a_data, b: Structure, b_data):
    """(structure, data) of the product of two matrices by rows."""
    if is_deterministic() or not takes(a_data.dtype):
        return None
    if not a.is_canonical or not b.is_canonical:
        return None
    a_data, b_data = (one if one._c_contiguous else one.copy("C") for one in (a_data, b_data))  # fmt: skip
    made = _driver._sparse_times_sparse(*_arrays(a, a_data), *_arrays(b, b_data), b.minor)  # fmt: skip
    if made is None:  # there is not enough memory for the library's algorithm
        return None
    starts, columns, data = made
    return Structure(starts, columns, a.major, b.minor, None), data


def transpose(structure: Structure, data):
    """(structure, data) by columns."""
    if structure.count == 0 or not takes(data.dtype):
        return None
    data = data if data._c_contiguous else data.copy("C")
    starts, rows = new_indices(structure.minor + 1), new_indices(structure.count)
    values = empty(structure.count, data.dtype)
    _driver._sparse_transpose(*_arrays(structure, data), starts, rows, values)
    extents = (structure.minor, structure.major)
    if structure.is_canonical:
        return Structure(starts, rows, *extents, (True, True)), values
    return Structure(starts, rows, *extents, None), values
