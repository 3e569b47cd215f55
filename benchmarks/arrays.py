"""Arrays: ours compared with CuPy's and torch's on one GPU, in one run.

    [PYCUDA_BENCH_VARIANTS=1] ./run benchmarks/arrays.py [--quick]

Small arrays: microseconds of host time for each call, which queues its kernels; the best of several
rounds. Large arrays: bytes that must be read and written, divided by the time between two waits for the
device. Each result is compared with numpy's before it is timed.
"""

import functools
import os
import sys

import numpy as np
import timing

import pycuda
import pycuda.autoinit  # noqa: F401
import pycuda.driver as cuda
from pycuda import _driver, gpuarray
from pycuda.random import Generator

QUICK = "--quick" in sys.argv
SMALL = 1024
LARGE = (1 << 22) if QUICK or "softcuda" in cuda.get_driver_path() else (1 << 28)


def best(rounds, calls, run, wait):
    """Seconds for one call; with many small calls, the time to queue one."""
    return timing.best(run, wait, rounds, calls, queued=calls > 100)


class Ours:
    name = "pycuda"
    sort = staticmethod(gpuarray.sort)
    cumsum = staticmethod(gpuarray.cumsum)
    wait = staticmethod(cuda.Context.synchronize)
    exp = staticmethod(gpuarray.exp)
    dot = staticmethod(gpuarray.dot)

    @staticmethod
    def array(host):
        return gpuarray.to_gpu(host)

    @staticmethod
    def host(array):
        return array.get()

    @staticmethod
    def add(x, y, out):
        gpuarray.add(x, y, out=out)


def cupy_library():
    import cupy

    class CuPy:
        name = "CuPy"
        sort = staticmethod(cupy.sort)
        cumsum = staticmethod(cupy.cumsum)
        wait = staticmethod(cupy.cuda.runtime.deviceSynchronize)
        exp = staticmethod(cupy.exp)
        dot = staticmethod(cupy.dot)
        array = staticmethod(cupy.asarray)
        host = staticmethod(cupy.asnumpy)

        @staticmethod
        def add(x, y, out):
            cupy.add(x, y, out=out)

    return CuPy


def torch_library():
    import torch

    class Torch:
        name = "torch"

        @staticmethod
        def sort(x):
            return torch.sort(x).values

        @staticmethod
        def cumsum(x):
            return torch.cumsum(x, 0)

        wait = staticmethod(torch.cuda.synchronize)
        exp = staticmethod(torch.exp)
        dot = staticmethod(torch.dot)

        @staticmethod
        def array(host):
            return torch.from_numpy(np.ascontiguousarray(host)).cuda()

        @staticmethod
        def host(array):
            return array.cpu().numpy()

        @staticmethod
        def add(x, y, out):
            torch.add(x, y, out=out)

    return Torch


def libraries():
    """Ours, and the peers that are installed and find a device."""
    found = [Ours]
    for make in (cupy_library, torch_library):
        try:
            library = make()
            library.wait()
            found.append(library)
        except Exception as error:  # any error excludes the library from the comparison
            print(f"# without {make.__name__}: {type(error).__name__}: {error}")
    return found


def check(library, result, expected):
    np.testing.assert_allclose(library.host(result), expected, rtol=1e-4)


def small(library):
    """Microseconds of each operation on 1 K float32."""
    host = np.linspace(1, 2, SMALL, dtype=np.float32)
    x, y = library.array(host), library.array(host + 1)
    z = library.array(host)
    check(library, x + y, 2 * host + 1)
    check(library, library.exp(x), np.exp(host))
    check(library, 2 * x + y, 3 * host + 1)
    check(library, x.sum(), host.sum())

    fused = pycuda.fuse(lambda x, y: 2 * x + y) if library is Ours else None

    def in_place():
        nonlocal z
        z += y

    operations = {
        "x + y": lambda: x + y,
        "2 * x + y": lambda: 2 * x + y,
        "2 * x + y, fused": (lambda: fused(x, y)) if fused else None,
        "x += y": in_place,
        "exp(x)": lambda: library.exp(x),
        "sum(x)": lambda: x.sum(),
        "to device and back, 4 KB": lambda: library.host(library.array(host)),
        "x[1:] + y[:-1]": lambda: x[1:] + y[:-1],
    }
    rows = {}
    for name, run in operations.items():
        calls = 200 if "back" in name or QUICK else 2000
        rows[name] = best(5, calls, run, library.wait) * 1e6 if run else float("nan")
    return rows


