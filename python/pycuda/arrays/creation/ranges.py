"""Arrays of evenly spaced numbers."""

from __future__ import annotations

import math

import numpy as np

from pycuda._driver import _array_note_bounds as _note_bounds
from pycuda._driver import _Work
from pycuda.arrays.own_device import check_device
from pycuda.arrays.registry import public
from pycuda.arrays.ufuncs.filling import by_index
from pycuda.arrays.ufuncs.tracing import record

TYPE_CHECKING = False  # type checkers take it as True; `typing` is slow to import
if TYPE_CHECKING:
    from pycuda.arrays.array_class.gpu_array import GPUArray


_INT64 = np.dtype(np.int64)


def arange_of(count: int, dtype=np.int64, step: int = 1) -> GPUArray:
    """``count`` numbers: 0, step, 2 step ..."""
    made = _range(count, np.dtype(dtype), 0, step)
    if dtype is np.int64 and step == 1:
        _note_bounds(made, 0, count)
    return made


@public(array_api=True, module=False)
def arange(start, stop=None, step=1, dtype=None, *, device=None, stream=None, allocator=None) -> GPUArray:  # fmt: skip
    """Make a vector of the numbers ``start``, ``start + step`` ... below ``stop``.

    start, stop, step: numbers. A single number is ``stop``, and ``start`` is 0 then.
    dtype: the type of the elements, by default NumPy's type for the numbers.
    device: None, or the current context's device, as "cuda:0".
    stream, allocator: the stream of the work, by default the current one, and a function that returns the memory.

    Raises TypeError for more than two elements of bool.

    >>> np.arange(3, like=gpuarray.zeros(0))
    array([0, 1, 2])
    """
    check_device(device)
    if stop is None:
        start, stop = 0, start
    step = 1 if step is None else step
    if dtype is not None:
        dtype = np.dtype(dtype)
    elif type(start) is type(stop) is type(step) is int:
        dtype = _INT64
    else:
        dtype = np.result_type(*(np.asarray(one).dtype for one in (start, stop, step)))
    count = max(0, math.ceil((stop - start) / step))
    if dtype.kind == "b" and count > 2:
        raise TypeError(f"a range of bool has at most 2 elements, not {count}")
    if stream is None:
        return _range(count, dtype, start, step, allocator)
    with _Work(stream):
        return _range(count, dtype, start, step, allocator)


def _range(count: int, dtype, start, step, allocator=None):
    number = dtype.type if dtype.kind != "b" else np.int64
    if dtype.kind in "iu" and not (
        dtype is _INT64 and type(start) is type(step) is int
    ):
        # As in NumPy, the first two numbers are cast, and all others have their distance, modulo the type's range.
        first = int(number(start))
        second = int(number(start + step)) if count > 1 else first
        most = 1 << 8 * dtype.itemsize
        below = 0 if dtype.kind == "u" else most // 2
        start, step = first, (second - first + below) % most - below
    return _numbers(count, dtype, number(start), number(step), allocator=allocator)


@by_index
def _numbers(index, dtype, start, step):
    return index.range(start, step, start.value.dtype)


def _check_numbers(name: str, axis: int, *values) -> list:
    """Convert the ends of a range to Python's numbers."""
    if not all(type(one) in (int, float) or np.ndim(one) == 0 for one in values):
        raise TypeError(f"{name}() on the device expects numbers, not arrays")
    if axis not in (0, -1):
        raise ValueError(f"axis must be 0 for numbers, not {axis}")
    return [one.item() if hasattr(one, "item") else one for one in values]


