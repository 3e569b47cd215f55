# Made by tools/array_stubs.py; not to be edited.
# ruff: noqa
"""Arrays on the device, with numpy's operations.

>>> import numpy
>>> import pycuda.autoinit
>>> from pycuda import gpuarray
>>> x = gpuarray.to_gpu(numpy.arange(4, dtype=numpy.float32))
>>> (2 * x + 1).get()
array([1., 3., 5., 7.], dtype=float32)

Functions take and return :class:`GPUArray`. The elementwise functions (``gpuarray.exp``, ``hypot``,
``maximum`` ...) are objects with numpy's keywords ``out``, ``where`` and ``dtype``. numpy's
functions accept device arrays as well: ``numpy.concatenate([x, y])`` is a GPUArray.
"""

from __future__ import annotations
import builtins
import numpy as np
from pycuda import _driver
from pycuda import driver as drv
from pycuda._driver import ArrayBase
from pycuda.arrays import registry as _registry
from pycuda.arrays.array_class.copying import restored as _restored
from pycuda.arrays.array_class.flags import ArrayFlags as ArrayFlags
from pycuda.arrays.array_class.gpu_array import GPUArray as GPUArray
from pycuda.arrays.creation.conversion import check_equal as _check_equal
from pycuda.arrays.creation.filled import empty as _empty
from pycuda.arrays.indexing.grids import mgrid as mgrid
from pycuda.arrays.indexing.grids import ogrid as ogrid
from pycuda.arrays.interop.vector_types import vec as vec
from pycuda.arrays.protocols import main_functions as _main_functions
from pycuda.arrays.reductions.determinism import deterministic as deterministic

def _get_common_dtype(a, b) -> np.dtype: ...
def _get_broadcasted_binary_op_result(
    a, b, cq=None, dtype_getter=None, allocator=None
): ...
def _compact_strides(a) -> tuple[int, ...]: ...
def _memcpy_discontig(dst, src, async_: bool = False, stream=None) -> None: ...

from pycuda.arrays.ufuncs.universal_functions import (
    UniversalFunction as _UniversalFunction,
)

absolute: _UniversalFunction
add: _UniversalFunction

def all(
    a, stream=..., allocator=..., *, axis=..., out=..., keepdims=..., where=...
): ...

from pycuda.arrays.elementwise.comparing import allclose as allclose
from pycuda.arrays.elementwise.elementwise import angle as angle

def any(
    a, stream=..., allocator=..., *, axis=..., out=..., keepdims=..., where=...
): ...

from pycuda.arrays.shapes.joining import append as append
from pycuda.arrays.shapes.applying import apply_along_axis as apply_along_axis
from pycuda.arrays.shapes.applying import apply_over_axes as apply_over_axes
from pycuda.arrays.protocols.pycuda_functions import arange as arange

arccos: _UniversalFunction
arccosh: _UniversalFunction
arcsin: _UniversalFunction
arcsinh: _UniversalFunction
arctan: _UniversalFunction
arctan2: _UniversalFunction
arctanh: _UniversalFunction
from pycuda.arrays.reductions.reductions import argmax as argmax
from pycuda.arrays.reductions.reductions import argmin as argmin
from pycuda.arrays.sorting.sorting import argpartition as argpartition
from pycuda.arrays.sorting.sorting import argsort as argsort
from pycuda.arrays.indexing.selecting import argwhere as argwhere
from pycuda.arrays.creation.conversion import array as array
from pycuda.arrays.interop.files import array2string as array2string
from pycuda.arrays.elementwise.comparing import array_equal as array_equal
from pycuda.arrays.elementwise.comparing import array_equiv as array_equiv
from pycuda.arrays.interop.files import array_repr as array_repr
from pycuda.arrays.shapes.splitting import array_split as array_split
from pycuda.arrays.interop.files import array_str as array_str
from pycuda.arrays.creation.conversion import asarray as asarray
from pycuda.arrays.creation.conversion import ascontiguousarray as ascontiguousarray
from pycuda.arrays.creation.conversion import asfortranarray as asfortranarray
from pycuda.arrays.interop.modules import asnumpy as asnumpy
from pycuda.arrays.creation.conversion import astype as astype
from pycuda.arrays.shapes.views import atleast_1d as atleast_1d
from pycuda.arrays.shapes.views import atleast_2d as atleast_2d
from pycuda.arrays.shapes.views import atleast_3d as atleast_3d
from pycuda.arrays.reductions.means import average as average
from pycuda.arrays.creation.tapers import bartlett as bartlett
from pycuda.arrays.statistics.histograms import bincount as bincount

