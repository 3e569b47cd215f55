"""Device arrays of other packages."""

import numpy as np

from pycuda._driver import ArrayBase
from pycuda.driver import Context
from pycuda.gpuarray import GPUArray


def of_device(array):
    """Convert a device array of another package to a GPUArray in the same memory. Host arrays are returned unchanged."""
    if isinstance(array, ArrayBase):
        return array
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is None:
        return array
    if interface.get("mask") is not None:
        raise ValueError("a masked array cannot be part of a sparse matrix")
    if interface.get("stream") is not None:  # queued in a stream of the other package
        Context.synchronize()
    return GPUArray(
        interface["shape"], np.dtype(interface["typestr"]), base=array,
        gpudata=interface["data"][0], strides=interface.get("strides"),
    )  # fmt: skip
