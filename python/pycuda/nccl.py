"""Collective communication between devices with NCCL, on device arrays.

>>> from pycuda import nccl
>>> comm = nccl.Communicator.from_mpi(MPI.COMM_WORLD)     # one process for each device
>>> comm.all_reduce(gradient, op="avg")                   # in place
>>> comms = nccl.all_devices()                            # one process for all devices
>>> with nccl.group():
...     for comm, x in zip(comms, parts):
...         comm.all_reduce(x)

On a GPU, NVIDIA's ``libnccl.so.2`` does the work. Its first use opens the library: from a toolkit, the wheel
``nvidia-nccl-cu13`` or the system. softcuda has its own NCCL library, which uses shared memory between processes of one
machine, and between devices of one process.

Calls return before the work is done. A call is work of its stream, like a kernel launch. All ranks must make the same
calls in the same order. If work fails after its call has returned, the communicator's next call and
:meth:`Communicator.check` raise NcclError.
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
    """Return the version of the NCCL library in use as a tuple (major, minor, patch).

    Raises NcclError if no NCCL library is found.
    """
    number = _driver._nccl_version()
    return number // 10000, number % 10000 // 100, number % 100


def unique_id() -> bytes:
    """Return the 128 bytes that identify a new communicator.

    One rank calls the function and sends the bytes to all other ranks; all ranks pass them to :class:`Communicator`. Raises
    NcclError if no NCCL library is found.
    """
    return _driver._nccl_unique_id()


def group() -> _driver._NcclGroup:
    """Collect the calls of a ``with`` block, and start all of them together at the end of the block.

    Groups are necessary in two cases: one thread makes calls for several ranks, or two ranks send to each other. Calls in
    the block check their arguments at once. Groups can be nested: the end of the outermost group starts the calls. If the
    block raises an exception, no call is started. Raises NcclError if a call fails.
    """
    return _driver._NcclGroup()


def _require(array, call: str):
    if not isinstance(array, _driver.ArrayBase):
        raise TypeError(
            f"send of {call}() must be a GPUArray, not {type(array).__name__}"
        )
    return array


def _id_or_error() -> bytes | str:
    """A unique id, or an error message, so that ranks that wait for the id receive the error."""
    try:
        return unique_id()
    except NcclError as error:
        return str(error)


class Communicator:
    """One rank of an NCCL communicator.

    ranks: the number of ranks.
    rank: the number of this rank, from 0 to ``ranks`` - 1, different for each rank.
    unique_id: the bytes that :func:`unique_id` returned on one rank, the same for all ranks.
    device: a number, "cuda:1" or a :class:`pycuda.driver.Device`; by default the device of the current context.

    The constructor waits until all ranks have joined. Raises NcclError if NCCL fails, and ValueError for an invalid
    ``ranks`` or ``rank``.

    All calls have these rules: arrays are contiguous device arrays, in any order of axes, and elements are matched by their
    order in memory. ``send`` and ``receive`` do not overlap, except for NCCL's calls in place. ``stream`` is a Stream; None
    is the thread's current stream, or the default stream if the current stream belongs to another context. TypeError and
    ValueError describe an unsuitable array or stream. ``with communicator:`` calls :meth:`destroy` at the end of the block,
    or :meth:`abort` after an exception.
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
        # In a separate thread, so that Ctrl-C ends the wait for other ranks.
        made, failed = [], []

        def join() -> None:
            try:
                with _driver._Work(context=self._context):
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
        """Create a communicator of all ranks of an mpi4py communicator. The ranks have the same numbers.

        comm: the mpi4py communicator. All of its ranks must make the call.
        device: as of the class. By default the device of the current context. Without a current context, the ranks of one
          machine use its devices in turn.

        If rank 0 finds no NCCL library, all ranks raise its NcclError.
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
        """Create a communicator of Dask tasks, one task for each rank. Each task makes this call.

        key: the name of the communicator in the cluster, different for each communicator.
        ranks: the number of tasks.
        rank: the number of this task.
        device: as of the class.

        The tasks must run at the same time, in different workers or threads.

        >>> futures = [client.submit(step, rank, workers=[w]) for rank, w in enumerate(workers)]
        """
        return cls(ranks, rank, _exchange_id(key, rank), device)

    def all_reduce(self, send, receive=None, op: str = "sum", stream=None):
        """Combine the arrays of all ranks element by element; all ranks get the result.

        send: the operand of this rank, of the same size and dtype on all ranks.
        receive: the array for the result, of the size and dtype of ``send``; None writes the result to ``send``. Returned.
        op: "sum", "prod", "max", "min" or "avg" (the mean).

        All ranks get the same bits.
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
        """Concatenate the arrays of all ranks in the order of the ranks; all ranks get the result.

        send: the array of this rank, of the same size and dtype on all ranks.
        receive: an array of ``ranks`` times the elements of ``send``; None is a new array of shape ``(ranks, *send.shape)``.
          Returned.
        """
        if receive is None:
            if not _require(send, "all_gather")._c_contiguous:
                raise ValueError("send must be C-contiguous if receive is not given")
            receive = self._empty((self.ranks, *send.shape), send.dtype)
        self._comm.all_gather(send, receive, stream)
        return receive

    def reduce_scatter(self, send, receive=None, op: str = "sum", stream=None):
        """Combine the arrays of all ranks element by element; each rank gets one of ``ranks`` equal parts of the result.

        send: the operand of this rank: ``ranks`` parts of equal size. Rank ``i`` gets the result of part ``i``.
        receive: an array of the size of one part; None is a new array of shape ``send.shape[1:]``, and ``send.shape[0]`` must
          be ``ranks``. Returned.
        op: as of :meth:`all_reduce`.
        """
        if receive is None:
            _require(send, "reduce_scatter")
            if not send.ndim or send.shape[0] != self.ranks or not send._c_contiguous:
                raise ValueError(
                    f"if receive is not given, send must be C-contiguous with a first axis of {self.ranks}, one row for each rank; its shape is {send.shape}"
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
        """Split the communicator: ranks with the same ``color`` form a new communicator. Returns the new communicator.

        color: an int; None for a rank that joins no new communicator, and gets None.
        key: determines the order of the new ranks; equal keys keep the order of the old ranks.

        All ranks must make the call at the same time, from one thread for each rank and outside groups. The new communicator
        uses the same device. Raises RuntimeError in a group, and NcclError if NCCL fails.

        >>> row = comm.split(comm.rank // 4)        # groups of four ranks
        """
        if _driver._nccl_in_group():
            raise RuntimeError(
                "split() waits for other ranks and cannot be called inside a group"
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
        with _driver._Work(context=self._context):
            return Communicator(len(members), members.index(self.rank), id_of_all)

    def check(self) -> None:
        """Raise NcclError if earlier work of this communicator has failed. Returns at once.

        Work that is still running is not waited for.
        """
        self._comm.check()

    def synchronize(self, stream=None) -> None:
        """Wait for work, then raise NcclError if work of this communicator has failed.

        stream: the Stream to wait for; None waits for all work on the device.
        """
        with _driver._Work(context=self._context):
            driver.Context.synchronize() if stream is None else stream.synchronize()
        self.check()

    def destroy(self) -> None:
        """Wait for all work of the communicator, and destroy the communicator.

        Raises NcclError if the communicator was destroyed before.
        """
        with _driver._Work(context=self._context):
            self._comm.destroy()

    def abort(self) -> None:
        """Destroy the communicator without waiting. Queued work ends with an error on all ranks.

        For programs in which a rank has failed, so that other ranks would wait forever.
        """
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
        """``host`` of all ranks, one row for each rank."""
        with _driver._Work(context=self._context):
            rows = self.all_gather(_driver._array_to_gpu(host, None, None, None))
            return rows.get()

    def _empty(self, shape: tuple[int, ...], dtype):
        with _driver._Work(context=self._context):
            return _driver._array_empty(shape, dtype, None, "C", None)


def _shared_memory() -> int:
    """MPI's constant for the ranks of one machine."""
    return importlib.import_module("mpi4py.MPI").COMM_TYPE_SHARED


def _exchange_id(key: str, rank: int) -> bytes:
    """The unique id of rank 0, exchanged through Dask's scheduler."""
    return importlib.import_module("pycuda.dask._rendezvous").exchange_id(
        key, rank, unique_id
    )


def all_devices(devices: Sequence | None = None) -> list[Communicator]:
    """Create a communicator of one process, with one rank for each device. Returns a list of :class:`Communicator`.

    devices: the devices in the order of the ranks: numbers, "cuda:1" or Device objects; None is all devices.

    One thread that makes calls for several ranks must make the calls in a :func:`group`. Raises ValueError for an empty
    list, and NcclError if NCCL fails.
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