def large(library):
    """GB/s of each operation on arrays of 1 GiB."""
    host = np.ones(LARGE, np.float32)
    x, y, z = (library.array(host) for _ in range(3))
    matrix = x.reshape(LARGE // 8192, 8192)
    library.add(x, y, z)
    check(library, z[:: LARGE // 64], np.full(64, 2, np.float32))
    check(library, x.sum(), np.float32(LARGE))
    size = 4 * LARGE
    operations = {
        "add": (3 * size, lambda: library.add(x, y, z)),
        "sum": (size, lambda: x.sum()),
        "dot": (2 * size, lambda: library.dot(x, y)),
        "sum over axis 0": (size, lambda: matrix.sum(0)),
        "sum over axis 1": (size, lambda: matrix.sum(1)),
        "x[::2] + y[::2]": (2 * size + size // 2, lambda: x[::2] + y[::2]),
        "matrix + row": (2 * size, lambda: matrix + matrix[0]),
    }
    return {
        name: moved / best(3, 20, run, library.wait) / 1e9
        for name, (moved, run) in operations.items()
    }


def algorithms(library):
    """Sorts of 64 M keys in Gkeys/s, sums up to each element in GB/s, products in TFLOP/s."""
    count, side = LARGE // 4, 8192 if LARGE > 1 << 24 else 1024
    host = np.random.default_rng(0).random(count, dtype=np.float32)
    x, ones = library.array(host), library.array(np.ones(LARGE, np.float32))
    whole = library.array(host.view(np.int32))
    square = library.array(host[: side * side].reshape(side, side))
    check(library, library.sort(x), np.sort(host))
    check(library, library.cumsum(ones)[: 1 << 20], np.arange(1, (1 << 20) + 1))
    part = square[:64]
    check(library, part @ square, library.host(part) @ library.host(square))
    wait = library.wait
    return {
        "sort float32 (Gkeys/s)": count / best(3, 5, lambda: library.sort(x), wait) / 1e9,
        "sort int32 (Gkeys/s)": count / best(3, 5, lambda: library.sort(whole), wait) / 1e9,
        "cumsum (GB/s)": 8 * LARGE / best(3, 5, lambda: library.cumsum(ones), wait) / 1e9,
        "a @ b float32 (TFLOP/s)": 2 * side**3 / best(3, 5, lambda: square @ square, wait) / 1e12,
    }  # fmt: skip


def variants():
    """With PYCUDA_BENCH_VARIANTS=1: sorts of 64 M float32 and random numbers with other tile sizes."""
    x = gpuarray.to_gpu(np.random.default_rng(0).random(LARGE // 4, dtype=np.float32))
    ones = gpuarray.to_gpu(np.ones(LARGE, np.float32))
    in_order, wait = np.sort(x.get())[:: LARGE // 4096], Ours.wait
    rows = {}
    for ranking, threads, counts in (
        ("late", 256, (16, 20, 24)),
        ("early", 256, (16, 20, 24)),
        ("early", 384, (16, 20, 23)),
        ("early", 512, (12, 16, 20)),
        ("marks", 256, (16, 20, 24)),
        ("marks", 384, (16, 20, 23)),
    ):
        for items in counts:
            tile = {"items": items, "threads": threads, "ranking": ranking}
            name = f"{ranking}, {threads} threads, {items} keys each (Gkeys/s)"
            with _driver._Kernels(sort="blocks", **tile):
                run = functools.partial(_driver._array_sort, x, 0)
                check(Ours, run()[:: LARGE // 4096], in_order)
                rows[f"sort, {name}"] = x.size / best(3, 5, run, wait) / 1e9
                if items == counts[1]:
                    run = functools.partial(_driver._array_argsort, x, 0)
                    rows[f"argsort, {name}"] = x.size / best(3, 5, run, wait) / 1e9
    rows.update(random_variants(ones))
    return rows


def random_variants(out):
    """GB/s of uniform numbers, by the numbers that a thread makes at a time and the blocks for each multiprocessor."""
    rows, results = {}, []
    processors = cuda.Context.get_device().multiprocessor_count
    for ahead in (1, 2, 4):
        for resident in (0, 8, 16, 32):
            rng = Generator(1)
            rng._launching = ahead, resident * processors or 2**31 - 1
            run = functools.partial(rng.random, out=out)
            results.append(run()[:: LARGE // 4096].get())
            np.testing.assert_array_equal(results[-1], results[0])
            rows[f"uniform, {ahead} ahead, {resident} resident (GB/s)"] = (
                4 * LARGE / best(3, 5, run, Ours.wait) / 1e9
            )
    return rows


def show(title, columns):
    names = list(columns)
    print(f"\n{title}\n| | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    for row in next(iter(columns.values())):
        cells = " | ".join(f"{columns[name][row]:.2f}" for name in names)
        print(f"| {row} | {cells} |")


def main():
    found = libraries()
    show(
        f"microseconds, {SMALL} float32",
        {library.name: small(library) for library in found},
    )
    columns = {}
    for library in found:
        columns[library.name] = large(library)
    show(f"GB/s, {4 * LARGE / 2**20:.0f} MiB arrays", columns)
    if os.environ.get("PYCUDA_BENCH_VARIANTS"):
        show("variants", {"pycuda": variants()})
    show("algorithms", {library.name: algorithms(library) for library in found})


main()
