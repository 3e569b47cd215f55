"""Fourier transforms by cuFFT: the calls that a transform needs, planned once for each shape, and then followed."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from pycuda import _driver
from pycuda.arrays.fourier.spectra import complete, halves
from pycuda.arrays.fourier.types import (
    complex_type,
    empty,
    length_of,
    real_type,
    scale_of,
)
from pycuda.arrays.shapes.axes import normalize_axis

#: Up to this number of transforms along axes in the middle of an array, each gets a call of cuFFT. For more of them,
#: the axes are moved to the end.
_MOST_CALLS = 4

#: Up to this number of elements, both axes of a matrix are transformed by one call of cuFFT. Transforms of larger
#: matrices, one axis after the other, are quicker.
_LARGEST_AT_ONCE = 1 << 20


@functools.cache
def _has(kind: np.dtype) -> bool:
    return _driver._array_library_takes("fourier", kind)


def takes(kind: np.dtype) -> bool:
    """Whether cuFFT is there, transforms elements of this type, and can be called now.

    cuFFT cannot make a plan while a stream is captured that the default stream waits for.
    """
    return _has(kind) and not _driver._is_captured()


@dataclass(frozen=True)
class Step:
    """A call of cuFFT for ``rank`` neighbouring axes from ``first`` on.

    shape, dtype: of the result.
    rows: for a result whose first axis is the last one in memory, the shape of these rows and the result's strides
        in bytes.
    moved: the order of the axes in which cuFFT transforms them as the last ones, if it is not their own order.
    """

    first: int
    rank: int
    shape: tuple[int, ...]
    dtype: np.dtype
    rows: tuple[tuple[int, ...], tuple[int, ...]] | None
    moved: tuple[int, ...] | None


def _in_rows(shape, dtype):
    """The shape of the rows of an array whose first axis is the last one in memory, and this array's strides."""
    rows = (*shape[1:], shape[0])
    strides = [dtype.itemsize] * len(rows)
    for axis in reversed(range(len(rows) - 1)):
        strides[axis] = strides[axis + 1] * rows[axis + 1]
    return rows, (strides[-1], *strides[:-1])


def _step(before, shape, dtype, first: int, rank: int, any_order: bool) -> Step:
    # Along the first axis, a transform is faster if its results are contiguous.
    stores_rows = any_order and first == 0 and rank == 1 and math.prod(before[1:]) > 1
    axes = range(first, first + rank)
    outer, inner = math.prod(before[:first]), math.prod(before[first + rank :])
    moved = None
    if inner != 1 and outer > _MOST_CALLS:
        moved = (*(i for i in range(len(shape)) if i not in axes), *axes)
    rows = _in_rows(shape, dtype) if stores_rows else None
    return Step(first, rank, tuple(shape), dtype, rows, moved)


def _runs(axes, shape) -> list[tuple[int, int]]:
    """Sorted axes as (first, rank) of neighbours, at most three at once; but the two axes of one large matrix are
    transformed one after the other."""
    if len(shape) == 2 and math.prod(shape) > _LARGEST_AT_ONCE:
        return [(axis, 1) for axis in axes]
    runs: list[tuple[int, int]] = []
    for axis in axes:
        if runs and sum(runs[-1]) == axis and runs[-1][1] < 3:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((axis, 1))
    return runs


@functools.lru_cache(maxsize=512)
def complex_steps(shape, dtype, axes, any_order: bool) -> tuple[Step, ...]:
    """The steps over different axes of a C-contiguous complex array. With ``any_order``, the first axis of the
    result may be the last one in memory."""
    return tuple(
        _step(shape, shape, dtype, first, rank, any_order)
        for first, rank in reversed(_runs(sorted(axes), shape))
    )


