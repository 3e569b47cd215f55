"""Questions about arrays: extents, real and imaginary parts, shared memory."""

from __future__ import annotations

from pycuda._driver import ArrayBase
from pycuda.arrays.creation.conversion import as_array, as_source
from pycuda.arrays.registry import public
from pycuda.arrays.shapes.axes import normalize_axes, part_of


@public()
def shape(a) -> tuple[int, ...]:
    """Return the extents of the axes, a tuple.

    a: an array of the device.

    No element is read, so the call does not wait for the device.

    >>> gpuarray.shape(gpuarray.zeros((2, 3)))
    (2, 3)
    """
    return as_source(a).shape


@public()
def ndim(a) -> int:
    """Return the number of axes.

    a: an array of the device. No element is read.

    >>> gpuarray.ndim(gpuarray.zeros((2, 3)))
    2
    """
    return as_source(a).ndim


@public()
def size(a, axis=None) -> int:
    """Return the number of elements, or the product of the extents of ``axis``, an int or a tuple.

    a: an array of the device.
    axis: an int, several, or None for all axes.

    Raises numpy.exceptions.AxisError for an axis that ``a`` does not have.

    >>> gpuarray.size(gpuarray.zeros((2, 3)), axis=1)
    3
    """
    a = as_source(a)
    if axis is None:
        return a.size
    count = 1
    for one in normalize_axes(axis, a.ndim):
        count *= a.shape[one]
    return count


@public(array_api=True)
def real(val):
    """View the real parts: of a real array, the array itself.

    val: an array or a number.

    The view of a complex array has half of its item size: float32 for complex64. Changes of the view change ``val``. Its
    elements are not contiguous; ``val.real`` is a contiguous copy.

    >>> gpuarray.real(gpuarray.array([1 + 2j, 3]))
    array([1., 3.])
    """
    source = as_source(val)
    return part_of(source, 0) if isinstance(source, ArrayBase) else source.real


@public(array_api=True)
def imag(val):
    """View the imaginary parts; a new array of zeros for real elements.

    val: an array or a number.

    Changes of the view of a complex array change ``val``. Its elements are not contiguous; ``val.imag`` is a contiguous
    copy.

    >>> gpuarray.imag(gpuarray.array([1 + 2j, 3]))
    array([2., 0.])
    """
    source = as_source(val)
    if isinstance(source, ArrayBase) and source.dtype.kind == "c":
        return part_of(source, 1)
    return source.imag


@public()
def isrealobj(x) -> bool:
    """Test whether the dtype is not complex. Returns a bool of the host.

    x: an array or a number.

    The elements are not read, so the call does not wait for the device. :func:`isreal` tests each element.

    >>> gpuarray.isrealobj(gpuarray.array([1 + 0j]))
    False
    """
    return not iscomplexobj(x)


@public()
def iscomplexobj(x) -> bool:
    """Test whether the dtype is complex. Returns a bool of the host.

    x: an array or a number; for a list, the dtype that numpy.asarray gives it.

    :func:`iscomplex` tests each element instead.

    >>> gpuarray.iscomplexobj(gpuarray.array([1 + 0j]))
    True
    """
    return as_source(x).dtype.kind == "c"


@public()
def may_share_memory(a, b, max_work=None) -> bool:
    """Test whether the address ranges of two arrays overlap. Returns a bool of the host.

    a, b: arrays of the device.
    max_work: accepted for NumPy's signature. The test is of ranges alone, as in NumPy with ``max_work=0``.

    >>> x = gpuarray.zeros(4)
    >>> gpuarray.may_share_memory(x, x[2:])
    True
    """
    (low, high), (begin, end) = _bounds(a), _bounds(b)
    return low < end and begin < high


def _bounds(ary) -> tuple[int, int]:
    ary = as_array(ary)
    if not ary.size:
        return 0, 0
    steps = [(n - 1) * step for n, step in zip(ary.shape, ary.strides, strict=True)]
    low = ary.ptr + sum(step for step in steps if step < 0)
    return low, ary.ptr + sum(step for step in steps if step > 0) + ary.itemsize
