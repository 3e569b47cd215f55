# Made by tools/array_stubs.py; not to be edited.
# ruff: noqa
# fmt: off
from __future__ import annotations
import math
import numpy as np
from pycuda import fft as fft
from pycuda import linalg as linalg
from pycuda.arrays import registry as _registry
from pycuda.arrays.own_device import check_device as _check_device
from pycuda.arrays.own_device import current_device as _current_device
from pycuda.arrays.protocols.array_api_functions import FloatLimits as FloatLimits
from pycuda.arrays.protocols.array_api_functions import IntegerLimits as IntegerLimits
from pycuda.arrays.ufuncs.universal_functions import UniversalFunction as _UniversalFunction
__array_api_version__ = "2024.12"
e, pi, inf, nan, newaxis = (math.e, math.pi, math.inf, math.nan, None)
bool = np.dtype("bool")
int8, int16, int32, int64 = (np.dtype(f"int{bits}") for bits in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64))
float32, float64 = (np.dtype("float32"), np.dtype("float64"))
complex64, complex128 = (np.dtype("complex64"), np.dtype("complex128"))
isdtype = np.isdtype
ELEMENTWISE: list[str]
class _Info:
    def capabilities(self) -> dict: ...
    def default_device(self) -> str: ...
    def devices(self) -> list[str]: ...
    def default_dtypes(self, *, device=None) -> dict: ...
    def dtypes(self, *, device=None, kind=None) -> dict: ...
def __array_namespace_info__(): ...
from pycuda.arrays.creation.conversion import asarray as asarray, from_dlpack as from_dlpack
from pycuda.arrays.creation.filled import (
    empty as empty, empty_like as empty_like, eye as eye, full as full, full_like as full_like, ones as ones, ones_like as ones_like, zeros as zeros,
    zeros_like as zeros_like,
)
from pycuda.arrays.creation.ranges import arange as arange, linspace as linspace
from pycuda.arrays.elementwise.elementwise import round as round
from pycuda.arrays.indexing.selecting import nonzero as nonzero, take_along_axis as take_along_axis, where as where
from pycuda.arrays.linalg.products import matmul as matmul, tensordot as tensordot, vecdot as vecdot
from pycuda.arrays.numerics.differences import diff as diff
from pycuda.arrays.protocols.array_api_functions import (
    astype as astype, broadcast_arrays as broadcast_arrays, can_cast as can_cast, clip as clip, finfo as finfo, iinfo as iinfo, meshgrid as meshgrid,
    result_type as result_type, take as take, tril as tril, triu as triu,
)
from pycuda.arrays.reductions.means import mean as mean, std as std, var as var
from pycuda.arrays.reductions.reductions import (
    all as all, any as any, argmax as argmax, argmin as argmin, count_nonzero as count_nonzero, max as max, min as min, prod as prod, sum as sum,
)
from pycuda.arrays.reductions.scans import cumulative_prod as cumulative_prod, cumulative_sum as cumulative_sum
from pycuda.arrays.shapes.joining import stack as stack, concatenate as _concatenate
from pycuda.arrays.shapes.queries import imag as imag, real as real
from pycuda.arrays.shapes.repeating import repeat as repeat, roll as roll, tile as tile
from pycuda.arrays.shapes.splitting import unstack as unstack
from pycuda.arrays.shapes.views import (
    broadcast_to as broadcast_to, expand_dims as expand_dims, flip as flip, matrix_transpose as matrix_transpose, moveaxis as moveaxis,
    permute_dims as permute_dims, reshape as reshape, squeeze as squeeze,
)
from pycuda.arrays.sorting.sorting import argsort as argsort, searchsorted as searchsorted, sort as sort
from pycuda.arrays.sorting.unique import (
    unique_all as unique_all, unique_counts as unique_counts, unique_inverse as unique_inverse, unique_values as unique_values,
)
from pycuda.arrays.ufuncs.universal_functions import UniversalFunction as _UniversalFunction
concat = _concatenate
add: _UniversalFunction; bitwise_and: _UniversalFunction; bitwise_or: _UniversalFunction; bitwise_xor: _UniversalFunction; ceil: _UniversalFunction
copysign: _UniversalFunction; cos: _UniversalFunction; cosh: _UniversalFunction; divide: _UniversalFunction; equal: _UniversalFunction; exp: _UniversalFunction
expm1: _UniversalFunction; floor: _UniversalFunction; floor_divide: _UniversalFunction; greater: _UniversalFunction; greater_equal: _UniversalFunction
hypot: _UniversalFunction; isfinite: _UniversalFunction; isinf: _UniversalFunction; isnan: _UniversalFunction; less: _UniversalFunction
less_equal: _UniversalFunction; log: _UniversalFunction; log10: _UniversalFunction; log1p: _UniversalFunction; log2: _UniversalFunction
logaddexp: _UniversalFunction; logical_and: _UniversalFunction; logical_not: _UniversalFunction; logical_or: _UniversalFunction; logical_xor: _UniversalFunction
maximum: _UniversalFunction; minimum: _UniversalFunction; multiply: _UniversalFunction; negative: _UniversalFunction; nextafter: _UniversalFunction
not_equal: _UniversalFunction; positive: _UniversalFunction; reciprocal: _UniversalFunction; remainder: _UniversalFunction; sign: _UniversalFunction
signbit: _UniversalFunction; sin: _UniversalFunction; sinh: _UniversalFunction; sqrt: _UniversalFunction; square: _UniversalFunction
subtract: _UniversalFunction; tan: _UniversalFunction; tanh: _UniversalFunction; trunc: _UniversalFunction; abs: _UniversalFunction; acos: _UniversalFunction
acosh: _UniversalFunction; asin: _UniversalFunction; asinh: _UniversalFunction; atan: _UniversalFunction; atan2: _UniversalFunction; atanh: _UniversalFunction
bitwise_invert: _UniversalFunction; bitwise_left_shift: _UniversalFunction; bitwise_right_shift: _UniversalFunction; conj: _UniversalFunction
pow: _UniversalFunction
