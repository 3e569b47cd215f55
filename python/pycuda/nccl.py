"""Collectives between devices by NCCL, on arrays of the device.

>>> from pycuda import nccl
>>> comm = nccl.Communicator.from_mpi(MPI.COMM_WORLD)     # one process for each device
>>> comm.all_reduce(gradient, op="avg")                   # in place
>>> comms = nccl.all_devices()                            # one process for all devices
>>> with nccl.group():
...     for comm, x in zip(comms, parts):
...         comm.all_reduce(x)

On a GPU the work is done by NVIDIA's ``libnccl.so.2``, which is opened when it is first needed: from a
toolkit, the wheel ``nvidia-nccl-cu13`` or the system. softcuda has an NCCL of its own, which does the same
calls over shared memory between processes of one machine, and between devices of one process.

Calls return before the work is done. It is ordered by its stream, as kernels are. All ranks must make
the same calls in the same order. Work that fails after its call has returned is reported by the
communicator's next call and by :meth:`Communicator.check`.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from pycuda import _driver, driver
from pycuda._driver import NcclError as NcclError
from pycuda.arrays.interop.exchange import device_number


def version() -> tuple[int, int, int]:
    """The version of the NCCL in use. Raises NcclError where there is none."""
    number = _driver._nccl_version()
    return number // 10000, number % 10000 // 100, number % 100


def unique_id() -> bytes:
    """128 bytes that name a new communicator. One rank asks for them and gives them to all others."""
    return _driver._nccl_unique_id()


def group() -> _driver._NcclGroup:
    """Make the calls of a ``with`` block together, at its end.

    A thread that makes calls for several ranks must make them in a group, and so must ranks that send
    to and receive from each other. A call in the block checks its arguments; its result is there after
    the block. Blocks may be nested: the outermost one makes the calls. An exception in the block leaves
    all calls of the block unmade. Raises NcclError where a call fails.
    """
    return _driver._NcclGroup()


def _require(array, call: str):
    if not isinstance(array, _driver.ArrayBase):
        raise TypeError(
            f"send of {call}() must be a GPUArray, not {type(array).__name__}"
        )
    return array


def _id_or_error() -> bytes | str:
    """A unique id; or what went wrong, so that ranks that wait for the id hear of it."""
    try:
        return unique_id()
    except NcclError as error:
        return str(error)


class Communicator:
    """A rank's part of a communicator: what reaches the same calls of the other ranks.

    ``unique_id``: from :func:`unique_id` of one rank. ``ranks``: how many there are. ``rank``: from 0 to
    ``ranks`` - 1, another one for each. ``device``: a number, "cuda:1" or a
    :class:`pycuda.driver.Device`; by default that of the current context. Returns when all ranks have
    joined. Raises NcclError where that will not be, ValueError
    for numbers that cannot be.

    In all calls, arrays must lie in memory without gaps, in any order of axes; elements meet in the
    order of memory. ``send`` and ``receive`` are apart, or as NCCL wants them for a call in place.
    ``stream`` None is the thread's current stream, or the default stream where that one is of another
    context. TypeError and ValueError say what is wrong with an array or a stream.
    """

    def __init__(self, ranks: int, rank: int, unique_id: bytes, device=None) -> None:
        if ranks < 1:
            raise ValueError(f"ranks must be 1 or more, not {ranks}")
        if not 0 <= rank < ranks:
            raise ValueError(f"rank must be from 0 to {ranks - 1}, not {rank}")
        if device is None:
            self.device = driver.Context.get_device()
            self._context = driver.Context.get_current()
        else:
            self.device = driver.Device(device_number(device))
            self._context = self.device.retain_primary_context()
        self.ranks, self.rank = ranks, rank
        self._comm = self._join(unique_id)

    def _join(self, unique_id: bytes):
        # In a thread of its own, so that Ctrl-C ends the wait for others.
        made, failed = [], []

        def join() -> None:
            try:
                with _driver._InContext(self._context):
                    made.append(
                        _driver._NcclCommunicator(unique_id, self.ranks, self.rank)
                    )
            except BaseException as error:
                failed.append(error)

        thread = threading.Thread(target=join, name="pycuda.nccl join", daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(0.05)
        if failed:
            raise failed[0]
        return made[0]

    @classmethod
    def from_mpi(cls, comm, device=None) -> Communicator:
        """A communicator of all ranks of mpi4py's ``comm``, with the same numbers.

        Without ``device``, ranks of one machine take its devices in turn, where no context is
        current; else the current context's device. Where rank 0 has no NCCL, all raise its NcclError.
        """
        id_of_all = comm.bcast(_id_or_error() if comm.Get_rank() == 0 else None, root=0)
        if isinstance(id_of_all, str):
            raise NcclError(id_of_all)
        if device is None and driver.Context.get_current() is None:
            local = comm.Split_type(_shared_memory(), key=comm.Get_rank())
            device = local.Get_rank() % driver.Device.count()
            local.Free()
        return cls(comm.Get_size(), comm.Get_rank(), id_of_all, device)

    @classmethod
    def from_dask(cls, key: str, ranks: int, rank: int, device=None) -> Communicator:
        """A communicator of tasks in workers of a Dask cluster, one task for each rank.

        To be called in the tasks, which must run at the same time: in different workers, or threads.
        ``key`` names the communicator in the cluster, and must be another one for each.

        >>> futures = [client.submit(step, rank, workers=[w]) for rank, w in enumerate(workers)]
        """
        return cls(ranks, rank, _exchange_id(key, rank), device)

    def all_reduce(self, send, receive=None, op: str = "sum", stream=None):
        """The sum (or "prod", "max", "min", "avg") of all ranks' ``send``, on all ranks.

        ``receive``: of the same size and dtype; None: in place. Returns it. Results are the same bits
        on all ranks.
        """
        receive = send if receive is None else receive
        self._comm.all_reduce(send, receive, op, stream)
        return receive

    def reduce(self, send, receive=None, op: str = "sum", root: int = 0, stream=None):
        """:meth:`all_reduce` with the result on one rank only.

        send: the operand of this rank.
        receive: the array for the result; by default ``send``. Used on the rank ``root`` only.
        op: as of :meth:`all_reduce`.
        root: the rank that gets the result.
        """
        if self.rank != root:
            receive = None
        elif receive is None:
            receive = send
        self._comm.reduce(send, receive, op, root, stream)
        return receive

    def broadcast(self, array, root: int = 0, stream=None):
        """Copy the array of one rank to the arrays of all ranks.

        array: of the same size and dtype on all ranks. Returned.
        root: the rank that has the elements.
        """
        self._comm.broadcast(array, root, stream)
        return array

    def all_gather(self, send, receive=None, stream=None):
        """All ranks' ``send`` one after the other in ``receive``, on all ranks.

        ``receive``: ``ranks`` times as large; None: a new array of shape ``(ranks, *send.shape)``.
        Returns it.
        """
        if receive is None:
            if not _require(send, "all_gather")._c_contiguous:
                raise ValueError("send must be in C order where receive is not given")
            receive = self._empty((self.ranks, *send.shape), send.dtype)
        self._comm.all_gather(send, receive, stream)
        return receive

    def reduce_scatter(self, send, receive=None, op: str = "sum", stream=None):
        """Part ``rank`` of the sum of all ranks' ``send``, which has ``ranks`` times the elements.

        ``receive``: None is a new array of shape ``send.shape[1:]``, where ``send.shape[0]`` is the
        number of ranks. Returns it.
        """
        if receive is None:
            _require(send, "reduce_scatter")
            if not send.ndim or send.shape[0] != self.ranks or not send._c_contiguous:
                raise ValueError(
                    f"send must be in C order with a first axis of {self.ranks}, one row for each "
                    f"rank, where receive is not given; its shape is {send.shape}"
                )
            receive = self._empty(send.shape[1:], send.dtype)
        self._comm.reduce_scatter(send, receive, op, stream)
        return receive

    def send(self, array, peer: int, stream=None) -> None:
        """Send an array to another rank, which must call recv().

        array: the array; the receiving array has the same size and dtype.
        peer: the rank that receives.
        """
        self._comm.send(array, peer, stream)

    def recv(self, array, peer: int, stream=None):
        """Receive an array from another rank, which must call send().

        array: is filled; of the size and dtype of the sent array. Returned.
        peer: the rank that sends.
        """
        self._comm.receive(array, peer, stream)
        return array

    def sendrecv(self, send, to: int, receive, source: int, stream=None):
        """Send to one rank and receive from another rank at the same time. Returns ``receive``.

        send: the array that is sent to the rank ``to``.
        receive: the array that is filled by the rank ``source``.
        """
        with group():
            self.send(send, to, stream)
            self.recv(receive, source, stream)
        return receive

    def split(self, color: int | None, key: int = 0) -> Communicator | None:
        """A new communicator of the ranks that pass the same ``color``, on the same device.

        Its ranks are in the order of ``key``, then of the ranks here. ``color`` None: this rank is in
        no new communicator, and gets None. All ranks must call it at the same time, outside of groups:
        one thread for each rank. Raises RuntimeError in a group, NcclError where the ranks cannot meet.

        >>> row = comm.split(comm.rank // 4)        # four ranks each
        """
        if _driver._nccl_in_group():
            raise RuntimeError(
                "split() waits for other ranks, so it cannot be in a group"
            )
        asked = np.array([color is not None, color or 0, key], np.int64)
        colors = self._gather(asked)
        if color is None:
            self._gather(np.zeros(128, np.uint8))
            return None
        members = [
            rank for rank in range(self.ranks) if (colors[rank, :2] == asked[:2]).all()
        ]
        members.sort(key=lambda rank: (colors[rank, 2], rank))
        made = _id_or_error() if members[0] == self.rank else b""
        sent = made.ljust(128, b"\0") if isinstance(made, bytes) else bytes(128)
        id_of_all = self._gather(np.frombuffer(sent, np.uint8))[members[0]].tobytes()
        if not any(id_of_all):
            raise NcclError(
                f"rank {members[0]} has no unique id for the new communicator: {made}"
            )
        with _driver._InContext(self._context):
            return Communicator(len(members), members.index(self.rank), id_of_all)

    def check(self) -> None:
        """Raise NcclError where work that was put into streams has failed."""
        self._comm.check()

    def synchronize(self, stream=None) -> None:
        """Wait for ``stream`` (None: all work on the device), then :meth:`check`."""
        with _driver._InContext(self._context):
            driver.Context.synchronize() if stream is None else stream.synchronize()
        self.check()

    def destroy(self) -> None:
        """Wait for what is queued and give the communicator back. A second time is an error."""
        with _driver._InContext(self._context):
            self._comm.destroy()

    def abort(self) -> None:
        """Give the communicator back now; what is queued ends with an error, on all ranks."""
        self._comm.abort()

    def __enter__(self) -> Communicator:
        return self

    def __exit__(self, kind, value, trace) -> None:
        self.destroy() if kind is None else self.abort()

    def __repr__(self) -> str:
        return (
            f"<pycuda.nccl.Communicator: rank {self.rank} of {self.ranks} on device "
            f"{self.device.handle}>"
        )

    def _gather(self, host: np.ndarray) -> np.ndarray:
        """All ranks' ``host``, one row for each."""
        with _driver._InContext(self._context):
            rows = self.all_gather(_driver._array_to_gpu(host, None, None, None))
            return rows.get()

    def _empty(self, shape: tuple[int, ...], dtype):
        with _driver._InContext(self._context):
            return _driver._array_empty(shape, dtype, None, "C", None)


def _shared_memory() -> int:
    """MPI's constant for the ranks of one machine."""
    return importlib.import_module("mpi4py.MPI").COMM_TYPE_SHARED


def _exchange_id(key: str, rank: int) -> bytes:
    """The unique id of rank 0, by way of Dask's scheduler."""
    return importlib.import_module("pycuda.dask._rendezvous").exchange_id(
        key, rank, unique_id
    )


def all_devices(devices: Sequence | None = None) -> list[Communicator]:
    """Communicators of one process for several devices, in the order of ``devices``; None: for all.

    Calls for several of them from one thread must be in a :func:`group`.
    """
    driver.init()
    if devices is None:
        devices = range(driver.Device.count())
    numbers = [device_number(device) for device in devices]
    if not numbers:
        raise ValueError("devices must name at least one device")
    common, ranks = unique_id(), len(numbers)
    with ThreadPoolExecutor(ranks) as pool:
        return list(
            pool.map(
                lambda rank: Communicator(ranks, rank, common, numbers[rank]),
                range(ranks),
            )
        )
