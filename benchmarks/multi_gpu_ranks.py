"""The program of one rank of multi_gpu.py on its device. multi_gpu.py starts it once for each rank:

    multi_gpu_ranks.py PROGRAM '[arguments]' [RANKS RANK UNIQUE_ID]

Without ranks, MPI has started the process. Rank 0 prints its result as a line of JSON.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np

import pycuda.driver as cuda
from pycuda import gpuarray, nccl
from pycuda.compiler import SourceModule

ROUNDS = 5
PIECES_FROM = 1 << 22  # bytes; longer messages in pieces have more than one piece

STENCIL = """
__global__ void step(const float *from, float *to, int columns, int first, int last)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = first + blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || x >= columns - 1 || y > last)
        return;
    const long long i = (long long)y * columns + x;
    to[i] = 0.25f * (from[i - 1] + from[i + 1] + from[i - columns] + from[i + columns]);
}
"""


def join(names: list[str]) -> nccl.Communicator:
    """The communicator of processes that were started with ranks."""
    ranks, rank = int(names[0]), int(names[1])
    return nccl.Communicator(ranks, rank, bytes.fromhex(names[2]))


def meet(comm: nccl.Communicator) -> None:
    """Return when all ranks have called this. NCCL has then done the work of a first call."""
    comm.all_reduce(gpuarray.zeros(1, np.float32))
    comm.synchronize()


def stencil(comm: nccl.Communicator, size: int, steps: int) -> dict:
    """Seconds for the steps on a band of the plate, and the sum of the whole plate."""
    ranks, rank = comm.ranks, comm.rank
    rows = size // ranks
    inner, edge = cuda.Stream(), cuda.Stream()
    now = gpuarray.zeros((rows + 2, size), np.float32)
    now[1:-1] = gpuarray.to_gpu(np.linspace(0, 1, size, dtype=np.float32))
    then = now.copy()
    kernel = SourceModule(STENCIL).get_function("step")

    def compute(first, last, stream):
        grid = -(-size // 128), -(-(last - first + 1) // 4)
        kernel(now, then, np.int32(size), np.int32(first), np.int32(last),
               block=(128, 4, 1), grid=grid, stream=stream)  # fmt: skip

    cuda.Context.synchronize()
    meet(comm)
    for _ in range(2):  # the first is a warm-up
        start = time.perf_counter()
        for _ in range(steps):
            compute(2, rows - 1, inner)
            with nccl.group():
                if rank > 0:
                    comm.send(now[1], rank - 1, edge)
                    comm.recv(now[0], rank - 1, edge)
                if rank < ranks - 1:
                    comm.send(now[-2], rank + 1, edge)
                    comm.recv(now[-1], rank + 1, edge)
            compute(1, 1, edge)
            compute(rows, rows, edge)
            done = cuda.Event(cuda.event_flags.DISABLE_TIMING).record(edge)
            ready = cuda.Event(cuda.event_flags.DISABLE_TIMING).record(inner)
            inner.wait_for_event(done)
            edge.wait_for_event(ready)
            now, then = then, now
        cuda.Context.synchronize()
        comm.check()
        seconds = time.perf_counter() - start
    found = gpuarray.to_gpu(np.array([seconds, 0.0]))
    comm.all_reduce(found, op="max")
    total = gpuarray.zeros(1, np.float64)
    total[0] = now[1:-1].sum(dtype=np.float64)
    comm.all_reduce(total)
    return {"seconds": float(found.get()[0]), "sum": float(total.get()[0])}


def ping_pong(rank: int, send, receive, wait, calls: int) -> float:
    """Seconds for one message between ranks 0 and 1, in the best of several rounds."""
    times = []
    for _ in range(ROUNDS + 1):  # the first is a warm-up
        start = time.perf_counter()
        for _ in range(calls):
            for one in (send, receive) if rank == 0 else (receive, send):
                one()
        wait()
        times.append((time.perf_counter() - start) / (2 * calls))
    return min(times[1:])


def messages_nccl(comm: nccl.Communicator, sizes: list[int], calls: int) -> list:
    """[method, bytes, seconds] of messages between the devices of two processes with NCCL."""
    rank, rows = comm.rank, []
    meet(comm)
    for size in sizes:
        x = gpuarray.full(size, rank + 1, np.uint8)
        y = gpuarray.zeros(size, np.uint8)
        seconds = ping_pong(
            rank, lambda: comm.send(x, 1 - rank), lambda: comm.recv(y, 1 - rank),  # noqa: B023
            comm.synchronize, min(calls, max(4, 2**30 // size)),
        )  # fmt: skip
        assert (y.get() == 2 - rank).all()
        rows.append(["NCCL", size, seconds])
    return rows


def messages_mpi(world, sizes: list[int], calls: int) -> list:
    """The same with MPI: arrays, arrays in pieces, and host memory, which MPI supports itself."""
    from pycuda import mpi

    comm, rank, rows = mpi.Comm(world), world.Get_rank(), []
    how = "MPI, staged" if comm.staged else "MPI, device memory"
    for size in sizes:
        x = gpuarray.full(size, rank + 1, np.uint8)
        y = gpuarray.zeros(size, np.uint8)
        forms = [(how, comm.Send, comm.Recv, x, y)]
        if comm.staged and size > PIECES_FROM:
            forms.append(
                ("MPI, in pieces", comm.Send_pipelined, comm.Recv_pipelined, x, y)
            )
        forms.append(
            ("MPI, host memory", world.Send, world.Recv, x.get(), np.zeros_like(y.get()))
        )  # fmt: skip
        for name, send, receive, source, target in forms:
            seconds = ping_pong(
                rank, lambda: send(source, 1 - rank), lambda: receive(target, 1 - rank),  # noqa: B023
                lambda: None, min(calls, max(4, 2**28 // size)),
            )  # fmt: skip
            got = target.get() if hasattr(target, "get") else target
            assert (got == 2 - rank).all(), name
            rows.append([name, size, seconds])
            y.fill(0)
    return rows


class Pickled:
    """The seed's program unchanged: parts of the host's array as pickled objects."""

    def __init__(self, world) -> None:
        self.world, self.rank, self.ranks = world, world.Get_rank(), world.Get_size()

    def scatter(self, whole, size: int):
        """This rank's part of rank 0's array, on the device."""
        parts = None if whole is None else whole.reshape(self.ranks, -1)
        return gpuarray.to_gpu(self.world.scatter(parts, 0))

    def gather(self, part):
        """All parts, in the host's memory of rank 0."""
        parts = self.world.gather(part.get(), 0)
        return None if parts is None else np.concatenate(parts)

    def largest(self, seconds: list[float]) -> list[float]:
        """The largest value among all ranks, for each number."""
        return np.max(self.world.allgather(seconds), axis=0).tolist()

    def meet(self) -> None:
        """Return when all ranks have called this."""
        self.world.Barrier()


