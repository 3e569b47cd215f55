"""The array API standard (2024.12) for arrays on the device: ``x.__array_namespace__()``.

Programs that are written against the standard (scikit-learn, SciPy and others) find here what they
expect under the standard's names and signatures. See docs/array_api.md for what is checked, and for
what is missing.
"""

from __future__ import annotations

import builtins
import math
from typing import NamedTuple

import numpy as np

from pycuda import fft as fft
from pycuda.arrays.array_class.gpu_array import GPUArray
from pycuda.arrays.creation import filled as _creation
from pycuda.arrays.creation import ranges as _ranges
from pycuda.arrays.elementwise.elementwise import clip as _clip
from pycuda.arrays.elementwise.elementwise import round as _round
from pycuda.arrays.indexing.grids import meshgrid as _meshgrid
from pycuda.arrays.indexing.selecting import nonzero as _nonzero
from pycuda.arrays.indexing.selecting import take as _take
from pycuda.arrays.indexing.selecting import take_along_axis as _take_along_axis
from pycuda.arrays.indexing.selecting import where as _where
from pycuda.arrays.indexing.triangles import tril as _tril
from pycuda.arrays.indexing.triangles import triu as _triu
from pycuda.arrays.interop.exchange import check_device as _check_device
from pycuda.arrays.interop.exchange import current_device as _current_device
from pycuda.arrays.interop.exchange import from_dlpack as from_dlpack
from pycuda.arrays.linalg.products import matmul as _matmul
from pycuda.arrays.linalg.products import tensordot as _tensordot
from pycuda.arrays.linalg.products import vecdot as vecdot
from pycuda.arrays.numerics.differences import diff as _diff
from pycuda.arrays.protocols import array_api_linalg as linalg  # noqa: F401
from pycuda.arrays.protocols import numpy_functions as _functions
from pycuda.arrays.reductions.scans import cumulative_prod as cumulative_prod
from pycuda.arrays.reductions.scans import cumulative_sum as cumulative_sum
from pycuda.arrays.shapes.joining import concatenate as _concatenate
from pycuda.arrays.shapes.joining import stack as _stack
from pycuda.arrays.shapes.repeating import repeat as _repeat
from pycuda.arrays.shapes.repeating import roll as _roll
from pycuda.arrays.shapes.repeating import tile as _tile
from pycuda.arrays.shapes.splitting import unstack as unstack
from pycuda.arrays.shapes.views import broadcast_arrays as _broadcast_arrays
from pycuda.arrays.shapes.views import broadcast_to as _broadcast_to
from pycuda.arrays.shapes.views import expand_dims as _expand_dims
from pycuda.arrays.shapes.views import flip as _flip
from pycuda.arrays.shapes.views import matrix_transpose as matrix_transpose
from pycuda.arrays.shapes.views import moveaxis as _moveaxis
from pycuda.arrays.sorting.sorting import argsort as _argsort
from pycuda.arrays.sorting.sorting import searchsorted as _searchsorted
from pycuda.arrays.sorting.sorting import sort as _sort
from pycuda.arrays.sorting.unique import unique_all as unique_all
from pycuda.arrays.sorting.unique import unique_counts as unique_counts
from pycuda.arrays.sorting.unique import unique_inverse as unique_inverse
from pycuda.arrays.sorting.unique import unique_values as unique_values
from pycuda.arrays.ufuncs.universal_functions import UFUNCS as _UFUNCS

__array_api_version__ = "2024.12"

# Constants and types

e, pi, inf, nan, newaxis = math.e, math.pi, math.inf, math.nan, None
bool = np.dtype("bool")
int8, int16, int32, int64 = (np.dtype(f"int{bits}") for bits in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64))
float32, float64 = np.dtype("float32"), np.dtype("float64")
complex64, complex128 = np.dtype("complex64"), np.dtype("complex128")
isdtype = np.isdtype

# Elementwise functions

