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

import contextlib
import importlib
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from pycuda import _driver, driver
from pycuda._driver import ArrayBase
from pycuda._driver import NcclError as NcclError
from pycuda.arrays.interop.exchange import device_number

_TYPES = {
    name: number
    for number, name in enumerate(
        "int8 uint8 int32 uint32 int64 uint64 float16 float32 float64 bfloat16".split()
    )
}
_OPERATIONS = {
    name: number for number, name in enumerate("sum prod max min avg".split())
}
_open_group = threading.local()


def version() -> tuple[int, int, int]:
    """The version of the NCCL in use. Raises NcclError where there is none."""
    number = _driver._nccl_version()
    return number // 10000, number % 10000 // 100, number % 100


def unique_id() -> bytes:
    """128 bytes that name a new communicator. One rank asks for them and gives them to all others."""
    return _driver._nccl_unique_id()


@contextlib.contextmanager
def group() -> Iterator[None]:
    """Make the calls of a block together, at its end.

    A thread that makes calls for several ranks must make them in a group, and so must ranks that send
    to and receive from each other. The result of a call in the block is there after the block. Blocks
    may be nested: the outermost one makes the calls. An exception in the block leaves all calls unmade.
    """
    outer = getattr(_open_group, "calls", None)
    calls = [] if outer is None else outer
    before = len(calls)
    _open_group.calls = calls
    try:
        yield
    except BaseException:
        del calls[before:]
        raise
    finally:
        _open_group.calls = outer
    if outer is None:
        _make_together(calls)


def _make_together(calls: list) -> None:
    _driver._nccl_group_start()
    try:
        for make, _, _ in calls:
            make()
    finally:
        _driver._nccl_group_end()
    for _, arrays, stream in calls:
        for array in arrays:
            _driver._nccl_note_use(array, stream)


def _type_of(array, call: str, sums: bool = False) -> tuple[int, int]:
    """NCCL's number of the array's type, and how many of them an element is."""
    dtype = array.dtype
    if dtype.name in _TYPES:
        return _TYPES[dtype.name], 1
    if dtype.kind == "c" and dtype.itemsize in (8, 16):
        return _TYPES["float32" if dtype.itemsize == 8 else "float64"], 2
    if not sums:
        return _TYPES["uint8"], dtype.itemsize
    raise TypeError(
        f"{call}() takes arrays of {', '.join(_TYPES)} or complex numbers, not of {dtype}"
    )


def _operation(op: str, array) -> int:
    if op not in _OPERATIONS:
        raise ValueError(
            f"op must be one of {', '.join(map(repr, _OPERATIONS))}, not {op!r}"
        )
    if array.dtype.kind == "c" and op not in ("sum", "avg"):
        raise TypeError(f'complex numbers have no {op!r} in NCCL, only "sum" and "avg"')
    return _OPERATIONS[op]


