"""What an array is: its extents, its parts, whether it shares memory."""

from __future__ import annotations

from pycuda.arrays.registry import public
from pycuda.arrays.shapes.axes import normalize_axes


@public()
def shape(a) -> tuple[int, ...]:
    """The extents of the axes."""
    return a.shape


@public()
def ndim(a) -> int:
    """How many axes."""
    return a.ndim


@public()
def size(a, axis=None) -> int:
    """How many elements, or how many along ``axis`` (an int or a tuple)."""
    if axis is None:
        return a.size
    count = 1
    for one in normalize_axes(axis, a.ndim):
        count *= a.shape[one]
    return count


@public(array_api=True)
def real(val):
    """The real part."""
    return val.real


@public(array_api=True)
def imag(val):
    """The imaginary part."""
    return val.imag


@public()
def isrealobj(x) -> bool:
    """Whether the type is not complex."""
    return not iscomplexobj(x)


@public()
def iscomplexobj(x) -> bool:
    """Whether the type is complex."""
    return x.dtype.kind == "c"


@public()
def may_share_memory(a, b, max_work=None) -> bool:
    """Whether the bytes between the first and the last element of both overlap."""
    (low, high), (begin, end) = _bounds(a), _bounds(b)
    return low < end and begin < high


def _bounds(ary) -> tuple[int, int]:
    if not ary.size:
        return 0, 0
    steps = [(n - 1) * step for n, step in zip(ary.shape, ary.strides, strict=True)]
    low = ary.ptr + sum(step for step in steps if step < 0)
    return low, ary.ptr + sum(step for step in steps if step > 0) + ary.itemsize
