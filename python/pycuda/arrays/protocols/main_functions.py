"""The modules that declare the functions of pycuda.gpuarray, imported so that the registry has these.

all_functions.py, which is loaded at the first use, adds the functions of pycuda.linalg and pycuda.fft.
"""

# ruff: noqa: F401

from pycuda.arrays.creation import conversion, filled, ranges, tapers
from pycuda.arrays.elementwise import bits, comparing, elementwise
from pycuda.arrays.indexing import assigning, choosing, grids, selecting, triangles
from pycuda.arrays.interop import files, modules
from pycuda.arrays.linalg import products, summation, vectors
from pycuda.arrays.numerics import differences, polynomials, trimming
from pycuda.arrays.protocols import array_api_functions, pycuda_functions
from pycuda.arrays.reductions import means, reductions, scans, without_nan
from pycuda.arrays.shapes import (
    applying,
    joining,
    padding,
    queries,
    repeating,
    splitting,
    views,
    windows,
)
from pycuda.arrays.sorting import sets, sorting, unique
from pycuda.arrays.statistics import correlation, histograms, interpolation, quantiles
from pycuda.arrays.ufuncs import special_functions, universal_functions
