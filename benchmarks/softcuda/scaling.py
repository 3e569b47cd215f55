"""How softcuda's speed depends on the number of threads and on the instruction set.

    ./run ninja -C build/release hand_written
    ./run benchmarks/softcuda/scaling.py

A time is that of the fastest of many runs, in several processes for each setting, which run in turn. Scaling is the
time on one thread divided by the time on all cores and by their number; that of the hand-written code shows how much of a
loss comes from the machine.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("PYCUDA_DRIVER", "softcuda")

import cases
from sides import HandWritten, SoftCuda

import pycuda.autoinit

COMPUTE_BOUND = ("matmul", "mandelbrot", "n_body", "black_scholes", "monte_carlo")
PROCESSES, SECONDS = 3, 0.5
Times = dict[str, dict[str, float]]  # by side and kernel


def fastest(side: HandWritten | SoftCuda) -> float:
    """Milliseconds of the fastest run in SECONDS."""
    side.run()
    best, end = math.inf, time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        start = time.perf_counter()
        side.run()
        best = min(best, (time.perf_counter() - start) * 1e3)
    return best


def all_times(names: list[str], makers: list[type]) -> Times:
    return {
        maker.name: {name: fastest(maker(cases.make(name))) for name in names}
        for maker in makers
    }


def in_processes(names: tuple[str, ...], settings: list[dict[str, str]]) -> list[Times]:
    """For each of the settings, the fastest runs in all its processes."""
    results: list[Times] = [{} for _ in settings]
    for _ in range(PROCESSES):
        for result, environment in zip(results, settings, strict=True):
            process = subprocess.run(
                [sys.executable, __file__, "--child", *names],
                env={**os.environ, **environment},
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            for side, times in json.loads(process.stdout).items():
                best = result.setdefault(side, {})
                for name, value in times.items():
                    best[name] = min(value, best.get(name, math.inf))
    return results


def scaling_table() -> str:
    """Markdown: one thread compared with all cores."""
    cores = len(os.sched_getaffinity(0))
    settings = [
        {"SOFTCUDA_THREADS": str(n), "OMP_NUM_THREADS": str(n)} for n in (1, cores)
    ]
    one, all_cores = in_processes(COMPUTE_BOUND, settings)
    lines = [
        f"| kernel | 1 thread, ms | {cores} threads, ms | scaling | hand-written's |",
        "|---|---|---|---|---|",
    ]
    for name in COMPUTE_BOUND:
        a, b = one[SoftCuda.name][name], all_cores[SoftCuda.name][name]
        hand = one[HandWritten.name][name] / all_cores[HandWritten.name][name]
        lines.append(
            f"| {name} | {a:.1f} | {b:.1f} | {a / b / cores:.0%} | {hand / cores:.0%} |"
        )
    return "\n".join(lines)


def isa_table() -> str:
    """Markdown: AVX2 compared with the machine's own instruction set."""
    native, avx2 = in_processes(cases.NAMES, [{}, {"SOFTCUDA_ISA": "avx2"}])
    lines = ["| kernel | native, ms | AVX2, ms | times as long |", "|---|---|---|---|"]
    ours, narrow = native[SoftCuda.name], avx2[SoftCuda.name]
    ratios = {name: narrow[name] / ours[name] for name in cases.NAMES}
    for name in sorted(ratios, key=ratios.__getitem__, reverse=True):
        a, b = ours[name], narrow[name]
        lines.append(f"| {name} | {a:.2f} | {b:.2f} | {b / a:.2f} |")
    mean = math.exp(statistics.fmean(map(math.log, ratios.values())))
    lines.append(f"| geometric mean | | | {mean:.2f} |")
    return "\n".join(lines)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    names = parser.parse_args().child
    if names:
        assert pycuda.autoinit.device is not None
        print(json.dumps(all_times(names, [SoftCuda, HandWritten])))
    else:
        print(scaling_table(), isa_table(), sep="\n\n")


if __name__ == "__main__":
    main()
