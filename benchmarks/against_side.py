"""What benchmarks/against runs with each revision: one part's measurements, as JSON on the last line.

    PYTHONPATH=... python benchmarks/against_side.py launches|kernels|arrays
    PYTHONPATH=... python benchmarks/against_side.py corpus CHECKOUT FOLDER

The least times in seconds. Only names that all revisions of the package have are used.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "softcuda")]
CLOCK = (
    time.process_time
    if os.environ.get("AGAINST_CLOCK") == "process"
    else time.perf_counter
)
#: Programs of the corpus that take less than a second.
QUICK = (
    "floydwarshall gaussian lif nqueen bfs jacobi md maxpool3d cooling flip layout "
    "background-subtract langevin mrc zeropoint popcount"
).split()
SMALL = """
__global__ void add(float *a, const float *b, int n)
{ int i = threadIdx.x; if (i < n) a[i] += b[i]; }
__global__ void count(int *x, int n) { for (int i = threadIdx.x; i < n; i += 32) x[i] += i; }
"""


def least(
    call: Callable[[], object],
    finish: Callable[[], object],
    calls: int,
    rounds: int = 15,
) -> float:
    """Seconds for one of `calls` calls and one `finish`, in the best round."""
    times = []
    for _ in range(rounds):
        finish()
        start = CLOCK()
        for _ in range(calls):
            call()
        finish()
        times.append((CLOCK() - start) / calls)
    return min(times)


def launches() -> dict[str, float]:
    import numpy as np

    import pycuda.autoinit
    import pycuda.driver as cuda
    from pycuda.compiler import SourceModule

    module = SourceModule(SMALL)
    add, count = module.get_function("add"), module.get_function("count")
    host = np.zeros(1024, np.float32)
    a, b = cuda.to_device(host), cuda.to_device(host)
    n, block, grid = np.int32(32), (32, 1, 1), (1, 1)
    wait, stream = cuda.Context.synchronize, cuda.Stream()
    prepared = module.get_function("add").prepare("PPi")
    bound = add.bind(a, b, n, block=block, grid=grid)
    counting = count.bind(a, np.int32(1024), block=block, grid=(64, 1))

    def after_a_wait():
        counting()
        wait()
        for _ in range(10):
            bound()

    def in_threads(threads: int, calls: int) -> float:
        def work():
            pycuda.autoinit.context.push()
            for _ in range(calls):
                bound()
            cuda.Context.pop()

        def all_of_them():
            running = [threading.Thread(target=work) for _ in range(threads)]
            for one in running:
                one.start()
            for one in running:
                one.join()

        return least(all_of_them, wait, 1, 5) / (threads * calls)

    rows = {
        "launch": least(lambda: add(a, b, n, block=block, grid=grid), wait, 2000),
        "launch in a stream": least(
            lambda: add(a, b, n, block=block, grid=grid, stream=stream), wait, 2000
        ),
        "prepared launch": least(
            lambda: prepared.prepared_async_call(grid, block, None, a, b, 32),
            wait,
            2000,
        ),
        "bound launch": least(bound, wait, 2000),
        "bound launch and a wait": least(lambda: (bound(), wait()), wait, 1000),
        "launch of 64 blocks and a wait": least(
            lambda: (counting(), wait()), wait, 300
        ),
        "64 blocks, a wait, ten launches": least(after_a_wait, wait, 100),
        "memcpy_htod of 4 KB": least(lambda: cuda.memcpy_htod(a, host), wait, 1000),
        "memcpy_dtoh of 4 KB": least(lambda: cuda.memcpy_dtoh(host, a), wait, 1000),
        "event, record and wait": least(
            lambda: cuda.Event().record().synchronize(), wait, 500
        ),
    }
    for threads in (2, 4, 16):
        rows[f"launch, {threads} threads"] = in_threads(threads, 2000)
    return rows


def kernels() -> dict[str, float]:
    import cases
    from sides import SoftCuda

    import pycuda.autoinit  # noqa: F401

    rows = {}
    for name in cases.NAMES:
        side = SoftCuda(cases.make(name))
        side.run()
        rows[f"kernel {name}"] = least(side.run, lambda: None, 1, 7)
    return rows


def arrays() -> dict[str, float]:
    import arrays_cpu

    rows = {}
    for name, _, ours, _ in arrays_cpu.rows(1 << 22):
        ours()
        rows[f"array {name}"] = least(ours, arrays_cpu.wait, 1, 5)
    for n in (1024, 16384, 131072):
        x = arrays_cpu.gpuarray.to_gpu(arrays_cpu.np.ones(n, arrays_cpu.np.float32))
        rows[f"array x + x, {n} elements"] = least(
            lambda x=x: x + x, arrays_cpu.wait, 300
        )
    return rows


def corpus(checkout: str, folder: str) -> dict[str, float]:
    command = [
        sys.executable,
        HERE / "corpus",
        "--hecbench",
        checkout,
        "--build",
        folder,
    ]
    command += ["--runs", "1", "--only", *QUICK]
    command += ["--one-core"] if CLOCK is time.process_time else []
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    return read_corpus(done.stdout)


def read_corpus(table: str) -> dict[str, float]:
    """The device's times in a table of benchmarks/corpus."""
    units = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
    row = re.compile(r"^\| ([\w-]+) \| \d+ \| ([\d.]+) (\w+) \|", re.MULTILINE)
    return {f"corpus {name}": float(t) * units[u] for name, t, u in row.findall(table)}


if __name__ == "__main__":
    part = {
        "launches": launches,
        "kernels": kernels,
        "arrays": arrays,
        "corpus": corpus,
    }
    print(json.dumps(part[sys.argv[1]](*sys.argv[2:])))
