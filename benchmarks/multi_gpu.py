#!/usr/bin/env python3
"""Several devices: NCCL, messages between processes, a stencil, the seed's program, Dask, overlap.

    ./run benchmarks/multi_gpu.py [--devices N] [--only nccl,messages,stencil,seed,dask,overlap] [--small]

Prints Markdown tables. "bus" is nccl-tests' bandwidth, which does not depend on the number of devices:
2 (n - 1) / n of the array for an all-reduce, all of it for a message. "host" is the time until a call
returns. These peers are measured too, if this machine has them: CuPy's binding of the same NCCL;
nccl-tests (all_reduce_perf and sendrecv_perf in the PATH); the driver's copies from device to device,
the upper limit for messages. A ratio is the peer's time divided by ours. Scaling is strong: the same problem
on 1, 2 ... N devices; efficiency is the speed-up divided by the number of devices. Each result is checked. For
what cannot run, the reason is printed. On softcuda, start with SOFTCUDA_DEVICES=4 and --small: it tests the
programs, and measures the processor.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import pycuda.driver as cuda
from pycuda import gpuarray, nccl
from pycuda.compiler import SourceModule

ROUNDS = 5
RANKS = Path(__file__).with_name("multi_gpu_ranks.py")


class Missing(Exception):
    """A section needs something that this machine does not have."""


def table(title: str, *columns: str) -> None:
    """Print the title and the head of a table."""
    print(f"\n## {title}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")


def row(*cells) -> None:
    """Print a row of a table."""
    words = [f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in cells]
    print(f"| {' | '.join(words)} |", flush=True)


def best(run, wait, calls: int) -> tuple[float, float]:
    """Seconds for one call in the best of several rounds: in total, and on the host before the wait."""
    run()
    wait()
    times, hosts = [], []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(calls):
            run()
        hosts.append(time.perf_counter() - start)
        wait()
        times.append(time.perf_counter() - start)
    return min(times) / calls, min(hosts) / calls


# NCCL


class Ours:
    """All devices with pycuda.nccl, in one process."""

    name = "ours"

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
    """The same calls with CuPy's binding."""

    name = "CuPy"

    def __init__(self, count: int) -> None:
        try:
            cupy_nccl = importlib.import_module("cupy.cuda.nccl")
        except ImportError as error:
            raise Missing(f"CuPy's NCCL: {error}") from error
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


class PeerCopies(Ours):
    """The driver's copies from device to device; they are not a collective operation."""

    name = "peer copy"

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.contexts = [comm.device.retain_primary_context() for comm in self.comms]
        self.streams = []
        for comm in self.comms:
            with comm.device:
                self.streams.append(cuda.Stream())

    def ring(self) -> None:
        for rank, x in enumerate(self.send):
            after = (rank + 1) % len(self.comms)
            with self.comms[rank].device:
                cuda.memcpy_peer_async(
                    self.receive[after].ptr, x.ptr, x.nbytes, self.contexts[after],
                    self.contexts[rank], self.streams[rank],
                )  # fmt: skip


class NcclTests:
    """NVIDIA's programs that measure NCCL, which are started for each size."""

    name = "nccl-tests"
    PROGRAMS = {"all_reduce": "all_reduce_perf", "ring": "sendrecv_perf"}

    def __init__(self, count: int) -> None:
        self.count = count
        for program in self.PROGRAMS.values():
            if shutil.which(program) is None:
                raise Missing(f"nccl-tests: there is no {program} in the PATH")

    def seconds(self, name: str, size: int) -> float:
        """Seconds for a call, from the program's output."""
        command = [self.PROGRAMS[name], "-g", str(self.count), "-b", str(size), "-e", str(size)]  # fmt: skip
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        lines = [line.split() for line in out.splitlines() if not line.startswith("#")]
        (found,) = [line for line in lines if line and line[0] == str(size)]
        return float(found[5]) * 1e-6  # size, count, type, operation, root, time


def peers_of(count: int) -> list:
    """The peers that ours is compared with; prints which ones are missing."""
    peers = []
    for kind in (Cupys, NcclTests, PeerCopies):
        try:
            peers.append(kind(count))
        except Missing as missing:
            print(f"\nNot measured: {missing}.")
    return peers


