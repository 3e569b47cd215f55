"""Equations and inverses of arrays: some axes together are the rows of a matrix, the others its columns."""

from __future__ import annotations

import math

from numpy.linalg import LinAlgError

from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.linalg.factoring import inv, solve
from pycuda.arrays.registry import public


@public("linalg")
def tensorsolve(a, b, axes=None):
    """Solve a tensor equation: find ``x`` with ``tensordot(a, x, x.ndim) = b``.

    axes: axes of ``a`` that are moved to its end first.

    Raises LinAlgError if ``a`` is not square as a matrix of (elements of b, elements of x).

    >>> a = gpuarray.eye(4)._reshape(2, 2, 4)
    >>> linalg.tensorsolve(a, gpuarray.array([[1.0, 2.0], [3.0, 4.0]]))
    array([1., 2., 3., 4.])
    """
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
    """Invert a tensor with regard to :func:`tensordot` over its first ``ind`` axes.

    Raises ValueError if ``ind`` is not positive, LinAlgError if the array is not square as a matrix of these axes.

    >>> linalg.tensorinv(2 * gpuarray.eye(2), ind=1)
    array([[0.5, 0. ],
           [0. , 0.5]])
    """
    a = as_array(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    shape = a.shape[ind:] + a.shape[:ind]
    rows = math.prod(a.shape[:ind])
    return inv(a._reshape(rows, -1))._reshape(shape)
