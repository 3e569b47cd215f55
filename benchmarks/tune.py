#!/usr/bin/env python3
"""pycuda.tune beside kernel_tuner: evaluations, and the best time that each finds.

    benchmarks/tune.py [--size FACTOR] [--most N] [--seconds S] [--record FOLDER] [--json FILE] [NAME ...]

The kernels have the parameters of kernel_tuner's examples of the same names: vector_add, matmul, convolution (filter of
17 x 17) and stencil. kernel_tuner searches all variants in a random order, through this package as its backend, and
prints each 5 seconds how far it is. After --seconds it stops with the variants that it has. --record keeps the time of
each variant in FOLDER/NAME.json: a later run continues there, and benchmarks/tune_replay.py searches these tables.
pycuda.tune runs with its defaults and without its cache. Then the two best variants are timed in turn in this process, so
that the comparison does not depend on how each tuner measures.

Columns: variants that the parameters allow; evaluations and seconds of each tuner; the time of the best variant of each;
and the last divided by the first. The limit for the ratio is 1.05, with at most a fifth of the evaluations.

Without kernel_tuner (pip install kernel_tuner) only pycuda.tune's columns are filled.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import pycuda
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule
from pycuda.tune import Configuration

ADD = """
__global__ void vector_add(float *c, const float *a, const float *b, int n) {
    int i = blockIdx.x * block_size_x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}"""

PRODUCT = """
// Each block makes a square of (block_size_x * tile_size_x) columns, block_size_x rows at a time.
__global__ void matmul(float *c, const float *a, const float *b, int n) {
    __shared__ float left[block_size_y * tile_size_y][block_size_x];
    __shared__ float right[block_size_x][block_size_x * tile_size_x];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * block_size_x * tile_size_x + tx;
    int y = blockIdx.y * block_size_y * tile_size_y + ty;
    float sum[tile_size_y][tile_size_x] = {};
    for (int k = 0; k < n; k += block_size_x) {
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < tile_size_y; ++i) {
            left[ty + i * block_size_y][tx] = a[(y + i * block_size_y) * n + k + tx];
            #pragma unroll
            for (int j = 0; j < tile_size_x; ++j)
                right[ty + i * block_size_y][tx + j * block_size_x] =
                    b[(k + ty + i * block_size_y) * n + x + j * block_size_x];
        }
        __syncthreads();
        #pragma unroll
        for (int m = 0; m < block_size_x; ++m)
            #pragma unroll
            for (int i = 0; i < tile_size_y; ++i)
                #pragma unroll
                for (int j = 0; j < tile_size_x; ++j)
                    sum[i][j] += left[ty + i * block_size_y][m] * right[m][tx + j * block_size_x];
    }
    for (int i = 0; i < tile_size_y; ++i)
        for (int j = 0; j < tile_size_x; ++j)
            c[(y + i * block_size_y) * n + x + j * block_size_x] = sum[i][j];
}"""

CONVOLUTION = """
#define SIDE 17
#define WIDTH (block_size_x * tile_size_x + SIDE - 1 + use_padding)
__constant__ float weights[SIDE * SIDE];
__global__ void convolution(float *y, const float *x, int n) {
    __shared__ float part[block_size_y * tile_size_y + SIDE - 1][WIDTH];
    int x0 = blockIdx.x * block_size_x * tile_size_x, y0 = blockIdx.y * block_size_y * tile_size_y;
    int width = n + SIDE - 1;
    for (int i = threadIdx.y; i < block_size_y * tile_size_y + SIDE - 1; i += block_size_y)
        for (int j = threadIdx.x; j < block_size_x * tile_size_x + SIDE - 1; j += block_size_x)
            if (y0 + i < width && x0 + j < width) part[i][j] = x[(y0 + i) * width + x0 + j];
    __syncthreads();
    float sum[tile_size_y][tile_size_x] = {};
    for (int i = 0; i < SIDE; ++i)
        for (int j = 0; j < SIDE; ++j)
            #pragma unroll
            for (int v = 0; v < tile_size_y; ++v)
                #pragma unroll
                for (int u = 0; u < tile_size_x; ++u)
                    sum[v][u] += weights[i * SIDE + j] *
                        part[threadIdx.y + v * block_size_y + i][threadIdx.x + u * block_size_x + j];
    for (int v = 0; v < tile_size_y; ++v)
        for (int u = 0; u < tile_size_x; ++u) {
            int row = y0 + threadIdx.y + v * block_size_y, column = x0 + threadIdx.x + u * block_size_x;
            if (row < n && column < n) y[row * n + column] = sum[v][u];
        }
}"""

STENCIL = """
__global__ void stencil(float *y, const float *x, int n) {
    int i = blockIdx.y * block_size_y + threadIdx.y, j = blockIdx.x * block_size_x + threadIdx.x;
    if (i > 0 && j > 0 && i < n - 1 && j < n - 1)
        y[i * n + j] = 0.2f * (x[i * n + j] + x[(i - 1) * n + j] + x[(i + 1) * n + j] +
                               x[i * n + j - 1] + x[i * n + j + 1]);
}"""


class Example(NamedTuple):
    """A kernel, its arguments for a size, its parameters and rules as kernel_tuner takes them."""

    source: str
    size: int
    make: Callable[[int], tuple[list, dict]]
    parameters: dict[str, list[int]]
    rules: list[str]
    dimensions: int


def _vectors(n: int) -> tuple[list, dict]:
    a, b = np.random.default_rng(0).normal(size=(2, n)).astype(np.float32)
    return [np.zeros_like(a), a, b, np.int32(n)], {}


def _matrices(n: int) -> tuple[list, dict]:
    a, b = np.random.default_rng(0).normal(size=(2, n, n)).astype(np.float32)
    return [np.zeros_like(a), a, b, np.int32(n)], {}


def _image(n: int) -> tuple[list, dict]:
    random = np.random.default_rng(0)
    x = random.normal(size=(n + 16, n + 16)).astype(np.float32)
    weights = random.normal(size=17 * 17).astype(np.float32)
    return [np.zeros((n, n), np.float32), x, np.int32(n)], {"weights": weights}


def _grid(n: int) -> tuple[list, dict]:
    x = np.random.default_rng(0).normal(size=(n, n)).astype(np.float32)
    return [np.zeros_like(x), x, np.int32(n)], {}


POWERS = [2**i for i in range(6)]
EXAMPLES = {
    "vector_add": Example(
        ADD,
        10_000_000,
        _vectors,
        {"block_size_x": [128 + 64 * i for i in range(15)]},
        [],
        1,
    ),
    "matmul": Example(
        PRODUCT,
        4096,
        _matrices,
        {
            "block_size_x": [16, 32, 64],
            "block_size_y": POWERS,
            "tile_size_x": [1, 2, 4, 8],
            "tile_size_y": [1, 2, 4, 8],
        },
        ["block_size_x == block_size_y * tile_size_y"],
        2,
    ),
    "convolution": Example(
        CONVOLUTION,
        4096,
        _image,
        {
            "block_size_x": [16 * i for i in range(1, 9)],
            "block_size_y": POWERS,
            "tile_size_x": [1, 2, 4],
            "tile_size_y": [1, 2, 4],
            "use_padding": [0, 1],
        },
        [
            "use_padding == 0 or block_size_x % 32 != 0",
            "block_size_x * block_size_y >= 32",
        ],
        2,
    ),
    "stencil": Example(
        STENCIL,
        4096,
        _grid,
        {"block_size_x": [32 * i for i in range(1, 9)], "block_size_y": POWERS},
        [],
        2,
    ),
}


def grid_of(example: Example, n: int, p: dict) -> tuple[int, ...]:
    """The blocks for a variant."""
    sides = "xy"[: example.dimensions]
    return tuple(
        math.ceil(n / (p[f"block_size_{s}"] * p.get(f"tile_size_{s}", 1)))
        for s in sides
    )


def valid_variants(example: Example) -> list[dict]:
    """All variants that the rules and the size of a block permit."""
    values = itertools.product(*example.parameters.values())
    every = [dict(zip(example.parameters, chosen, strict=True)) for chosen in values]
    return [p for p in every if is_valid(example, p)]


def is_valid(example: Example, p: dict) -> bool:
    """Whether a variant obeys the rule and fits a block."""
    threads = p["block_size_x"] * p.get("block_size_y", 1)
    return threads <= 1024 and all(eval(rule, {}, p) for rule in example.rules)


def full(example: Example, c: Configuration) -> dict:
    """A configuration of pycuda.tune with kernel_tuner's names."""
    sizes = {f"block_size_{s}": c.block[i] for i, s in enumerate("xy")}
    return {**sizes, **c}


