#!/usr/bin/env python3
"""Several devices: bandwidth between them by NCCL, scaling of a stencil and of a Dask reduction, overlap.

    ./run benchmarks/multi_gpu.py [--devices N] [--only nccl,stencil,dask,overlap] [--small]

Prints Markdown tables. "bus" is nccl-tests' bandwidth, which does not depend on the number of devices:
2 (n - 1) / n of the array for an all-reduce, all of it for a message. Where CuPy is installed, its
binding of the same NCCL is measured in turns with ours; the ratio is CuPy's time by ours. Scaling is
strong: the same problem on 1, 2 ... N devices; efficiency is the speed-up by the number of devices.
Each result is checked. On softcuda, start with SOFTCUDA_DEVICES=4 and --small: it tests the programs, and
measures the processor.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import pycuda.driver as cuda
from pycuda import gpuarray, nccl
from pycuda.compiler import SourceModule

ROUNDS = 5


def best(run, wait, calls: int) -> float:
    """Seconds for one call, of the best of several rounds."""
    run()
    wait()
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(calls):
            run()
        wait()
        times.append(time.perf_counter() - start)
    return min(times) / calls


# NCCL


class Ours:
    """All devices by pycuda.nccl, in one process."""

    def __init__(self, count: int) -> None:
        self.comms = nccl.all_devices(range(count))

    def make(self, size: int) -> None:
        self.send, self.receive = [], []
        for rank, comm in enumerate(self.comms):
            with comm.device:
                self.send.append(gpuarray.full(size, rank + 1, np.float32))
                self.receive.append(gpuarray.zeros(size, np.float32))

    def all_reduce(self) -> None:
        with nccl.group():
            for comm, x, y in zip(self.comms, self.send, self.receive, strict=True):
                comm.all_reduce(x, y)

    def ring(self) -> None:
        with nccl.group():
            for rank, comm in enumerate(self.comms):
                comm.send(self.send[rank], (rank + 1) % len(self.comms))
                comm.recv(self.receive[rank], (rank - 1) % len(self.comms))

    def wait(self) -> None:
        for comm in self.comms:
            comm.synchronize()

    def check(self, name: str) -> None:
        count = len(self.comms)
        for rank, y in enumerate(self.receive):
            wanted = (
                count * (count + 1) / 2
                if name == "all_reduce"
                else (rank - 1) % count + 1
            )
            assert (y.get() == wanted).all(), (name, rank)


class Cupys(Ours):
    """The same calls by CuPy's binding, on the same arrays."""

    def __init__(self, count: int) -> None:
        from cupy.cuda import nccl as cupy_nccl

        self.nccl, self.comms = cupy_nccl, nccl.all_devices(range(count))
        self.theirs = cupy_nccl.NcclCommunicator.initAll(list(range(count)))

    def all_reduce(self) -> None:
        lib = self.nccl
        lib.groupStart()
        for comm, ours, x, y in zip(
            self.theirs, self.comms, self.send, self.receive, strict=True
        ):
            with ours.device:
                comm.allReduce(x.ptr, y.ptr, x.size, lib.NCCL_FLOAT32, lib.NCCL_SUM, 0)
        lib.groupEnd()

    def ring(self) -> None:
        lib, count = self.nccl, len(self.theirs)
        lib.groupStart()
        for rank, (comm, ours) in enumerate(zip(self.theirs, self.comms, strict=True)):
            x, y = self.send[rank], self.receive[rank]
            with ours.device:
                comm.send(x.ptr, x.size, lib.NCCL_FLOAT32, (rank + 1) % count, 0)
                comm.recv(y.ptr, y.size, lib.NCCL_FLOAT32, (rank - 1) % count, 0)
        lib.groupEnd()


def measure_nccl(count: int, small: bool) -> None:
    print(f"\n## NCCL {'.'.join(map(str, nccl.version()))}, {count} devices\n")
    print(
        "| call | bytes | µs | GB/s | bus GB/s | CuPy's time by ours |\n|---|---:|---:|---:|---:|---:|"
    )
    peers = [Ours(count)]
    if importlib.util.find_spec("cupy"):
        peers.append(Cupys(count))
    for name, factor in (("all_reduce", 2 * (count - 1) / count), ("ring", 1.0)):
        for power in (10, 16, 20) if small else (10, 16, 20, 24, 28):
            size, times = 2**power // 4, []
            for peer in peers:
                peer.make(size)
                calls = 3 if small else max(5, min(200, 2**30 >> power))
                times.append(best(getattr(peer, name), peer.wait, calls))
                peer.check(name)
            rate = size * 4 / times[0] / 1e9
            ratio = f"{times[1] / times[0]:.3f}" if len(times) > 1 else "not installed"
            print(
                f"| {name} | {size * 4} | {times[0] * 1e6:.1f} | {rate:.2f} | {rate * factor:.2f} | "
                f"{ratio} |", flush=True,
            )  # fmt: skip


# A stencil with halo exchange, one process for each device

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


def stencil_rank(ranks: int, rank: int, id_of_all: str, size: int, steps: int) -> None:
    """What the process of one device does; prints seconds and a sum as JSON."""
    with cuda.Device(rank % cuda.Device.count()):
        comm = nccl.Communicator(ranks, rank, bytes.fromhex(id_of_all))
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
        comm.all_reduce(gpuarray.zeros(1, np.float32))
        comm.synchronize()
        for _ in range(2):  # the first warms up
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
        total = float(now[1:-1].sum(dtype=np.float64).get())
        print(json.dumps({"seconds": seconds, "sum": total}))
        comm.destroy()


