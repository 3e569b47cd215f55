# Made by tools/array_stubs.py; not to be edited.
# ruff: noqa
# fmt: off
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
def _get_broadcasted_binary_op_result(a, b, cq=None, dtype_getter=None, allocator=None): ...
def _compact_strides(a) -> tuple[int, ...]: ...
def _memcpy_discontig(dst, src, async_: bool = False, stream=None) -> None: ...
from pycuda.arrays.creation.conversion import (
    array as array, asarray as asarray, ascontiguousarray as ascontiguousarray, asfortranarray as asfortranarray, astype as astype, copy as copy,
    from_dlpack as from_dlpack, to_gpu as to_gpu, to_gpu_async as to_gpu_async,
)
from pycuda.arrays.creation.filled import eye as eye, identity as identity, splay as splay
from pycuda.arrays.creation.ranges import geomspace as geomspace, linspace as linspace, logspace as logspace
from pycuda.arrays.creation.tapers import bartlett as bartlett, blackman as blackman, hamming as hamming, hanning as hanning, kaiser as kaiser
from pycuda.arrays.elementwise.bits import packbits as packbits, unpackbits as unpackbits
from pycuda.arrays.elementwise.comparing import (
    allclose as allclose, array_equal as array_equal, array_equiv as array_equiv, isclose as isclose, iscomplex as iscomplex, isneginf as isneginf,
    isposinf as isposinf, isreal as isreal,
)
from pycuda.arrays.elementwise.elementwise import (
    angle as angle, clip as clip, fix as fix, nan_to_num as nan_to_num, real_if_close as real_if_close, round as round, sinc as sinc,
)
from pycuda.arrays.indexing.assigning import copyto as copyto, place as place, put_along_axis as put_along_axis, putmask as putmask
from pycuda.arrays.indexing.choosing import choose as choose, piecewise as piecewise, select as select
from pycuda.arrays.indexing.grids import (
    indices as indices, ix_ as ix_, meshgrid as meshgrid, ravel_multi_index as ravel_multi_index, unravel_index as unravel_index,
)
from pycuda.arrays.indexing.selecting import (
    argwhere as argwhere, compress as compress, extract as extract, flatnonzero as flatnonzero, nonzero as nonzero, take_along_axis as take_along_axis,
)
from pycuda.arrays.indexing.triangles import (
    diag as diag, diag_indices_from as diag_indices_from, diagflat as diagflat, fill_diagonal as fill_diagonal, mask_indices as mask_indices, trace as trace,
    tri as tri, tril as tril, tril_indices as tril_indices, tril_indices_from as tril_indices_from, triu as triu, triu_indices as triu_indices,
    triu_indices_from as triu_indices_from,
)
from pycuda.arrays.interop.files import (
    array2string as array2string, array_repr as array_repr, array_str as array_str, load as load, save as save, savetxt as savetxt, savez as savez,
    savez_compressed as savez_compressed,
)
from pycuda.arrays.interop.modules import asnumpy as asnumpy, get_array_module as get_array_module
from pycuda.arrays.linalg.products import (
    inner as inner, kron as kron, matmul as matmul, matrix_power as matrix_power, matvec as matvec, tensordot as tensordot, vecdot as vecdot, vecmat as vecmat,
)
from pycuda.arrays.linalg.summation import einsum as einsum
from pycuda.arrays.linalg.vectors import cross as cross, outer as outer
from pycuda.arrays.numerics.differences import diff as diff, ediff1d as ediff1d, gradient as gradient, trapezoid as trapezoid, unwrap as unwrap
from pycuda.arrays.numerics.polynomials import polyfit as polyfit, polyval as polyval, roots as roots, vander as vander
from pycuda.arrays.numerics.trimming import trim_zeros as trim_zeros
from pycuda.arrays.protocols.pycuda_functions import (
    arange as arange, dot as dot, if_positive as if_positive, multi_put as multi_put, multi_take as multi_take, multi_take_put as multi_take_put, put as put,
    reshape as reshape, subset_dot as subset_dot, subset_max as subset_max, subset_min as subset_min, subset_sum as subset_sum, sum as sum, vdot as vdot,
)
from pycuda.arrays.reductions.means import average as average, mean as mean, std as std, var as var
from pycuda.arrays.reductions.reductions import argmax as argmax, argmin as argmin, count_nonzero as count_nonzero, prod as prod, ptp as ptp
from pycuda.arrays.reductions.scans import cumprod as cumprod, cumsum as cumsum, cumulative_prod as cumulative_prod, cumulative_sum as cumulative_sum
from pycuda.arrays.reductions.without_nan import (
    nanargmax as nanargmax, nanargmin as nanargmin, nancumprod as nancumprod, nancumsum as nancumsum, nanmax as nanmax, nanmean as nanmean, nanmin as nanmin,
    nanprod as nanprod, nanstd as nanstd, nansum as nansum, nanvar as nanvar,
)
from pycuda.arrays.shapes.applying import apply_along_axis as apply_along_axis, apply_over_axes as apply_over_axes
from pycuda.arrays.shapes.joining import (
    append as append, block as block, column_stack as column_stack, concatenate as concatenate, dstack as dstack, hstack as hstack, stack as stack,
    vstack as vstack,
)
from pycuda.arrays.shapes.padding import pad as pad
from pycuda.arrays.shapes.queries import (
    imag as imag, iscomplexobj as iscomplexobj, isrealobj as isrealobj, may_share_memory as may_share_memory, ndim as ndim, real as real, shape as shape,
    size as size,
)
from pycuda.arrays.shapes.repeating import delete as delete, insert as insert, repeat as repeat, resize as resize, roll as roll, tile as tile
from pycuda.arrays.shapes.splitting import array_split as array_split, dsplit as dsplit, hsplit as hsplit, split as split, unstack as unstack, vsplit as vsplit
from pycuda.arrays.shapes.views import (
    atleast_1d as atleast_1d, atleast_2d as atleast_2d, atleast_3d as atleast_3d, broadcast_arrays as broadcast_arrays, broadcast_to as broadcast_to,
    diagonal as diagonal, expand_dims as expand_dims, flip as flip, fliplr as fliplr, flipud as flipud, matrix_transpose as matrix_transpose,
    moveaxis as moveaxis, permute_dims as permute_dims, ravel as ravel, rollaxis as rollaxis, rot90 as rot90, squeeze as squeeze, swapaxes as swapaxes,
    transpose as transpose,
)
from pycuda.arrays.shapes.windows import sliding_window_view as sliding_window_view
from pycuda.arrays.sorting.sets import intersect1d as intersect1d, isin as isin, setdiff1d as setdiff1d, setxor1d as setxor1d, union1d as union1d
from pycuda.arrays.sorting.sorting import (
    argpartition as argpartition, argsort as argsort, lexsort as lexsort, partition as partition, searchsorted as searchsorted, sort as sort,
    sort_complex as sort_complex, topk as topk,
)
from pycuda.arrays.sorting.unique import (
    unique as unique, unique_all as unique_all, unique_counts as unique_counts, unique_inverse as unique_inverse, unique_values as unique_values,
)
from pycuda.arrays.statistics.correlation import convolve as convolve, corrcoef as corrcoef, correlate as correlate, cov as cov
from pycuda.arrays.statistics.histograms import (
    bincount as bincount, digitize as digitize, histogram as histogram, histogram2d as histogram2d, histogram_bin_edges as histogram_bin_edges,
    histogramdd as histogramdd,
)
from pycuda.arrays.statistics.interpolation import interp as interp
from pycuda.arrays.statistics.quantiles import (
    median as median, nanmedian as nanmedian, nanpercentile as nanpercentile, nanquantile as nanquantile, percentile as percentile, quantile as quantile,
)
from pycuda.arrays.ufuncs.universal_functions import frexp as frexp, modf as modf, UniversalFunction as _UniversalFunction
def all(a, stream=..., allocator=..., *, axis=..., out=..., keepdims=..., where=...): ...
def any(a, stream=..., allocator=..., *, axis=..., out=..., keepdims=..., where=...): ...
def empty(shape, dtype=..., allocator=..., order: str = ..., *, device=...) -> GPUArray: ...
def empty_like(other_ary, dtype=..., order: str = ..., *, subok: bool = ..., shape=..., device=...) -> GPUArray: ...
def full(shape, fill_value, dtype=..., allocator=..., order: str = ..., stream=..., *, device=...) -> GPUArray: ...
def full_like(other_ary, fill_value, dtype=..., order: str = ..., *, subok: bool = ..., shape=..., device=...) -> GPUArray: ...
def max(a, stream=..., *, axis=..., out=..., keepdims=..., initial=..., where=..., allocator=...): ...
def min(a, stream=..., *, axis=..., out=..., keepdims=..., initial=..., where=..., allocator=...): ...
def ones(shape, dtype=..., allocator=..., order: str = ..., stream=..., *, device=...) -> GPUArray: ...
def ones_like(other_ary, dtype=..., order: str = ..., *, subok: bool = ..., shape=..., device=...) -> GPUArray: ...
def take(a, indices, out=..., stream=..., *, axis=..., mode: str = ...): ...
def where(criterion, then_=..., else_=..., out=..., stream=...): ...
def zeros(shape, dtype=..., allocator=..., order: str = ..., stream=..., *, device=...) -> GPUArray: ...
def zeros_like(other_ary, dtype=..., order: str = ..., *, subok: bool = ..., shape=..., device=...) -> GPUArray: ...
amax = max
amin = min
around = round
asanyarray = asarray
concat = concatenate
row_stack = vstack
absolute: _UniversalFunction; add: _UniversalFunction; arccos: _UniversalFunction; arccosh: _UniversalFunction; arcsin: _UniversalFunction
arcsinh: _UniversalFunction; arctan: _UniversalFunction; arctan2: _UniversalFunction; arctanh: _UniversalFunction; bitwise_and: _UniversalFunction
bitwise_count: _UniversalFunction; bitwise_or: _UniversalFunction; bitwise_xor: _UniversalFunction; cbrt: _UniversalFunction; ceil: _UniversalFunction
conjugate: _UniversalFunction; copysign: _UniversalFunction; cos: _UniversalFunction; cosh: _UniversalFunction; degrees: _UniversalFunction
divide: _UniversalFunction; equal: _UniversalFunction; exp: _UniversalFunction; exp2: _UniversalFunction; expm1: _UniversalFunction; fabs: _UniversalFunction
float_power: _UniversalFunction; floor: _UniversalFunction; floor_divide: _UniversalFunction; fmax: _UniversalFunction; fmin: _UniversalFunction
fmod: _UniversalFunction; gcd: _UniversalFunction; greater: _UniversalFunction; greater_equal: _UniversalFunction; heaviside: _UniversalFunction
hypot: _UniversalFunction; i0: _UniversalFunction; invert: _UniversalFunction; isfinite: _UniversalFunction; isinf: _UniversalFunction
isnan: _UniversalFunction; lcm: _UniversalFunction; ldexp: _UniversalFunction; left_shift: _UniversalFunction; less: _UniversalFunction
less_equal: _UniversalFunction; log: _UniversalFunction; log10: _UniversalFunction; log1p: _UniversalFunction; log2: _UniversalFunction
logaddexp: _UniversalFunction; logaddexp2: _UniversalFunction; logical_and: _UniversalFunction; logical_not: _UniversalFunction; logical_or: _UniversalFunction
logical_xor: _UniversalFunction; maximum: _UniversalFunction; minimum: _UniversalFunction; multiply: _UniversalFunction; negative: _UniversalFunction
nextafter: _UniversalFunction; not_equal: _UniversalFunction; positive: _UniversalFunction; power: _UniversalFunction; radians: _UniversalFunction
reciprocal: _UniversalFunction; remainder: _UniversalFunction; right_shift: _UniversalFunction; rint: _UniversalFunction; sign: _UniversalFunction
signbit: _UniversalFunction; sin: _UniversalFunction; sinh: _UniversalFunction; spacing: _UniversalFunction; sqrt: _UniversalFunction
square: _UniversalFunction; subtract: _UniversalFunction; tan: _UniversalFunction; tanh: _UniversalFunction; trunc: _UniversalFunction; acos: _UniversalFunction
acosh: _UniversalFunction; asin: _UniversalFunction; asinh: _UniversalFunction; atan: _UniversalFunction; atan2: _UniversalFunction; atanh: _UniversalFunction
bitwise_invert: _UniversalFunction; bitwise_left_shift: _UniversalFunction; bitwise_not: _UniversalFunction; bitwise_right_shift: _UniversalFunction
conj: _UniversalFunction; deg2rad: _UniversalFunction; mod: _UniversalFunction; rad2deg: _UniversalFunction; true_divide: _UniversalFunction