def search_here(name: str, example: Example, n: int) -> dict:
    """pycuda.tune with its defaults."""
    arguments, constants = example.make(n)
    parameters = dict(example.parameters)
    sides = {s: parameters.pop(f"block_size_{s}", [1]) for s in "xy"}
    begin = time.perf_counter()
    tuned = pycuda.tune(
        example.source,
        [cuda.Out(arguments[0]), *map(_as_input, arguments[1:])],
        name=name,
        block=sides,
        defines={
            **parameters,
            "block_size_x": lambda c: c.block[0],
            "block_size_y": lambda c: c.block[1],
        },
        restrict=lambda c: is_valid(example, full(example, c)),
        grid=lambda c: grid_of(example, n, full(example, c)),
        constants=constants,
        cache_dir=False,
    )
    best = {p: full(example, tuned.best)[p] for p in example.parameters}
    return {
        "choices": tuned.choices,
        "evaluations": len(tuned.variants),
        "seconds": time.perf_counter() - begin,
        "best": best,
    }


def _as_input(argument: object) -> object:
    return cuda.In(argument) if isinstance(argument, np.ndarray) else argument


def progress_of(name: str, variants: int) -> object:
    """An observer of kernel_tuner that prints each 5 seconds how many variants have been run."""
    from kernel_tuner.observers import BenchmarkObserver

    class Progress(BenchmarkObserver):
        def __init__(self) -> None:
            self._count, self._next = 0, time.perf_counter() + 5

        def get_results(self) -> dict:
            self._count += 1
            if time.perf_counter() > self._next:
                self._next = time.perf_counter() + 5
                print(f"    {name}: {self._count} of {variants} variants", flush=True)
            return {}

    return Progress()


