"""Linear algebra with numpy.linalg's names; ``numpy.linalg.solve(a, b)`` of GPUArrays comes here too.

>>> from pycuda import linalg
>>> a = gpuarray.array([[2.0, 0.0], [0.0, 4.0]])
>>> linalg.solve(a, gpuarray.array([2.0, 2.0]))
array([1. , 0.5])

Matrices are factored

- by NumPy's LAPACK where the host has the arrays' memory (softcuda), without a copy of the operands;
- by cuSOLVER where it is found (a toolkit, or the wheel nvidia-cusolver); stacks of matrices up to 256 by 256 all
  at once by cuBLAS;
- else by own kernels: a block of threads for each matrix takes a panel of 32 columns, the rest is products of
  matrices. Singular values, and eigenvalues of Hermitian matrices, come from rotations of pairs of columns, all
  pairs of a round at once, for stacks of small matrices everywhere on a GPU; eigenvalues of other square matrices
  from Francis' steps, a block of threads for each matrix.

``PYCUDA_LIBRARIES=none`` leaves the libraries out. float32, float64 and their complex types are computed in
their own type, integers and bool in float64.
"""

from numpy.linalg import LinAlgError

from pycuda.arrays import registry as _registry
from pycuda.arrays.linalg.eigen import EigResult as EigResult
from pycuda.arrays.linalg.factoring import QRResult as QRResult
from pycuda.arrays.linalg.factoring import SlogdetResult as SlogdetResult
from pycuda.arrays.linalg.spectral import EighResult as EighResult
from pycuda.arrays.linalg.spectral import SVDResult as SVDResult
from pycuda.arrays.protocols import all_functions as _all_functions  # noqa: F401

_FUNCTIONS = _registry.module_functions("linalg")
__all__ = ["LinAlgError", *_FUNCTIONS]
globals().update(_FUNCTIONS)
