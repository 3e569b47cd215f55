"""Arrays on the device, with numpy's arithmetic.

>>> import pycuda.autoinit
>>> from pycuda import gpuarray
>>> x = gpuarray.to_gpu(numpy.arange(4, dtype=numpy.float32))
>>> (2 * x + 1).get()
array([1., 3., 5., 7.], dtype=float32)

Functions take and return :class:`GPUArray`; the elementwise ones (``gpuarray.exp``, ``hypot``,
``maximum`` ...) are objects with numpy's keywords ``out``, ``where`` and ``dtype``. numpy's own
functions take arrays of the device as well: ``numpy.concatenate([x, y])`` is a GPUArray.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence

import numpy as np

from pycuda import _driver
from pycuda import driver as drv  # noqa: F401  (a name that PyCUDA's module has)
from pycuda._driver import ArrayBase, _Using
from pycuda.arrays.array_class.gpu_array import ArrayFlags as ArrayFlags
from pycuda.arrays.array_class.gpu_array import GPUArray as GPUArray
from pycuda.arrays.creation.conversion import astype as astype
from pycuda.arrays.creation.conversion import copy as copy
from pycuda.arrays.creation.conversion import to_gpu as to_gpu
from pycuda.arrays.creation.conversion import to_gpu_async as to_gpu_async
from pycuda.arrays.creation.filled import empty as empty
from pycuda.arrays.creation.filled import empty_like as empty_like
from pycuda.arrays.creation.filled import eye as eye
from pycuda.arrays.creation.filled import full as full
from pycuda.arrays.creation.filled import full_like as full_like
from pycuda.arrays.creation.filled import identity as identity
from pycuda.arrays.creation.filled import ones as ones
from pycuda.arrays.creation.filled import ones_like as ones_like
from pycuda.arrays.creation.filled import splay as splay
from pycuda.arrays.creation.filled import zeros as zeros
from pycuda.arrays.creation.filled import zeros_like as zeros_like
from pycuda.arrays.creation.ranges import arange as arange
from pycuda.arrays.creation.ranges import geomspace as geomspace
from pycuda.arrays.creation.ranges import linspace as linspace
from pycuda.arrays.creation.ranges import logspace as logspace
from pycuda.arrays.elementwise.comparing import allclose as allclose
from pycuda.arrays.elementwise.comparing import array_equal as array_equal
from pycuda.arrays.elementwise.comparing import array_equiv as array_equiv
from pycuda.arrays.elementwise.comparing import isclose as isclose
from pycuda.arrays.elementwise.comparing import iscomplex as iscomplex
from pycuda.arrays.elementwise.comparing import isneginf as isneginf
from pycuda.arrays.elementwise.comparing import isposinf as isposinf
from pycuda.arrays.elementwise.comparing import isreal as isreal
from pycuda.arrays.elementwise.elementwise import angle as angle
from pycuda.arrays.elementwise.elementwise import around as around
from pycuda.arrays.elementwise.elementwise import clip as clip
from pycuda.arrays.elementwise.elementwise import fix as fix
from pycuda.arrays.elementwise.elementwise import nan_to_num as nan_to_num
from pycuda.arrays.elementwise.elementwise import real_if_close as real_if_close
from pycuda.arrays.elementwise.elementwise import round as round
from pycuda.arrays.elementwise.elementwise import sinc as sinc
from pycuda.arrays.indexing import selecting as _selecting
from pycuda.arrays.indexing.assigning import copyto as copyto
from pycuda.arrays.indexing.assigning import place as place
from pycuda.arrays.indexing.assigning import put_along_axis as put_along_axis
from pycuda.arrays.indexing.assigning import putmask as putmask
from pycuda.arrays.indexing.choosing import choose as choose
from pycuda.arrays.indexing.choosing import select as select
from pycuda.arrays.indexing.grids import indices as indices
from pycuda.arrays.indexing.grids import ix_ as ix_
from pycuda.arrays.indexing.grids import meshgrid as meshgrid
from pycuda.arrays.indexing.grids import ravel_multi_index as ravel_multi_index
from pycuda.arrays.indexing.grids import unravel_index as unravel_index
from pycuda.arrays.indexing.selecting import argwhere as argwhere
from pycuda.arrays.indexing.selecting import compress as compress
from pycuda.arrays.indexing.selecting import extract as extract
from pycuda.arrays.indexing.selecting import flatnonzero as flatnonzero
from pycuda.arrays.indexing.selecting import nonzero as nonzero
from pycuda.arrays.indexing.selecting import take_along_axis as take_along_axis
from pycuda.arrays.indexing.triangles import diag as diag
from pycuda.arrays.indexing.triangles import diag_indices_from as diag_indices_from
from pycuda.arrays.indexing.triangles import diagflat as diagflat
from pycuda.arrays.indexing.triangles import fill_diagonal as fill_diagonal
from pycuda.arrays.indexing.triangles import trace as trace
from pycuda.arrays.indexing.triangles import tri as tri
from pycuda.arrays.indexing.triangles import tril as tril
from pycuda.arrays.indexing.triangles import tril_indices as tril_indices
from pycuda.arrays.indexing.triangles import tril_indices_from as tril_indices_from
from pycuda.arrays.indexing.triangles import triu as triu
from pycuda.arrays.indexing.triangles import triu_indices as triu_indices
from pycuda.arrays.indexing.triangles import triu_indices_from as triu_indices_from
from pycuda.arrays.interop.exchange import from_dlpack as from_dlpack

# numpy's functions, with numpy's signatures. PyCUDA's own, below, have theirs.
from pycuda.arrays.interop.files import array2string as array2string
from pycuda.arrays.interop.files import array_repr as array_repr
from pycuda.arrays.interop.files import array_str as array_str
from pycuda.arrays.interop.files import load as load
from pycuda.arrays.interop.files import save as save
from pycuda.arrays.interop.files import savetxt as savetxt
from pycuda.arrays.interop.files import savez as savez
from pycuda.arrays.interop.files import savez_compressed as savez_compressed
from pycuda.arrays.interop.vector_types import vec as vec
from pycuda.arrays.linalg.products import einsum as einsum
from pycuda.arrays.linalg.products import inner as inner
from pycuda.arrays.linalg.products import kron as kron
from pycuda.arrays.linalg.products import matmul as matmul
from pycuda.arrays.linalg.products import matrix_power as matrix_power
from pycuda.arrays.linalg.products import matvec as matvec
from pycuda.arrays.linalg.products import tensordot as tensordot
from pycuda.arrays.linalg.products import vecdot as vecdot
from pycuda.arrays.linalg.products import vecmat as vecmat
from pycuda.arrays.linalg.vectors import cross as cross
from pycuda.arrays.linalg.vectors import outer as outer
from pycuda.arrays.numerics.differences import diff as diff
from pycuda.arrays.numerics.differences import ediff1d as ediff1d
from pycuda.arrays.numerics.differences import gradient as gradient
from pycuda.arrays.numerics.differences import trapezoid as trapezoid
from pycuda.arrays.numerics.polynomials import polyfit as polyfit
from pycuda.arrays.numerics.polynomials import polyval as polyval
from pycuda.arrays.numerics.polynomials import roots as roots
from pycuda.arrays.numerics.polynomials import vander as vander
from pycuda.arrays.protocols.numpy_functions import array as array
from pycuda.arrays.protocols.numpy_functions import asanyarray as asanyarray
from pycuda.arrays.protocols.numpy_functions import asarray as asarray
from pycuda.arrays.protocols.numpy_functions import (
    ascontiguousarray as ascontiguousarray,
)
from pycuda.arrays.protocols.numpy_functions import asfortranarray as asfortranarray
from pycuda.arrays.reductions.functions import average as average
from pycuda.arrays.reductions.functions import count_nonzero as count_nonzero
from pycuda.arrays.reductions.functions import nanargmax as nanargmax
from pycuda.arrays.reductions.functions import nanargmin as nanargmin
from pycuda.arrays.reductions.functions import nancumprod as nancumprod
from pycuda.arrays.reductions.functions import nancumsum as nancumsum
from pycuda.arrays.reductions.functions import nanmax as nanmax
from pycuda.arrays.reductions.functions import nanmean as nanmean
from pycuda.arrays.reductions.functions import nanmin as nanmin
from pycuda.arrays.reductions.functions import nanprod as nanprod
from pycuda.arrays.reductions.functions import nanstd as nanstd
from pycuda.arrays.reductions.functions import nansum as nansum
from pycuda.arrays.reductions.functions import nanvar as nanvar
from pycuda.arrays.reductions.scans import cumprod as cumprod
from pycuda.arrays.reductions.scans import cumsum as cumsum
from pycuda.arrays.reductions.scans import cumulative_prod as cumulative_prod
from pycuda.arrays.reductions.scans import cumulative_sum as cumulative_sum
from pycuda.arrays.shapes.applying import apply_along_axis as apply_along_axis
from pycuda.arrays.shapes.applying import apply_over_axes as apply_over_axes
from pycuda.arrays.shapes.joining import append as append
from pycuda.arrays.shapes.joining import block as block
from pycuda.arrays.shapes.joining import column_stack as column_stack
from pycuda.arrays.shapes.joining import concat as concat
from pycuda.arrays.shapes.joining import concatenate as concatenate
from pycuda.arrays.shapes.joining import dstack as dstack
from pycuda.arrays.shapes.joining import hstack as hstack
from pycuda.arrays.shapes.joining import row_stack as row_stack
from pycuda.arrays.shapes.joining import stack as stack
from pycuda.arrays.shapes.joining import vstack as vstack
from pycuda.arrays.shapes.padding import pad as pad
from pycuda.arrays.shapes.queries import imag as imag
from pycuda.arrays.shapes.queries import iscomplexobj as iscomplexobj
from pycuda.arrays.shapes.queries import isrealobj as isrealobj
from pycuda.arrays.shapes.queries import may_share_memory as may_share_memory
from pycuda.arrays.shapes.queries import ndim as ndim
from pycuda.arrays.shapes.queries import real as real
from pycuda.arrays.shapes.queries import shape as shape
from pycuda.arrays.shapes.queries import size as size
from pycuda.arrays.shapes.repeating import delete as delete
from pycuda.arrays.shapes.repeating import insert as insert
from pycuda.arrays.shapes.repeating import repeat as repeat
from pycuda.arrays.shapes.repeating import resize as resize
from pycuda.arrays.shapes.repeating import roll as roll
from pycuda.arrays.shapes.repeating import tile as tile
from pycuda.arrays.shapes.splitting import array_split as array_split
from pycuda.arrays.shapes.splitting import dsplit as dsplit
from pycuda.arrays.shapes.splitting import hsplit as hsplit
from pycuda.arrays.shapes.splitting import split as split
from pycuda.arrays.shapes.splitting import unstack as unstack
from pycuda.arrays.shapes.splitting import vsplit as vsplit
from pycuda.arrays.shapes.views import atleast_1d as atleast_1d
from pycuda.arrays.shapes.views import atleast_2d as atleast_2d
from pycuda.arrays.shapes.views import atleast_3d as atleast_3d
from pycuda.arrays.shapes.views import broadcast_arrays as broadcast_arrays
from pycuda.arrays.shapes.views import broadcast_to as broadcast_to
from pycuda.arrays.shapes.views import diagonal as diagonal
from pycuda.arrays.shapes.views import expand_dims as expand_dims
from pycuda.arrays.shapes.views import flip as flip
from pycuda.arrays.shapes.views import fliplr as fliplr
from pycuda.arrays.shapes.views import flipud as flipud
from pycuda.arrays.shapes.views import matrix_transpose as matrix_transpose
from pycuda.arrays.shapes.views import moveaxis as moveaxis
from pycuda.arrays.shapes.views import permute_dims as permute_dims
from pycuda.arrays.shapes.views import ravel as ravel
from pycuda.arrays.shapes.views import rollaxis as rollaxis
from pycuda.arrays.shapes.views import rot90 as rot90
from pycuda.arrays.shapes.views import squeeze as squeeze
from pycuda.arrays.shapes.views import swapaxes as swapaxes
from pycuda.arrays.sorting.sets import intersect1d as intersect1d
from pycuda.arrays.sorting.sets import isin as isin
from pycuda.arrays.sorting.sets import setdiff1d as setdiff1d
from pycuda.arrays.sorting.sets import setxor1d as setxor1d
from pycuda.arrays.sorting.sets import union1d as union1d
from pycuda.arrays.sorting.sorting import argpartition as argpartition
from pycuda.arrays.sorting.sorting import argsort as argsort
from pycuda.arrays.sorting.sorting import lexsort as lexsort
from pycuda.arrays.sorting.sorting import partition as partition
from pycuda.arrays.sorting.sorting import searchsorted as searchsorted
from pycuda.arrays.sorting.sorting import sort as sort
from pycuda.arrays.sorting.sorting import sort_complex as sort_complex
from pycuda.arrays.sorting.sorting import topk as topk
from pycuda.arrays.sorting.unique import unique as unique
from pycuda.arrays.sorting.unique import unique_all as unique_all
from pycuda.arrays.sorting.unique import unique_counts as unique_counts
from pycuda.arrays.sorting.unique import unique_inverse as unique_inverse
from pycuda.arrays.sorting.unique import unique_values as unique_values
from pycuda.arrays.statistics.correlation import convolve as convolve
from pycuda.arrays.statistics.correlation import corrcoef as corrcoef
from pycuda.arrays.statistics.correlation import correlate as correlate
from pycuda.arrays.statistics.correlation import cov as cov
from pycuda.arrays.statistics.histograms import bincount as bincount
from pycuda.arrays.statistics.histograms import digitize as digitize
from pycuda.arrays.statistics.histograms import histogram as histogram
from pycuda.arrays.statistics.histograms import histogram2d as histogram2d
from pycuda.arrays.statistics.histograms import (
    histogram_bin_edges as histogram_bin_edges,
)
from pycuda.arrays.statistics.histograms import histogramdd as histogramdd
from pycuda.arrays.statistics.histograms import interp as interp
from pycuda.arrays.statistics.quantiles import median as median
from pycuda.arrays.statistics.quantiles import nanmedian as nanmedian
from pycuda.arrays.statistics.quantiles import nanpercentile as nanpercentile
from pycuda.arrays.statistics.quantiles import nanquantile as nanquantile
from pycuda.arrays.statistics.quantiles import percentile as percentile
from pycuda.arrays.statistics.quantiles import quantile as quantile
from pycuda.arrays.ufuncs import tracing as _tracing
from pycuda.arrays.ufuncs.universal_functions import UFUNCS as _UFUNCS
from pycuda.arrays.ufuncs.universal_functions import frexp as frexp
from pycuda.arrays.ufuncs.universal_functions import modf as modf

_builtin_min = builtins.min
_builtin_max = builtins.max


def __getattr__(name: str):
    if name == "elementwise":  # PyCUDA's module has it; it imports this one
        from pycuda import elementwise

        return elementwise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# The elementwise functions; `abs` and `pow` shadow the builtins of a `from ... import *` no more
# than PyCUDA's own `sum` does, but this module uses both.
globals().update(
    {name: ufunc for name, ufunc in _UFUNCS.items() if name not in ("abs", "pow")}
)


def _as_array(value, like=None) -> GPUArray:
    """Numbers and host arrays as arrays; a number takes the type of ``like`` where it may."""
    if isinstance(value, ArrayBase):
        return value
    if like is not None and isinstance(value, (bool, int, float, complex)):
        dtype = np.result_type(like.dtype, value)
        return full((), value, dtype)
    return to_gpu(np.asarray(value))


# PyCUDA's functions


def transpose(a: GPUArray, axes=None) -> GPUArray:
    """A view with the axes in another order, by default reversed."""
    return a.transpose(axes)


def reshape(a: GPUArray, *shape, **kwargs) -> GPUArray:
    """The elements of ``a`` with another shape."""
    return a.reshape(*shape, **kwargs)


def if_positive(criterion, then_, else_, out=None, stream=None) -> GPUArray:
    """``then_`` where ``criterion`` is greater than zero, elsewhere ``else_``."""
    with _Using(stream):
        return where(criterion > 0, then_, else_, out=out)


def where(criterion, then_=None, else_=None, out=None, stream=None):
    """``then_`` where ``criterion`` is not zero, elsewhere ``else_``; alone: the places."""
    if _tracing.is_traced((criterion, then_, else_)):
        return _tracing.record("where", criterion, then_, else_)
    return _selecting.where(criterion, then_, else_, out=out, stream=stream)


def _reduction(name: str):
    method = getattr(GPUArray, name)

    def function(a, *args, stream=None, allocator=None, **kwargs):
        with _Using(stream, allocator):
            return method(a, *args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{method.__doc__} See :meth:`GPUArray.{name}`."
    return function


def sum(a, dtype=None, stream=None, allocator=None, *, axis=None, out=None, keepdims=False, where=None):  # fmt: skip
    """The sum of all elements, or over ``axis``, in the type of ``a`` or in ``dtype``.

    Sums of small integers overflow, as PyCUDA's do; ``numpy.sum(a)`` and ``a.sum()`` are of 64 bits.
    """
    with _Using(stream, allocator):
        return a.sum(axis, _type_of_sum(a, dtype), out, keepdims, where)


def _type_of_sum(a, dtype):
    """PyCUDA's sums have the type of the elements; those of bool are numpy's counts."""
    return a.dtype if dtype is None and a.dtype.kind in "iu" else dtype


def any(a, stream=None, allocator=None, *, axis=None, out=None, keepdims=False):
    """Whether any element is true."""
    with _Using(stream, allocator):
        return a.any(axis=axis, out=out, keepdims=keepdims)


def all(a, stream=None, allocator=None, *, axis=None, out=None, keepdims=False):
    """Whether all elements are true."""
    with _Using(stream, allocator):
        return a.all(axis=axis, out=out, keepdims=keepdims)


def min(a, stream=None, *, axis=None, out=None, keepdims=False):
    """The smallest element, or over ``axis``."""
    return a.min(axis, out, keepdims, stream=stream)


def max(a, stream=None, *, axis=None, out=None, keepdims=False):
    """The largest element, or over ``axis``."""
    return a.max(axis, out, keepdims, stream=stream)


amin, amax = min, max
prod = _reduction("prod")
argmin = _reduction("argmin")
argmax = _reduction("argmax")
mean = _reduction("mean")
var = _reduction("var")
std = _reduction("std")
ptp = _reduction("ptp")


def dot(a, b, dtype=None, stream=None, allocator=None) -> GPUArray:
    """The sum of the products of the elements of two arrays of the same shape.

    PyCUDA's meaning: a number, whatever the shapes, and without conjugation.
    """
    if a.shape != b.shape:
        raise ValueError(
            f"a and b must have the same shape, not {a.shape} and {b.shape}"
        )
    with _Using(stream, allocator):
        return _driver._array_reduce(
            "dot", a, b, dtype=None if dtype is None else np.dtype(dtype)
        )


def vdot(a, b, stream=None) -> GPUArray:
    """The same with the first array conjugated."""
    with _Using(stream):
        return dot(a.conj()._ravel(), b._ravel())


def subset_sum(subset, a, dtype=None, stream=None, allocator=None) -> GPUArray:
    """The sum of the elements of ``a`` at the places ``subset``."""
    with _Using(stream, allocator):
        return sum(take(a, subset), dtype)


def subset_dot(subset, a, b, dtype=None, stream=None, allocator=None) -> GPUArray:
    """The dot product of the elements of ``a`` and ``b`` at the places ``subset``."""
    with _Using(stream, allocator):
        return dot(take(a, subset), take(b, subset), dtype)


def subset_min(subset, a, stream=None) -> GPUArray:
    """The smallest of the elements of ``a`` at the places ``subset``."""
    with _Using(stream):
        return take(a, subset).min()


def subset_max(subset, a, stream=None) -> GPUArray:
    """The largest of the elements of ``a`` at the places ``subset``."""
    with _Using(stream):
        return take(a, subset).max()


def take(a, indices, out=None, stream=None, *, axis=None) -> GPUArray:
    """The elements of ``a`` at ``indices``, counted over the flat array or along ``axis``."""
    with _Using(stream):
        return _selecting.take(a, indices, axis, out)


def put(a, indices, values, stream=None) -> None:
    """Set the elements of ``a`` at flat ``indices`` to ``values``."""
    with _Using(stream):
        flat = a.ravel()
        if flat.ptr != a.ptr:
            raise ValueError(
                "put() wants an array whose elements lie one after the other"
            )
        flat[_as_array(indices)] = values


def multi_take(arrays: Sequence, indices, out=None, stream=None) -> list[GPUArray]:
    """:func:`take` from several arrays."""
    outs = [None] * len(arrays) if out is None else out
    return [take(a, indices, o, stream) for a, o in zip(arrays, outs, strict=True)]


def multi_take_put(
    arrays: Sequence, dest_indices, src_indices, dest_shape=None, out=None, stream=None,
    src_offsets=None,
) -> list[GPUArray]:  # fmt: skip
    """For each array: ``out[dest_indices] = array[src_indices + offset]``.

    Elements that nobody writes are unset in new arrays, which have ``dest_shape`` or that of the
    indices.
    """
    with _Using(stream):
        outs = _outputs(arrays, dest_indices, dest_shape, out)
        offsets = [0] * len(arrays) if src_offsets is None else src_offsets
        for source, result, offset in zip(arrays, outs, offsets, strict=True):
            places = (
                src_indices if not offset else src_indices.astype(np.int64) + offset
            )
            put(result, dest_indices, take(source, places))
    return outs


def multi_put(
    arrays: Sequence, dest_indices, dest_shape=None, out=None, stream=None
) -> list[GPUArray]:
    """For each array: ``out[dest_indices] = array``."""
    with _Using(stream):
        outs = _outputs(arrays, dest_indices, dest_shape, out)
        for source, result in zip(arrays, outs, strict=True):
            put(result, dest_indices, source)
    return outs


def _outputs(arrays, indices, shape, out) -> list:
    if out is not None:
        return list(out)
    shape = indices.shape if shape is None else shape
    return [empty(shape, array.dtype, array._own_allocator) for array in arrays]


# What dependents import


def _get_common_dtype(a, b) -> np.dtype:
    return np.result_type(getattr(a, "dtype", a), getattr(b, "dtype", b))


def _get_broadcasted_binary_op_result(a, b, cq=None, dtype_getter=None, allocator=None):
    dtype = (dtype_getter or _get_common_dtype)(a, b)
    shape = np.broadcast_shapes(getattr(a, "shape", ()), getattr(b, "shape", ()))
    return empty(shape, dtype, allocator)


def _compact_strides(a) -> tuple[int, ...]:
    """The strides of ``a``'s shape without gaps, its axes in the order that they have in memory."""
    strides, step = [0] * a.ndim, a.dtype.itemsize
    for axis in sorted(
        range(a.ndim), key=lambda axis: (builtins.abs(a.strides[axis]), -axis)
    ):
        strides[axis] = step
        step *= builtins.max(a.shape[axis], 1)
    return tuple(strides)


def _memcpy_discontig(dst, src, async_: bool = False, stream=None) -> None:
    """Copy between arrays of the same shape and type, on the host or the device."""
    if src.shape != dst.shape:
        raise ValueError(
            f"src and dst must have the same shape: {src.shape}, {dst.shape}"
        )
    if src.dtype != dst.dtype:
        raise TypeError(
            f"src and dst must have the same dtype: {src.dtype}, {dst.dtype}"
        )
    if isinstance(dst, ArrayBase):
        if isinstance(src, ArrayBase):
            _driver._array_assign(dst, src, stream=stream)
        else:
            dst.set(src, async_, stream)
    else:
        src.get(dst, async_=async_, stream=stream)
