"""Functions for programs that run with arrays of the device and of the host."""

from __future__ import annotations

import sys

import numpy as np

from pycuda._driver import ArrayBase
from pycuda.arrays.registry import public


@public(numpy=False)
def asnumpy(a, stream=None, order: str = "C", out=None):
    """Copy an array of the device to the host. Other objects become NumPy arrays, as by numpy.asarray().

    a: an array, or anything that NumPy makes an array of.
    stream: the stream of the copy, by default the current one. The call returns when the copy is done.
    order: the order of the elements in memory: "C", "F", "A" or "K".
    out: an array of the host for the result.

    >>> gpuarray.asnumpy(gpuarray.array([1, 2]))
    array([1, 2])
    """
    host = a.get(stream=stream) if isinstance(a, ArrayBase) else np.asarray(a)
    if out is None:
        return np.asarray(host, order=order)
    np.copyto(out, host, casting="unsafe")
    return out


@public(numpy=False)
def get_array_module(*args):
    """Find the module whose functions fit the arguments: pycuda.gpuarray if one is an array of the device, else numpy.

    args: arrays and other objects.

    numpy's functions take arrays of the device themselves, so new programs do not need this function.

    >>> gpuarray.get_array_module(gpuarray.array([1, 2])) is gpuarray
    True
    """
    on_device = any(isinstance(one, ArrayBase) for one in args)
    return sys.modules["pycuda.gpuarray"] if on_device else np
