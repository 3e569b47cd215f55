"""Dask's array backend "pycuda": creates arrays on the device, and moves arrays to the device."""

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
    """Return the context that threads without a current context use. Creates one if necessary.

    Without a default context, the current context becomes the default. Without a current context, the primary context of
    a device becomes the default: ``$CUDA_DEVICE``, the number in ``~/.cuda_device``, or the first device that works. Raises
    RuntimeError if no device works.
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
    """Copy a chunk to the device. A function for ``map_blocks``.

    data: a NumPy array, or a device array, which is returned itself.

    Raises TypeError for another object, and for keywords.
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
    """Copy a chunk to the host. Returns a NumPy array. A function for ``map_blocks``.

    data: a device array, or an object that ``np.asarray()`` accepts.
    """
    return data.get() if isinstance(data, ArrayBase) else np.asarray(data)


def _meta():
    """An array without elements. Dask uses it as the type of chunks."""
    return gpuarray.empty((0,), np.float64)


def _creator(name: str, elements: str) -> staticmethod:
    """Dask's function ``name`` for device chunks."""

    def create(*args, meta=None, **kwargs):
        meta = _meta() if meta is None else meta
        with config.set({"array.backend": "numpy"}):
            return getattr(da, name)(*args, meta=meta, **kwargs)

    create.__name__ = create.__qualname__ = name
    create.__doc__ = (
        f"Create a Dask array of {elements} with device chunks; "
        f"the parameters are those of ``dask.array.{name}``."
    )
    return staticmethod(create)


class PyCUDABackendEntrypoint(ArrayBackendEntrypoint):
    """The array backend that ``dask.config.set({"array.backend": "pycuda"})`` selects.

    Dask calls the methods; programs call the functions of ``dask.array`` with the same names and parameters.
    """

    @classmethod
    def to_backend_dispatch(cls):
        """Return the function that moves a chunk to the device."""
        return to_pycuda_dispatch

    @classmethod
    def to_backend(cls, data, **kwargs):
        """Move a Dask array to the device: returns a Dask array with device chunks.

        data: a Dask array. An array with device chunks is returned itself.
        """
        if isinstance(data._meta, ArrayBase):
            return data
        return data.map_blocks(cls.to_backend_dispatch(), **kwargs)

    @property
    def RandomState(self):
        """The class :class:`RandomState`, for ``dask.array.random.RandomState``."""
        return RandomState

    @property
    def default_bit_generator(self):
        """The class :class:`Philox`, for ``dask.array.random.default_rng``."""
        return Philox

    ones = _creator("ones", "ones")
    zeros = _creator("zeros", "zeros")
    empty = _creator("empty", "uninitialised elements")
    full = _creator("full", "one value")

    @staticmethod
    def arange(*args, like=None, **kwargs):
        """Create a Dask array of evenly spaced numbers with device chunks; the parameters are those of ``dask.array.arange``."""
        with config.set({"array.backend": "numpy"}):
            return da.arange(*args, like=_meta() if like is None else like, **kwargs)