def search_kernel_tuner(
    name: str, example: Example, n: int, limits: argparse.Namespace
) -> dict:
    """kernel_tuner's search of all variants, or of a random part if ``limits`` has a number or a time."""
    import kernel_tuner

    arguments, constants = example.make(n)
    sides = "xy"[: example.dimensions]
    divisors = {
        f"grid_div_{s}": [
            p for p in (f"block_size_{s}", f"tile_size_{s}") if p in example.parameters
        ]
        for s in sides
    }
    variants = len(valid_variants(example))
    how: dict = {"fraction": 1.0, "time_limit": limits.seconds}
    if limits.most is not None:
        how["max_fevals"] = limits.most
    if limits.record:
        Path(limits.record).mkdir(parents=True, exist_ok=True)
    begin = time.perf_counter()
    results, _ = kernel_tuner.tune_kernel(
        name,
        example.source,
        (n,) * example.dimensions,
        arguments,
        example.parameters,
        restrictions=example.rules or None,
        cmem_args=constants or None,
        lang="PYCUDA",
        quiet=True,
        strategy="random_sample",
        strategy_options=how,
        observers=[progress_of(name, variants)],
        cache=limits.record and f"{limits.record}/{name}.json",
        **divisors,
    )
    done = [r for r in results if r]
    valid = [r for r in done if isinstance(r.get("time"), float)]
    best = min(valid, key=lambda r: r["time"])
    return {
        "evaluations": len(done),
        "choices": variants,
        "seconds": time.perf_counter() - begin,
        "best": {p: best[p] for p in example.parameters},
    }