def _require(array, name: str, call: str):
    if not isinstance(array, ArrayBase):
        raise TypeError(
            f"{name} of {call}() must be a GPUArray, not {type(array).__name__}"
        )
    if not _driver._array_is_dense(array):
        raise ValueError(
            f"{name} of {call}() must lie in memory without gaps, not with the strides "
            f"{array.strides}; pass a copy()"
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
    order of memory. ``stream`` None is the default stream. TypeError and ValueError say what is wrong
    with an array.
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
        self._check_pair(send, receive, 1, 1, "all_reduce")
        kind, each = _type_of(send, "all_reduce", sums=True)
        operation = _operation(op, send)
        self._call(
            "all_reduce",
            (send, receive),
            send.size * each,
            kind,
            operation,
            stream=stream,
        )
        return receive

    def reduce(self, send, receive=None, op: str = "sum", root: int = 0, stream=None):
        """:meth:`all_reduce` with the result on rank ``root`` alone; elsewhere ``receive`` is not used."""
        self._check_rank(root, "root")
        if self.rank == root:
            receive = send if receive is None else receive
            self._check_pair(send, receive, 1, 1, "reduce")
        else:
            _require(send, "send", "reduce")
            receive = None
        kind, each = _type_of(send, "reduce", sums=True)
        operation = _operation(op, send)
        self._call(
            "reduce",
            (send, receive),
            send.size * each,
            kind,
            operation,
            root,
            stream=stream,
        )
        return receive

    def broadcast(self, array, root: int = 0, stream=None):
        """Copy ``array`` of rank ``root`` to ``array`` of all ranks. Returns it."""
        self._check_rank(root, "root")
        _require(array, "array", "broadcast")
        kind, each = _type_of(array, "broadcast")
        self._call(
            "broadcast", (array, array), array.size * each, kind, root, stream=stream
        )
        return array

    def all_gather(self, send, receive=None, stream=None):
        """All ranks' ``send`` one after the other in ``receive``, on all ranks.

        ``receive``: ``ranks`` times as large; None: a new array of shape ``(ranks, *send.shape)``.
        Returns it.
        """
        _require(send, "send", "all_gather")
        if receive is None:
            if not send._c_contiguous:
                raise ValueError("send must be in C order where receive is not given")
            with _driver._InContext(self._context):
                receive = _driver._array_empty(
                    (self.ranks, *send.shape), send.dtype, None, "C", None
                )
        self._check_pair(send, receive, 1, self.ranks, "all_gather")
        kind, each = _type_of(send, "all_gather")
        self._call("all_gather", (send, receive), send.size * each, kind, stream=stream)
        return receive

    def reduce_scatter(self, send, receive=None, op: str = "sum", stream=None):
        """Part ``rank`` of the sum of all ranks' ``send``, which has ``ranks`` times the elements.

        ``receive``: None is a new array of shape ``send.shape[1:]``, where ``send.shape[0]`` is the
        number of ranks. Returns it.
        """
        _require(send, "send", "reduce_scatter")
        if receive is None:
            if not send.ndim or send.shape[0] != self.ranks or not send._c_contiguous:
                raise ValueError(
                    f"send must be in C order with a first axis of {self.ranks}, one row for each "
                    f"rank, where receive is not given; its shape is {send.shape}"
                )
            with _driver._InContext(self._context):
                receive = _driver._array_empty(
                    send.shape[1:], send.dtype, None, "C", None
                )
        self._check_pair(send, receive, self.ranks, 1, "reduce_scatter")
        kind, each = _type_of(send, "reduce_scatter", sums=True)
        operation = _operation(op, send)
        self._call(
            "reduce_scatter",
            (send, receive),
            receive.size * each,
            kind,
            operation,
            stream=stream,
        )
        return receive

    def send(self, array, peer: int, stream=None) -> None:
        """Send to rank ``peer``, which must receive as many elements of the same type."""
        self._check_rank(peer, "peer")
        _require(array, "array", "send")
        kind, each = _type_of(array, "send")
        self._call("send", (array,), array.size * each, kind, peer, stream=stream)

    def recv(self, array, peer: int, stream=None):
        """Fill ``array`` with what rank ``peer`` sends. Returns it."""
        self._check_rank(peer, "peer")
        _require(array, "array", "recv")
        kind, each = _type_of(array, "recv")
        self._call("receive", (array,), array.size * each, kind, peer, stream=stream)
        return array

    def sendrecv(self, send, to: int, receive, source: int, stream=None):
        """Send to rank ``to`` and receive from rank ``source`` at once. Returns ``receive``."""
        with group():
            self.send(send, to, stream)
            self.recv(receive, source, stream)
        return receive

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

    def _call(self, name: str, arrays: Sequence, *arguments, stream=None) -> None:
        self.check()
        for array in arrays:
            if array is not None and array.size:
                self._check_device(array)

        def make() -> None:
            with _driver._InContext(self._context):
                getattr(self._comm, name)(*arrays, *arguments, stream)

        calls = getattr(_open_group, "calls", None)
        if calls is None:
            make()
        else:
            calls.append((make, [one for one in arrays if one is not None], stream))

    def _check_device(self, array) -> None:
        number = _driver._array_device(array)
        if number != self.device.handle:
            raise ValueError(
                f"an array on cuda:{number} was passed to a communicator on "
                f"cuda:{self.device.handle}; copy it with to_device()"
            )

    def _check_rank(self, rank: int, name: str) -> None:
        if not 0 <= rank < self.ranks:
            raise ValueError(f"{name} must be from 0 to {self.ranks - 1}, not {rank}")

    def _check_pair(
        self, send, receive, of_send: int, of_receive: int, call: str
    ) -> None:
        _require(send, "send", call)
        _require(receive, "receive", call)
        if send.dtype != receive.dtype:
            raise TypeError(
                f"send and receive of {call}() must have one dtype, not {send.dtype} and "
                f"{receive.dtype}"
            )
        if send.size * of_receive != receive.size * of_send:
            raise ValueError(
                f"{call}() of {self.ranks} ranks cannot take {send.size} elements to {receive.size}"
            )


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
