"""Cost of the check modes: kernels with each mode compared with the same kernels without, in one run.

    ./run benchmarks/softcuda/check_modes.py [--processor-time] [KERNEL...]
    ./run benchmarks/softcuda/check_modes.py --sanitizer [KERNEL...]

The cases and sizes are those of compare.py. Each number is the time of the
fastest run with the mode divided by that of the fastest without; the last line is their geometric mean.
--processor-time measures the time of all threads of the process: for a machine with other work. With SOFTCUDA_THREADS=1,
both times are about equal on an idle machine.
The second form measures NVIDIA's compute-sanitizer on a GPU in the same way, each tool compared with no tool: the
time from before the launch until the device is done.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MODES = ("mem", "init", "race", "sync")
TOOLS = {"mem": "memcheck", "init": "initcheck", "race": "racecheck", "sync": "synccheck"}  # fmt: skip
ROUNDS, SECONDS = 25, 2.0


def seconds(side, clock=time.perf_counter) -> float:
    """The fastest of some runs by this clock, after a run that compiles."""
    side.run()
    samples: list[float] = []
    begin = time.perf_counter()
    while len(samples) < ROUNDS and time.perf_counter() - begin < SECONDS:
        start = clock()
        side.run()
        samples.append(clock() - start)
    return min(samples)


def side_of(name: str):
    import cases
    from sides import SoftCuda

    import pycuda.autoinit  # noqa: F401

    return SoftCuda(cases.make(name))


def by_modes(names: list[str], clock):
    """For each kernel its seconds without checks, and those in each mode."""
    import pycuda

    for name in names:
        side = side_of(name)
        plain, checked = seconds(side, clock), {}
        for mode in MODES:
            with pycuda.check(mode):
                checked[mode] = seconds(side, clock)
        yield name, plain, checked


def by_tools(names: list[str]):
    """The same on a GPU, each tool in a separate process."""

    def measure(*prefix: str) -> dict[str, float]:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "times.json"
            own = [sys.executable, __file__, "--times", str(file), *names]
            done = subprocess.run([*prefix, *own], capture_output=True, text=True)
            if not file.exists():
                sys.exit(
                    f"{' '.join(prefix)}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
                )
            return json.loads(file.read_text())

    plain = measure()
    checked = {
        mode: measure("compute-sanitizer", "--tool", tool)
        for mode, tool in TOOLS.items()
    }
    for name in names:
        yield name, plain[name], {mode: checked[mode][name] for mode in MODES}


def show(rows, heads: list[str]) -> None:
    print("| kernel | ms | " + " | ".join(heads) + " |")
    print("|---|---:|" + "---:|" * len(MODES))
    ratios: dict[str, list[float]] = {mode: [] for mode in MODES}
    for name, plain, checked in rows:
        for mode in MODES:
            ratios[mode].append(checked[mode] / plain)
        cells = " | ".join(f"{ratios[mode][-1]:.1f}" for mode in MODES)
        print(f"| {name} | {plain * 1e3:.2f} | {cells} |", flush=True)
    means = [math.exp(statistics.fmean(map(math.log, ratios[m]))) for m in MODES]
    print("| geometric mean | | " + " | ".join(f"{m:.1f}" for m in means) + " |")


def main() -> None:
    import cases

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--sanitizer", action="store_true", help="of compute-sanitizer, on a GPU"
    )
    parser.add_argument(
        "--processor-time", action="store_true", help="for a machine with other work"
    )
    parser.add_argument("--times", help=argparse.SUPPRESS)
    parser.add_argument("kernels", nargs="*", default=list(cases.NAMES))
    given = parser.parse_args()
    os.environ.setdefault(
        "PYCUDA_DRIVER", "nvidia" if given.sanitizer or given.times else "softcuda"
    )
    if given.times:
        times = {name: seconds(side_of(name)) for name in given.kernels}
        Path(given.times).write_text(json.dumps(times))
    elif given.sanitizer:
        show(by_tools(given.kernels), list(TOOLS.values()))
    else:
        clock = time.process_time if given.processor_time else time.perf_counter
        show(by_modes(given.kernels, clock), list(MODES))


if __name__ == "__main__":
    main()
