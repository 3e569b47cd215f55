"""What the check modes cost: kernels with each mode beside the same kernels without, in one run.

    ./run benchmarks/softcuda/check_modes.py [KERNEL...]

The cases are those of compare.py, in its sizes. Each number is the time of the
fastest run with the mode divided by that of the fastest without; the last line is their geometric mean.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import time

os.environ.setdefault("PYCUDA_DRIVER", "softcuda")

import cases
from sides import SoftCuda

import pycuda
import pycuda.autoinit

MODES = ("mem", "init", "race", "sync")
ROUNDS, SECONDS = 25, 2.0


def seconds(side: SoftCuda) -> float:
    """The fastest of some runs, after one that compiles."""
    side.run()
    samples: list[float] = []
    begin = time.perf_counter()
    while len(samples) < ROUNDS and time.perf_counter() - begin < SECONDS:
        start = time.perf_counter()
        side.run()
        samples.append(time.perf_counter() - start)
    return min(samples)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels", nargs="*", default=list(cases.NAMES))
    chosen = parser.parse_args().kernels
    print("| kernel | ms | " + " | ".join(MODES) + " |")
    print("|---|---:|" + "---:|" * len(MODES))
    ratios: dict[str, list[float]] = {mode: [] for mode in MODES}
    for name in chosen:
        side = SoftCuda(cases.make(name))
        plain = seconds(side)
        cells = []
        for mode in MODES:
            with pycuda.check(mode):
                ratio = seconds(side) / plain
            ratios[mode].append(ratio)
            cells.append(f"{ratio:.1f}")
        print(f"| {name} | {plain * 1e3:.2f} | " + " | ".join(cells) + " |", flush=True)
    means = [math.exp(statistics.fmean(map(math.log, ratios[m]))) for m in MODES]
    print("| geometric mean | | " + " | ".join(f"{m:.1f}" for m in means) + " |")


if __name__ == "__main__":
    main()
