"""Host copies of arrays, for an MPI that does not support device memory, and the requests that need them.

A staged array is copied to pinned memory before the call; received data is copied back after the call.
The copies of one call start together, and there is one wait for all of them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import functools
import importlib
import inspect
import os
import threading
from typing import Any

import numpy as np

from pycuda import _driver
from pycuda._driver import ArrayBase, _array_is_dense
from pycuda.driver import Context, pagelocked_empty


def split(buffer):
    """The array in a buffer argument of mpi4py, and the other items: [x, count, MPI.FLOAT]."""
    if isinstance(buffer, ArrayBase):
        return buffer, None
    if (
        isinstance(buffer, (list, tuple))
        and buffer
        and isinstance(buffer[0], ArrayBase)
    ):
        return buffer[0], list(buffer[1:])
    return None, None


def require_dense(array, name: str) -> None:
    """Raises ValueError if the array is not contiguous."""
    if not _array_is_dense(array):
        raise ValueError(
            f"{name} must be contiguous, but has the strides {array.strides}; send a copy()"
        )


@functools.cache
def parameters_of(kind: type, name: str) -> tuple[str, ...]:
    """The names of a method's parameters; empty if it is not a method of mpi4py."""
    try:
        return tuple(inspect.signature(getattr(kind, name)).parameters)[1:]
    except (AttributeError, TypeError, ValueError):
        return ()


def in_context_of(array):
    """A ``with`` block in which the array's context is current."""
    context = _driver._array_context(array)
    return (
        contextlib.nullcontext() if context is None else _driver._Work(context=context)
    )


class PinnedMemory:
    """Pinned buffers, kept for later calls: creating one takes longer than sending its bytes.

    Of more than :attr:`MOST_KEPT` bytes, those given back first are freed.
    """

    # 1 GiB, and at most a sixteenth of the machine's memory.
    MOST_KEPT = min(
        1 << 30, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 16
    )

    def __init__(self) -> None:
        self._free: list[np.ndarray] = []  # the one given back last is the last
        self._lock = threading.Lock()

    def take(self, nbytes: int) -> np.ndarray:
        """A buffer of at least ``nbytes`` bytes."""
        size = 1 << max(int(nbytes - 1).bit_length(), 12) if nbytes else 0
        with self._lock:
            for index in range(len(self._free) - 1, -1, -1):
                if self._free[index].nbytes == size:
                    return self._free.pop(index)
        return pagelocked_empty(size, np.uint8) if size else np.empty(0, np.uint8)

    def like(self, array):
        """A host array with the memory layout of ``array``, and the buffer to return."""
        buffer = self.take(array.nbytes)
        host = np.ndarray(array.shape, array.dtype, buffer.data, strides=array.strides)
        return host, buffer

    def give_back(self, buffer: np.ndarray) -> None:
        """Keep a buffer for later calls."""
        if not 0 < buffer.nbytes <= self.MOST_KEPT:
            return
        with self._lock:
            self._free.append(buffer)
            kept = sum(one.nbytes for one in self._free)
            while kept > self.MOST_KEPT:
                kept -= self._free.pop(0).nbytes


PINNED = PinnedMemory()


def wait_for_work(stream, arrays) -> None:
    """Wait for ``stream``, or for all work on the arrays' devices, so that the data for MPI is complete."""
    for array in arrays:
        with in_context_of(array):
            Context.synchronize() if stream is None else stream.synchronize()


def in_memory_order(host: np.ndarray) -> np.ndarray:
    """The array with its axes reordered to C or Fortran order, which MPI requires; MPI ignores the order of axes."""
    return host if host.flags.forc else host.ravel(order="K")


class Received(enum.Enum):
    """The known facts about the bytes that MPI writes to a buffer."""

    UNKNOWN = "some"  # the elements that MPI leaves alone must not change
    COUNTED = "first"  # the first ones; the status has their number
    WHOLE = "all"


@dataclasses.dataclass
class _Staged:
    """An array and its host copy."""

    array: Any
    host: np.ndarray
    pinned: np.ndarray
    written: bool
    received: Received


