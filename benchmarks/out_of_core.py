#!/usr/bin/env python3
"""More data than memory: a reduction and a tall-skinny SVD with Dask, out of core.

    ./run benchmarks/out_of_core.py reduction [--gigabytes 40]
    ./run benchmarks/out_of_core.py svd [--gigabytes 40]

reduction: mean and variance of normal numbers, which are made chunk by chunk. svd: a tall matrix of such
numbers times a diagonal, made chunk by chunk; its U, as large as the matrix, stays in memory, and so do the Q of
all chunks meanwhile: data beyond --device-limit moves to the host, data beyond --memory-limit to
files in --folder. The result is checked: mean and variance against the distribution, U by the
lengths of its columns and the products of neighbours, and blocks of the matrix against U s V.

Prints a Markdown table. Memory is the maximum of the sum over all processes (resident), files the maximum
in the folder. Without a GPU, softcuda has --devices devices, and their memory is
part of the processes'.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time
from pathlib import Path

import numpy as np


class Watch:
    """Measures the maximum memory of this process and its children, and the maximum bytes in a folder."""

    def __init__(self, folder: str) -> None:
        import psutil

        self.memory = self.files = 0
        self._process, self._gone = psutil.Process(), psutil.NoSuchProcess
        self._folder, self._stop = Path(folder), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.wait(0.5):
            self.memory = max(self.memory, self._resident())
            self.files = max(self.files, self._written())

    def _resident(self) -> int:
        total = 0
        for process in (self._process, *self._process.children(recursive=True)):
            try:
                total += process.memory_info().rss
            except self._gone:
                continue
        return total

    def _written(self) -> int:
        total = 0
        for path in self._folder.rglob("*"):
            try:
                total += path.stat().st_size
            except FileNotFoundError:
                continue
        return total

    def stop(self) -> None:
        """End the measurement; then the figures are final."""
        self._stop.set()
        self._thread.join()


def moved(dask_worker) -> int:
    """How many results a worker has moved from its device to the host."""
    return dask_worker.data.spilled


def reduction(client, given) -> None:
    """Mean and variance of normal numbers."""
    import dask
    import dask.array as da

    count = int(given.gigabytes * 1e9) // 8
    chunk = given.chunk_bytes // 8
    x = da.random.default_rng(5).standard_normal(size=count, chunks=chunk)
    mean, variance = dask.compute(x.mean(), x.var())
    mean, variance = float(mean.get()), float(variance.get())
    assert abs(mean) < 6 / np.sqrt(count), mean
    assert abs(variance - 1) < 6 * np.sqrt(2 / count), variance


def svd(client, given) -> None:
    """U, s and V of a tall matrix with columns of different lengths, all in memory at the end."""
    import dask.array as da
    from distributed import wait

    columns = given.columns
    rows = int(given.gigabytes * 1e9) // (8 * columns)
    chunk = max(given.chunk_bytes // (8 * columns), columns)
    lengths = np.linspace(1, 2, columns)
    x = da.random.default_rng(5).standard_normal(
        size=(rows, columns), chunks=(chunk, -1)
    )
    x = x * da.from_array(lengths).map_blocks(_to_gpu)
    u, s, v = da.linalg.svd(x, coerce_signs=False)
    # Computed together with U, so that a block is summed up while it is on a device.
    norms, products = (u * u).sum(axis=0), (u[:, 1:] * u[:, :-1]).sum(axis=0)
    kept = client.persist([u, s, v, norms, products])
    wait(kept)
    u = kept[0]
    s, v, norms, products = (one.compute().get() for one in kept[1:])
    np.testing.assert_allclose(norms, 1, rtol=1e-10)
    np.testing.assert_allclose(products, 0, atol=1e-10)
    assert (np.diff(s) <= 0).all()
    for block in (0, u.numblocks[0] - 1):
        left = u.blocks[block].compute().get()
        wanted = x.blocks[block].compute().get()
        np.testing.assert_allclose((left * s) @ v, wanted, atol=1e-9)


def _to_gpu(block):
    import pycuda.dask

    return pycuda.dask.to_gpu(block)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program", choices=["reduction", "svd"])
    parser.add_argument("--gigabytes", type=float, default=40)
    parser.add_argument("--devices", type=int, default=2)
    parser.add_argument("--chunk", default="128MB")
    parser.add_argument("--columns", type=int, default=8, help="of the SVD's matrix")
    parser.add_argument("--device-limit", default="1.5GB", help="of each device")
    parser.add_argument("--memory-limit", default="7GB", help="of each worker")
    parser.add_argument("--folder", help="for files; by default one that is removed")
    given = parser.parse_args()
    os.environ.setdefault("SOFTCUDA_DEVICES", str(given.devices))

    import dask
    from dask.utils import parse_bytes
    from distributed import Client

    import pycuda.dask

    given.chunk_bytes = parse_bytes(given.chunk)
    with (
        tempfile.TemporaryDirectory(dir=given.folder) as folder,
        pycuda.dask.LocalPyCUDACluster(
            range(given.devices), device_memory_limit=given.device_limit,
            memory_limit=given.memory_limit, local_directory=folder,
        ) as cluster,
        Client(cluster) as client,
        dask.config.set({"array.backend": "pycuda"}),
    ):  # fmt: skip
        client.wait_for_workers(given.devices)
        pids = set(client.run(os.getpid).values())
        watch, start = Watch(folder), time.perf_counter()
        {"reduction": reduction, "svd": svd}[given.program](client, given)
        seconds = time.perf_counter() - start
        watch.stop()
        spilled = sum(client.run(moved).values())
        assert pids == set(client.run(os.getpid).values()), "a worker has died"
    print("| program | GB | devices | s | memory GB | moved to the host | files GB |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    print(
        f"| {given.program} | {given.gigabytes:g} | {given.devices} | {seconds:.1f} | "
        f"{watch.memory / 1e9:.2f} | {spilled} | {watch.files / 1e9:.2f} |"
    )


if __name__ == "__main__":
    main()
