"""PyCUDA's asynchronous inner products: a stream copies the value to the host."""

from __future__ import annotations

import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.arrays.own_device import on_own_device
from pycuda.gpuarray import GPUArray


class PooledStream(cuda.Stream):
    """A stream that knows its context."""

    def __init__(self) -> None:
        super().__init__()
        self.context = cuda.Context.get_current()


#: Unused streams, of all contexts.
STREAM_POOL: list[PooledStream] = []


def get_stream() -> PooledStream:
    """Return an unused stream of :data:`STREAM_POOL` that belongs to the current context, or a new one if there is none.

    The caller appends the stream to :data:`STREAM_POOL` after use.
    """
    context = cuda.Context.get_current()
    for place, stream in enumerate(STREAM_POOL):
        if stream.context == context:
            return STREAM_POOL.pop(place)
    return PooledStream()


class AsyncInnerProduct:
    """The inner product of two vectors, computed in the current stream; its value is copied by another stream.

    pagelocked_allocator: called with shape and dtype for the page-locked host memory of the value, such as
        :func:`pycuda.driver.pagelocked_empty` or ``PageLockedMemoryPool().allocate``.

    ``gpu_result`` is the value as a device array.

    >>> x = gpuarray.array([1.0, 2.0])
    >>> product = AsyncInnerProduct(x, x, cuda.pagelocked_empty)
    >>> cuda.Context.synchronize()
    >>> product.get_host_result()
    array(5.)
    """

    @on_own_device
    def __init__(self, a: GPUArray, b: GPUArray, pagelocked_allocator) -> None:
        self.gpu_result = gpuarray.vdot(b, a)
        self._host = pagelocked_allocator((), self.gpu_result.dtype)
        self._stream: PooledStream | None = get_stream()
        self._stream.wait_for_event(cuda.Event().record())
        self.gpu_result.get_async(self._stream, self._host)
        self._copied = cuda.Event().record(self._stream)

    def get_host_result(self):
        """Return the value as a NumPy array without axes, or None if the copy is not done yet.

        The call does not wait.
        """
        if self._stream is not None:
            if not self._copied.query():
                return None
            STREAM_POOL.append(self._stream)
            self._stream = None
        return self._host
