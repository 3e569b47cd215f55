"""Time of a launch from Python, compared with the raw driver call, CuPy and cuda.core, in one run.

    ninja -C build/release raw_launch && ./run benchmarks/launch.py

Medians over batches of calls; each batch ends with one synchronize, in microseconds. Peers that are not installed
are left out, and so are those that need an NVIDIA GPU if there is none. Results of the kernels are
checked first.
"""

from __future__ import annotations

import argparse
import functools
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

SOURCE = """
__global__ void add(float *a, const float *b, int n)
{ int i = threadIdx.x; if (i < n) a[i] += b[i]; }
"""
BATCHES, CALLS = 15, 2000


def measure(
    call: Callable[[], object], finish: Callable[[], object], calls: int = CALLS
) -> float:
    """Median time of one call in microseconds."""
    times = []
    for _ in range(BATCHES):
        finish()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        finish()
        times.append((time.perf_counter() - start) / calls * 1e6)
    return statistics.median(times)


def measure_call(call: Callable[[], object], finish: Callable[[], object]) -> float:
    """Microseconds until a call returns, without the device's time: the least of 100 batches of 300 calls."""
    least = float("inf")
    for _ in range(100):
        finish()
        start = time.perf_counter()
        for _ in range(300):
            call()
        least = min(least, (time.perf_counter() - start) / 300 * 1e6)
    finish()
    return least


def ours() -> dict[str, float]:
    """The measurements of this library."""
    module = SourceModule(SOURCE)
    add = module.get_function("add")
    a, b = np.zeros(1024, np.float32), np.ones(1024, np.float32)
    a_gpu, b_gpu = cuda.to_device(a), cuda.to_device(b)
    n, block, grid = np.int32(32), (32, 1, 1), (1, 1)
    add(a_gpu, b_gpu, n, block=block, grid=grid)
    back = cuda.from_device(a_gpu, 1024, np.float32)
    assert (back[:32] == 1).all() and (back[32:] == 0).all()
    finish = cuda.Context.synchronize
    prepared = module.get_function("add").prepare("PPi")
    for _ in range(
        5
    ):  # clock rates rise under load; without this the first row would be slow
        measure(lambda: add(a_gpu, b_gpu, n, block=block, grid=grid), finish)
    results = {
        "launch": measure(lambda: add(a_gpu, b_gpu, n, block=block, grid=grid), finish),
        "launch, the call alone": measure_call(
            lambda: add(a_gpu, b_gpu, n, block=block, grid=grid), finish
        ),
        "launch+synchronize": measure(
            lambda: (add(a_gpu, b_gpu, n, block=block, grid=grid), finish()), finish
        ),
        "prepared_async_call": measure(
            lambda: prepared.prepared_async_call(grid, block, None, a_gpu, b_gpu, 32),
            finish,
        ),
        "bound launch, the call alone": measure_call(
            add.bind(a_gpu, b_gpu, n, block=block, grid=grid), finish
        ),
        "bound launch": measure(
            add.bind(a_gpu, b_gpu, n, block=block, grid=grid), finish
        ),
        "pool allocate+free 1 MB": measure(pool_round(), finish),
        "In/Out 4 KB": measure(
            lambda: add(cuda.InOut(a), cuda.In(b), n, block=block, grid=grid),
            finish,
            500,
        ),
        "htod_4k": measure(lambda: cuda.memcpy_htod(a_gpu, a), finish),
    }
    results.update(large_copies())
    results.update(pi_tutorial())
    results.update(foreign_arrays(add))
    results.update(new_processes())
    start = time.perf_counter()
    SourceModule(SOURCE.replace("+=", "-="), cache_dir=False)
    results["SourceModule cold (ms)"] = (time.perf_counter() - start) * 1e3
    results["SourceModule warm (ms)"] = (
        measure(lambda: SourceModule(SOURCE), finish, 50) / 1e3
    )
    return results