bitwise_and: _UniversalFunction
bitwise_count: _UniversalFunction
bitwise_or: _UniversalFunction
bitwise_xor: _UniversalFunction
from pycuda.arrays.creation.tapers import blackman as blackman
from pycuda.arrays.shapes.joining import block as block
from pycuda.arrays.shapes.views import broadcast_arrays as broadcast_arrays
from pycuda.arrays.shapes.views import broadcast_to as broadcast_to

cbrt: _UniversalFunction
ceil: _UniversalFunction
from pycuda.arrays.indexing.choosing import choose as choose
from pycuda.arrays.elementwise.elementwise import clip as clip
from pycuda.arrays.shapes.joining import column_stack as column_stack
from pycuda.arrays.indexing.selecting import compress as compress
from pycuda.arrays.shapes.joining import concatenate as concatenate

conjugate: _UniversalFunction
from pycuda.arrays.statistics.correlation import convolve as convolve
from pycuda.arrays.creation.conversion import copy as copy

copysign: _UniversalFunction
from pycuda.arrays.indexing.assigning import copyto as copyto
from pycuda.arrays.statistics.correlation import corrcoef as corrcoef
from pycuda.arrays.statistics.correlation import correlate as correlate

cos: _UniversalFunction
cosh: _UniversalFunction
from pycuda.arrays.reductions.reductions import count_nonzero as count_nonzero
from pycuda.arrays.statistics.correlation import cov as cov
from pycuda.arrays.linalg.vectors import cross as cross
from pycuda.arrays.reductions.scans import cumprod as cumprod
from pycuda.arrays.reductions.scans import cumsum as cumsum
from pycuda.arrays.reductions.scans import cumulative_prod as cumulative_prod
from pycuda.arrays.reductions.scans import cumulative_sum as cumulative_sum

degrees: _UniversalFunction
from pycuda.arrays.shapes.repeating import delete as delete
from pycuda.arrays.indexing.triangles import diag as diag
from pycuda.arrays.indexing.triangles import diag_indices_from as diag_indices_from
from pycuda.arrays.indexing.triangles import diagflat as diagflat
from pycuda.arrays.shapes.views import diagonal as diagonal
from pycuda.arrays.numerics.differences import diff as diff
from pycuda.arrays.statistics.histograms import digitize as digitize

divide: _UniversalFunction
from pycuda.arrays.protocols.pycuda_functions import dot as dot
from pycuda.arrays.shapes.splitting import dsplit as dsplit
from pycuda.arrays.shapes.joining import dstack as dstack
from pycuda.arrays.numerics.differences import ediff1d as ediff1d
from pycuda.arrays.linalg.summation import einsum as einsum

def empty(
    shape, dtype=..., allocator=..., order: str = ..., *, device=...
) -> GPUArray: ...
def empty_like(
    other_ary, dtype=..., order: str = ..., *, subok: bool = ..., shape=..., device=...
) -> GPUArray: ...

equal: _UniversalFunction
exp: _UniversalFunction
exp2: _UniversalFunction
from pycuda.arrays.shapes.views import expand_dims as expand_dims

expm1: _UniversalFunction
from pycuda.arrays.indexing.selecting import extract as extract
from pycuda.arrays.creation.filled import eye as eye

fabs: _UniversalFunction
from pycuda.arrays.indexing.triangles import fill_diagonal as fill_diagonal
from pycuda.arrays.elementwise.elementwise import fix as fix
from pycuda.arrays.indexing.selecting import flatnonzero as flatnonzero
from pycuda.arrays.shapes.views import flip as flip
from pycuda.arrays.shapes.views import fliplr as fliplr
from pycuda.arrays.shapes.views import flipud as flipud

float_power: _UniversalFunction
floor: _UniversalFunction
floor_divide: _UniversalFunction
fmax: _UniversalFunction
fmin: _UniversalFunction
fmod: _UniversalFunction
from pycuda.arrays.ufuncs.universal_functions import frexp as frexp
from pycuda.arrays.creation.conversion import from_dlpack as from_dlpack

def full(
    shape,
    fill_value,
    dtype=...,
    allocator=...,
    order: str = ...,
    stream=...,
    *,
    device=...,
) -> GPUArray: ...
def full_like(
    other_ary,
    fill_value,
    dtype=...,
    order: str = ...,
    *,
    subok: bool = ...,
    shape=...,
    device=...,
) -> GPUArray: ...

