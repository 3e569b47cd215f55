"""PyCUDA's asynchronous inner products: a stream copies the value to the host."""

from __future__ import annotations

import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.gpuarray import GPUArray

STREAM_POOL: list[cuda.Stream] = []


def get_stream() -> cuda.Stream:
    """Return an unused stream of :data:`STREAM_POOL`, or a new stream if the pool is empty.

    The caller appends the stream to :data:`STREAM_POOL` after use.
    """
    return STREAM_POOL.pop() if STREAM_POOL else cuda.Stream()


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

    def __init__(self, a: GPUArray, b: GPUArray, pagelocked_allocator) -> None:
        self.gpu_result = gpuarray.vdot(b, a)
        self._host = pagelocked_allocator((), self.gpu_result.dtype)
        self._stream: cuda.Stream | None = get_stream()
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