ELEMENTWISE = """
    abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift
    bitwise_or bitwise_right_shift bitwise_xor ceil conj copysign cos cosh divide equal exp expm1
    floor floor_divide greater greater_equal hypot isfinite isinf isnan less less_equal log log10
    log1p log2 logaddexp logical_and logical_not logical_or logical_xor maximum minimum multiply
    negative nextafter not_equal positive pow reciprocal remainder sign signbit sin sinh sqrt square
    subtract tan tanh trunc
""".split()
globals().update({name: _UFUNCS[name] for name in ELEMENTWISE})


def clip(x, /, min=None, max=None):
    """The elements held between ``min`` and ``max``."""
    return _clip(x, min, max)


def round(x, /):
    """The nearest whole numbers, halves to the even one."""
    return _round(x)


def real(x, /):
    """The real parts."""
    return x.real


def imag(x, /):
    """The imaginary parts."""
    return x.imag


# Making arrays


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    """An array of numbers, nested lists, host arrays or arrays of the device."""
    _check_device(device)
    if not isinstance(obj, GPUArray) and hasattr(obj, "__dlpack__"):
        if not isinstance(obj, np.ndarray):
            obj = from_dlpack(obj)
    if copy is False and not isinstance(obj, GPUArray):
        raise ValueError("what lives on the host cannot be used without a copy")
    return _functions.array(obj, dtype, copy=copy)


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    """Evenly spaced numbers."""
    _check_device(device)
    return _functions.CREATION["arange"](start, stop, step, dtype)


def empty(shape, *, dtype=None, device=None):
    """A new array whose elements are not set."""
    _check_device(device)
    return _creation.empty(shape, dtype or float64)


def zeros(shape, *, dtype=None, device=None):
    """A new array of zeros."""
    _check_device(device)
    return _creation.zeros(shape, dtype or float64)


def ones(shape, *, dtype=None, device=None):
    """A new array of ones."""
    _check_device(device)
    return _creation.ones(shape, dtype or float64)


def full(shape, fill_value, *, dtype=None, device=None):
    """A new array with all elements ``fill_value``."""
    _check_device(device)
    return _creation.full(shape, fill_value, dtype)


def empty_like(x, /, *, dtype=None, device=None):
    """An array of the same shape whose elements are not set."""
    _check_device(device)
    return _creation.empty_like(x, dtype)


def zeros_like(x, /, *, dtype=None, device=None):
    """An array of zeros of the same shape."""
    _check_device(device)
    return _creation.zeros_like(x, dtype)


def ones_like(x, /, *, dtype=None, device=None):
    """An array of ones of the same shape."""
    _check_device(device)
    return _creation.ones_like(x, dtype)


def full_like(x, /, fill_value, *, dtype=None, device=None):
    """An array of the same shape with all elements ``fill_value``."""
    _check_device(device)
    return _creation.full_like(x, fill_value, dtype)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    """A matrix of zeros with ones on the diagonal ``k``."""
    _check_device(device)
    return _creation.eye(n_rows, n_cols, k, dtype or float64)


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    """``num`` numbers from ``start`` to ``stop``."""
    _check_device(device)
    return _ranges.linspace(start, stop, num, endpoint, dtype)


def meshgrid(*arrays, indexing="xy"):
    """Grids of coordinates from vectors."""
    return list(_meshgrid(*arrays, indexing=indexing))


def tril(x, /, *, k=0):
    """A copy with zeros above the diagonal ``k``."""
    return _tril(_matrix(x), k)


def triu(x, /, *, k=0):
    """A copy with zeros below the diagonal ``k``."""
    return _triu(_matrix(x), k)


def _matrix(x):
    if x.ndim < 2:
        raise ValueError(f"a matrix has at least two axes, this array has {x.ndim}")
    return x


# Types


def astype(x, dtype, /, *, copy=True, device=None):
    """The elements converted to ``dtype``; complex numbers not to real ones."""
    _check_device(device)
    if x.dtype.kind == "c" and np.dtype(dtype).kind not in "cb":
        raise TypeError(f"{x.dtype} is not converted to {dtype}: take real() first")
    return x.astype(dtype, copy=copy)


