"""The extension ``linalg`` of the array API standard: ``x.__array_namespace__().linalg``.

The functions of pycuda.linalg with the standard's signatures. Matrices are the last two axes of an
array, all others are stacks of them; results of several arrays are named tuples.
"""

from __future__ import annotations

from pycuda import linalg as _linalg
from pycuda.arrays.linalg import vectors as _vectors
from pycuda.arrays.linalg.factoring import QRResult as QRResult
from pycuda.arrays.linalg.factoring import SlogdetResult as SlogdetResult
from pycuda.arrays.linalg.factoring import cholesky as cholesky
from pycuda.arrays.linalg.norms import matrix_norm as matrix_norm
from pycuda.arrays.linalg.norms import vector_norm as vector_norm
from pycuda.arrays.linalg.products import matmul as _matmul
from pycuda.arrays.linalg.products import tensordot as _tensordot
from pycuda.arrays.linalg.products import vecdot as vecdot
from pycuda.arrays.linalg.spectral import EighResult as EighResult
from pycuda.arrays.linalg.spectral import SVDResult as SVDResult
from pycuda.arrays.linalg.spectral import svdvals as svdvals
from pycuda.arrays.shapes.views import matrix_transpose as matrix_transpose

__all__ = [
    "cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm",
    "matrix_power", "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd",
    "svdvals", "tensordot", "trace", "vecdot", "vector_norm",
]  # fmt: skip


def _check_matrices(x, name: str) -> None:
    if x.ndim < 2:
        raise ValueError(f"{name}() wants at least two axes, not shape {x.shape}")


def cross(x1, x2, /, *, axis=-1):
    """The cross products of the vectors of three elements along ``axis``; other axes are broadcast."""
    return _vectors.cross(x1, x2, axis=axis)


def det(x, /):
    """The determinants of square matrices."""
    return _linalg.det(x)


def diagonal(x, /, *, offset=0):
    """A view of the diagonals, ``offset`` places above the main one."""
    _check_matrices(x, "diagonal")
    return x.diagonal(offset, -2, -1)


def eigh(x, /):
    """The eigenvalues of Hermitian matrices, rising, and their eigenvectors as columns."""
    return _linalg.eigh(x)


def eigvalsh(x, /):
    """The eigenvalues of Hermitian matrices, rising."""
    return _linalg.eigvalsh(x)


def inv(x, /):
    """The inverses of square matrices; LinAlgError for one that is singular."""
    return _linalg.inv(x)


def matmul(x1, x2, /):
    """The matrix products of the last two axes."""
    return _matmul(x1, x2)


def matrix_power(x, n, /):
    """Square matrices multiplied with themselves; for negative ``n``, their inverses."""
    return _linalg.matrix_power(x, n)


def matrix_rank(x, /, *, rtol=None):
    """How many singular values are larger than ``rtol`` times the largest."""
    _check_matrices(x, "matrix_rank")
    return _linalg.matrix_rank(x, rtol=rtol)


def outer(x1, x2, /):
    """The products of each element of one vector with each of the other."""
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(f"outer() wants vectors, not shapes {x1.shape} and {x2.shape}")
    return _vectors.outer(x1, x2)


def pinv(x, /, *, rtol=None):
    """The pseudo-inverses; singular values up to ``rtol`` times the largest count as 0 (default: the
    type's precision times the larger extent)."""
    return _linalg.pinv(x, rtol=rtol)


def qr(x, /, *, mode="reduced"):
    """Q with orthonormal columns and R, upper triangular; ``mode`` "complete" makes Q square."""
    if mode not in ("reduced", "complete"):
        raise ValueError(f'mode must be "reduced" or "complete", not {mode!r}')
    return _linalg.qr(x, mode)


def slogdet(x, /):
    """The signs of determinants and the logarithms of their sizes."""
    return _linalg.slogdet(x)


def solve(x1, x2, /):
    """``x`` with ``x1 @ x = x2``; LinAlgError for a matrix that is singular."""
    return _linalg.solve(x1, x2)


def svd(x, /, *, full_matrices=True):
    """U, S and Vh with ``U @ diag(S) @ Vh = x``; U and Vh are square with ``full_matrices``."""
    return _linalg.svd(x, full_matrices=full_matrices)


def tensordot(x1, x2, /, *, axes=2):
    """The sum of products over the last ``axes`` axes of one and the first of the other."""
    return _tensordot(x1, x2, axes)


def trace(x, /, *, offset=0, dtype=None):
    """The sums of diagonals."""
    return diagonal(x, offset=offset).sum(-1, dtype)
