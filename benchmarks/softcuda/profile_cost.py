"""Cost of a profile: kernels with it compared with the same kernels without, in one run.

    ./run benchmarks/softcuda/profile_cost.py [KERNEL...]

Cases and times are those of check_modes.py.
"""

from __future__ import annotations

import argparse
import math
import statistics

import cases
from check_modes import seconds
from sides import SoftCuda

import pycuda

MODES = {
    "timeline": {"counters": False},
    "counters": {"timeline": False},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels", nargs="*", default=list(cases.NAMES))
    chosen = parser.parse_args().kernels
    print("| kernel | ms | " + " | ".join(MODES) + " |")
    print("|---|---:|" + "---:|" * len(MODES))
    ratios: dict[str, list[float]] = {mode: [] for mode in MODES}
    for name in chosen:
        side = SoftCuda(cases.make(name, small=True))
        plain = seconds(side)
        for mode, how in MODES.items():
            with pycuda.profile(**how):
                ratios[mode].append(seconds(side) / plain)
        cells = [f"{found[-1]:.1f}" for found in ratios.values()]
        print(f"| {name} | {plain * 1e3:.2f} | " + " | ".join(cells) + " |", flush=True)
    means = [math.exp(statistics.fmean(map(math.log, r))) for r in ratios.values()]
    print("| geometric mean | | " + " | ".join(f"{m:.1f}" for m in means) + " |")


if __name__ == "__main__":
    main()
