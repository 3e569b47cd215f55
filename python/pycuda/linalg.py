"""Linear algebra with numpy.linalg's names; ``numpy.linalg.solve(a, b)`` of GPUArrays calls this module, too.

>>> from pycuda import linalg
>>> a = gpuarray.array([[2.0, 0.0], [0.0, 4.0]])
>>> linalg.solve(a, gpuarray.array([2.0, 2.0]))
array([1. , 0.5])

Matrices are factored

- by NumPy's LAPACK if the host can access the arrays' memory (softcuda), without a copy of the operands;
- by cuSOLVER if it is found (in a toolkit, or the wheel nvidia-cusolver); stacks of matrices up to 256 by 256 in one
  call of cuBLAS;
- else by this package's kernels: a block of threads factors a panel of 32 columns of each matrix, and the rest is
  products of matrices. Singular values, and eigenvalues of Hermitian matrices, are computed by rotations of pairs of
  columns, all pairs of a round in parallel; on a GPU, always for stacks of small matrices. Eigenvalues of other square
  matrices are computed by Francis' steps, with a block of threads for each matrix.

``PYCUDA_LIBRARIES=none`` disables the libraries. float32, float64 and their complex types are computed in
their own type, integers and bool in float64.
"""

from numpy.linalg import LinAlgError

from pycuda import gpuarray as _gpuarray  # noqa: F401 -- results are GPUArrays
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
