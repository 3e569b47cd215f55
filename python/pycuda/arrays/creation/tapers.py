"""Windows for the ends of signals: bartlett(), blackman(), hamming(), hanning(), kaiser()."""

import functools
import operator

import numpy as np

from pycuda.arrays.creation.filled import empty, ones
from pycuda.arrays.registry import public
from pycuda.arrays.ufuncs.filling import by_index
from pycuda.arrays.ufuncs.special_functions import SPECIAL

_DOUBLE = np.dtype(np.float64)


def _window(fill, M, *args):
    """A window of M values, of which one kernel computes each from its index."""
    count = operator.index(M)
    if count <= 1:
        return ones(1) if count == 1 else empty(0, np.float64)
    return fill(count, _DOUBLE, *args, float(count - 1))


@public()
def bartlett(M):
    """Make a Bartlett window: a triangle with zeros at both ends.

    M: the number of values.

    Returns a new vector of float64.

    >>> gpuarray.bartlett(5)
    array([0. , 0.5, 1. , 0.5, 0. ])
    """
    return _window(_bartlett, M)


@by_index
def _bartlett(index, dtype, last):
    n = index.range(0, 1, dtype)
    return np.where(n + n <= last, 2 * n / last, 2 - 2 * n / last)


@public()
def blackman(M):
    """Make a Blackman window, a sum of two cosines.

    M: the number of values.

    Returns a new vector of float64.

    >>> abs(gpuarray.blackman(3)).get().round(6)
    array([0., 1., 0.])
    """
    return _window(_blackman, M)


def _cosine_of(index, dtype, last):
    """The cosine of a turn from -pi to pi."""
    return np.cos((2 * index.range(0, 1, dtype) - last) * np.pi / last)


@by_index
def _blackman(index, dtype, last):
    cosine = _cosine_of(index, dtype, last)
    # NumPy's 0.42 + 0.5 cos(t) + 0.08 cos(2 t), where cos(2 t) = 2 cos(t)**2 - 1.
    return 0.34 + 0.5 * cosine + 0.16 * (cosine * cosine)


@public()
def hamming(M):
    """Make a Hamming window, a cosine whose ends are 0.08.

    M: the number of values.

    Returns a new vector of float64.

    >>> gpuarray.hamming(3).get().round(6)
    array([0.08, 1.  , 0.08])
    """
    return _window(_cosine, M, 0.54, 0.46)


@public()
def hanning(M):
    """Make a Hann window, a cosine whose ends are zeros.

    M: the number of values.

    Returns a new vector of float64.

    >>> gpuarray.hanning(3)
    array([0., 1., 0.])
    """
    return _window(_cosine, M, 0.5, 0.5)


@by_index
def _cosine(index, dtype, mean, height, last):
    return mean + height * _cosine_of(index, dtype, last)


@public()
def kaiser(M, beta):
    """Make a Kaiser window.

    M: the number of values. beta: the shape: 0 is a rectangle, 5 similar to a Hamming window.

    Returns a new vector of float64.

    >>> gpuarray.kaiser(3, 0)
    array([1., 1., 1.])
    """
    beta = float(beta)
    return _window(_kaiser, M, beta, _kaiser_scale(beta))


@functools.lru_cache(256)
def _kaiser_scale(beta: float) -> float:  # NumPy's function takes 0.1 ms
    return 1 / np.i0(beta)


@by_index
def _kaiser(index, dtype, beta, scale, last):
    apart = (2 * index.range(0, 1, dtype) - last) / last
    return SPECIAL["i0"](beta * np.sqrt(1 - apart * apart)) * scale
