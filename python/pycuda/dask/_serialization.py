"""Arrays in Dask's messages: one copy to or from the device, without pickle.

Two families, which Dask selects by the type of connection: "dask" sends the bytes through the host,
"cuda" passes device memory to UCX.
"""

from __future__ import annotations

import pickle

import numpy as np
from distributed.protocol import dask_deserialize, dask_serialize
from distributed.protocol.cuda import cuda_deserialize, cuda_serialize

from pycuda import gpuarray
from pycuda._driver import ArrayBase
from pycuda.arrays.array_class.copying import restored


def _without_gaps(array):
    return array if array._c_contiguous or array._f_contiguous else array.copy("C")


def _header(array, source) -> dict:
    """The properties of ``array``, with the memory order of ``source``."""
    return {
        "shape": source.shape,
        "strides": source.strides,
        "dtype": pickle.dumps(source.dtype),
        "class": pickle.dumps(type(array)),
        "attributes": pickle.dumps(vars(array)) if vars(array) else None,
    }


def _finished(array, header):
    """The array with its class, and with the attributes that a program has set."""
    if header["attributes"] is not None:
        vars(array).update(pickle.loads(header["attributes"]))
    return array


@dask_serialize.register(ArrayBase)
def serialize_through_host(array):
    """Header, and one frame with the elements' bytes in memory order."""
    source = _without_gaps(array)
    host = source.get()
    # A view as bytes, for every dtype and order.
    flat = host.ravel(order="K").view(np.uint8) if host.size else host
    return _header(array, source), [memoryview(flat).cast("B") if host.size else b""]


@dask_deserialize.register(ArrayBase)
def deserialize_through_host(header, frames):
    """The array on the device of the thread's context, or of the default context."""
    dtype = pickle.loads(header["dtype"])
    buffer = frames[0] if frames and memoryview(frames[0]).nbytes else None
    shape = tuple(header["shape"])
    host = np.ndarray(shape, dtype, buffer, strides=tuple(header["strides"]))
    cls = pickle.loads(header["class"])
    array = gpuarray.to_gpu(host) if cls is gpuarray.GPUArray else restored(cls, host)
    return _finished(array, header)


@cuda_serialize.register(ArrayBase)
def serialize_on_device(array):
    """Header, and one frame: the array's memory as bytes on the device."""
    source = _without_gaps(array)
    frame = gpuarray.GPUArray(
        (source.nbytes,),
        np.uint8,
        gpudata=source.ptr if source.size else 0,
        base=source,
    )
    return _header(array, source), [frame]


@cuda_deserialize.register(ArrayBase)
def deserialize_on_device(header, frames):
    """An array in the memory of the frame, which may belong to any library."""
    (frame,) = frames
    dtype = pickle.loads(header["dtype"])
    address = frame.__cuda_array_interface__["data"][0]
    array = gpuarray.GPUArray(
        tuple(header["shape"]), dtype, gpudata=address, base=frame,
        strides=tuple(header["strides"]),
    )  # fmt: skip
    cls = pickle.loads(header["class"])
    if cls is not gpuarray.GPUArray:
        array = restored(cls, array.get())
    return _finished(array, header)
