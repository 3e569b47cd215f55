"""Equations and inverses of arrays whose axes are taken together as rows and columns."""

from __future__ import annotations

import math

from numpy.linalg import LinAlgError

from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.linalg.factoring import inv, solve
from pycuda.arrays.registry import public


@public("linalg")
def tensorsolve(a, b, axes=None):
    """``x`` with ``tensordot(a, x, x.ndim) = b``."""
    a, b = as_array(a), as_array(b)
    if axes is not None:
        moved = [i for i in range(a.ndim) if i not in axes] + list(axes)
        a = a.transpose(moved)
    shape = a.shape[b.ndim :]
    if a.size != math.prod(shape) ** 2:
        raise LinAlgError(
            "Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])"
        )
    size = math.prod(shape)
    return solve(a._reshape(size, size), b._ravel())._reshape(shape)


@public("linalg")
def tensorinv(a, ind: int = 2):
    """The inverse with regard to :func:`tensordot` over the first ``ind`` axes."""
    a = as_array(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    shape = a.shape[ind:] + a.shape[:ind]
    rows = math.prod(a.shape[:ind])
    return inv(a._reshape(rows, -1))._reshape(shape)
