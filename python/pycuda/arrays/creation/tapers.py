"""Windows for the ends of signals: bartlett(), blackman(), hamming(), hanning(), kaiser()."""

from __future__ import annotations

import operator

import numpy as np

from pycuda.arrays.creation.filled import empty, ones
from pycuda.arrays.creation.ranges import arange_of
from pycuda.arrays.registry import public
from pycuda.arrays.ufuncs.fusing import fuse
from pycuda.arrays.ufuncs.special_functions import SPECIAL


def _window(function, M, *args):
    """A window of M values, computed from the numbers 0 to M - 1 by one kernel."""
    count = operator.index(M)
    if count <= 1:
        return ones(1) if count == 1 else empty(0, np.float64)
    return function(arange_of(count, np.float64), float(count - 1), *args)


@public()
def bartlett(M):
    """Make a Bartlett window: a triangle of ``M`` values of float64 with zeros at both ends.

    >>> gpuarray.bartlett(5)
    array([0. , 0.5, 1. , 0.5, 0. ])
    """
    return _window(_bartlett, M)


@fuse
def _bartlett(n, last):
    return np.where(n + n <= last, 2 * n / last, 2 - 2 * n / last)


@public()
def blackman(M):
    """Make a Blackman window of ``M`` values of float64.

    >>> abs(gpuarray.blackman(3)).get().round(6)
    array([0., 1., 0.])
    """
    return _window(_blackman, M)


@fuse
def _blackman(n, last):
    turn = (2 * n - last) * (np.pi / last)
    return 0.42 + 0.5 * np.cos(turn) + 0.08 * np.cos(2.0 * turn)


@public()
def hamming(M):
    """Make a Hamming window of ``M`` values of float64.

    >>> gpuarray.hamming(3).get().round(6)
    array([0.08, 1.  , 0.08])
    """
    return _window(_cosine, M, 0.54, 0.46)


@public()
def hanning(M):
    """Make a Hann window of ``M`` values of float64.

    >>> gpuarray.hanning(3)
    array([0., 1., 0.])
    """
    return _window(_cosine, M, 0.5, 0.5)


@fuse
def _cosine(n, last, mean, height):
    return mean + height * np.cos((2 * n - last) * (np.pi / last))


@public()
def kaiser(M, beta):
    """Make a Kaiser window of ``M`` values of float64.

    beta: the shape: 0 is a rectangle, 5 similar to a Hamming window.

    >>> gpuarray.kaiser(3, 0)
    array([1., 1., 1.])
    """
    return _window(_kaiser, M, float(beta))


@fuse
def _kaiser(n, last, beta):
    apart = (2 * n - last) / last
    i0 = SPECIAL["i0"]
    return i0(beta * np.sqrt(1 - apart * apart)) / i0(beta + 0 * n)
