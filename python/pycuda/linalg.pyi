# Made by tools/array_stubs.py; not to be edited.
# ruff: noqa
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
from pycuda import gpuarray as _gpuarray
from pycuda.arrays import registry as _registry
from pycuda.arrays.linalg.eigen import EigResult as EigResult
from pycuda.arrays.linalg.factoring import QRResult as QRResult
from pycuda.arrays.linalg.factoring import SlogdetResult as SlogdetResult
from pycuda.arrays.linalg.spectral import EighResult as EighResult
from pycuda.arrays.linalg.spectral import SVDResult as SVDResult
from pycuda.arrays.protocols import all_functions as _all_functions
from pycuda.arrays.linalg.factoring import cholesky as cholesky
from pycuda.arrays.linalg.norms import cond as cond
from pycuda.arrays.linalg.vectors import cross as cross
from pycuda.arrays.linalg.factoring import det as det
from pycuda.arrays.linalg.eigen import eig as eig
from pycuda.arrays.linalg.spectral import eigh as eigh
from pycuda.arrays.linalg.eigen import eigvals as eigvals
from pycuda.arrays.linalg.spectral import eigvalsh as eigvalsh
from pycuda.arrays.linalg.factoring import inv as inv
from pycuda.arrays.linalg.spectral import lstsq as lstsq
from pycuda.arrays.linalg.products import matmul as matmul
from pycuda.arrays.linalg.norms import matrix_norm as matrix_norm
from pycuda.arrays.linalg.products import matrix_power as matrix_power
from pycuda.arrays.linalg.spectral import matrix_rank as matrix_rank
from pycuda.arrays.shapes.views import matrix_transpose as matrix_transpose
from pycuda.arrays.statistics.correlation import multi_dot as multi_dot
from pycuda.arrays.linalg.norms import norm as norm
from pycuda.arrays.linalg.spectral import pinv as pinv
from pycuda.arrays.linalg.factoring import qr as qr
from pycuda.arrays.linalg.factoring import slogdet as slogdet
from pycuda.arrays.linalg.factoring import solve as solve
from pycuda.arrays.linalg.spectral import svd as svd
from pycuda.arrays.linalg.spectral import svdvals as svdvals
from pycuda.arrays.linalg.products import tensordot as tensordot
from pycuda.arrays.linalg.tensor_equations import tensorinv as tensorinv
from pycuda.arrays.linalg.tensor_equations import tensorsolve as tensorsolve
from pycuda.arrays.linalg.products import vecdot as vecdot
from pycuda.arrays.linalg.norms import vector_norm as vector_norm
from pycuda.arrays.linalg.vectors import diagonal_of_matrices as _diagonal_of_matrices

diagonal = _diagonal_of_matrices
from pycuda.arrays.linalg.vectors import outer_of_vectors as _outer_of_vectors

outer = _outer_of_vectors
from pycuda.arrays.linalg.vectors import trace_of_matrices as _trace_of_matrices

trace = _trace_of_matrices
__all__ = [
    "LinAlgError",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]