class Buffers(Pickled):
    """The same with arrays as MPI buffers."""

    def scatter(self, whole, size: int):
        """This rank's part of rank 0's array, on the device."""
        from pycuda import mpi

        part = gpuarray.empty(size // self.ranks, np.float32)
        mpi.Comm(self.world).Scatter(whole, part, 0)
        return part

    def gather(self, part):
        """All parts, in the host's memory of rank 0."""
        from pycuda import mpi

        parts = np.empty(part.size * self.ranks, np.float32) if self.rank == 0 else None
        mpi.Comm(self.world).Gather(part, parts, 0)
        return parts


class Devices:
    """The same with NCCL: rank 0's device has the whole array, and sends the parts."""

    def __init__(self, comm: nccl.Communicator) -> None:
        self.comm, self.rank, self.ranks = comm, comm.rank, comm.ranks

    def scatter(self, whole, size: int):
        """This rank's part of rank 0's array, on the device."""
        if self.rank:
            return self.comm.recv(gpuarray.empty(size // self.ranks, np.float32), 0)
        parts = gpuarray.to_gpu(whole).reshape(self.ranks, -1)
        with nccl.group():
            for other in range(1, self.ranks):
                self.comm.send(parts[other], other)
        return parts[0]

    def gather(self, part):
        """All parts, in the host's memory of rank 0."""
        if self.rank:
            return self.comm.send(part, 0)
        parts = gpuarray.empty((self.ranks, part.size), np.float32)
        with nccl.group():
            for other in range(1, self.ranks):
                self.comm.recv(parts[other], other)
        parts[0] = part
        return parts.get().ravel()

    def largest(self, seconds: list[float]) -> list[float]:
        """The largest value among all ranks, for each number."""
        x = gpuarray.to_gpu(np.array(seconds))
        return self.comm.all_reduce(x, op="max").get().tolist()

    def meet(self) -> None:
        """Return when all ranks have called this."""
        meet(self.comm)


def seed(ranks, size: int, steps: int) -> dict:
    """Seconds of the computation and in total: scatter, multiply by 0.9 ``steps`` times, gather."""
    whole = None
    if ranks.rank == 0:
        rng = np.random.default_rng(1)
        whole = rng.standard_normal(size, np.float32) * np.float32(1e16)
    for _ in range(3):  # the first compiles, and allocates pinned memory
        ranks.meet()
        start = time.perf_counter()
        part = ranks.scatter(whole, size)
        cuda.Context.synchronize()
        scattered = time.perf_counter()
        for _ in range(steps):
            part = 0.9 * part
        cuda.Context.synchronize()
        computed = time.perf_counter()
        parts = ranks.gather(part)
        cuda.Context.synchronize()
        done = time.perf_counter()
        found = ranks.largest([computed - scattered, done - start])
    if whole is not None:
        np.testing.assert_allclose(
            parts, whole.astype(np.float64) * 0.9**steps, rtol=1e-3
        )
    return {"compute": found[0], "whole": found[1]}


def main() -> None:
    program, arguments, names = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:]
    cuda.init()
    if names:
        world, rank = None, int(names[1])
    else:
        from mpi4py import MPI

        world = MPI.COMM_WORLD
        rank = world.Get_rank()
    with cuda.Device(rank % cuda.Device.count()):
        comm = world or join(names)
        if program == "seed":
            form = {"pickled": Pickled, "buffers": Buffers, "NCCL": Devices}
            found = seed(form[arguments.pop(0)](comm), *arguments)
        else:
            functions = {
                "stencil": stencil,
                "messages_nccl": messages_nccl,
                "messages_mpi": messages_mpi,
            }
            found = functions[program](comm, *arguments)
        if rank == 0:
            print(json.dumps(found), flush=True)
        if names:
            comm.destroy()


if __name__ == "__main__":
    main()