def large_copies() -> dict[str, float]:
    """Copies of ordinary (pageable) NumPy arrays; the driver's own copies with PYCUDA_COPY_THREADS=0."""
    results = {}
    for mib in (0.125, 0.25, 0.5, 1, 4, 64):
        there = np.ones(int(mib * 2**20), np.uint8)
        back = np.zeros_like(there)
        memory = cuda.mem_alloc(there.nbytes)
        cuda.memcpy_htod(memory, there)
        cuda.memcpy_dtoh(back, memory)
        assert (back == there).all()
        calls = max(2, int(64 / mib) // 16)
        for name, copy, to, source in (
            ("htod", cuda.memcpy_htod, memory, there),
            ("dtoh", cuda.memcpy_dtoh, back, memory),
        ):
            run = functools.partial(copy, to, source)
            results[f"{name} of {mib:g} MiB"] = measure(run, lambda: None, calls)
    return results


def pi_tutorial() -> dict[str, float]:
    """Parts 2 and 3 of examples/tutorials/calculate_pi.py: 20 steps, by InOut and on the device."""
    n = 1_000_000
    reducer = SourceModule("""
__global__ void reducer(float *dest, int i)
{ const int n = 1000000, id = threadIdx.x + blockDim.x * blockIdx.x;
  if (id % (2 * i) == 0 && id + i < n) dest[id] += dest[id + i]; }
""").get_function("reducer")
    x = (np.arange(n) / n).astype(np.float32)
    terms = 4 / (1 + x * x)
    block, grid = (512, 1, 1), (-(-n // 512), 1)
    on_host, on_device = np.empty(n, np.float32), cuda.mem_alloc(4 * n)
    result = np.empty(1, np.float32)

    def by_in_out() -> None:
        for k in range(20):
            reducer(cuda.InOut(on_host), np.int32(1 << k), block=block, grid=grid)

    def by_device() -> None:
        for k in range(20):
            reducer(on_device, np.int32(1 << k), block=block, grid=grid)
        cuda.memcpy_dtoh(result, on_device)

    times: dict[str, list[float]] = {"InOut": [], "on the device": []}
    for _ in range(BATCHES):
        on_host[:] = terms
        cuda.memcpy_htod(on_device, terms)
        for name, run in (("InOut", by_in_out), ("on the device", by_device)):
            cuda.Context.synchronize()
            start = time.perf_counter()
            run()
            times[name].append((time.perf_counter() - start) * 1e6)
        assert abs(on_host[0] / n - np.pi) < 1e-5 and on_host[0] == result[0]
    return {f"pi tutorial, {name}": statistics.median(t) for name, t in times.items()}


NEW_PROCESS = """
import sys, time
import numpy
start = time.perf_counter()
import pycuda.driver
print((time.perf_counter() - start) * 1e3)
import pycuda.autoinit
from pycuda.compiler import SourceModule
start = time.perf_counter()
SourceModule(sys.argv[1]).get_function("add")
print((time.perf_counter() - start) * 1e3)
"""


def new_processes() -> dict[str, float]:
    """Times, in a new process, of the import and of a kernel that another process has compiled."""
    command = [sys.executable, "-c", NEW_PROCESS, SOURCE]
    runs = [
        list(map(float, subprocess.check_output(command, text=True).split()))
        for _ in range(7)
    ]
    imports, loads = map(statistics.median, zip(*runs, strict=True))
    return {"import after numpy (ms)": imports, "SourceModule from disk (ms)": loads}


def pool_round() -> Callable[[], None]:
    """An allocation from a pool, and its release."""
    pool = cuda.DeviceMemoryPool()
    pool.allocate(1 << 20).free()
    return lambda: pool.allocate(1 << 20).free()


def foreign_arrays(add: cuda.Function) -> dict[str, float]:
    """Launches with arrays of the installed libraries."""
    results = {}
    n, block, grid = np.int32(32), (32, 1, 1), (1, 1)
    for name in ("torch", "cupy"):
        try:
            library = __import__(name)
            arrays = [
                library.zeros(
                    1024,
                    dtype=library.float32,
                    **({"device": "cuda"} if name == "torch" else {}),
                )
                for _ in range(2)
            ]
        except Exception as reason:  # absent, or without a GPU: no row
            print(f"{name}: no row ({type(reason).__name__})", file=sys.stderr)
            continue
        results[f"launch, 2 {name} arrays"] = measure(
            lambda arrays=arrays: add(*arrays, n, block=block, grid=grid),
            cuda.Context.synchronize,
        )
    return results


def cupy_peer() -> dict[str, float]:
    """The same launch with CuPy."""
    import cupy

    kernel = cupy.RawKernel('extern "C" ' + SOURCE, "add")
    a, b = cupy.zeros(1024, cupy.float32), cupy.ones(1024, cupy.float32)
    n = np.int32(32)
    finish = cupy.cuda.runtime.deviceSynchronize
    call = functools.partial(kernel, (1,), (32,), (a, b, n))
    return {
        "launch": measure(call, finish),
        "launch, the call alone": measure_call(call, finish),
    }


def cuda_core_peer() -> dict[str, float]:
    """The same launch with cuda.core."""
    from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

    device = Device()
    device.set_current()
    stream = device.create_stream()
    options = ProgramOptions(arch=f"sm_{device.arch}")
    program = Program('extern "C" ' + SOURCE, code_type="c++", options=options)
    kernel = program.compile("cubin").get_kernel("add")
    a = device.memory_resource.allocate(4096, stream=stream)
    b = device.memory_resource.allocate(4096, stream=stream)
    config = LaunchConfig(grid=1, block=32)
    pa, pb, n = int(a.handle), int(b.handle), np.int32(32)
    call = functools.partial(launch, stream, config, kernel, pa, pb, n)
    return {
        "launch": measure(call, stream.sync),
        "launch, the call alone": measure_call(call, stream.sync),
    }


def raw(path: Path) -> dict[str, float]:
    """The measurements that the C++ program prints."""
    lines = subprocess.run(
        [path], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    rows = (line.split() for line in lines)
    return {name.replace("-", " "): float(value) for name, value in rows}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    built = Path(__file__).parent.parent / "build/release/benchmarks/launch/raw_launch"
    parser.add_argument(
        "--raw", type=Path, default=built, help="path of the program raw_launch"
    )
    arguments = parser.parse_args()
    columns: dict[str, dict[str, float]] = {}
    if arguments.raw.exists():
        columns["raw C++"] = raw(arguments.raw)
    columns["pycuda"] = ours()
    for name, peer in (("CuPy", cupy_peer), ("cuda.core", cuda_core_peer)):
        try:
            columns[name] = peer()
        except Exception as reason:  # absent, or without a GPU: no column
            print(
                f"{name}: not measured ({type(reason).__name__}: {reason})",
                file=sys.stderr,
            )
    print(f"device: {pycuda.autoinit.device.name()}")
    rows = list(dict.fromkeys(row for column in columns.values() for row in column))
    print(f"{'µs':28}" + "".join(f"{name:>12}" for name in columns))
    for row in rows:
        cells = (
            f"{column[row]:12.2f}" if row in column else f"{'–':>12}"
            for column in columns.values()
        )
        print(f"{row:28}" + "".join(cells))


if __name__ == "__main__":
    main()
