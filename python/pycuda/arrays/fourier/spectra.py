"""Spectra of real signals before and after cuFFT: each function is one kernel, which also multiplies by the factor."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pycuda import _device_code
from pycuda.arrays.fourier.types import empty, real_type

_LONGEST = 1 << 31  # elements, for counts of 32 bits
_COUNTS = (np.dtype(np.uint32), np.dtype(np.uint64))


def _launch(name: str, source, out, *arguments) -> None:
    if out.size == 0:
        return
    real = real_type(out.dtype)
    count = _COUNTS[out.size >= _LONGEST]
    function = _device_code.kernel("spectra", name, "R Count", real, count)
    function(
        source, out, out.size, *arguments,
        block=(256, 1, 1), grid=(-(-out.size // 256), 1),
    )  # fmt: skip


class Halves(NamedTuple):
    """How half of a spectrum becomes all of it: the shape, and the kernel's arguments."""

    shape: tuple[int, ...]
    extents: tuple[int, int, int, int]
    mirrored: int
    halved: int


def halves(shape, axes, halved: int) -> Halves | None:
    """For a spectrum over ``axes`` of which half is known along ``halved``; None for too many axes.

    Neighbouring axes that are not transformed are one axis.
    """
    extents: list[int] = []
    mirrored = place = 0
    merges = False
    for axis, n in enumerate(shape):
        if axis not in axes and merges:
            extents[-1] *= n
        else:
            extents.append(n)
        merges = axis not in axes
        if axis == halved:
            place = len(extents) - 1
        if axis in axes:
            mirrored |= 1 << len(extents) - 1
    lacking = 4 - len(extents)
    if lacking < 0 or max(extents) >= _LONGEST:
        return None
    return Halves(
        tuple(shape),
        (*(1,) * lacking, *extents),
        mirrored << lacking,
        place + lacking,
    )


def complete(half, plan: Halves, inverse: bool, scale: float):
    """All of the spectrum, or of the inverse transform, from half of the forward transform, times ``scale``."""
    whole = empty(plan.shape, half.dtype, half)
    rest = (plan.mirrored, plan.halved, int(inverse), scale)
    _launch("complete", half, whole, *plan.extents, *rest)
    return whole


def with_real_ends(a, n: int, axis: int, scale: float, own: bool):
    """``a`` times ``scale``, with elements 0 and n / 2 along the axis real; in place if ``own``."""
    out = a if own else empty(a.shape, a.dtype, a)
    last = n // 2 if n % 2 == 0 else 0
    inner = math.prod(a.shape[axis + 1 :])
    _launch("real_ends", a, out, a.shape[axis], inner, last, scale)
    return out


def conjugate(a, scale: float):
    """The conjugates of ``a``, a contiguous array, times ``scale``, in place."""
    _launch("conjugate", a, a, scale)
    return a