def measure_stencil(counts: list[int], small: bool) -> None:
    size, steps = (512, 20) if small else (32768, 200)
    print(f"\n## Stencil with halo exchange, {size} by {size} float32, {steps} steps\n")
    print("| devices | ms a step | efficiency |\n|---:|---:|---:|")
    alone = expected = None
    for count in counts:
        common = nccl.unique_id().hex()
        command = [sys.executable, __file__, "--stencil-rank"]
        processes = [
            subprocess.Popen(
                [*command, json.dumps([count, rank, common, size, steps])],
                stdout=subprocess.PIPE, text=True,
            )
            for rank in range(count)
        ]  # fmt: skip
        outputs = [process.communicate(timeout=600)[0] for process in processes]
        assert all(process.returncode == 0 for process in processes)
        found = [json.loads(output) for output in outputs]
        seconds = max(one["seconds"] for one in found)
        total = sum(one["sum"] for one in found)
        alone, expected = alone or seconds, expected or total
        assert abs(total / expected - 1) < 1e-6, (total, expected)
        print(
            f"| {count} | {seconds / steps * 1e3:.3f} | {alone / seconds / count:.3f} |",
            flush=True,
        )


# Dask


def measure_dask(counts: list[int], small: bool) -> None:
    if importlib.util.find_spec("dask") is None:
        print("\nDask is not installed: its reduction is not measured.")
        return
    import dask
    import dask.array as da
    from distributed import Client, wait

    import pycuda.dask

    rows, chunk = (2_000_000, 250_000) if small else (2_000_000_000, 62_500_000)
    print(
        f"\n## Dask: mean of squares of {rows} float64 on the devices, {rows // chunk} chunks\n"
    )
    print("| devices | s | efficiency |\n|---:|---:|---:|")
    alone = None
    for count in counts:
        with (
            tempfile.TemporaryDirectory() as folder,
            pycuda.dask.LocalPyCUDACluster(
                range(count), local_directory=folder
            ) as cluster,
            Client(cluster) as client,
            dask.config.set({"array.backend": "pycuda"}),
        ):
            client.wait_for_workers(count)
            x = da.random.default_rng(3).random(size=rows, chunks=chunk).persist()
            wait(x)
            mean = (x * x).mean()
            times = []
            for _ in range(3):
                start = time.perf_counter()
                value = float(mean.compute().get())
                times.append(time.perf_counter() - start)
            assert abs(value - 1 / 3) < 10 / np.sqrt(rows), value
        alone = alone or min(times)
        print(
            f"| {count} | {min(times):.3f} | {alone / min(times) / count:.3f} |",
            flush=True,
        )


# Copies beside kernels

BUSY = """
__global__ void busy(float *p, int rounds)
{
    float x = p[threadIdx.x];
    for (int i = 0; i < rounds; ++i)
        x = x * 1.0001f + 0.5f;
    p[threadIdx.x] = x;
}
"""


def measure_overlap(count: int, small: bool) -> None:
    size, rounds = (1 << 20, 100_000) if small else (1 << 28, 20_000_000)
    print("\n## Copies beside kernels, on each device at once\n")
    print(
        "| device | copy ms | kernel ms | both ms | overlap of the shorter |\n|---:|---:|---:|---:|---:|"
    )

    def one(number: int) -> str:
        with cuda.Device(number):
            copying, computing = cuda.Stream(), cuda.Stream()
            host = cuda.pagelocked_zeros(size, np.uint8)
            to, p = cuda.mem_alloc(size), cuda.to_device(np.zeros(32, np.float32))
            kernel = SourceModule(BUSY).get_function("busy")

            def copy():
                cuda.memcpy_htod_async(to, host, copying)

            def compute():
                kernel(p, np.int32(rounds), block=(32, 1, 1), stream=computing)

            wait = cuda.Context.synchronize
            alone, busy = best(copy, wait, 1), best(compute, wait, 1)
            both = best(lambda: (compute(), copy()), wait, 1)
            share = (alone + busy - both) / min(alone, busy)
            return f"| {number} | {alone * 1e3:.2f} | {busy * 1e3:.2f} | {both * 1e3:.2f} | {share:.2f} |"

    with ThreadPoolExecutor(count) as pool:
        print("\n".join(pool.map(one, range(count))))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--devices", type=int, help="how many; by default all")
    parser.add_argument("--only", default="nccl,stencil,dask,overlap")
    parser.add_argument("--small", action="store_true", help="sizes for a test")
    parser.add_argument("--stencil-rank", help=argparse.SUPPRESS)
    given = parser.parse_args()
    cuda.init()
    if given.stencil_rank:
        return stencil_rank(*json.loads(given.stencil_rank))
    count = given.devices or cuda.Device.count()
    names = given.only.split(",")
    counts = [n for n in (1, 2, 4, 8, 16) if n < count] + [count]
    print(f"# {count} devices: {cuda.Device(0).name()}")
    for name, measure, argument in (
        ("nccl", measure_nccl, count), ("stencil", measure_stencil, counts),
        ("dask", measure_dask, counts), ("overlap", measure_overlap, count),
    ):  # fmt: skip
        if name in names:
            measure(argument, given.small)


if __name__ == "__main__":
    main()
