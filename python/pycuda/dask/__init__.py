"""Device arrays as the chunks of Dask's arrays.

>>> import dask
>>> import dask.array as da
>>> import pycuda.dask
>>> x = da.from_array(host, chunks=(4096, 4096)).map_blocks(pycuda.dask.to_gpu)
>>> (x @ x.T).mean(axis=0).compute()          # a GPUArray
>>> with dask.config.set({"array.backend": "pycuda"}):
...     da.random.default_rng(7).standard_normal((100_000, 1000), chunks=(10_000, 1000)).std().compute()

``import pycuda.dask`` registers functions for device arrays with Dask, and sets a default context
for the threads of its schedulers: the primary context of ``$CUDA_DEVICE``, else of the first device,
unless the process has set another (:meth:`pycuda.driver.Context.set_default`). In a cluster, every
worker needs this import: :class:`LocalPyCUDACluster` starts workers with this import, one for each device.
For other clusters, use ``dask worker --preload pycuda.dask.preload``.
"""

try:
    import dask.array as _dask_array  # noqa: F401
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"pycuda.dask needs {missing.name}, which is not installed: pip install 'dask[array]'",
        name=missing.name,
    ) from missing

from dask.array import register_chunk_type as _register_chunk_type
from dask.array.backends import array_creation_dispatch as _array_creation_dispatch

from pycuda.dask import _dispatch, _replaced
from pycuda.dask._backend import PyCUDABackendEntrypoint as PyCUDABackendEntrypoint
from pycuda.dask._backend import ensure_default_context as ensure_default_context
from pycuda.dask._backend import to_gpu as to_gpu
from pycuda.dask._backend import to_host as to_host
from pycuda.dask._random import Generator as Generator
from pycuda.dask._random import Philox as Philox
from pycuda.dask._random import RandomState as RandomState
from pycuda.dask._random import default_rng as default_rng
from pycuda.gpuarray import GPUArray as _GPUArray

_register_chunk_type(_GPUArray)
_dispatch.register()
_replaced.register()
_array_creation_dispatch.register_backend("pycuda", PyCUDABackendEntrypoint())
ensure_default_context()

try:
    import distributed as _distributed
except ImportError:  # Dask without distributed has only the threaded schedulers
    _distributed = None
else:
    from pycuda.dask import _serialization as _serialization
    from pycuda.dask._cluster import LocalPyCUDACluster as LocalPyCUDACluster
    from pycuda.dask._spilling import DeviceHostStore as DeviceHostStore