gcd: _UniversalFunction
from pycuda.arrays.creation.ranges import geomspace as geomspace
from pycuda.arrays.interop.modules import get_array_module as get_array_module
from pycuda.arrays.numerics.differences import gradient as gradient

greater: _UniversalFunction
greater_equal: _UniversalFunction
from pycuda.arrays.creation.tapers import hamming as hamming
from pycuda.arrays.creation.tapers import hanning as hanning

heaviside: _UniversalFunction
from pycuda.arrays.statistics.histograms import histogram as histogram
from pycuda.arrays.statistics.histograms import histogram2d as histogram2d
from pycuda.arrays.statistics.histograms import (
    histogram_bin_edges as histogram_bin_edges,
)
from pycuda.arrays.statistics.histograms import histogramdd as histogramdd
from pycuda.arrays.shapes.splitting import hsplit as hsplit
from pycuda.arrays.shapes.joining import hstack as hstack

hypot: _UniversalFunction
i0: _UniversalFunction
from pycuda.arrays.creation.filled import identity as identity
from pycuda.arrays.protocols.pycuda_functions import if_positive as if_positive
from pycuda.arrays.shapes.queries import imag as imag
from pycuda.arrays.indexing.grids import indices as indices
from pycuda.arrays.linalg.products import inner as inner
from pycuda.arrays.shapes.repeating import insert as insert
from pycuda.arrays.statistics.interpolation import interp as interp
from pycuda.arrays.sorting.sets import intersect1d as intersect1d

invert: _UniversalFunction
from pycuda.arrays.elementwise.comparing import isclose as isclose
from pycuda.arrays.elementwise.comparing import iscomplex as iscomplex
from pycuda.arrays.shapes.queries import iscomplexobj as iscomplexobj

isfinite: _UniversalFunction
from pycuda.arrays.sorting.sets import isin as isin

isinf: _UniversalFunction
isnan: _UniversalFunction
from pycuda.arrays.elementwise.comparing import isneginf as isneginf
from pycuda.arrays.elementwise.comparing import isposinf as isposinf
from pycuda.arrays.elementwise.comparing import isreal as isreal
from pycuda.arrays.shapes.queries import isrealobj as isrealobj
from pycuda.arrays.indexing.grids import ix_ as ix_
from pycuda.arrays.creation.tapers import kaiser as kaiser
from pycuda.arrays.linalg.products import kron as kron

lcm: _UniversalFunction
ldexp: _UniversalFunction
left_shift: _UniversalFunction
less: _UniversalFunction
less_equal: _UniversalFunction
from pycuda.arrays.sorting.sorting import lexsort as lexsort
from pycuda.arrays.creation.ranges import linspace as linspace
from pycuda.arrays.interop.files import load as load

log: _UniversalFunction
log10: _UniversalFunction
log1p: _UniversalFunction
log2: _UniversalFunction
logaddexp: _UniversalFunction
logaddexp2: _UniversalFunction
logical_and: _UniversalFunction
logical_not: _UniversalFunction
logical_or: _UniversalFunction
logical_xor: _UniversalFunction
from pycuda.arrays.creation.ranges import logspace as logspace
from pycuda.arrays.indexing.triangles import mask_indices as mask_indices
from pycuda.arrays.linalg.products import matmul as matmul
from pycuda.arrays.linalg.products import matrix_power as matrix_power
from pycuda.arrays.shapes.views import matrix_transpose as matrix_transpose
from pycuda.arrays.linalg.products import matvec as matvec

def max(
    a,
    stream=...,
    *,
    axis=...,
    out=...,
    keepdims=...,
    initial=...,
    where=...,
    allocator=...,
): ...

maximum: _UniversalFunction
from pycuda.arrays.shapes.queries import may_share_memory as may_share_memory
from pycuda.arrays.reductions.means import mean as mean
from pycuda.arrays.statistics.quantiles import median as median
from pycuda.arrays.indexing.grids import meshgrid as meshgrid

def min(
    a,
    stream=...,
    *,
    axis=...,
    out=...,
    keepdims=...,
    initial=...,
    where=...,
    allocator=...,
): ...

minimum: _UniversalFunction
from pycuda.arrays.ufuncs.universal_functions import modf as modf
from pycuda.arrays.shapes.views import moveaxis as moveaxis
from pycuda.arrays.protocols.pycuda_functions import multi_put as multi_put
from pycuda.arrays.protocols.pycuda_functions import multi_take as multi_take
from pycuda.arrays.protocols.pycuda_functions import multi_take_put as multi_take_put

