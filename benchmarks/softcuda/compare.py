"""softcuda's kernels compared with hand-written SIMD code and PoCL, in one run.

    ./run ninja -C build/release hand_written
    ./run pip install -r benchmarks/requirements.txt        # optional: for PoCL's column
    ./run benchmarks/softcuda/compare.py [--processor-time] [KERNEL...]

For each kernel the results of all sides are compared, then all are timed in turn, so that a change of the
machine's speed affects all of them equally. The table is Markdown: medians in milliseconds, the worst ratio first. A
ratio is the time of the other side divided by softcuda's: 1 means equally fast. ``≈`` marks a ratio
whose times were unsteady: the interquartile range is more than a quarter of the median. On a
busy machine look at the ratio of the fastest runs.

``--processor-time`` is for a machine with much other work: all sides use one thread, and the table has processor
times instead of the time that passes.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
import time
from dataclasses import dataclass

# OpenMP's threads would spin between rounds on the cores that the other sides need. Its runtime
# reads this when the library is opened.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("PYCUDA_DRIVER", "softcuda")
if "--processor-time" in sys.argv:
    os.environ |= {"OMP_NUM_THREADS": "1", "SOFTCUDA_THREADS": "1"}

import cases
from sides import HandWritten, Pocl, SoftCuda

import pycuda.autoinit

ROUNDS, LEAST_ROUNDS, SECONDS = 21, 5, 15.0
SHORT = 10.0  # milliseconds
PROCESSOR_TIME = "--processor-time" in sys.argv
CLOCK = time.process_time if PROCESSOR_TIME else time.perf_counter
Side = HandWritten | SoftCuda | Pocl


@dataclass
class Times:
    """Milliseconds of some runs."""

    samples: list[float]

    @property
    def median(self) -> float:
        return statistics.median(self.samples)

    @property
    def steady(self) -> bool:
        first, _, third = statistics.quantiles(self.samples, n=4)
        return third - first <= 0.25 * self.median


@dataclass
class Row:
    """One kernel's times for each side."""

    case: cases.Case
    times: dict[str, Times]

    def ratio(self, peer: str) -> float | None:
        """The peer's time divided by softcuda's."""
        if peer not in self.times:
            return None
        return self.times[peer].median / self.times[SoftCuda.name].median

    @property
    def fastest_ratio(self) -> float:
        """The time of the fastest run of the hand-written code divided by softcuda's."""
        hand, ours = self.times[HandWritten.name], self.times[SoftCuda.name]
        return min(hand.samples) / min(ours.samples)

    def steady(self, peer: str) -> bool:
        return self.times[peer].steady and self.times[SoftCuda.name].steady


def check(case: cases.Case, sides: list[Side]) -> None:
    """Runs each side once from fresh arrays; exits if a result differs from the first side's."""
    wanted = None
    for side in sides:
        side.run()
        results = side.results()
        wanted = results if wanted is None else wanted
        if complaint := case.complaint(results, wanted):
            sys.exit(
                f"{case.name}: {side.name} and {sides[0].name} differ: {complaint}"
            )


def measure(case: cases.Case, sides: list[Side], rounds: int) -> Row:
    """Times all sides in turn. Before a short run comes an untimed one that wakes the threads and the cores."""
    check(case, sides)
    samples: dict[str, list[float]] = {side.name: [] for side in sides}
    end = time.perf_counter() + SECONDS
    for done in range(rounds):
        for side in sides:
            if done == 0 or samples[side.name][-1] < SHORT:
                side.run()
            start = CLOCK()
            side.run()
            samples[side.name].append((CLOCK() - start) * 1e3)
        if done + 1 >= LEAST_ROUNDS and time.perf_counter() > end:
            break
    return Row(case, {name: Times(values) for name, values in samples.items()})


def geometric_mean(values: list[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values)))


def cells(row: Row) -> list[str]:
    """One row of the table."""

    def milliseconds(name: str) -> str:
        return f"{row.times[name].median:.3g}" if name in row.times else "–"

    def ratio(name: str) -> str:
        value = row.ratio(name)
        return "–" if value is None else f"{'' if row.steady(name) else '≈'}{value:.2f}"

    return [
        row.case.title,
        row.case.size,
        *map(milliseconds, (HandWritten.name, SoftCuda.name, Pocl.name)),
        ratio(HandWritten.name),
        f"{row.fastest_ratio:.2f}",
        ratio(Pocl.name),
    ]


def table(rows: list[Row]) -> str:
    """All rows as Markdown, the worst compared with hand-written code first, and the geometric means."""
    rows = sorted(rows, key=lambda row: row.fastest_ratio)
    lines = [
        "| kernel | size | hand-written, ms | softcuda, ms | PoCL, ms "
        "| to hand-written | fastest runs | to PoCL |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += ["| " + " | ".join(cells(row)) + " |" for row in rows]

    def mean(ratios: list[float | None]) -> str:
        there = [ratio for ratio in ratios if ratio is not None]
        return f"{geometric_mean(there):.2f}" if there else "–"

    means = [
        mean([row.ratio(HandWritten.name) for row in rows]),
        mean([row.fastest_ratio for row in rows]),
        mean([row.ratio(Pocl.name) for row in rows]),
    ]
    lines.append("| geometric mean | | | | | " + " | ".join(means) + " |")
    return "\n".join(lines)


def pocl_or_none() -> type[Pocl] | None:
    try:
        print(f"PoCL: {Pocl.device().platform.version}", file=sys.stderr)
    except (ImportError, LookupError) as reason:
        print(f"PoCL's column stays empty: {reason}", file=sys.stderr)
        return None
    return Pocl


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "kernels", nargs="*", metavar="KERNEL", help=", ".join(cases.NAMES)
    )
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, help="at most so many each"
    )
    parser.add_argument(
        "--processor-time", action="store_true", help="of one thread for each side"
    )
    arguments = parser.parse_args()
    for name in arguments.kernels:
        if name not in cases.NAMES:
            parser.error(
                f"no kernel is named {name!r}; there are {', '.join(cases.NAMES)}"
            )
    if not HandWritten.library().exists():
        sys.exit("libhand_written.so is not built: ninja -C build/release hand_written")
    print(
        f"{pycuda.autoinit.device.name()}, {len(os.sched_getaffinity(0))} cores",
        file=sys.stderr,
    )
    pocl = None if PROCESSOR_TIME else pocl_or_none()  # it has no setting for threads
    rows = []
    for name in arguments.kernels or cases.NAMES:
        case = cases.make(name)
        sides: list[Side] = [HandWritten(case), SoftCuda(case)]
        if pocl and case.opencl:
            sides.append(pocl(case))
        rows.append(measure(case, sides, arguments.rounds))
        print("  ".join(cells(rows[-1])), file=sys.stderr)
    print(table(rows))


if __name__ == "__main__":
    main()
