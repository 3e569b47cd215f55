"""Stores a worker's results on the device, on the host, or on disk.

    results ──> device, most recently used last ──> host ──> files
                up to device_memory_limit            up to memory_limit

A result that a task needs is copied back to the device when it is accessed.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, MutableMapping

import numpy as np
from dask.sizeof import sizeof
from dask.utils import parse_bytes
from distributed.protocol import dask_deserialize, dask_serialize
from distributed.protocol import pickle as dask_pickle
from distributed.spill import SpillBuffer

from pycuda import driver
from pycuda._driver import ArrayBase


def bytes_on_device(value) -> int:
    """Bytes of the device arrays in ``value``: an array, or lists, tuples, dicts and sets of them."""
    if isinstance(value, ArrayBase):
        return int(value.nbytes)
    if isinstance(value, dict):
        return sum(map(bytes_on_device, value.values()))
    if isinstance(value, (list, tuple, set, frozenset)):
        return sum(map(bytes_on_device, value))
    return 0


class OnHost:
    """A value whose device arrays are copied to the host."""

    def __init__(self, head: bytes, buffers: list) -> None:
        self.head, self.buffers = head, buffers

    @classmethod
    def of(cls, value) -> OnHost:
        """Split the value into a small pickle and the arrays' bytes."""
        buffers: list = []
        head = dask_pickle.dumps(value, buffer_callback=buffers.append)
        return cls(head, [memoryview(one) for one in buffers])

    def value(self):
        """Restore the value, with its arrays on the device."""
        return dask_pickle.loads(self.head, buffers=self.buffers)

    def __sizeof__(self) -> int:
        return len(self.head) + sum(one.nbytes for one in self.buffers)


@sizeof.register(OnHost)
def _size_on_host(value: OnHost) -> int:
    return value.__sizeof__()


@dask_serialize.register(OnHost)
def _serialize(value: OnHost):
    return {}, [
        value.head,
        *(one.cast("B") if one.nbytes else b"" for one in value.buffers),
    ]


@dask_deserialize.register(OnHost)
def _deserialize(header, frames) -> OnHost:
    return OnHost(bytes(frames[0]), [memoryview(one) for one in frames[1:]])


def limit_of(limit, total: int, name: str) -> int:
    """A limit in bytes, from an int, "4 GB", or a fraction from 0 to 1 of ``total``."""
    if isinstance(limit, float) and 0 < limit <= 1:
        return int(limit * total)
    if isinstance(limit, str):
        return parse_bytes(limit)
    if (
        isinstance(limit, (int, np.integer))
        and not isinstance(limit, bool)
        and limit > 0
    ):
        return int(limit)
    raise ValueError(
        f'{name} must be a positive number of bytes, a text such as "4 GB" or a fraction of the '
        f"memory from 0 to 1, not {limit!r}"
    )


def split_shared_memory(memory: int, device: int) -> tuple[int, int]:
    """Bytes for the device's results and for the host's, if both use ``memory`` bytes of the host's memory.

    ``device``: the maximum for the device. Two fifths of the memory stay free for the temporary
    objects of tasks, as in Dask's other workers.
    """
    device = min(device, int(0.4 * memory))
    return device, max(int(0.6 * memory) - device, int(0.1 * memory))


class DeviceHostStore(MutableMapping):
    """The result store of a Dask worker: on the device up to a limit, then on the host, then on disk.

    ``device_memory_limit``: bytes, "4 GB", or a fraction of the device's memory. ``memory_limit``:
    bytes of host memory for spilled results and for results that were never on the device; above it,
    results are written to files in ``worker_local_directory``; None: never. The least recently used
    result is spilled first. Raises ValueError for invalid limits.

    >>> Nanny(address, data=(DeviceHostStore, {"device_memory_limit": "10 GB"}))
    """

    def __init__(
        self,
        worker_local_directory: str | None = None,
        device_memory_limit=0.8,
        memory_limit=None,
    ) -> None:
        device = driver.Context.get_device()
        self.limit = limit_of(
            device_memory_limit, device.total_memory(), "device_memory_limit"
        )
        self.host: MutableMapping = {}
        if memory_limit is not None:
            if worker_local_directory is None:
                raise ValueError(
                    "a memory_limit needs a worker_local_directory, the folder for spilled files"
                )
            total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
            self.host = SpillBuffer(
                os.path.join(worker_local_directory, "storage"),
                limit_of(memory_limit, total, "memory_limit"),
            )
        #: The number of copies of results from the device to the host, and back.
        self.spilled = self.restored = 0
        self.used = 0
        self._device: OrderedDict = OrderedDict()
        self._sizes: dict = {}
        self._lock = threading.RLock()

    @property
    def fast(self) -> MutableMapping:
        """The results that :meth:`evict` can write to files. Dask uses both if a worker's process is too large."""
        return getattr(self.host, "fast", {})

    def evict(self) -> int:
        """Write the least recently used result of the host to a file. Returns its bytes; -1 if there is none."""
        with self._lock:
            return self.host.evict() if self.fast else -1

    def __setitem__(self, key, value) -> None:
        size = bytes_on_device(value)
        with self._lock:
            self.pop(key, None)
            if size == 0:
                self.host[key] = value
            else:
                self._keep(key, value, size)

    def __getitem__(self, key):
        with self._lock:
            if key in self._device:
                self._device.move_to_end(key)
                return self._device[key]
            value = self.host[key]
            if not isinstance(value, OnHost):
                return value
            value = value.value()
            del self.host[key]
            self.restored += 1
            self._keep(key, value, bytes_on_device(value))
            return value

    def __delitem__(self, key) -> None:
        with self._lock:
            if key not in self._device:
                del self.host[key]
                return
            del self._device[key]
            self.used -= self._sizes.pop(key)

    def __contains__(self, key) -> bool:
        return key in self._device or key in self.host

    def __iter__(self) -> Iterator:
        with self._lock:
            return iter([*self._device, *self.host])

    def __len__(self) -> int:
        return len(self._device) + len(self.host)

    def __repr__(self) -> str:
        return (
            f"<DeviceHostStore: {len(self._device)} results with {self.used} bytes on the device, "
            f"{len(self.host)} on the host>"
        )

    def _keep(self, key, value, size: int) -> None:
        self._device[key] = value
        self._sizes[key] = size
        self.used += size
        while self.used > self.limit and len(self._device) > 1:
            oldest = next(iter(self._device))
            spilled = OnHost.of(self._device[oldest])
            del self[oldest]
            self.host[oldest] = spilled
            self.spilled += 1
