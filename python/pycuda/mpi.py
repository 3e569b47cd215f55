"""Arrays of the device as buffers of MPI, by way of mpi4py.

>>> from mpi4py import MPI
>>> from pycuda import mpi
>>> comm = mpi.Comm(MPI.COMM_WORLD)
>>> comm.Allreduce(x, y, op=MPI.SUM)

An MPI that knows CUDA gets the device's memory itself. For another one the array is staged: copied to
the host before the call, and back after it. ``PYCUDA_MPI`` decides: "device", "staged", or "auto"
(the default), which asks the MPI.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import os

from pycuda._driver import ArrayBase, _array_is_dense
from pycuda.driver import Context

# Where the buffers stand among a method's arguments: those that are read, and those written.
_READ_FIRST = "Send Ssend Bsend Rsend Isend Issend Ibsend Irsend".split()
_WRITE_FIRST = "Recv Irecv Bcast Ibcast Sendrecv_replace".split()
_BOTH = """
    Reduce Allreduce Scan Exscan Gather Gatherv Allgather Allgatherv Scatter Scatterv Alltoall
    Alltoallv Reduce_scatter Reduce_scatter_block Ireduce Iallreduce Iscan Iexscan Igather Igatherv
    Iallgather Iallgatherv Iscatter Iscatterv Ialltoall Ialltoallv Ireduce_scatter
    Ireduce_scatter_block
""".split()
_NAMES = {
    **dict.fromkeys(_READ_FIRST, ("buf",)),
    **dict.fromkeys(_WRITE_FIRST, ("buf",)),
    **dict.fromkeys(_BOTH, ("sendbuf", "recvbuf")),
    "Sendrecv": ("sendbuf", None, None, "recvbuf"),
    "Isendrecv": ("sendbuf", None, None, "recvbuf"),
}
_READ_ONLY = {"sendbuf"}


@functools.cache
def is_device_aware() -> bool:
    """Whether the MPI behind mpi4py takes addresses of the device, or ``PYCUDA_MPI`` says so."""
    choice = os.environ.get("PYCUDA_MPI", "auto")
    if choice not in ("auto", "device", "staged"):
        raise ValueError(
            f'PYCUDA_MPI must be "auto", "device" or "staged", not {choice!r}'
        )
    if choice != "auto":
        return choice == "device"
    # An extension module: with it come the symbols of the MPI that it is linked with.
    library = ctypes.CDLL(importlib.import_module("mpi4py.MPI").__file__)
    try:
        return bool(library.MPIX_Query_cuda_support())
    except AttributeError:
        return False


def _split(buffer):
    """The array of a buffer as mpi4py takes it, and what stands beside it: [x, count, MPI.FLOAT]."""
    if isinstance(buffer, ArrayBase):
        return buffer, None
    if (
        isinstance(buffer, (list, tuple))
        and buffer
        and isinstance(buffer[0], ArrayBase)
    ):
        return buffer[0], list(buffer[1:])
    return None, None


class _Staging:
    """The host arrays of one call, and where they go back to."""

    def __init__(self) -> None:
        self.returning: list = []

    def stage(self, name: str, buffer, written: bool):
        """What the MPI gets for ``buffer``."""
        array, rest = _split(buffer)
        if array is None:
            return buffer
        if not _array_is_dense(array):
            raise ValueError(
                f"{name} must lie in memory without gaps, not with the strides "
                f"{array.strides}; send a copy()"
            )
        host = array.get()
        if written:
            self.returning.append((array, host))
        return host if rest is None else [host, *rest]

    def finish(self) -> None:
        """Copies what was received to the device."""
        for array, host in self.returning:
            array.set(host)
        self.returning = []


class Request:
    """A request of mpi4py whose received arrays come to the device when it is done."""

    def __init__(self, request, staging: _Staging) -> None:
        self._request, self._staging = request, staging

    def Wait(self, status=None) -> bool:
        """Wait until it is done and the arrays are on the device."""
        done = self._request.Wait(status)
        self._staging.finish()
        return done

    def Test(self, status=None) -> bool:
        """Whether it is done; the arrays are then on the device."""
        done = self._request.Test(status)
        if done:
            self._staging.finish()
        return done

    wait, test = Wait, Test

    def __getattr__(self, name: str):
        return getattr(self._request, name)


def waitall(requests) -> None:
    """Wait for all of several requests, ours and mpi4py's."""
    for request in requests:
        request.Wait()


class Comm:
    """A communicator of mpi4py whose methods take arrays of the device, alone or as
    ``[x, count, datatype]``.

    All of its methods are there; those with capital letters take arrays of the device as well.
    ``staged`` says how (None: what :func:`is_device_aware` finds).
    """

    def __init__(self, comm, staged: bool | None = None) -> None:
        self.comm = comm
        self.staged = not is_device_aware() if staged is None else staged

    def __getattr__(self, name: str):
        method = getattr(self.comm, name)
        if name not in _NAMES:
            return method
        return functools.partial(self._call, name, method)

    def _call(self, name: str, method, *args, **kwargs):
        args = list(args)
        places = [*enumerate(args), *kwargs.items()]
        if not any(_split(value)[0] is not None for _, value in places):
            return method(*args, **kwargs)
        if not self.staged:
            Context.synchronize()  # an MPI does not know in which stream the array is made
            return method(*args, **kwargs)
        staging, names = _Staging(), _NAMES[name]
        for place, value in places:
            key = place
            if isinstance(place, int):
                key = names[place] if place < len(names) else None
            if key not in names or key is None:
                continue
            written = key not in _READ_ONLY and name not in _READ_FIRST
            staged = staging.stage(f"{key} of {name}()", value, written)
            if isinstance(place, int):
                args[place] = staged
            else:
                kwargs[place] = staged
        result = method(*args, **kwargs)
        if name.startswith("I"):
            return Request(result, staging)
        staging.finish()
        return result
