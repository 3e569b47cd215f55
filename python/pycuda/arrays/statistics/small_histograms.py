"""Histograms of small samples: one kernel finds the ranges, the edges and the counts.

A call without given ranges waits once, for the news that the ranges are finite. With given ranges, no call waits.
Larger samples, other types and given edges are the business of :mod:`pycuda.arrays.statistics.histograms`.
"""

from __future__ import annotations

import math

import numpy as np

from pycuda import _device_code, _driver
from pycuda.arrays.creation.filled import empty

_MOST_VALUES = 8192
_MOST_EDGES = 2048  # of all axes
_MOST_SHARED = 4096  # counts in shared memory
_MOST_BOXES = 65536
_NO_AXIS = (0, 0, 1, 0.0, 0.0, 0)
_NOT_FINITE, _EQUAL_EDGES = 1, 2  # what the kernel reports


def _threads() -> int:
    """The threads of the block: one warp on a CPU, where a thread block is one thread of the host."""
    return 32 if _driver._array_threads_are_cores() else 512


def count_at_once(columns, bins, ranges, *, of_points: bool):
    """The counts and the edges of each axis; None if the general function must compute them, which
    also reports errors.

    columns: vectors of one type and length, one for each axis.
    bins: the number of bins of each axis.
    ranges: the ends of each axis; None if they are the smallest and the largest element.
    of_points: the rules of histogramdd(): counts are float64, and two edges may be equal.
    """
    size, dtype, axes = columns[0].size, columns[0].dtype, len(columns)
    boxes = math.prod(bins)
    if not (0 < size * axes <= _MOST_VALUES and axes <= 3 and 0 < boxes <= _MOST_BOXES):
        return None
    if sum(bins) + axes > _MOST_EDGES or min(bins) < 1:
        return None
    if dtype.kind not in "iuf" or dtype == np.float16 or of_points and dtype.kind != "f" and dtype.itemsize == 8:  # fmt: skip
        return None
    kind = dtype if dtype.kind == "f" else np.dtype(np.float64)
    computed = kind
    if ranges is not None:
        computed = np.dtype(np.float64)
        if of_points:
            kind = computed
        if not all(
            _is_certain(pair, count, kind, of_points)
            for pair, count in zip(ranges, bins, strict=True)
        ):
            return None
    elif _driver._is_captured():
        return None
    counts = empty(bins, np.float64 if of_points else np.int64)
    failed = empty((), np.int32)
    edges = [empty(count + 1, kind) for count in bins]
    arguments = []
    for k, column in enumerate(columns):
        low, high = (0.0, 0.0) if ranges is None else ranges[k]
        arguments += column, column.strides[0], bins[k], low, high, edges[k]
    threads = _threads()
    kernel = _device_code.kernel(
        "histogram_at_once", "histogram_at_once", "T C E N axes ranged threads",
        dtype, computed, kind, counts.dtype, axes, ranges is not None, threads,
    )  # fmt: skip
    is_shared = boxes <= _MOST_SHARED
    kernel(
        size, counts, failed, is_shared, *arguments, *_NO_AXIS * (3 - axes),
        block=(threads, 1, 1), grid=(1, 1),
        shared=8 * (sum(bins) + axes) + 4 * boxes * is_shared,
    )  # fmt: skip
    if ranges is None:
        found = int(failed.get())
        if found == _NOT_FINITE or found == _EQUAL_EDGES and not of_points:
            return None
    return counts, edges


def _is_certain(ends, count: int, kind, of_points: bool) -> bool:
    """Whether all edges are finite, and rise unless equal ones are allowed."""
    low, high = ends
    step = (high - low) / count
    if not 0 < step < math.inf:
        return False
    return (
        of_points or step > 4 * float(np.finfo(kind).eps) * max(abs(low), abs(high), 1e-30)
    )  # fmt: skip


def given_range(range, dtype):
    """The ends that a program gave, as floats; None unless they are Python's numbers in a valid order.

    NumPy's numbers have types on which the type of the edges depends.
    """
    low, high = range
    kinds = (float, int) if dtype.kind == "f" else (float,)
    if type(low) not in kinds or type(high) not in kinds or not low <= high:
        return None
    if not max(abs(low), abs(high)) < 2**53:
        return None
    return (low - 0.5, high + 0.5) if low == high else (float(low), float(high))
