"""Steps of conjugate gradients, one kernel each. Their factors stay on the device, so no step waits for the host.

A quotient with denominator 0 is 0: the solution is exact then, and further steps do not change it.
"""

from pycuda.fusion import fuse
from pycuda.gpuarray import where


def _quotient(a, b):
    return where(b == 0, 0, a / where(b == 0, 1, b))


@fuse
def step(numerator, denominator, p, q, x, r):
    """``(x + alpha * p, r - alpha * q)`` with ``alpha = numerator / denominator``, arrays of one element."""
    alpha = _quotient(numerator, denominator)
    return x + alpha * p, r - alpha * q


@fuse
def turn(numerator, denominator, z, p):
    """``z + beta * p`` with ``beta = numerator / denominator``, arrays of one element."""
    return z + _quotient(numerator, denominator) * p
