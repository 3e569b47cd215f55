"""Time of softcuda from PTX to machine code, without a cache and with the cache on disk.

    ./run benchmarks/softcuda/compile_time.py [--processor-time]

For each kernel of the suite: the time to load the module, and of its first launch minus its second. NVRTC's time from
CUDA C++ to PTX is not included. Each figure is the median over new processes, in milliseconds.
`--processor-time` is for a machine with other work: it counts the processor time of all threads.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("PYCUDA_DRIVER", "softcuda")

import cases

import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import compile

PROCESSES = 5
CLOCK = time.process_time if "--processor-time" in sys.argv else time.perf_counter


def milliseconds(work) -> float:  # noqa: ANN001
    start = CLOCK()
    work()
    return (CLOCK() - start) * 1e3


def kernel_times(case: cases.Case) -> dict[str, float]:
    """Milliseconds by kernel of one case."""
    ptx = compile(case.text("cu"), arch="sm_86", target="ptx")
    memory = {name: cuda.to_device(a) for name, a in case.arrays.items()}
    launches = {launch.kernel: launch for launch in case.launches}
    start = CLOCK()
    module = cuda.module_from_buffer(ptx)
    load = (CLOCK() - start) * 1e3 / len(launches)
    times = {}
    for name, launch in launches.items():
        run = module.get_function(name).bind(
            *(memory[a] if isinstance(a, str) else a for a in launch.arguments),
            grid=launch.grid,
            block=(launch.block + (1, 1))[:3],
        )

        def run_and_wait(run=run) -> None:
            run()
            cuda.Context.synchronize()

        first = milliseconds(run_and_wait)
        times[name] = load + first - milliseconds(run_and_wait)
    return times


def all_times() -> dict[str, float]:
    """Milliseconds by kernel; an earlier kernel has initialised LLVM."""
    warm_up = compile("__global__ void nop() {}", arch="sm_86", target="ptx")
    nop = cuda.module_from_buffer(warm_up).get_function("nop")
    nop(grid=(1, 1), block=(32, 1, 1))
    cuda.Context.synchronize()
    times = {}
    for name in cases.NAMES:
        times.update(kernel_times(cases.make(name, small=True)))
    return times


def in_processes(**environment: str) -> dict[str, float]:
    """Medians over processes with these settings."""
    samples: dict[str, list[float]] = {}
    for _ in range(PROCESSES):
        process = subprocess.run(
            [sys.executable, __file__, "--child", *sys.argv[1:]],
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        for name, value in json.loads(process.stdout).items():
            samples.setdefault(name, []).append(value)
    return {name: statistics.median(values) for name, values in samples.items()}


def table() -> str:
    """Markdown: the median kernel, the slowest one, the quickest one."""
    cold = in_processes(SOFTCUDA_DISABLE_CACHE="1")
    with tempfile.TemporaryDirectory() as folder:
        in_processes(SOFTCUDA_CACHE_DIR=folder)
        cached = in_processes(SOFTCUDA_CACHE_DIR=folder)
    slowest = max(cold, key=cold.__getitem__)
    quickest = min(cold, key=cold.__getitem__)
    rows = [
        (
            "median kernel",
            statistics.median(cold.values()),
            statistics.median(cached.values()),
        ),
        (f"slowest ({slowest})", cold[slowest], cached[slowest]),
        (f"quickest ({quickest})", cold[quickest], cached[quickest]),
    ]
    lines = [
        "| PTX to machine code, ms | cold | from the disk cache |",
        "|---|---|---|",
    ]
    lines += [f"| {name} | {a:.1f} | {b:.2f} |" for name, a, b in rows]
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument(
        "--processor-time", action="store_true", help="count processor time"
    )
    if parser.parse_args().child:
        assert pycuda.autoinit.device is not None
        print(json.dumps(all_times()))
    else:
        print(table())


if __name__ == "__main__":
    main()
