"""Linear algebra with numpy.linalg's names; ``numpy.linalg.solve(a, b)`` of GPUArrays comes here too.

>>> from pycuda import linalg
>>> x = linalg.solve(a, b)

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

from pycuda._array_correlation import multi_dot
from pycuda._array_eigen import EigResult as EigResult
from pycuda._array_eigen import eig as eig
from pycuda._array_eigen import eigvals as eigvals
from pycuda._array_factoring import QRResult as QRResult
from pycuda._array_factoring import SlogdetResult as SlogdetResult
from pycuda._array_factoring import cholesky as cholesky
from pycuda._array_factoring import det as det
from pycuda._array_factoring import inv as inv
from pycuda._array_factoring import matrix_power as matrix_power
from pycuda._array_factoring import qr as qr
from pycuda._array_factoring import slogdet as slogdet
from pycuda._array_factoring import solve as solve
from pycuda._array_linalg import matmul, tensordot, vecdot
from pycuda._array_norms import cond as cond
from pycuda._array_norms import matrix_norm as matrix_norm
from pycuda._array_norms import norm as norm
from pycuda._array_norms import vector_norm as vector_norm
from pycuda._array_numeric import cross, outer
from pycuda._array_shapes import matrix_transpose
from pycuda._array_spectral import EighResult as EighResult
from pycuda._array_spectral import SVDResult as SVDResult
from pycuda._array_spectral import eigh as eigh
from pycuda._array_spectral import eigvalsh as eigvalsh
from pycuda._array_spectral import lstsq as lstsq
from pycuda._array_spectral import matrix_rank as matrix_rank
from pycuda._array_spectral import pinv as pinv
from pycuda._array_spectral import svd as svd
from pycuda._array_spectral import svdvals as svdvals
from pycuda._array_tensor_equations import tensorinv as tensorinv
from pycuda._array_tensor_equations import tensorsolve as tensorsolve

__all__ = [
    "LinAlgError", "cholesky", "cond", "cross", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq", "matmul",
    "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm", "outer", "pinv",
    "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "tensorinv", "tensorsolve", "vecdot",
    "vector_norm",
]  # fmt: skip