multiply: _UniversalFunction
from pycuda.arrays.elementwise.elementwise import nan_to_num as nan_to_num
from pycuda.arrays.reductions.without_nan import nanargmax as nanargmax
from pycuda.arrays.reductions.without_nan import nanargmin as nanargmin
from pycuda.arrays.reductions.without_nan import nancumprod as nancumprod
from pycuda.arrays.reductions.without_nan import nancumsum as nancumsum
from pycuda.arrays.reductions.without_nan import nanmax as nanmax
from pycuda.arrays.reductions.without_nan import nanmean as nanmean
from pycuda.arrays.statistics.quantiles import nanmedian as nanmedian
from pycuda.arrays.reductions.without_nan import nanmin as nanmin
from pycuda.arrays.statistics.quantiles import nanpercentile as nanpercentile
from pycuda.arrays.reductions.without_nan import nanprod as nanprod
from pycuda.arrays.statistics.quantiles import nanquantile as nanquantile
from pycuda.arrays.reductions.without_nan import nanstd as nanstd
from pycuda.arrays.reductions.without_nan import nansum as nansum
from pycuda.arrays.reductions.without_nan import nanvar as nanvar
from pycuda.arrays.shapes.queries import ndim as ndim

negative: _UniversalFunction
nextafter: _UniversalFunction
from pycuda.arrays.indexing.selecting import nonzero as nonzero

not_equal: _UniversalFunction

def ones(
    shape, dtype=..., allocator=..., order: str = ..., stream=..., *, device=...
) -> GPUArray: ...
def ones_like(
    other_ary, dtype=..., order: str = ..., *, subok: bool = ..., shape=..., device=...
) -> GPUArray: ...

from pycuda.arrays.linalg.vectors import outer as outer
from pycuda.arrays.elementwise.bits import packbits as packbits
from pycuda.arrays.shapes.padding import pad as pad
from pycuda.arrays.sorting.sorting import partition as partition
from pycuda.arrays.statistics.quantiles import percentile as percentile
from pycuda.arrays.shapes.views import permute_dims as permute_dims
from pycuda.arrays.indexing.choosing import piecewise as piecewise
from pycuda.arrays.indexing.assigning import place as place
from pycuda.arrays.numerics.polynomials import polyfit as polyfit
from pycuda.arrays.numerics.polynomials import polyval as polyval

positive: _UniversalFunction
power: _UniversalFunction
from pycuda.arrays.reductions.reductions import prod as prod
from pycuda.arrays.reductions.reductions import ptp as ptp
from pycuda.arrays.protocols.pycuda_functions import put as put
from pycuda.arrays.indexing.assigning import put_along_axis as put_along_axis
from pycuda.arrays.indexing.assigning import putmask as putmask
from pycuda.arrays.statistics.quantiles import quantile as quantile

radians: _UniversalFunction
from pycuda.arrays.shapes.views import ravel as ravel
from pycuda.arrays.indexing.grids import ravel_multi_index as ravel_multi_index
from pycuda.arrays.shapes.queries import real as real
from pycuda.arrays.elementwise.elementwise import real_if_close as real_if_close

reciprocal: _UniversalFunction
remainder: _UniversalFunction
from pycuda.arrays.shapes.repeating import repeat as repeat
from pycuda.arrays.protocols.pycuda_functions import reshape as reshape
from pycuda.arrays.shapes.repeating import resize as resize

right_shift: _UniversalFunction
rint: _UniversalFunction
from pycuda.arrays.shapes.repeating import roll as roll
from pycuda.arrays.shapes.views import rollaxis as rollaxis
from pycuda.arrays.numerics.polynomials import roots as roots
from pycuda.arrays.shapes.views import rot90 as rot90
from pycuda.arrays.elementwise.elementwise import round as round
from pycuda.arrays.interop.files import save as save
from pycuda.arrays.interop.files import savetxt as savetxt
from pycuda.arrays.interop.files import savez as savez
from pycuda.arrays.interop.files import savez_compressed as savez_compressed
from pycuda.arrays.sorting.sorting import searchsorted as searchsorted
from pycuda.arrays.indexing.choosing import select as select
from pycuda.arrays.sorting.sets import setdiff1d as setdiff1d
from pycuda.arrays.sorting.sets import setxor1d as setxor1d
from pycuda.arrays.shapes.queries import shape as shape

sign: _UniversalFunction
signbit: _UniversalFunction
sin: _UniversalFunction
from pycuda.arrays.elementwise.elementwise import sinc as sinc

sinh: _UniversalFunction
from pycuda.arrays.shapes.queries import size as size
from pycuda.arrays.shapes.windows import sliding_window_view as sliding_window_view
from pycuda.arrays.sorting.sorting import sort as sort
from pycuda.arrays.sorting.sorting import sort_complex as sort_complex

