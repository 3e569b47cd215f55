"""Distinct elements and sets of small vectors: a sort, and one kernel that chooses among equal elements.

The host reads the number of results, in the only wait of a call. The general functions handle larger
vectors, complex numbers and float16.
"""

from __future__ import annotations

import numpy as np

from pycuda import _device_code, _driver
from pycuda.arrays.creation.filled import empty

_MOST = 8192
_MODES = ("distinct", "both", "either", "first_only")


def is_small(dtype, size: int) -> bool:
    """Whether :func:`choose` supports vectors of this type and size."""
    if not 0 < size <= _MOST or dtype.kind not in "biuf" or dtype == np.float16:
        return False
    return not _driver._is_captured()  # the general way names the function in its error


def choose(flat, mode: str, first_size: int = 0, *, index=False, inverse=False, counts=False, equal_nan=True):  # fmt: skip
    """Choose one element of each run of equal ones: (values, index, inverse, counts); results that are not requested are None.

    flat: a vector, of which :func:`is_small` holds.
    mode: "distinct" chooses from all runs; the other modes from runs with elements of "both" parts of ``flat``, of
        "either" part but not both, and of the first part alone ("first_only").
    first_size: the size of the first part.
    index, inverse, counts: as the results of :func:`numpy.unique`.
    equal_nan: whether NaNs of one part are equal.
    """
    size = flat.size
    ordered = mode == "distinct" and not (index or inverse)
    if ordered:
        elements, order = _driver._array_sort(flat, 0, False), None
    else:
        elements = flat if flat._c_contiguous else flat.copy()
        order = _driver._array_argsort(elements, 0, False)
    values, total = empty(size, flat.dtype), empty((), np.int64)
    extra = [empty(size, np.int64) if one else None for one in (index, inverse, counts)]
    threads = 32 if _driver._array_threads_are_cores() else 1024
    equal_nan = equal_nan and flat.dtype.kind == "f"
    kernel = _device_code.kernel(
        "sets", "choose", "T mode equal_nan threads",
        flat.dtype, _MODES.index(mode), equal_nan, threads,
    )  # fmt: skip
    kernel(
        elements, 0 if order is None else order, size, first_size, ordered, values,
        *(0 if one is None else one for one in extra), total,
        block=(threads, 1, 1), grid=(1, 1),
    )  # fmt: skip
    found = (slice(0, int(total.get())),)
    values, extra[0], extra[2] = (
        None if one is None else _driver._array_part(one, found)
        for one in (values, extra[0], extra[2])
    )
    return values, *extra
