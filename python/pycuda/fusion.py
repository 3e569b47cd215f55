"""Compiles functions of elementwise operations and reductions to a few kernels.

>>> import pycuda
>>> @pycuda.fuse
... def loss(x, y, scale=2.0):
...     return (scale * x - gpuarray.exp(y)) ** 2
>>> loss(gpuarray.array([1.0, 2.0]), gpuarray.array([0.0, 0.0]))
array([1., 9.])
"""

import pycuda.gpuarray  # noqa: F401 -- results are GPUArrays
from pycuda.arrays.ufuncs.fusing import FusedFunction as FusedFunction
from pycuda.arrays.ufuncs.fusing import fuse as fuse
from pycuda.arrays.ufuncs.tracing import FusionError as FusionError
