#!/usr/bin/env python3
"""pycuda.tune's search on recorded times: the effect of a change of the search, without running a kernel.

    benchmarks/tune_replay.py [--rounds N] [--parts N] FILE ...

FILE is a table of all variants of a kernel: what benchmarks/tune.py --record writes, or another cache file of
kernel_tuner, also compressed (.gz). The block is in the parameters block_size_x, block_size_y and block_size_z, the elements
of a thread in tile_size_x and so on. The guess before the first measurement uses the current device's limits, and the
compiler's registers are unknown; so the replay is exact in the times only.

With --parts, N random parts of each table are searched as well: some parameters are fixed, and 12 to 200 variants remain.
Each round adds other noise to the times, up to 1 percent. Columns: the number of tables; the part of the searches that end within 5 percent of the
best variant; the geometric mean and the 90th percentile of the found time divided by the best one; the same for as many
random variants.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import random
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import NamedTuple

import numpy as np

import pycuda.autoinit  # noqa: F401 -- the model asks the current device
from pycuda.tune._processes import Outcome
from pycuda.tune._space import Configuration, Launch
from pycuda.tune._tuner import Code, Settings, Tuner
from pycuda.tune._worker import Job


class Table(NamedTuple):
    """Variants, each a choice of the parameters, and their times in ms; None for one that failed."""

    name: str
    problem: tuple[int, ...]
    variants: list[dict]
    times: list[float | None]


def read(file: str) -> Table:
    """A cache file of kernel_tuner. A file that was not closed is complete up to its last line."""
    data = Path(file).read_bytes()
    text = (gzip.decompress(data) if file.endswith(".gz") else data).decode().strip()
    if not text.endswith(("}\n}", "}}}")):
        text = text.rstrip(",") + "}\n}"
    content = json.loads(text)
    values = content["tune_params"]
    size = content["problem_size"]
    rows = [
        {name: row.get(name, values[name][0]) for name in values}
        for row in content["cache"].values()
    ]
    # A variant that does not compile has no time.
    times = [row.get("time") for row in content["cache"].values()]
    return Table(
        Path(file).name,
        tuple(size) if isinstance(size, (list, tuple)) else (size,),
        rows,
        [time if isinstance(time, float) and time < 1e9 else None for time in times],
    )


def part_of(table: Table, source: random.Random) -> Table | None:
    """The variants that agree with a random one in some parameters; None if they are too few or too many."""
    base = source.choice(table.variants)
    fixed = source.sample(list(base), source.randint(1, max(1, len(base) - 1)))
    rows = [
        i
        for i, variant in enumerate(table.variants)
        if all(variant[name] == base[name] for name in fixed)
    ]
    times = [table.times[i] for i in rows]
    if not 12 <= len(rows) <= 200 or sum(t is not None for t in times) < len(rows) / 2:
        return None
    return table._replace(variants=[table.variants[i] for i in rows], times=times)


def launch_of(row: int, variant: dict, problem: Sequence[int]) -> Launch:
    """The block and the grid of a variant. The source is the number of the row."""
    block = tuple(int(variant.get(f"block_size_{s}", 1)) for s in "xyz")
    tile = [int(variant.get(f"tile_size_{s}", 1)) for s in "xyz"]
    sizes = [*problem, 1, 1][:3]
    grid = (math.ceil(n / (b * t)) for n, b, t in zip(sizes, block, tile, strict=True))
    return Launch(str(row), (), "kernel", tuple(grid), block, 0)


class TableCompiler:
    """In the place of the compiler: all code is ready."""

    def begin(self, launch: Launch) -> Future:
        """The code of a variant: none."""
        ready: Future = Future()
        ready.set_result(Code(b"", launch.kernel, "cubin"))
        return ready

    def close(self) -> None:
        """Nothing has been started."""


class TableMeasurer:
    """In the place of the process that runs variants: the times are those of the table, with noise."""

    def __init__(self, times: Sequence[float | None], source: random.Random) -> None:
        self._times, self._source = times, source

    def measure(self, job: Job) -> Outcome:
        """The recorded time of the variant."""
        time = self._times[int(job.source)]
        if time is None:
            return Outcome("failed", 0.0, "failed in the record", None)
        noise = 1 + 0.01 * self._source.random()
        return Outcome("ok", time * noise / 1e3, "", None)

    def close(self) -> None:
        """Nothing has been started."""


def configuration_of(variant: dict) -> Configuration:
    """The variant as pycuda.tune has it: a block and macros."""
    block = tuple(int(variant.get(f"block_size_{s}", 1)) for s in "xyz")
    rest = {n: v for n, v in variant.items() if not n.startswith("block_size_")}
    return Configuration({"block": block, **rest})


def search(table: Table, source: random.Random) -> list[int]:
    """The rows that pycuda.tune measures with its defaults."""
    tuner = Tuner(
        [configuration_of(variant) for variant in table.variants],
        [launch_of(i, v, table.problem) for i, v in enumerate(table.variants)],
        TableCompiler(),
        TableMeasurer(table.times, source),
        Settings(limit=1.0, repeats=7, evaluations=None, verbose=False),
    )
    rows = {configuration_of(v): i for i, v in enumerate(table.variants)}
    return [rows[variant.configuration] for variant in tuner.run()]


def draw(table: Table, source: random.Random) -> list[int]:
    """As many random rows as pycuda.tune may measure."""
    count = len(table.variants)
    return source.sample(range(count), count if count <= 8 else max(3, count // 5))


def ratios(tables: list[Table], choose: Callable, rounds: int) -> np.ndarray:
    """The best time that was found, divided by the best time, for each table and round."""
    found = []
    for seed in range(rounds):
        source = random.Random(seed)
        for table in tables:
            times = [table.times[row] for row in choose(table, source)]
            least = min((t for t in times if t is not None), default=math.inf)
            found.append(least / min(t for t in table.times if t is not None))
    return np.minimum(found, 100.0)


def line(name: str, tables: list[Table], rounds: int) -> str:
    """A row of the output."""
    text = f"{name[:36]:36} {len(tables):6}"
    for choose in (search, draw):
        found = ratios(tables, choose, rounds)
        mean = np.exp(np.log(found).mean())
        text += (
            f" {(found <= 1.05).mean():8.0%} {mean:6.3f} {np.quantile(found, 0.9):6.3f}"
        )
    return text


def main() -> None:
    """Search all tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--rounds", type=int, default=3, help="searches of each table, 3 by default")  # fmt: skip
    parser.add_argument("--parts", type=int, default=0, help="random parts of each table")  # fmt: skip
    given = parser.parse_args()
    print(f"{'table':36} {'tables':>6} {'within 5%, mean, p90':>22} {'at random':>22}")
    for file in given.files:
        table = read(file)
        if len(table.variants) <= 1000:
            print(line(table.name, [table], given.rounds), flush=True)
        source = random.Random(0)
        tries = (part_of(table, source) for _ in range(200 * given.parts))
        parts = [part for part in tries if part][: given.parts]
        if parts:
            print(line(f"parts of {table.name}", parts, given.rounds), flush=True)


if __name__ == "__main__":
    main()