def _type_of(value):
    return value.dtype if isinstance(value, GPUArray) else value


def can_cast(from_, to, /):
    """Whether a type (or an array's) can be converted by the standard's promotion rules."""
    from_, to = np.dtype(_type_of(from_)), np.dtype(to)
    families = ("b", "iu", "fc")  # between these, the standard promotes nothing
    same = builtins.any({from_.kind, to.kind} <= set(family) for family in families)
    return same and np.can_cast(from_, to)


def result_type(*arrays_and_dtypes):
    """The type that arrays, types and Python's numbers have together."""
    types = [_type_of(one) for one in arrays_and_dtypes]
    if builtins.all(isinstance(one, (int, float, complex)) for one in types):
        raise ValueError("result_type() wants at least one array or dtype")
    return np.result_type(*types)


class FloatLimits(NamedTuple):
    """What ``finfo()`` returns: Python's numbers, whatever the type."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype


class IntegerLimits(NamedTuple):
    """What ``iinfo()`` returns."""

    bits: int
    max: int
    min: int
    dtype: np.dtype


def finfo(type, /):
    """The limits of a floating point type; of a complex one, those of its parts."""
    limits = np.finfo(_type_of(type))
    numbers = (limits.eps, limits.max, limits.min, limits.smallest_normal)
    return FloatLimits(limits.bits, *map(float, numbers), limits.dtype)


def iinfo(type, /):
    """The limits of an integer type."""
    limits = np.iinfo(_type_of(type))
    return IntegerLimits(limits.bits, limits.max, limits.min, limits.dtype)


# Shapes


def broadcast_arrays(*arrays):
    """Views of all arrays with the shape that they have in common."""
    return list(_broadcast_arrays(*arrays))


def broadcast_to(x, /, shape):
    """A view repeated along new axes and those of length 1."""
    return _broadcast_to(x, shape)


def concat(arrays, /, *, axis=0):
    """The arrays one after the other along ``axis``; None takes all elements of each."""
    return _concatenate(arrays, axis)


def stack(arrays, /, *, axis=0):
    """The arrays along a new axis."""
    return _stack(arrays, axis)


def expand_dims(x, /, axis=0):
    """A view with a new axis of length 1."""
    return _expand_dims(x, axis)


def squeeze(x, /, axis):
    """A view without the axes ``axis``, whose length is 1."""
    return x.squeeze(axis)


def flip(x, /, *, axis=None):
    """A view with the elements in reverse order."""
    return _flip(x, axis)


def moveaxis(x, source, destination, /):
    """A view with axes at other places."""
    return _moveaxis(x, source, destination)


def permute_dims(x, /, axes):
    """A view with the axes in another order."""
    return x.transpose(axes)


def repeat(x, repeats, /, *, axis=None):
    """Each element ``repeats`` times."""
    return _repeat(x, repeats, axis)


def reshape(x, /, shape, *, copy=None):
    """The same elements with another shape."""
    return x._reshape(shape, copy=copy)


def roll(x, /, shift, *, axis=None):
    """The elements moved on by ``shift``."""
    return _roll(x, shift, axis)


def tile(x, repetitions, /):
    """The array repeated along each axis."""
    return _tile(x, repetitions)


# Products


def matmul(x1, x2, /):
    """The matrix product of the last two axes."""
    return _matmul(x1, x2)


def tensordot(x1, x2, /, *, axes=2):
    """The sum of products over the last ``axes`` axes of one and the first of the other."""
    return _tensordot(x1, x2, axes)


# Selecting and searching


def take(x, indices, /, *, axis=None):
    """The elements at ``indices`` along ``axis``, which may be left out for one axis."""
    return _take(x, indices, _only_axis(x, axis))


def take_along_axis(x, indices, /, *, axis=-1):
    """For each place of ``indices``, the element at that index along ``axis``."""
    return _take_along_axis(x, indices, axis)


def _only_axis(x, axis):
    if axis is None and x.ndim != 1:
        raise ValueError(f"an array of {x.ndim} axes needs an axis")
    return 0 if axis is None else axis


def argmax(x, /, *, axis=None, keepdims=False):
    """The first index of the largest element."""
    return x.argmax(axis, None, keepdims)


def argmin(x, /, *, axis=None, keepdims=False):
    """The first index of the smallest element."""
    return x.argmin(axis, None, keepdims)


def count_nonzero(x, /, *, axis=None, keepdims=False):
    """How many elements are not zero."""
    return x._reduce("count_nonzero", axis, None, None, keepdims)


def nonzero(x, /):
    """The indices of the elements that are not zero, for each axis."""
    return _nonzero(x)


def where(condition, x1, x2, /):
    """``x1`` where the condition holds, elsewhere ``x2``."""
    return _where(condition, x1, x2)


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    """The places in the sorted ``x1`` before which the elements of ``x2`` belong."""
    return _searchsorted(x1, x2, side, sorter)


def sort(x, /, *, axis=-1, descending=False, stable=True):
    """The elements in order along ``axis``."""
    return _sort(x, axis, stable=stable, descending=descending)


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    """The indices that put the elements in order along ``axis``."""
    return _argsort(x, axis, stable=stable, descending=descending)


# Statistics


def sum(x, /, *, axis=None, dtype=None, keepdims=False):
    """The sum over ``axis``."""
    return x.sum(axis, dtype, None, keepdims)


def prod(x, /, *, axis=None, dtype=None, keepdims=False):
    """The product over ``axis``."""
    return x.prod(axis, dtype, None, keepdims)


def max(x, /, *, axis=None, keepdims=False):
    """The largest element over ``axis``."""
    return x.max(axis, None, keepdims)


def min(x, /, *, axis=None, keepdims=False):
    """The smallest element over ``axis``."""
    return x.min(axis, None, keepdims)


def mean(x, /, *, axis=None, keepdims=False):
    """The mean over ``axis``."""
    return x.mean(axis, None, None, keepdims)


def var(x, /, *, axis=None, correction=0.0, keepdims=False):
    """The variance over ``axis``, divided by the count less ``correction``."""
    return x.var(axis, None, None, correction, keepdims)


def std(x, /, *, axis=None, correction=0.0, keepdims=False):
    """The standard deviation over ``axis``."""
    return x.std(axis, None, None, correction, keepdims)


def all(x, /, *, axis=None, keepdims=False):
    """Whether all elements are true."""
    return x.all(axis, None, keepdims)


def any(x, /, *, axis=None, keepdims=False):
    """Whether any element is true."""
    return x.any(axis, None, keepdims)


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    """Each element less the one before along ``axis``, ``n`` times over."""
    given = {"prepend": prepend, "append": append}
    given = {name: value for name, value in given.items() if value is not None}
    return _diff(x, n, axis, **given)


# What the namespace is


class _Info:
    """What ``__array_namespace_info__()`` returns."""

    def capabilities(self) -> dict:
        """What data-dependent operations and how many axes there are."""
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": 32,
        }

    def default_device(self) -> str:
        """The device of the current context."""
        return _current_device()

    def devices(self) -> list[str]:
        """The devices that arrays can be made on now: that of the current context."""
        return [_current_device()]

    def default_dtypes(self, *, device=None) -> dict:
        """The types that new arrays have."""
        _check_device(device)
        return {
            "real floating": float64,
            "complex floating": complex128,
            "integral": int64,
            "indexing": int64,
        }

    def dtypes(self, *, device=None, kind=None) -> dict:
        """The types by name, all or those of a kind."""
        _check_device(device)
        names = [bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64]
        names += [float32, float64, complex64, complex128]
        return {
            dtype.name: dtype
            for dtype in names
            if kind is None or np.isdtype(dtype, kind)
        }


def __array_namespace_info__():
    """Queries about the namespace, its types and devices."""
    return _Info()
