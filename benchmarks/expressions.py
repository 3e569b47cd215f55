"""Bandwidth of kernels from expressions, scans and random numbers, compared with CuPy and torch.

    ./run benchmarks/expressions.py [--mib 1024]

GB/s of memory read and written, from the median of several runs between two events. Each result is
checked first. Peers that are not installed, or have no GPU, are left out. Then come the times of a call, in µs.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.curandom import XORWOWRandomNumberGenerator
from pycuda.elementwise import ElementwiseKernel
from pycuda.gpuarray import GPUArray, to_gpu
from pycuda.random import Generator
from pycuda.reduction import ReductionKernel
from pycuda.scan import InclusiveScanKernel

RUNS = 7
SMALL = 1024


def seconds(call: Callable[[], object]) -> float:
    """Median time of a call on the device."""
    call()
    times = []
    for _ in range(RUNS):
        start, end = cuda.Event(), cuda.Event()
        start.record()
        call()
        end.record()
        end.synchronize()
        times.append(start.time_till(end) * 1e-3)
    return statistics.median(times)


def microseconds(call: Callable[[], object]) -> float:
    """Median time of a call in a sequence of calls with one wait at the end."""
    times = []
    for _ in range(RUNS):
        cuda.Context.synchronize()
        start = time.perf_counter()
        for _ in range(500):
            call()
        cuda.Context.synchronize()
        times.append((time.perf_counter() - start) / 500 * 1e6)
    return statistics.median(times)


def close(value: float, expected: float, tolerance: float = 1e-4) -> None:
    assert abs(value - expected) <= tolerance * abs(expected), (value, expected)


def ours(n: int) -> tuple[dict[str, float], dict[str, float]]:
    """GB/s at n float32, and µs of a call at 1 K."""
    rng = Generator(1)
    x, y, z = (GPUArray(n, np.float32) for _ in range(3))
    rng.random(out=x)
    rng.random(out=y)
    add = ElementwiseKernel("float *z, float *x, float *y", "z[i] = x[i] + y[i]")
    total = ReductionKernel(np.float32, "0", "a + b")
    dot = ReductionKernel(np.float32, "0", "a + b", "x[i] * y[i]", "float *x, float *y")
    scan = InclusiveScanKernel(np.float32, "a + b")
    xorwow = XORWOWRandomNumberGenerator()

    close(float(total(x).get()), n / 2, 1e-2)
    close(float(dot(x, x).get()), n / 3, 1e-2)
    add(z, x, y)
    close(float(total(z).get()), float(total(x).get()) + float(total(y).get()))
    scan(x, z)
    last = np.empty(1, np.float32)
    cuda.memcpy_dtoh(last, z.ptr + 4 * (n - 1))
    close(float(last[0]), float(total(x).get()), 1e-3)

    gigabytes = n * 4e-9
    bandwidth = {
        "x + y": 3 * gigabytes / seconds(lambda: add(z, x, y)),
        "sum": gigabytes / seconds(lambda: total(x)),
        "dot": 2 * gigabytes / seconds(lambda: dot(x, y)),
        "inclusive scan": 2 * gigabytes / seconds(lambda: scan(x, z)),
        "uniform": gigabytes / seconds(lambda: rng.random(out=z)),
        "normal": gigabytes / seconds(lambda: rng.standard_normal(out=z)),
        "uniform, XORWOW": gigabytes / seconds(lambda: xorwow.fill_uniform(z)),
    }
    a, b, c = (to_gpu(np.ones(SMALL, np.float32)) for _ in range(3))
    calls = {
        "x + y": microseconds(lambda: add(c, a, b)),
        "sum": microseconds(lambda: total(a)),
        "inclusive scan": microseconds(lambda: scan(a, c)),
        "uniform": microseconds(lambda: rng.random(out=c)),
    }
    return bandwidth, calls


def cupy_peer(n: int) -> tuple[dict[str, float], dict[str, float]]:
    """The same measurements of CuPy."""
    import cupy

    x, y, z = (cupy.random.random(n, dtype=cupy.float32) for _ in range(3))
    a, b, c = (cupy.ones(SMALL, cupy.float32) for _ in range(3))
    add = cupy.ElementwiseKernel(
        "float32 x, float32 y", "float32 z", "z = x + y", "add_xy"
    )
    philox = cupy.random.Generator(cupy.random.Philox4x3210(1))
    gigabytes = n * 4e-9
    bandwidth = {
        "x + y": 3 * gigabytes / seconds(lambda: add(x, y, z)),
        "sum": gigabytes / seconds(lambda: cupy.sum(x)),
        "dot": 2 * gigabytes / seconds(lambda: cupy.dot(x, y)),
        "inclusive scan": 2 * gigabytes / seconds(lambda: cupy.cumsum(x, out=z)),
        "uniform": gigabytes / seconds(lambda: philox.random(out=z, dtype=np.float32)),
        "normal": gigabytes
        / seconds(lambda: philox.standard_normal(out=z, dtype=np.float32)),
    }
    calls = {
        "x + y": microseconds(lambda: add(a, b, c)),
        "sum": microseconds(lambda: cupy.sum(a)),
        "inclusive scan": microseconds(lambda: cupy.cumsum(a, out=c)),
    }
    return bandwidth, calls


def torch_peer(n: int) -> tuple[dict[str, float], dict[str, float]]:
    """The same measurements of torch."""
    import torch

    x, y, z = (torch.rand(n, device="cuda") for _ in range(3))
    a, b, c = (torch.ones(SMALL, device="cuda") for _ in range(3))
    gigabytes = n * 4e-9
    bandwidth = {
        "x + y": 3 * gigabytes / seconds(lambda: torch.add(x, y, out=z)),
        "sum": gigabytes / seconds(lambda: torch.sum(x)),
        "dot": 2 * gigabytes / seconds(lambda: torch.dot(x, y)),
        "inclusive scan": 2 * gigabytes / seconds(lambda: torch.cumsum(x, 0, out=z)),
        "uniform": gigabytes / seconds(lambda: z.uniform_()),
        "normal": gigabytes / seconds(lambda: z.normal_()),
    }
    calls = {
        "x + y": microseconds(lambda: torch.add(a, b, out=c)),
        "sum": microseconds(lambda: torch.sum(a)),
        "inclusive scan": microseconds(lambda: torch.cumsum(a, 0, out=c)),
        "uniform": microseconds(lambda: c.uniform_()),
    }
    return bandwidth, calls


def show(title: str, columns: dict[str, dict[str, float]], digits: int) -> None:
    rows = list(dict.fromkeys(row for column in columns.values() for row in column))
    print(f"{title:20}" + "".join(f"{name:>10}" for name in columns))
    for row in rows:
        cells = (
            f"{column[row]:10.{digits}f}" if row in column else f"{'–':>10}"
            for column in columns.values()
        )
        print(f"{row:20}" + "".join(cells))


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    on_software = "softcuda" in cuda.get_driver_path()
    parser.add_argument("--mib", type=int, default=16 if on_software else 1024)
    n = parser.parse_args().mib * 2**18
    results = {"pycuda": ours(n)}
    for name, peer in (("CuPy", cupy_peer), ("torch", torch_peer)):
        try:
            results[name] = peer(n)
        except Exception as reason:  # absent, or without a GPU: no column
            print(
                f"{name}: not measured ({type(reason).__name__}: {reason})",
                file=sys.stderr,
            )
    print(f"device: {pycuda.autoinit.device.name()}; arrays of {n} float32")
    show("GB/s", {name: result[0] for name, result in results.items()}, 0)
    print()
    show(
        f"µs, {SMALL} float32", {name: result[1] for name, result in results.items()}, 2
    )


if __name__ == "__main__":
    main()
