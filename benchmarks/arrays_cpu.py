"""Arrays on the CPU: ours on softcuda compared with numpy and with the machine's bandwidth, in one run.

    PYCUDA_DRIVER=softcuda ./run benchmarks/arrays_cpu.py [--quick]

The bandwidth is what all cores reach together in numpy's copies and additions, each core with a part
of the arrays. Ours runs on all cores, numpy on one. Each result is compared with numpy's before it
is timed; times are the best of several rounds.
"""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import timing

import pycuda
import pycuda.autoinit  # noqa: F401
import pycuda.driver as cuda
from pycuda import gpuarray

QUICK = "--quick" in sys.argv
LARGE = (1 << 22) if QUICK else (1 << 23)
CORES = len(os.sched_getaffinity(0))
wait = cuda.Context.synchronize


def best(run, rounds=5, calls=1):
    """Seconds for one call."""
    return timing.best(run, wait, rounds, calls)


def bandwidth(n):
    """GB/s of an addition and of a copy by numpy on all cores at once."""
    x, y, z = (np.ones(n, np.float32) for _ in range(3))
    parts = [slice(n * k // CORES, n * (k + 1) // CORES) for k in range(CORES)]
    with ThreadPoolExecutor(CORES) as pool:
        add = best(
            lambda: list(pool.map(lambda p: np.add(x[p], y[p], out=z[p]), parts))
        )
        copy = best(lambda: list(pool.map(lambda p: np.copyto(z[p], x[p]), parts)))
    return 12 * n / add / 1e9, 8 * n / copy / 1e9


def rows(n):
    """(name, bytes moved, our time, numpy's time) of operations on n elements."""
    rng = np.random.default_rng(0)
    a, b = (rng.random(n, dtype=np.float32) + np.float32(2**-24) for _ in range(2))
    x, y, out = gpuarray.to_gpu(a), gpuarray.to_gpu(b), gpuarray.empty(n, np.float32)
    host_out = np.empty_like(a)
    keys = rng.integers(0, 2**31, n, dtype=np.int32)
    doubles = a.astype(np.float64)
    keys_x, doubles_x = gpuarray.to_gpu(keys), gpuarray.to_gpu(doubles)
    fused = pycuda.fuse(lambda x, y: 2 * x + y)
    size = 4 * n

    def near(got, expected):
        np.testing.assert_allclose(got.get(), expected, rtol=2e-4, atol=1e-5)

    near(x + y, a + b)
    near(gpuarray.exp(x), np.exp(a))
    near(x.sum(), a.sum(dtype=np.float64))
    near(x.cumsum(), a.cumsum(dtype=np.float64))
    near(fused(x, y), 2 * a + b)
    near(gpuarray.sort(x), np.sort(a))
    near(gpuarray.argsort(keys_x), np.argsort(keys, kind="stable"))
    return [
        ("add, out=", 3 * size, lambda: gpuarray.add(x, y, out=out), lambda: np.add(a, b, out=host_out)),
        ("x + y", 3 * size, lambda: x + y, lambda: a + b),
        ("2 * x + y, fused", 3 * size, lambda: fused(x, y), lambda: 2 * a + b),
        ("copy", 2 * size, lambda: x.copy(), lambda: a.copy()),
        ("sum", size, lambda: x.sum(), lambda: a.sum()),
        ("cumsum", 2 * size, lambda: x.cumsum(), lambda: a.cumsum()),
        ("exp", 2 * size, lambda: gpuarray.exp(x), lambda: np.exp(a)),
        ("sin", 2 * size, lambda: gpuarray.sin(x), lambda: np.sin(a)),
        ("log", 2 * size, lambda: gpuarray.log(x), lambda: np.log(a)),
        ("tanh", 2 * size, lambda: gpuarray.tanh(x), lambda: np.tanh(a)),
        ("x ** y", 3 * size, lambda: x**y, lambda: a**b),
        ("sort float32", None, lambda: gpuarray.sort(x), lambda: np.sort(a)),
        ("sort int32", None, lambda: gpuarray.sort(keys_x), lambda: np.sort(keys)),
        ("sort float64", None, lambda: gpuarray.sort(doubles_x), lambda: np.sort(doubles)),
        ("argsort int32", None, lambda: gpuarray.argsort(keys_x), lambda: np.argsort(keys, kind="stable")),
    ]  # fmt: skip


def small():
    """Microseconds of additions of few elements."""
    print("\n| elements | pycuda (µs) | numpy (µs) |\n|---|---|---|")
    for n in (1024, 16384, 131072):
        ours, theirs = (
            best(lambda x=x: x + x, calls=300) * 1e6
            for x in (gpuarray.to_gpu(np.ones(n, np.float32)), np.ones(n, np.float32))
        )
        print(f"| {n} | {ours:.2f} | {theirs:.2f} |")


def main():
    add, copy = bandwidth(LARGE)
    print(f"{CORES} cores; all together {add:.1f} GB/s adding, {copy:.1f} GB/s copying")
    print(
        f"\n{LARGE} elements\n| | pycuda (ms) | numpy (ms) | ratio | of the bandwidth |"
    )
    print("|---|---|---|---|---|")
    for name, moved, ours, theirs in rows(LARGE):
        ours, theirs = best(ours, 3), best(theirs, 1 if moved is None else 3)
        part = "" if moved is None else f"{moved / ours / 1e9 / add:.2f}"
        print(
            f"| {name} | {ours * 1e3:.1f} | {theirs * 1e3:.1f} | {theirs / ours:.1f} | {part} |"
        )
    small()


if __name__ == "__main__":
    main()