@public(array_api=True)
def linspace(start, stop, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype=None, axis: int = 0, *, device=None):  # fmt: skip
    """Make a vector of ``num`` evenly spaced numbers from ``start`` to ``stop``.

    start, stop: numbers, real or complex. Arrays raise TypeError.
    endpoint: whether ``stop`` is the last element. If not, the elements are (stop - start) / num apart.
    retstep: True returns (elements, distance between two of them).
    dtype: the type of the elements, by default float64 or complex128. Integers are rounded down.
    axis: 0, the axis of the vector.
    device: None, or the current context's device, as "cuda:0".

    >>> gpuarray.linspace(0, 1, 5)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    check_device(device)
    start, stop = _check_numbers("linspace", axis, start, stop)
    kind, step, numbers = _spacing(start, stop, num, endpoint)
    result_type = np.dtype(kind if dtype is None else dtype)
    fill = _floored_spaced if result_type.kind in "iu" else _spaced
    result = fill(num, result_type, *numbers)
    return (result, step) if retstep else result


def _spacing(start, stop, num: int, endpoint: bool) -> tuple:
    """The type of evenly spaced numbers, their distance, and the arguments of :func:`_spaced`."""
    parts = num - 1 if endpoint else num
    step = (stop - start) / parts if parts > 0 else float("nan")
    kind = np.complex128 if isinstance(start + stop + 0.0, complex) else np.float64
    last = num - 1 if endpoint and num > 1 else -1  # no element has the index -1
    return kind, step, (kind(start), kind(step if num > 1 else 0), last, kind(stop))


def _spaced_values(index, start, step, last, stop):
    number = index.range(0, 1, np.int64)
    return np.where(number == last, stop, index.range(start, step, start.value.dtype))


@by_index
def _spaced(index, dtype, start, step, last, stop):
    return _spaced_values(index, start, step, last, stop)


@by_index
def _floored_spaced(index, dtype, start, step, last, stop):
    return np.floor(_spaced_values(index, start, step, last, stop))


@by_index
def _powers(index, dtype, base, *spaced):
    return record("power", base, _spaced_values(index, *spaced))


@by_index
def _exponentials(index, dtype, sign, first, end, *spaced):
    result = sign * record("power", 10.0, _spaced_values(index, *spaced))
    number = index.range(0, 1, np.int64)
    result = np.where(number == spaced[2], end, result)
    return np.where(number == 0, first, result)


@public()
def logspace(start, stop, num: int = 50, endpoint: bool = True, base=10.0, dtype=None, axis: int = 0) -> GPUArray:  # fmt: skip
    """Make a vector of ``base`` to the power of ``num`` evenly spaced exponents.

    start, stop: the first and the last exponent; the other parameters are those of :func:`linspace`.

    >>> gpuarray.logspace(0, 2, 3)
    array([  1.,  10., 100.])
    """
    start, stop = _check_numbers("logspace", axis, start, stop)
    kind, _, numbers = _spacing(start, stop, num, endpoint)
    return _powers(num, kind if dtype is None else dtype, float(base), *numbers)


@public()
def geomspace(start, stop, num: int = 50, endpoint: bool = True, dtype=None, axis: int = 0) -> GPUArray:  # fmt: skip
    """Make a vector of ``num`` numbers from ``start`` to ``stop`` with a constant ratio between neighbours.

    The other parameters are those of :func:`linspace`. Raises ValueError if an end is zero, TypeError for
    complex numbers and for ends of different signs.

    >>> gpuarray.geomspace(1, 8, 4)
    array([1., 2., 4., 8.])
    """
    start, stop = _check_numbers("geomspace", axis, start, stop)
    if start == 0 or stop == 0:
        raise ValueError("a geometric sequence cannot include zero")
    if isinstance(start, complex) or isinstance(stop, complex) or start * stop < 0:
        raise TypeError("geomspace() expects two real numbers of the same sign")
    sign = math.copysign(1.0, start)
    # As NumPy, with logarithms to base 10: powers of ten stay whole.
    ends = (math.log10(abs(end)) for end in (start, stop))
    _, _, numbers = _spacing(*ends, num, endpoint)
    kind = np.float64 if dtype is None else dtype
    return _exponentials(num, kind, sign, float(start), float(stop), *numbers)