class Staging:
    """The host copies of one call, and the arrays to copy back to."""

    def __init__(self, stream=None) -> None:
        self.stream = stream
        self._staged: list[_Staged] = []

    def stage(
        self, name: str, buffer, written: bool, received: Received = Received.UNKNOWN
    ):
        """The buffer for MPI that replaces ``buffer``; it contains the elements after :meth:`fill`."""
        array, rest = split(buffer)
        if array is None:
            return buffer
        require_dense(array, name)
        with in_context_of(array):
            host, pinned = PINNED.like(array)
        if rest is not None:  # a count or a datatype: parts of the array
            received = Received.UNKNOWN
        self._staged.append(_Staged(array, host, pinned, written, received))
        buffer = in_memory_order(host)
        return buffer if rest is None else [buffer, *rest]

    @property
    def counted(self) -> bool:
        """Whether the call's status is needed."""
        return any(one.received is Received.COUNTED for one in self._staged)

    def fill(self) -> None:
        """Copy the arrays to the host. A receive buffer is copied if MPI may leave some of its elements unchanged."""
        wait_for_work(self.stream, [one.array for one in self._staged])
        for one in self._staged:
            if one.array.size and one.received is Received.UNKNOWN:
                _driver._array_get_bytes(one.array, one.host, None)

    def return_received(self, status=None) -> None:
        """Copy received elements to the device. status: that of the call if it is :attr:`counted`."""
        for one in self._staged:
            if not one.written or not one.array.size:
                continue
            array, host = one.array, one.host
            if one.received is Received.COUNTED:
                nbytes = status.Get_elements(_bytes())
                if nbytes < array.nbytes:
                    array = array._view(0, (nbytes,), (1,), np.dtype(np.uint8))
                    host = one.pinned[:nbytes]
            if array.size:
                _driver._array_set_bytes(array, host, None)

    def finish(self, status=None) -> None:
        """:meth:`return_received` and :meth:`release`."""
        self.return_received(status)
        self.release()

    def release(self) -> None:
        """Give back the pinned memory."""
        staged, self._staged = self._staged, []
        for one in staged:
            PINNED.give_back(one.pinned)


def _bytes():
    return importlib.import_module("mpi4py.MPI").BYTE


def new_status():
    """An empty status of mpi4py."""
    return importlib.import_module("mpi4py.MPI").Status()


class Request:
    """A request of a nonblocking or persistent call with staged arrays.

    Received arrays are copied to the device when :meth:`Wait` or :meth:`Test` finds the request done. A persistent request
    (``Send_init`` ...) copies its send buffer at each :meth:`Start`. Other methods are those of mpi4py's Request.
    """

    def __init__(self, request, staging: Staging, persistent: bool = False) -> None:
        self._request, self._staging = request, staging
        self._persistent, self._active = persistent, not persistent

    def Start(self) -> None:
        """Start a persistent request. The current contents of the send buffer are copied to the host first."""
        self._staging.fill()
        self._active = True
        self._request.Start()

    def Wait(self, status=None) -> bool:
        """Wait until the request is done, and copy received arrays to the device. Returns True.

        status: an mpi4py Status to fill, or None. ``wait()`` is another name of the method.
        """
        if status is None and self._staging.counted:
            status = new_status()
        done = self._request.Wait(status)
        self._done(status)
        return done

    def Test(self, status=None) -> bool:
        """Return whether the request is done. If it is, received arrays are copied to the device first.

        status: an mpi4py Status to fill, or None. ``test()`` is another name of the method.
        """
        if status is None and self._staging.counted:
            status = new_status()
        done = self._request.Test(status)
        if done:
            self._done(status)
        return done

    def Free(self) -> None:
        """Free a persistent request, and release its staging memory."""
        self._request.Free()
        self._staging.release()

    wait, test = Wait, Test

    def _done(self, status) -> None:
        if self._active and self._persistent:
            self._staging.return_received(status)
        elif self._active:
            self._staging.finish(status)
        self._active = False

    def __getattr__(self, name: str):
        return getattr(self._request, name)


def startall(requests) -> None:
    """Start several persistent requests.

    requests: an iterable of :class:`Request` and mpi4py requests.
    """
    for request in requests:
        request.Start()


def waitall(requests) -> None:
    """Wait until all requests are done.

    requests: an iterable of :class:`Request` and mpi4py requests.
    """
    for request in requests:
        request.Wait()


def testall(requests) -> bool:
    """Return whether all requests are done. Received arrays of the requests that are done are copied to the device.

    requests: an iterable of :class:`Request` and mpi4py requests.
    """
    return all([request.Test() for request in requests])


def waitany(requests) -> int:
    """Wait until one of several requests is done, and return its index.

    requests: an iterable of :class:`Request` and mpi4py requests. Raises ValueError if it is empty.
    """
    requests = list(requests)
    if not requests:
        raise ValueError("waitany() needs at least one request")
    while True:
        for index, request in enumerate(requests):
            if request.Test():
                return index
