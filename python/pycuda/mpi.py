"""Device arrays as buffers of MPI calls, with mpi4py.

>>> from mpi4py import MPI
>>> from pycuda import mpi
>>> comm = mpi.Comm(MPI.COMM_WORLD)
>>> comm.Allreduce(x, y, op=MPI.SUM)

A CUDA-aware MPI reads and writes device memory itself. For another MPI, arrays are staged: copied to pinned host memory
before the call, and back after the call. The environment variable ``PYCUDA_MPI`` selects "device" or "staged"; "auto",
the default, asks the MPI library.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import os

import numpy as np

from pycuda import _driver
from pycuda._mpi_staging import (
    PINNED,
    Received,
    Staging,
    in_context_of,
    new_status,
    parameters_of,
    require_dense,
    split,
    wait_for_work,
)
from pycuda._mpi_staging import Request as Request
from pycuda._mpi_staging import startall as startall
from pycuda._mpi_staging import testall as testall
from pycuda._mpi_staging import waitall as waitall
from pycuda._mpi_staging import waitany as waitany
from pycuda._mpi_windows import Win as Win
from pycuda.driver import Event, Stream

# mpi4py's names of the buffers among its methods' parameters.
_BUFFERS = ("buf", "sendbuf", "recvbuf")
_PIECE = 4 << 20  # bytes of each message of Send_pipelined()
_SLOTS = 4  # pieces of a message that are under way at a time


@functools.cache
def is_device_aware() -> bool:
    """Return whether MPI calls get device memory (True) or staged copies in host memory (False).

    ``PYCUDA_MPI`` "device" and "staged" decide. With "auto", the default, the MPI library of mpi4py is asked for CUDA support.
    The answer is kept for later calls. Raises ValueError for another value of ``PYCUDA_MPI``.
    """
    choice = os.environ.get("PYCUDA_MPI", "auto")
    if choice not in ("auto", "device", "staged"):
        raise ValueError(
            f'PYCUDA_MPI must be "auto", "device" or "staged", not {choice!r}'
        )
    if choice != "auto":
        return choice == "device"
    # An extension module: its symbols include those of the MPI that it is linked with.
    library = ctypes.CDLL(importlib.import_module("mpi4py.MPI").__file__)
    try:
        return bool(library.MPIX_Query_cuda_support())
    except AttributeError:
        return False


def _is_written(method: str, buffer: str) -> bool:
    """Whether a method changes a buffer, according to mpi4py's names."""
    if buffer == "buf":
        reads = "send" in method.lower() and not method.endswith("_replace")
        return not reads
    return buffer == "recvbuf"


class _Buffers:
    """An object of mpi4py whose methods also accept device arrays."""

    def __init__(self, wrapped, staged: bool, stream) -> None:
        self._wrapped, self.staged, self.stream = wrapped, staged, stream

    def __getattr__(self, name: str):
        if name.startswith(
            "_"
        ):  # copy and pickle access these before the object is initialised
            raise AttributeError(name)
        method = getattr(self._wrapped, name)
        if not callable(method) or not name[:1].isupper():
            return method
        names = parameters_of(type(self._wrapped), name)
        if any(one in _BUFFERS for one in names):
            return functools.partial(self._call, name, method, names)
        return functools.partial(self._wrap_result, method)

    def _wrap_result(self, method, *args, **kwargs):
        result = method(*args, **kwargs)
        if hasattr(result, "Get_rank") and hasattr(result, "Sendrecv"):
            return Comm(result, self.staged, self.stream)
        if hasattr(result, "Recv") and hasattr(result, "Irecv"):
            return Message(result, self.staged, self.stream)
        return result

    def _call(self, name: str, method, names: tuple[str, ...], *args, **kwargs):
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        arrays = {
            one: split(given[one])[0]
            for one in _BUFFERS
            if split(given.get(one))[0] is not None
        }
        if not arrays:
            return method(*args, **kwargs)
        if name == "Attach_buffer":
            raise TypeError(
                "Attach_buffer() expects host memory, because MPI writes to the buffer"
            )
        if not self.staged:
            for one, array in arrays.items():
                require_dense(array, f"{one} of {name}()")
            # MPI does not know streams.
            wait_for_work(self.stream, arrays.values())
            return method(*args, **kwargs)
        if name in ("Psend_init", "Precv_init"):
            raise NotImplementedError(
                f"{name}() of a device array needs a CUDA-aware MPI (PYCUDA_MPI=device): a staged array is copied as a whole, not in partitions"
            )
        staging = Staging(self.stream)
        for one in arrays:
            written = _is_written(name, one)
            received = self._received(name, one, given) if written else Received.UNKNOWN
            given[one] = staging.stage(
                f"{one} of {name}()", given[one], written, received
            )
        persistent = name.endswith("_init")
        if not persistent:
            staging.fill()
        if persistent or name.startswith("I"):
            return Request(method(**given), staging, persistent)
        if staging.counted and given.get("status") is None:
            given["status"] = new_status()
        result = method(**given)
        staging.finish(given.get("status"))
        return result

    def _received(self, name: str, buffer: str, given: dict) -> Received:
        """The known facts about the elements that MPI writes to a receive buffer."""
        if name.removeprefix("I").lower() in ("recv", "mrecv", "sendrecv", "recv_init"):
            return Received.COUNTED
        # The sizes of these fit, or MPI fails. MPI.IN_PLACE and groups are other cases.
        sent = given.get("sendbuf")
        both = split(sent)[0] is not None or isinstance(sent, np.ndarray)
        plain = name in ("Allgather", "Alltoall", "Allreduce") and both
        if plain and not self._wrapped.Is_inter():
            return Received.WHOLE
        return Received.UNKNOWN


