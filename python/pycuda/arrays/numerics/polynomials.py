"""Roots of polynomials, and polynomials through points, with numpy's names."""

from __future__ import annotations

import warnings

import numpy as np

from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.creation.filled import zeros
from pycuda.arrays.creation.ranges import arange_of
from pycuda.arrays.indexing.selecting import nonzero
from pycuda.arrays.linalg.products import matmul
from pycuda.arrays.linalg.vectors import outer
from pycuda.arrays.registry import public
from pycuda.arrays.shapes.joining import concatenate
from pycuda.arrays.shapes.views import matrix_transpose
from pycuda.arrays.ufuncs.fusing import fuse
from pycuda.arrays.ufuncs.universal_functions import UFUNCS


@public()
def roots(p):
    """Find the roots of a polynomial: the eigenvalues of its companion matrix.

    p: the coefficients, highest power first, a vector.

    Returns a vector in unspecified order, complex unless all roots are real. Raises ValueError for an array that is no
    vector. The degree is read back from the device.

    >>> gpuarray.sort(gpuarray.roots(gpuarray.array([1.0, -3.0, 2.0]))).get().round(6)
    array([1., 2.])
    """
    from pycuda.arrays.linalg.eigen import eigvals  # only now: slow to load

    p = as_array(p)
    p = p._reshape(1) if p.ndim == 0 else p
    if p.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    places = nonzero(p)[0].get()
    if places.size == 0:
        return zeros(0)
    first, last = int(places[0]), int(places[-1])
    zero_roots = p.size - 1 - last
    p = p[first : last + 1]
    if p.dtype.kind not in "fc":
        p = p.astype(np.float64)
    degree = p.size - 1
    if degree == 0:
        return zeros(zero_roots)
    companion = zeros((degree, degree), p.dtype)
    companion.diagonal(-1).fill(1)
    companion[0] = -p[1:] / p[0]
    found = eigvals(companion)
    if zero_roots == 0:
        return found
    return concatenate([found, zeros(zero_roots, found.dtype)])


@public()
def polyfit(x, y, deg: int, rcond=None, full: bool = False, w=None, cov=False):
    """Fit a polynomial of degree ``deg`` to points by least squares.

    x: the coordinates, a vector. y: the values, a vector or a column for each of several fits.
    rcond: singular values below ``rcond`` times the largest count as zero.
    full: True returns (coefficients, residuals, rank, singular values, rcond), too.
    w: a weight for each point, which multiplies the residual before it is squared.
    cov: True returns (coefficients, their covariances); "unscaled" does not scale these by the residuals.

    Coefficients come highest power first. Raises TypeError for wrong shapes, ValueError for a negative degree.

    >>> x = gpuarray.array([0.0, 1.0, 2.0])
    >>> gpuarray.polyfit(x, 3 * x + 1, 1).get().round(6)
    array([3., 1.])
    """
    from pycuda.arrays.linalg.factoring import inv  # only now: slow to load
    from pycuda.arrays.linalg.spectral import lstsq

    order = int(deg) + 1
    x, y = as_array(x) + 0.0, as_array(y) + 0.0
    _check_points(x, y, order)
    rcond = x.size * np.finfo(x.dtype).eps if rcond is None else rcond
    left, right = vander(x, order), y
    if w is not None:
        w = as_array(w) + 0.0
        if w.ndim != 1:
            raise TypeError("expected a 1-d array for weights")
        if w.shape[0] != y.shape[0]:
            raise TypeError("expected w and y to have the same length")
        left = left * w[:, None]
        right = right * (w[:, None] if right.ndim == 2 else w)
    scale = UFUNCS["sqrt"]((left * left).sum(0))
    left = left / scale
    found, residuals, rank, singular = lstsq(left, right, rcond)
    columns = scale[:, None] if found.ndim == 2 else scale
    found = found / columns
    if rank != order and not full:
        warnings.warn("Polyfit may be poorly conditioned", np.exceptions.RankWarning, stacklevel=2)  # fmt: skip
    if full:
        return found, residuals, rank, singular, rcond
    if not cov:
        return found
    base = inv(matmul(matrix_transpose(left), left)) / outer(scale, scale)
    if y.ndim == 2:
        base = base[:, :, None]
    if cov == "unscaled":
        return found, base
    if x.size <= order:
        raise ValueError(
            "the number of data points must exceed order to scale the covariance matrix"
        )
    return found, base * (residuals / (x.size - order))


def _check_points(x, y, order: int) -> None:
    if order < 1:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if x.size == 0:
        raise TypeError("expected non-empty vector for x")
    if y.ndim not in (1, 2):
        raise TypeError("expected 1D or 2D array for y")
    if x.shape[0] != y.shape[0]:
        raise TypeError("expected x and y to have same length")


@public()
def vander(x, N=None, increasing: bool = False):
    """Make the Vandermonde matrix of a vector: a row of powers for each element.

    N: the number of columns, by default that of the elements.
    increasing: whether the powers rise from 0; by default they fall to 0.

    >>> gpuarray.vander(gpuarray.array([2, 3]), 3)
    array([[4, 2, 1],
           [9, 3, 1]])
    """
    x = as_array(x)
    if x.ndim != 1:
        raise ValueError(f"vander() expects a vector, not {x.ndim} axes")
    count = x.size if N is None else N
    kind = np.promote_types(x.dtype, int)
    # Powers are made in their type, and power() converts the elements: one kernel for each.
    powers = arange_of(count, kind if kind.kind in "iu" else np.float64)
    powers = powers if increasing else powers[::-1]
    return UFUNCS["power"](x[:, None], powers)


@public()
def polyval(p, x):
    """Evaluate a polynomial at each element of ``x``, by Horner's rule.

    p: the coefficients, highest power first.

    Returns an array of the shape of ``x``, of the common type of ``p`` and ``x``.

    >>> gpuarray.polyval(gpuarray.array([1, 0, -1]), gpuarray.array([2, 3]))
    array([3, 8])
    """
    x, coefficients = as_array(x), list(as_array(p))
    if len(coefficients) <= _MOST_FUSED:
        return _horner(x, *coefficients)
    result = UFUNCS["multiply"](x, 0)
    for coefficient in coefficients:
        result = result * x + coefficient
    return result


_MOST_FUSED = 32  # coefficients of one kernel


@fuse
def _horner(x, *coefficients):
    result = x * 0
    for coefficient in coefficients:
        result = result * x + coefficient
    return result