@functools.lru_cache(maxsize=512)
def real_steps(shape, dtype, axes, any_order: bool = True) -> tuple[Step, ...]:
    """From real to complex numbers: half of them along the last of ``axes``. ``any_order``: as of complex_steps()."""
    halved = axes[-1]
    first, rank = next(
        run for run in _runs(sorted(axes), shape) if run[0] <= halved < sum(run)
    )
    if halved != first + rank - 1:  # cuFFT halves the last axis of several
        first, rank = halved, 1
    kind = complex_type(dtype)
    half = tuple(n // 2 + 1 if i == halved else n for i, n in enumerate(shape))
    rest = tuple(axis for axis in axes if not first <= axis < first + rank)
    start = _step(shape, half, kind, first, rank, any_order and not rest)
    return (start, *complex_steps(half, kind, rest, any_order))


@functools.lru_cache(maxsize=512)
def whole_steps(shape, dtype, axes):
    """The steps from real numbers to half of their spectrum, and how it becomes all of it; None for too many axes."""
    halved = max(axes)
    plan = halves(shape, axes, halved)
    if plan is None:
        return None
    first = tuple(axis for axis in axes if axis != halved)
    return real_steps(shape, dtype, (*first, halved), False), plan


def _in_moved_order(a, out, step: Step, inverse: bool) -> None:
    moved = a.transpose(step.moved).copy("C")
    result = moved
    if moved.dtype != out.dtype:
        result = empty([out.shape[i] for i in step.moved], out.dtype, out)
    first = a.ndim - step.rank
    _driver._library_fourier(moved, result, first, step.rank, inverse)
    out[...] = result.transpose(list(np.argsort(step.moved)))


def follow(steps, a, inverse: bool, own: bool):
    """Transform ``a``, a C-contiguous array; in place where ``own`` and the result has the same shape."""
    for step in steps:
        if step.rows is not None:
            rows, strides = step.rows
            out = empty(rows, step.dtype, a)._view(0, step.shape, strides)
        elif own and a.dtype == step.dtype:
            out = a
        else:
            out = empty(step.shape, step.dtype, a)
        if step.moved is not None:
            _in_moved_order(a, out, step, inverse)
        else:
            _driver._library_fourier(a, out, step.first, step.rank, inverse)
        a, own = out, True
    return a


def to_real(a, n: int, axis: int):
    """From ``n // 2 + 1`` complex numbers along ``axis`` to ``n`` real ones; destroys ``a``, whose ends must be real."""
    shape = tuple(n if i == axis else m for i, m in enumerate(a.shape))
    step = _step(a.shape, shape, real_type(a.dtype), axis, 1, any_order=False)
    return follow((step,), a, inverse=True, own=False)


@functools.lru_cache(maxsize=1024)
def _direct_plan(name: str, shape, dtype: np.dtype, n, axes, norm):
    """The steps of a transform of an array that cuFFT can read as it is, and the factor of the result. None for other
    arrays and arguments, which may be wrong.

    n: the length along the only axis; None for the extents. axes: a tuple of ints; None for all.
    """
    kind = complex_type(dtype)
    real = dtype.kind != "c"
    axes = range(len(shape)) if axes is None else axes
    axes = tuple(normalize_axis(axis, len(shape)) for axis in axes)
    fits = dtype == (real_type(kind) if real else kind) and 0 not in shape and axes
    fits = fits and (real or name != "rfft")
    if not fits or len(set(axes)) != len(axes) or not _has(kind):
        return None
    if n is not None and length_of(n, 0) != shape[axes[0]]:
        return None
    count = math.prod(shape[axis] for axis in axes)
    scale = scale_of(norm, count, name == "ifft")
    if not real:
        return complex_steps(shape, dtype, axes, True), scale, None
    if name == "rfft":
        return real_steps(shape, dtype, axes), scale, None
    plan = whole_steps(shape, dtype, axes)
    return None if plan is None else (plan[0], scale, plan[1])


def direct(name: str, a, n, axes, norm):
    """numpy.fft's ``fft``, ``ifft`` or ``rfft``, also over several axes, of an array that needs no preparation.

    n, axes: of one axis its length, an int or None, and a tuple of this axis; of several axes None, and a tuple or None.

    Returns the result, and the factor with which the caller is to multiply it; None for other arrays and arguments.
    """
    if not isinstance(a, _driver.ArrayBase) or not a._c_contiguous:
        return None
    if axes is not None and not all(type(axis) is int for axis in axes):
        return None
    plan = _direct_plan(name, a.shape, a.dtype, n, axes, norm)
    if plan is None or _driver._is_captured():
        return None
    steps, scale, rest = plan
    if rest is None:
        return follow(steps, a, name == "ifft", False), scale
    return complete(follow(steps, a, False, False), rest, name == "ifft", scale), 1