class Message(_Buffers):
    """A matched message, the result of ``Comm.Mprobe()`` and ``Comm.Improbe()``.

    Has the methods of mpi4py's Message. ``Recv`` and ``Irecv`` also accept device arrays.
    """


class Comm(_Buffers):
    """An mpi4py communicator whose methods also accept device arrays: ``x`` or ``[x, count, datatype]``.

    comm: the mpi4py communicator. The attribute ``comm`` has it.
    staged: True stages arrays in host memory, False passes device memory to MPI. None uses :func:`is_device_aware`.
    stream: a call waits for this Stream before MPI reads arrays; None waits for all work on the arrays' devices.

    All methods of mpi4py's communicator exist. Methods with buffers accept device arrays: blocking, nonblocking and
    persistent calls, calls with counts (``Allgatherv`` ...) and neighbourhood collectives (``Neighbor_alltoall`` ...).
    Methods that create a communicator (``Split``, ``Create_cart`` ...) return an object of this class, and ``Mprobe``
    returns a :class:`Message`. Nonblocking calls with staged arrays return a :class:`Request`.

    Raises ValueError for arrays that are not contiguous, and NotImplementedError for partitioned calls with staged arrays.
    """

    def __init__(self, comm, staged: bool | None = None, stream=None) -> None:
        super().__init__(
            comm, not is_device_aware() if staged is None else staged, stream
        )
        self.comm = comm

    def Send_pipelined(self, array, dest: int, tag: int = 0) -> None:
        """Send a large array in pieces: a piece is copied to pinned memory while earlier pieces are sent.

        array: a contiguous device array.
        dest: the rank that receives. It must call :meth:`Recv_pipelined` with an array of the same size.
        tag: the tag of the messages.

        Without staging, the array is sent as one message. Raises ValueError for an array that is not contiguous.
        """
        require_dense(array, "array of Send_pipelined()")
        wait_for_work(self.stream, [array])
        if not self.staged:
            return self.comm.Send(array, dest, tag)
        with in_context_of(array):
            self._send_pieces(_Pieces(array), dest, tag)

    def _send_pieces(self, pieces: _Pieces, dest: int, tag: int) -> None:
        requests = []
        for index in range(min(pieces.count, _SLOTS)):
            pieces.copy_out(index)
        for index in range(pieces.count):
            pieces.wait_for_copy(index)
            requests.append(self.comm.Isend(pieces.host(index), dest, tag))
            following = index - 1 + _SLOTS
            if index > 0 and following < pieces.count:
                requests[index - 1].Wait()  # its memory is free then
                pieces.copy_out(following)
        waitall(requests[-_SLOTS:])
        pieces.finish()

    def Recv_pipelined(self, array, source: int, tag: int = 0) -> None:
        """Receive an array from :meth:`Send_pipelined`. One piece is copied to the device while another arrives.

        array: a contiguous device array, which is filled.
        source: the rank that sends.
        tag: the tag of the messages.
        """
        require_dense(array, "array of Recv_pipelined()")
        wait_for_work(self.stream, [array])
        if not self.staged:
            return self.comm.Recv(array, source, tag)
        with in_context_of(array):
            self._receive_pieces(_Pieces(array), source, tag)

    def _receive_pieces(self, pieces: _Pieces, source: int, tag: int) -> None:
        requests = [
            self.comm.Irecv(pieces.host(index), source, tag)
            for index in range(min(pieces.count, _SLOTS))
        ]
        for index in range(pieces.count):
            requests[index].Wait()
            pieces.copy_in(index)
            following = index - 1 + _SLOTS
            if index > 0 and following < pieces.count:
                pieces.wait_for_copy(index - 1)
                requests.append(self.comm.Irecv(pieces.host(following), source, tag))
        pieces.finish()


class _Pieces:
    """An array's bytes in pieces. :data:`_SLOTS` pieces in turn have pinned memory, and a stream copies them."""

    def __init__(self, array) -> None:
        self._flat = array._view(0, (array.nbytes,), (1,), np.dtype(np.uint8))
        self.count = -(-array.nbytes // _PIECE)
        self._pinned = PINNED.take(min(array.nbytes, _SLOTS * _PIECE))
        self._stream = Stream()
        self._done: list[Event] = []

    def _device(self, index: int):
        return self._flat[index * _PIECE : (index + 1) * _PIECE]

    def host(self, index: int) -> np.ndarray:
        """The pinned memory of a piece."""
        first = index % _SLOTS * _PIECE
        return self._pinned[
            first : first + min(_PIECE, self._flat.nbytes - index * _PIECE)
        ]

    def copy_out(self, index: int) -> None:
        """Start the copy of a piece to the host."""
        _driver._array_get_bytes(self._device(index), self.host(index), self._stream)
        self._done.append(Event().record(self._stream))

    def copy_in(self, index: int) -> None:
        """Start the copy of a piece to the device."""
        _driver._array_set_bytes(self._device(index), self.host(index), self._stream)
        self._done.append(Event().record(self._stream))

    def wait_for_copy(self, index: int) -> None:
        """Wait for the end of a piece's copy. Copies were started in the order of their pieces."""
        self._done[index].synchronize()

    def finish(self) -> None:
        """Wait for the copies and return the pinned memory."""
        self._stream.synchronize()
        PINNED.give_back(self._pinned)