class Launcher:
    """A variant in this process, to be timed."""

    def __init__(self, name: str, example: Example, n: int, best: dict) -> None:
        arguments, constants = example.make(n)
        options = [f"-D{p}={value}" for p, value in best.items()]
        self._module = SourceModule(example.source, options=options)
        for variable, value in constants.items():
            cuda.memcpy_htod(self._module.get_global(variable)[0], value)
        devices = [
            cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments
        ]
        block = (best["block_size_x"], best.get("block_size_y", 1), 1)
        self._launch = self._module.get_function(name).bind(
            *devices, block=block, grid=grid_of(example, n, best)
        )
        self._events = cuda.Event(), cuda.Event()

    def seconds(self) -> float:
        """One run."""
        begin, end = self._events
        begin.record()
        self._launch()
        end.record().synchronize()
        return begin.time_till(end) / 1e3


def times_in_turn(launchers: list[Launcher], rounds: int = 30) -> list[float]:
    """The shortest run of each variant; the variants run in turn."""
    times = [[launcher.seconds() for launcher in launchers] for _ in range(rounds)]
    return [min(column) for column in zip(*times, strict=True)]


def compare(name: str, given: argparse.Namespace) -> dict:
    """One row of the table."""
    example = EXAMPLES[name]
    n = max(512, int(example.size * given.size) // 512 * 512)  # tiles fit
    print(f"    {name}: pycuda.tune, then kernel_tuner", flush=True)
    row: dict = {"kernel": name, "size": n, "tune": search_here(name, example, n)}
    found = [row["tune"]]
    try:
        row["kernel_tuner"] = search_kernel_tuner(name, example, n, given)
        found.append(row["kernel_tuner"])
    except ImportError as missing:
        row["kernel_tuner"] = None
        row["missing"] = str(missing)
    launchers = [Launcher(name, example, n, one["best"]) for one in found]
    for one, seconds in zip(found, times_in_turn(launchers), strict=True):
        one["best_seconds"] = seconds
    return row


def show(row: dict) -> None:
    """Print a row, and the best variants below."""
    tune, other = row["tune"], row["kernel_tuner"]
    text = (
        f"{row['kernel']:12} {row['size']:9} {tune['choices']:8} "
        f"{tune['evaluations']:6} {tune['seconds']:7.1f} s {tune['best_seconds'] * 1e3:9.3f} ms"
    )
    if other:
        ratio = tune["best_seconds"] / other["best_seconds"]
        text += (
            f" {other['evaluations']:6} {other['seconds']:7.1f} s "
            f"{other['best_seconds'] * 1e3:9.3f} ms {ratio:6.3f}"
        )
    print(text, flush=True)
    print(f"    pycuda.tune:  {tune['best']}")
    print(f"    kernel_tuner: {other['best'] if other else row['missing']}", flush=True)
    if other and other["evaluations"] < other["choices"]:
        print(
            f"    kernel_tuner has not run all {other['choices']} variants", flush=True
        )


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help=f"of {', '.join(EXAMPLES)}")
    parser.add_argument("--size", type=float, default=1.0, help="of the data, 1 as in kernel_tuner's examples")  # fmt: skip
    parser.add_argument("--most", type=int, help="kernel_tuner runs so many random variants instead of all")  # fmt: skip
    parser.add_argument("--seconds", type=float, default=100.0, help="of kernel_tuner's search of a kernel, 100 by default")  # fmt: skip
    parser.add_argument("--record", help="a folder for the times of all variants")  # fmt: skip
    parser.add_argument("--json", help="a file for the rows")
    given = parser.parse_args()
    if unknown := set(given.names) - set(EXAMPLES):
        parser.error(f"there is no {sorted(unknown)[0]}; known are {', '.join(EXAMPLES)}")  # fmt: skip
    print(pycuda.autoinit.device.name())
    print(
        f"{'kernel':12} {'size':>9} {'variants':>8} {'pycuda.tune: runs, time, best':>28} "
        "  kernel_tuner: runs, time, best    ratio"
    )
    rows = []
    for name in given.names or EXAMPLES:
        rows.append(compare(name, given))
        show(rows[-1])
        if given.json:
            with open(given.json, "w") as file:
                json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
