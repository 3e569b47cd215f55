"""Arrays of other packages on the device."""

from __future__ import annotations

import numpy as np

from pycuda._driver import ArrayBase
from pycuda.driver import Context
from pycuda.gpuarray import GPUArray


def of_device(array):
    """An array of another package on the device as one of ours on the same memory; what is on the host as it is."""
    if isinstance(array, ArrayBase):
        return array
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is None:
        return array
    if interface.get("mask") is not None:
        raise ValueError("a masked array cannot be part of a sparse matrix")
    if interface.get("stream") is not None:  # work in another package's stream
        Context.synchronize()
    return GPUArray(
        interface["shape"], np.dtype(interface["typestr"]), base=array,
        gpudata=interface["data"][0], strides=interface.get("strides"),
    )  # fmt: skip
