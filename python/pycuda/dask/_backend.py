"""Dask's array backend "pycuda": arrays made on the device, and moved there."""

from __future__ import annotations

import dask.array as da
import numpy as np
from dask import config
from dask.array.backends import ArrayBackendEntrypoint
from dask.utils import Dispatch

from pycuda import driver, gpuarray
from pycuda._driver import ArrayBase
from pycuda.dask._random import Philox, RandomState
from pycuda.tools import make_default_context

to_pycuda_dispatch = Dispatch("to_pycuda_dispatch")


def ensure_default_context() -> driver.Context:
    """The context that threads without one use; the primary one of the chosen device, if none is named.

    The choice is ``$CUDA_DEVICE`` or the number in ``~/.cuda_device``, else the first device that
    works. Raises RuntimeError where none works.
    """
    driver.init()
    default = driver.Context.get_default()
    if default is None:
        default = driver.Context.get_current() or make_default_context(
            driver.Device.retain_primary_context
        )
        driver.Context.set_default(default)
    return default


@to_pycuda_dispatch.register(np.ndarray)
@to_pycuda_dispatch.register(np.generic)
def to_gpu(data, **kwargs):
    """The chunk on the device; a chunk that is there already is returned as is.

    A function for ``map_blocks``. Raises TypeError for keywords, and for what is no array.
    """
    if kwargs:
        raise TypeError(f"to_gpu() has no keyword {next(iter(kwargs))!r}")
    if isinstance(data, ArrayBase):
        return data
    if not isinstance(data, (np.ndarray, np.generic)):
        raise TypeError(f"a chunk must be an array, not {type(data).__name__}")
    return gpuarray.to_gpu(np.asarray(data))


to_pycuda_dispatch.register(ArrayBase, to_gpu)


def to_host(data):
    """The chunk as a numpy array. A function for ``map_blocks``."""
    return data.get() if isinstance(data, ArrayBase) else np.asarray(data)


def _meta():
    """An array without elements, by which Dask knows the type of chunks."""
    return gpuarray.empty((0,), np.float64)


def _made(name, *args, meta=None, **kwargs):
    """Dask's function ``name`` with chunks of the device."""
    with config.set({"array.backend": "numpy"}):
        return getattr(da, name)(
            *args, meta=_meta() if meta is None else meta, **kwargs
        )


class PyCUDABackendEntrypoint(ArrayBackendEntrypoint):
    """What ``dask.config.set({"array.backend": "pycuda"})`` stands for."""

    @classmethod
    def to_backend_dispatch(cls):
        """The function that moves a chunk to the device."""
        return to_pycuda_dispatch

    @classmethod
    def to_backend(cls, data, **kwargs):
        """``data`` with its chunks on the device."""
        if isinstance(data._meta, ArrayBase):
            return data
        return data.map_blocks(cls.to_backend_dispatch(), **kwargs)

    @property
    def RandomState(self):
        """The class of states of random numbers, as Dask asks for it."""
        return RandomState

    @property
    def default_bit_generator(self):
        """The class of seeds of random numbers, as Dask asks for it."""
        return Philox

    @staticmethod
    def ones(*args, **kwargs):
        """Dask's array of ones, with chunks on the device."""
        return _made("ones", *args, **kwargs)

    @staticmethod
    def zeros(*args, **kwargs):
        """Dask's array of zeros, with chunks on the device."""
        return _made("zeros", *args, **kwargs)

    @staticmethod
    def empty(*args, **kwargs):
        """Dask's array of elements that are not set, with chunks on the device."""
        return _made("empty", *args, **kwargs)

    @staticmethod
    def full(*args, **kwargs):
        """Dask's array of one value, with chunks on the device."""
        return _made("full", *args, **kwargs)

    @staticmethod
    def arange(*args, like=None, **kwargs):
        """Dask's array of evenly spaced numbers, with chunks on the device."""
        with config.set({"array.backend": "numpy"}):
            return da.arange(*args, like=_meta() if like is None else like, **kwargs)
