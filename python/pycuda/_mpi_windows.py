"""MPI's windows for device arrays: memory that other ranks read and write.

Without an MPI that supports device memory, the window is a copy of the array on the host. The array and the
copy are the private and the public copy of a window's memory in MPI's memory model. They are synchronised
where MPI requires it: in the calls that begin or end an epoch. If another rank has changed an element,
its value replaces the array's.
"""

from __future__ import annotations

import functools
import importlib

import numpy as np

from pycuda import _driver
from pycuda._mpi_staging import (
    Request,
    Staging,
    in_memory_order,
    parameters_of,
    require_dense,
    split,
    wait_for_work,
)

_BUFFERS = ("origin", "result", "compare")
_WRITTEN = {"Get": {"origin"}, "Rget": {"origin"}}
# Calls that begin an epoch publish the array's elements to other ranks; calls that end an epoch
# copy the changes of other ranks to the array.
_BEGIN = {"Fence", "Start", "Post", "Lock", "Lock_all", "Sync"}
_END = {"Fence", "Wait", "Complete", "Unlock", "Unlock_all", "Flush", "Flush_all"}
_END |= {"Flush_local", "Flush_local_all", "Sync", "Test"}


class Win:
    """An MPI window over a device array: memory that other ranks can read and write.

    :meth:`Create` creates the window. All methods of mpi4py's Win exist, and accept device arrays as buffers. As MPI
    requires, an element must not be changed by this rank and by another rank in the same epoch.

    >>> win = mpi.Win.Create(x, comm=comm)
    >>> win.Fence()
    >>> win.Put(y, target_rank=1)
    >>> win.Fence()                 # x of rank 1 now contains y of this rank
    """

    def __init__(self, win, array=None, window=None, staged: bool = True) -> None:
        self.win, self.array, self.staged = win, array, staged
        self._window = window
        self._seen = None if window is None else window.copy()
        self._pending: list[Staging] = []

    @classmethod
    def Create(
        cls, memory, disp_unit: int | None = None, info=None, comm=None, staged=None
    ) -> Win:
        """Create a window. A collective call of all ranks of the communicator.

        memory: a contiguous device array, or None for a window without memory on this rank.
        disp_unit: the unit of displacements in bytes; None is the size of an element.
        info: an mpi4py Info, or None.
        comm: a :class:`Comm` or an mpi4py communicator; None is a communicator of this process only.
        staged: as of :class:`Comm`; None is the setting of ``comm``.

        Raises ValueError for an array that is not contiguous, and RuntimeError if the MPI library cannot create windows.
        """
        mpi = importlib.import_module("mpi4py.MPI")
        if staged is None:
            staged = getattr(comm, "staged", None)
        if staged is None:
            staged = not importlib.import_module("pycuda.mpi").is_device_aware()
        communicator = getattr(comm, "comm", comm) or mpi.COMM_SELF
        info = mpi.INFO_NULL if info is None else info
        array, _ = split(memory)
        if disp_unit is None:
            disp_unit = 1 if memory is None else memory.dtype.itemsize
        if array is None:
            made = _create(mpi, memory, disp_unit, info, communicator)
            return cls(made, staged=staged)
        require_dense(array, "memory of a window")
        if not staged:
            wait_for_work(None, [array])
            made = _create(mpi, array, disp_unit, info, communicator)
            return cls(made, array, staged=False)
        window = array.get()
        memory = in_memory_order(window)
        made = _create(mpi, memory, disp_unit, info, communicator)
        return cls(made, array, window)

    def __getattr__(self, name: str):
        method = getattr(self.win, name)
        if name in _BEGIN or name in _END:
            return functools.partial(self._synchronize, name, method)
        if name in ("Attach", "Detach"):
            return functools.partial(self._attach, name, method)
        if not callable(method) or not name[0].isupper():
            return method
        names = parameters_of(type(self.win), name)
        if not any(one in _BUFFERS for one in names):
            return method
        return functools.partial(self._access, name, method, names)

    def Free(self) -> None:
        """Free the window. A collective call of all ranks of the window.

        Afterwards the array contains the elements that other ranks have written.
        """
        self.win.Free()
        self._bring_together()

    def _attach(self, name: str, method, memory):
        if split(memory)[0] is not None and self.staged:
            raise TypeError(
                f"{name}() of a device array needs a CUDA-aware MPI (PYCUDA_MPI=device); use Win.Create()"
            )
        return method(memory)

    def _synchronize(self, name: str, method, *args, **kwargs):
        wait_for_work(None, [] if self.array is None else [self.array])
        if name in _BEGIN:
            self._bring_together()
        result = method(*args, **kwargs)
        if name in _END and result is not False:  # for Test()
            pending, self._pending = self._pending, []
            for staging in pending:
                staging.finish()
            self._bring_together()
        return result

    def _bring_together(self) -> None:
        """Copy the changes of other ranks to the array, and the changes of this rank to the window."""
        if self._window is None:
            return
        own = self.array.get()
        flat, seen = _bytes(self._window), _bytes(self._seen)
        item = self.array.dtype.itemsize
        changed = (flat != seen).reshape(-1, item).any(axis=1)
        if changed.any():
            _bytes(own).reshape(-1, item)[changed] = flat.reshape(-1, item)[changed]
            _driver._array_set_bytes(self.array, own, None)
        flat[:] = _bytes(own)
        seen[:] = flat

    def _access(self, name: str, method, names, *args, **kwargs):
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        arrays = [split(given.get(one))[0] for one in _BUFFERS]
        arrays = [array for array in arrays if array is not None]
        if not arrays:
            return method(*args, **kwargs)
        if not self.staged:
            wait_for_work(None, arrays)
            return method(*args, **kwargs)
        staging = Staging()
        for one in _BUFFERS:
            if one in given:
                written = one == "result" or one in _WRITTEN.get(name, ())
                given[one] = staging.stage(f"{one} of {name}()", given[one], written)
        staging.fill()
        result = method(**given)
        if name.startswith("R") and result is not None:
            return Request(result, staging)
        self._pending.append(staging)
        return result


def _create(mpi, memory, disp_unit: int, info, communicator):
    try:
        return mpi.Win.Create(memory, disp_unit, info, communicator)
    except mpi.Exception as error:
        if error.Get_error_class() != mpi.ERR_WIN:
            raise
        library = mpi.Get_library_version().split(",")[0].split("\n")[0]
        raise RuntimeError(
            f"{library} cannot create a window for this memory ({error}). Open MPI needs a component for "
            "one-sided communication that works here: `ompi_info | grep osc` lists them, OMPI_MCA_osc "
            "names one. osc/pt2pt refuses threads: set mpi4py.rc.threads = False before mpi4py.MPI is "
            "imported"
        ) from error


def _bytes(host: np.ndarray) -> np.ndarray:
    """A view of all bytes, in memory order."""
    return host.ravel(order="K").view(np.uint8)