spacing: _UniversalFunction
from pycuda.arrays.creation.filled import splay as splay
from pycuda.arrays.shapes.splitting import split as split

sqrt: _UniversalFunction
square: _UniversalFunction
from pycuda.arrays.shapes.views import squeeze as squeeze
from pycuda.arrays.shapes.joining import stack as stack
from pycuda.arrays.reductions.means import std as std
from pycuda.arrays.protocols.pycuda_functions import subset_dot as subset_dot
from pycuda.arrays.protocols.pycuda_functions import subset_max as subset_max
from pycuda.arrays.protocols.pycuda_functions import subset_min as subset_min
from pycuda.arrays.protocols.pycuda_functions import subset_sum as subset_sum

subtract: _UniversalFunction
from pycuda.arrays.protocols.pycuda_functions import sum as sum
from pycuda.arrays.shapes.views import swapaxes as swapaxes

def take(a, indices, out=..., stream=..., *, axis=..., mode: str = ...): ...

from pycuda.arrays.indexing.selecting import take_along_axis as take_along_axis

tan: _UniversalFunction
tanh: _UniversalFunction
from pycuda.arrays.linalg.products import tensordot as tensordot
from pycuda.arrays.shapes.repeating import tile as tile
from pycuda.arrays.creation.conversion import to_gpu as to_gpu
from pycuda.arrays.creation.conversion import to_gpu_async as to_gpu_async
from pycuda.arrays.sorting.sorting import topk as topk
from pycuda.arrays.indexing.triangles import trace as trace
from pycuda.arrays.shapes.views import transpose as transpose
from pycuda.arrays.numerics.differences import trapezoid as trapezoid
from pycuda.arrays.indexing.triangles import tri as tri
from pycuda.arrays.indexing.triangles import tril as tril
from pycuda.arrays.indexing.triangles import tril_indices as tril_indices
from pycuda.arrays.indexing.triangles import tril_indices_from as tril_indices_from
from pycuda.arrays.numerics.trimming import trim_zeros as trim_zeros
from pycuda.arrays.indexing.triangles import triu as triu
from pycuda.arrays.indexing.triangles import triu_indices as triu_indices
from pycuda.arrays.indexing.triangles import triu_indices_from as triu_indices_from

trunc: _UniversalFunction
from pycuda.arrays.sorting.sets import union1d as union1d
from pycuda.arrays.sorting.unique import unique as unique
from pycuda.arrays.sorting.unique import unique_all as unique_all
from pycuda.arrays.sorting.unique import unique_counts as unique_counts
from pycuda.arrays.sorting.unique import unique_inverse as unique_inverse
from pycuda.arrays.sorting.unique import unique_values as unique_values
from pycuda.arrays.elementwise.bits import unpackbits as unpackbits
from pycuda.arrays.indexing.grids import unravel_index as unravel_index
from pycuda.arrays.shapes.splitting import unstack as unstack
from pycuda.arrays.numerics.differences import unwrap as unwrap
from pycuda.arrays.numerics.polynomials import vander as vander
from pycuda.arrays.reductions.means import var as var
from pycuda.arrays.protocols.pycuda_functions import vdot as vdot
from pycuda.arrays.linalg.products import vecdot as vecdot
from pycuda.arrays.linalg.products import vecmat as vecmat
from pycuda.arrays.shapes.splitting import vsplit as vsplit
from pycuda.arrays.shapes.joining import vstack as vstack

def where(criterion, then_=..., else_=..., out=..., stream=...): ...
def zeros(
    shape, dtype=..., allocator=..., order: str = ..., stream=..., *, device=...
) -> GPUArray: ...
def zeros_like(
    other_ary, dtype=..., order: str = ..., *, subok: bool = ..., shape=..., device=...
) -> GPUArray: ...

acos: _UniversalFunction
acosh: _UniversalFunction
amax = max
amin = min
around = round
asanyarray = asarray
asin: _UniversalFunction
asinh: _UniversalFunction
atan: _UniversalFunction
atan2: _UniversalFunction
atanh: _UniversalFunction
bitwise_invert: _UniversalFunction
bitwise_left_shift: _UniversalFunction
bitwise_not: _UniversalFunction
bitwise_right_shift: _UniversalFunction
concat = concatenate
conj: _UniversalFunction
deg2rad: _UniversalFunction
mod: _UniversalFunction
rad2deg: _UniversalFunction
row_stack = vstack
true_divide: _UniversalFunction