def seconds_of(peer, name: str, size: int, calls: int) -> tuple[float, float] | None:
    """Seconds for a call, and its time on the host; None if the peer does not have this call."""
    if isinstance(peer, NcclTests):
        return peer.seconds(name, size), 0.0
    if isinstance(peer, PeerCopies) and name != "ring":
        return None
    peer.make(size // 4)
    found = best(getattr(peer, name), peer.wait, calls)
    peer.check(name)
    return found


def measure_nccl(counts: list[int], small: bool) -> None:
    count = counts[-1]
    if count < 2:
        raise Missing("messages between devices need two of them")
    version = ".".join(map(str, nccl.version()))
    peers = peers_of(count)
    table(f"NCCL {version}, {count} devices", "call", "bytes", "µs", "host µs", "GB/s", "bus GB/s",
          *(f"{peer.name}'s time by ours" for peer in peers))  # fmt: skip
    ours = Ours(count)
    for name, factor in (("all_reduce", 2 * (count - 1) / count), ("ring", 1.0)):
        for power in (10, 16, 20) if small else (10, 16, 20, 24, 28):
            size = 2**power
            calls = 3 if small else max(5, min(200, 2**30 >> power))
            mine, host = seconds_of(ours, name, size, calls)
            ratios = []
            for peer in peers:
                theirs = seconds_of(peer, name, size, calls)
                ratios.append("" if theirs is None else f"{theirs[0] / mine:.3f}")
            rate = size / mine / 1e9
            row(name, size, mine * 1e6, host * 1e6, rate, rate * factor, *ratios)


# Programs with one process for each device


def start_ranks(program: str, arguments: list, count: int, by_mpi: bool = False):
    """The result of rank 0 of ``count`` processes, each on its own device."""
    command = [sys.executable, str(RANKS), program, json.dumps(arguments)]
    if by_mpi:
        commands = [[*mpirun(), "-n", str(count), *command]]
    else:
        common = nccl.unique_id().hex()
        commands = [[*command, str(count), str(rank), common] for rank in range(count)]
    processes = [
        subprocess.Popen(one, stdout=subprocess.PIPE, text=True) for one in commands
    ]
    try:
        outputs = [process.communicate(timeout=300)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
    codes = [process.returncode for process in processes]
    if any(codes):
        raise RuntimeError(f"{program} of {count} ranks ended with {codes}")
    return json.loads(outputs[0].strip().splitlines()[-1])


def mpirun() -> list[str]:
    """The command that starts MPI processes."""
    if importlib.util.find_spec("mpi4py") is None:
        raise Missing("MPI: mpi4py is not installed")
    program = shutil.which("mpirun")
    if program is None:
        raise Missing("MPI: there is no mpirun in the PATH")
    version = subprocess.run([program, "--version"], capture_output=True, text=True)
    if "Open MPI" not in version.stdout:
        return [program]
    return [program, "--allow-run-as-root", "--oversubscribe"]


def measure_messages(counts: list[int], small: bool) -> None:
    if counts[-1] < 2:
        raise Missing("messages between devices need two of them")
    sizes = [2**power for power in ((10, 16, 23) if small else (10, 16, 20, 24, 28))]
    calls = 3 if small else 200
    rows = start_ranks("messages_nccl", [sizes, calls], 2)
    try:
        rows += start_ranks("messages_mpi", [sizes, calls], 2, by_mpi=True)
    except Missing as missing:
        print(f"\nNot measured: {missing}.")
    table("Messages between the devices of two processes", "how", "bytes", "µs", "GB/s")
    for how, size, seconds in rows:
        row(how, size, seconds * 1e6, size / seconds / 1e9)


def measure_stencil(counts: list[int], small: bool) -> None:
    size, steps = (512, 20) if small else (32768, 200)
    table(f"Stencil with halo exchange, {size} by {size} float32, {steps} steps",
          "devices", "ms a step", "efficiency")  # fmt: skip
    first = None
    for count in counts:
        found = start_ranks("stencil", [size, steps], count)
        first = first or found
        assert abs(found["sum"] / first["sum"] - 1) < 1e-6, (found, first)
        speedup = first["seconds"] / found["seconds"]
        row(count, found["seconds"] / steps * 1e3, speedup / count)


def measure_seed(counts: list[int], small: bool) -> None:
    table("The seed's program: scatter, times 0.9 so often, gather", "messages", "float32", "steps",
          "devices", "computation ms", "efficiency", "whole ms", "efficiency")  # fmt: skip
    counts = [count for count in counts if 4 % count == 0 or count % 4 == 0]
    missing = set()
    for size, steps in (
        ((1 << 16, 20),) if small else ((1 << 22, 1000), (1 << 28, 1000))
    ):
        for form in ("pickled", "buffers", "NCCL"):
            first = None
            for count in counts:
                try:
                    found = start_ranks(
                        "seed", [form, size, steps], count, form != "NCCL"
                    )
                except Missing as error:
                    missing.add(str(error))
                    break
                first = first or found
                cells = []
                for part in ("compute", "whole"):
                    cells += [found[part] * 1e3, first[part] / found[part] / count]
                row(form, size, steps, count, *cells)
    for one in missing:
        print(f"\nNot measured: {one}.")


# Dask


def measure_dask(counts: list[int], small: bool) -> None:
    for package in ("dask", "distributed"):
        if importlib.util.find_spec(package) is None:
            raise Missing(f"Dask: {package} is not installed")
    import dask
    import dask.array as da
    from distributed import Client, wait

    import pycuda.dask

    # How many numbers stay on the devices; ten times as many are made during the sum.
    kept, chunk = (2_000_000, 250_000) if small else (6_400_000_000, 200_000_000)
    table(f"Dask: sums of squares of float64 in chunks of {chunk}", "data", "numbers", "devices",
          "s", "efficiency")  # fmt: skip
    first = {}
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
            rng = da.random.default_rng(3)
            x = rng.random(size=kept, chunks=chunk).persist()
            wait(x)
            made = rng.standard_normal(size=10 * kept, chunks=chunk)
            for data, y, wanted in (("kept", x, 1 / 3), ("made", made, 1.0)):
                # By default Dask adds four results at a time: 43 tasks for 32 chunks instead of 33.
                mean = (y * y).mean(split_every=32)
                times = []
                for _ in range(3):
                    start = time.perf_counter()
                    value = float(mean.compute().get())
                    times.append(time.perf_counter() - start)
                assert abs(value - wanted) < 10 / np.sqrt(y.size), value
                alone = first.setdefault(data, min(times))
                row(data, y.size, count, min(times), alone / min(times) / count)


# Copies during kernels

BUSY = """
__global__ void busy(float *p, int rounds)
{
    float x = p[threadIdx.x];
    for (int i = 0; i < rounds; ++i)
        x = x * 1.0001f + 0.5f;
    p[threadIdx.x] = x;
}
"""


def measure_overlap(counts: list[int], small: bool) -> None:
    count = counts[-1]
    size, rounds = (1 << 20, 100_000) if small else (1 << 28, 20_000_000)
    table("Copies beside kernels, on each device at once", "device", "copy ms", "kernel ms", "both ms",
          "overlap of the shorter")  # fmt: skip

    def one(number: int) -> list:
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
            alone, _ = best(copy, wait, 1)
            busy, _ = best(compute, wait, 1)
            both, _ = best(lambda: (compute(), copy()), wait, 1)
            share = (alone + busy - both) / min(alone, busy)
            return [number, alone * 1e3, busy * 1e3, both * 1e3, share]

    with ThreadPoolExecutor(count) as pool:
        for cells in pool.map(one, range(count)):
            row(*cells)


SECTIONS = {
    "nccl": measure_nccl,
    "messages": measure_messages,
    "stencil": measure_stencil,
    "seed": measure_seed,
    "dask": measure_dask,
    "overlap": measure_overlap,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--devices", type=int, help="how many; by default all")
    parser.add_argument("--only", default=",".join(SECTIONS))
    parser.add_argument("--small", action="store_true", help="sizes for a test")
    given = parser.parse_args()
    # NVLink multicast needs a fabric manager that not every machine has.
    os.environ.setdefault("NCCL_NVLS_ENABLE", "0")
    cuda.init()
    count = given.devices or cuda.Device.count()
    if not 1 <= count <= cuda.Device.count():
        parser.error(f"this machine has {cuda.Device.count()} devices, not {count}")
    names = given.only.split(",")
    for name in names:
        if name not in SECTIONS:
            parser.error(f"there is no section {name!r}, only {', '.join(SECTIONS)}")
    counts = [n for n in (1, 2, 4, 8, 16) if n < count] + [count]
    print(f"# {count} devices: {cuda.Device(0).name()}")
    failed = []
    for name in names:
        try:
            SECTIONS[name](counts, given.small)
        except (Missing, nccl.NcclError) as error:
            print(f"\n{name} is not measured: {error}.", flush=True)
        except Exception as error:  # the sections after this one can run
            failed.append(name)
            print(f"\n{name} has failed: {error!r}", flush=True)
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
