# Made by tools/array_stubs.py; not to be edited.
# ruff: noqa
# fmt: off
from numpy.linalg import LinAlgError
from pycuda import gpuarray as _gpuarray
from pycuda.arrays import registry as _registry
from pycuda.arrays.linalg.eigen import EigResult as EigResult
from pycuda.arrays.linalg.factoring import QRResult as QRResult
from pycuda.arrays.linalg.factoring import SlogdetResult as SlogdetResult
from pycuda.arrays.linalg.spectral import EighResult as EighResult
from pycuda.arrays.linalg.spectral import SVDResult as SVDResult
from pycuda.arrays.protocols import all_functions as _all_functions
from pycuda.arrays.linalg.eigen import eig as eig, eigvals as eigvals
from pycuda.arrays.linalg.factoring import cholesky as cholesky, det as det, inv as inv, qr as qr, slogdet as slogdet, solve as solve
from pycuda.arrays.linalg.norms import cond as cond, matrix_norm as matrix_norm, norm as norm, vector_norm as vector_norm
from pycuda.arrays.linalg.products import matmul as matmul, matrix_power as matrix_power, tensordot as tensordot, vecdot as vecdot
from pycuda.arrays.linalg.spectral import (
    eigh as eigh, eigvalsh as eigvalsh, lstsq as lstsq, matrix_rank as matrix_rank, pinv as pinv, svd as svd, svdvals as svdvals,
)
from pycuda.arrays.linalg.tensor_equations import tensorinv as tensorinv, tensorsolve as tensorsolve
from pycuda.arrays.linalg.vectors import (
    cross as cross, diagonal_of_matrices as _diagonal_of_matrices, outer_of_vectors as _outer_of_vectors, trace_of_matrices as _trace_of_matrices,
)
from pycuda.arrays.shapes.views import matrix_transpose as matrix_transpose
from pycuda.arrays.statistics.correlation import multi_dot as multi_dot
diagonal = _diagonal_of_matrices
outer = _outer_of_vectors
trace = _trace_of_matrices
__all__ = [
    "LinAlgError", "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq", "matmul", "matrix_norm",
    "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot",
    "tensorinv", "tensorsolve", "trace", "vecdot", "vector_norm",
]
