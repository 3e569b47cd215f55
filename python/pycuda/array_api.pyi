# Made by tools/array_stubs.py; not to be edited.
# ruff: noqa
"""The array API standard (2024.12) for device arrays: ``x.__array_namespace__()``.

This module has the standard's names and signatures, for programs that are written against the standard
(scikit-learn, SciPy and others). docs/array_api.md lists what is tested, and what is missing.
"""

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
from pycuda.arrays.ufuncs.universal_functions import (
    UniversalFunction as _UniversalFunction,
)

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
    """The result of ``__array_namespace_info__()``."""

    def capabilities(self) -> dict: ...
    def default_device(self) -> str: ...
    def devices(self) -> list[str]: ...
    def default_dtypes(self, *, device=None) -> dict: ...
    def dtypes(self, *, device=None, kind=None) -> dict: ...

def __array_namespace_info__(): ...

from pycuda.arrays.ufuncs.universal_functions import (
    UniversalFunction as _UniversalFunction,
)

add: _UniversalFunction
from pycuda.arrays.reductions.reductions import all as all
from pycuda.arrays.reductions.reductions import any as any
from pycuda.arrays.creation.ranges import arange as arange
from pycuda.arrays.reductions.reductions import argmax as argmax
from pycuda.arrays.reductions.reductions import argmin as argmin
from pycuda.arrays.sorting.sorting import argsort as argsort
from pycuda.arrays.creation.conversion import asarray as asarray
from pycuda.arrays.protocols.array_api_functions import astype as astype

bitwise_and: _UniversalFunction
bitwise_or: _UniversalFunction
bitwise_xor: _UniversalFunction
from pycuda.arrays.protocols.array_api_functions import (
    broadcast_arrays as broadcast_arrays,
)
from pycuda.arrays.shapes.views import broadcast_to as broadcast_to
from pycuda.arrays.protocols.array_api_functions import can_cast as can_cast

ceil: _UniversalFunction
from pycuda.arrays.protocols.array_api_functions import clip as clip

copysign: _UniversalFunction
cos: _UniversalFunction
cosh: _UniversalFunction
from pycuda.arrays.reductions.reductions import count_nonzero as count_nonzero
from pycuda.arrays.reductions.scans import cumulative_prod as cumulative_prod
from pycuda.arrays.reductions.scans import cumulative_sum as cumulative_sum
from pycuda.arrays.numerics.differences import diff as diff

divide: _UniversalFunction
from pycuda.arrays.creation.filled import empty as empty
from pycuda.arrays.creation.filled import empty_like as empty_like

equal: _UniversalFunction
exp: _UniversalFunction
from pycuda.arrays.shapes.views import expand_dims as expand_dims

expm1: _UniversalFunction
from pycuda.arrays.creation.filled import eye as eye
from pycuda.arrays.protocols.array_api_functions import finfo as finfo
from pycuda.arrays.shapes.views import flip as flip

floor: _UniversalFunction
floor_divide: _UniversalFunction
from pycuda.arrays.creation.conversion import from_dlpack as from_dlpack
from pycuda.arrays.creation.filled import full as full
from pycuda.arrays.creation.filled import full_like as full_like

greater: _UniversalFunction
greater_equal: _UniversalFunction
hypot: _UniversalFunction
from pycuda.arrays.protocols.array_api_functions import iinfo as iinfo
from pycuda.arrays.shapes.queries import imag as imag

isfinite: _UniversalFunction
isinf: _UniversalFunction
isnan: _UniversalFunction
less: _UniversalFunction
less_equal: _UniversalFunction
from pycuda.arrays.creation.ranges import linspace as linspace

log: _UniversalFunction
log10: _UniversalFunction
log1p: _UniversalFunction
log2: _UniversalFunction
logaddexp: _UniversalFunction
logical_and: _UniversalFunction
logical_not: _UniversalFunction
logical_or: _UniversalFunction
logical_xor: _UniversalFunction
from pycuda.arrays.linalg.products import matmul as matmul
from pycuda.arrays.shapes.views import matrix_transpose as matrix_transpose
from pycuda.arrays.reductions.reductions import max as max

maximum: _UniversalFunction
from pycuda.arrays.reductions.means import mean as mean
from pycuda.arrays.protocols.array_api_functions import meshgrid as meshgrid
from pycuda.arrays.reductions.reductions import min as min

minimum: _UniversalFunction
from pycuda.arrays.shapes.views import moveaxis as moveaxis

multiply: _UniversalFunction
negative: _UniversalFunction
nextafter: _UniversalFunction
from pycuda.arrays.indexing.selecting import nonzero as nonzero

not_equal: _UniversalFunction
from pycuda.arrays.creation.filled import ones as ones
from pycuda.arrays.creation.filled import ones_like as ones_like
from pycuda.arrays.shapes.views import permute_dims as permute_dims

positive: _UniversalFunction
from pycuda.arrays.reductions.reductions import prod as prod
from pycuda.arrays.shapes.queries import real as real

reciprocal: _UniversalFunction
remainder: _UniversalFunction
from pycuda.arrays.shapes.repeating import repeat as repeat
from pycuda.arrays.shapes.views import reshape as reshape
from pycuda.arrays.protocols.array_api_functions import result_type as result_type
from pycuda.arrays.shapes.repeating import roll as roll
from pycuda.arrays.elementwise.elementwise import round as round
from pycuda.arrays.sorting.sorting import searchsorted as searchsorted

sign: _UniversalFunction
signbit: _UniversalFunction
sin: _UniversalFunction
sinh: _UniversalFunction
from pycuda.arrays.sorting.sorting import sort as sort

sqrt: _UniversalFunction
square: _UniversalFunction
from pycuda.arrays.shapes.views import squeeze as squeeze
from pycuda.arrays.shapes.joining import stack as stack
from pycuda.arrays.reductions.means import std as std

subtract: _UniversalFunction
from pycuda.arrays.reductions.reductions import sum as sum
from pycuda.arrays.protocols.array_api_functions import take as take
from pycuda.arrays.indexing.selecting import take_along_axis as take_along_axis

tan: _UniversalFunction
tanh: _UniversalFunction
from pycuda.arrays.linalg.products import tensordot as tensordot
from pycuda.arrays.shapes.repeating import tile as tile
from pycuda.arrays.protocols.array_api_functions import tril as tril
from pycuda.arrays.protocols.array_api_functions import triu as triu

trunc: _UniversalFunction
from pycuda.arrays.sorting.unique import unique_all as unique_all
from pycuda.arrays.sorting.unique import unique_counts as unique_counts
from pycuda.arrays.sorting.unique import unique_inverse as unique_inverse
from pycuda.arrays.sorting.unique import unique_values as unique_values
from pycuda.arrays.shapes.splitting import unstack as unstack
from pycuda.arrays.reductions.means import var as var
from pycuda.arrays.linalg.products import vecdot as vecdot
from pycuda.arrays.indexing.selecting import where as where
from pycuda.arrays.creation.filled import zeros as zeros
from pycuda.arrays.creation.filled import zeros_like as zeros_like

abs: _UniversalFunction
acos: _UniversalFunction
acosh: _UniversalFunction
asin: _UniversalFunction
asinh: _UniversalFunction
atan: _UniversalFunction
atan2: _UniversalFunction
atanh: _UniversalFunction
bitwise_invert: _UniversalFunction
bitwise_left_shift: _UniversalFunction
bitwise_right_shift: _UniversalFunction
from pycuda.arrays.shapes.joining import concatenate as _concatenate

concat = _concatenate
conj: _UniversalFunction
pow: _UniversalFunction
