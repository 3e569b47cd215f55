"""Whole programs of arrays, in NumPy's words, with the same words in CuPy, or in NumPy on the CPU.

    ./run benchmarks/array_programs.py [--sizes "1 Ki,1 Mi"] [--seconds N] [names]

A function of a library has a row in every_function.py. A program is what people make of functions: clusters of points,
a histogram's equalisation, run lengths, one-hot vectors, sliding windows. Each is run with arrays of each library, and
its results are compared with NumPy's. A time is that of a call that waits for the device, the least of several. The
programs with the smallest ratios come first.
"""

import argparse
import math
import sys
import time
import warnings

import numpy as np
import programs_of_fields
import programs_of_tables
from every_function import (
    Library,
    _Pycuda,
    count_of,
    cuda,
    differs,
    gpuarray,
    libraries,
    on_host,
)

PROGRAMS = {**programs_of_fields.PROGRAMS, **programs_of_tables.PROGRAMS}


class Data:
    """Operands by name, made when a program first asks for them."""

    def __init__(self, array, count: int) -> None:
        self.array, self.n = array, count
        self.side = math.isqrt(count)

    def __getattr__(self, name):
        random = np.random.default_rng(sum(map(ord, name)))
        value = self.array(_OPERANDS[name](random, self.n, self.side))
        setattr(self, name, value)
        return value


class Ours(_Pycuda):
    """NumPy's functions, which take arrays of the device, and the functions of pycuda that make arrays."""

    _MADE = set(
        "arange array empty eye full hanning identity indices linspace mgrid ogrid ones tri triu_indices zeros".split()
    )

    def __getattr__(self, name):
        if name not in self._MADE:
            return super().__getattr__(name)
        function = getattr(gpuarray, name)
        if name not in ("empty", "ones", "zeros"):
            return function
        return lambda shape, dtype=np.float64: function(shape, dtype)


_OPERANDS = {
    "x": lambda r, n, s: r.random(n, np.float32) + np.float32(0.1),
    "y": lambda r, n, s: r.standard_normal(n, np.float32),
    "signal": lambda r, n, s: np.sin(np.arange(n) / 50).astype("f4") + r.random(n, np.float32),
    "holes": lambda r, n, s: np.where(r.random(n) < 0.1, np.nan, r.random(n)).astype("f4"),
    "m": lambda r, n, s: r.random((s, s), np.float32),
    "points": lambda r, n, s: r.standard_normal((n // 4, 4), np.float32),
    "some_points": lambda r, n, s: r.standard_normal((s, 3), np.float32),
    "centres": lambda r, n, s: r.standard_normal((8, 4), np.float32),
    "features": lambda r, n, s: r.standard_normal((n // 16, 16), np.float32),
    "logits": lambda r, n, s: r.standard_normal((n // 32, 32), np.float32),
    "labels": lambda r, n, s: r.integers(0, 32, n // 32),
    "image": lambda r, n, s: r.integers(0, 256, (s // 2 * 2, s // 2 * 2), "u1"),
    "colours": lambda r, n, s: r.integers(0, 256, (s // 2, s // 2, 3), "u1"),
    "cells": lambda r, n, s: (r.random((s, s)) < 0.3).astype("i4"),
    "keys": lambda r, n, s: r.integers(0, 100, n),
    "whole": lambda r, n, s: r.integers(0, 1000, n, "i4"),
    "runs": lambda r, n, s: np.repeat(r.integers(0, 5, n // 4 + 1, "i4"), 4)[:n],
    "bits": lambda r, n, s: r.integers(0, 2, n // 8 * 8, "u1"),
    "bytes": lambda r, n, s: r.integers(0, 256, n, "u1"),
    "mask": lambda r, n, s: r.random(n) > 0.5,
    "draws": lambda r, n, s: r.integers(0, n, n),
    "table": lambda r, n, s: np.cumsum(r.random(65)).astype("f4"),
    "stacks": lambda r, n, s: r.random((n // 16, 4, 4), np.float32),
    "vectors": lambda r, n, s: r.random((n // 16, 4), np.float32),
    "few": lambda r, n, s: r.random((8, 8), np.float32),
    "taps": lambda r, n, s: r.random(31, np.float32),
    "complex": lambda r, n, s: (r.random(n) + 1j * r.random(n)).astype("c8"),
    "days": lambda r, n, s: r.random((n // 24, 24), np.float32),
    "edges": lambda r, n, s: np.linspace(0.1, 1.1, 33).astype("f4"),
}  # fmt: skip


def outcome(function, np_like, data):
    """The results, or the error's text."""
    try:
        return on_host(function(np_like, data))
    except Exception as error:  # noqa: BLE001 -- the row says so
        return f"{type(error).__name__}: {error}"


def failure(name: str, count: int) -> str | None:
    """What is wrong with a program's results on the device; None if they are NumPy's."""
    expected = on_host(PROGRAMS[name](np, Data(np.array, count)))
    ours = outcome(PROGRAMS[name], Ours(), Data(gpuarray.to_gpu, count))
    if isinstance(ours, str):
        return ours
    return "other values than NumPy's" if differs(ours, expected) else None


def timed(library: Library, function, data: Data) -> float:
    try:
        return library.best(lambda: function(library.namespace, data))
    except Exception as error:  # noqa: BLE001 -- a peer may lack a function
        print(f"{library.name}: {type(error).__name__}: {error}"[:150], file=sys.stderr)
        return math.nan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--sizes", default="1 Ki,1 Mi")
    parser.add_argument("--check", action="store_true", help="compare values only")
    parser.add_argument("--list", action="store_true", help="print the names only")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    names = options.names or list(PROGRAMS)
    if options.list:
        print("\n".join(names))
        return
    if options.check:
        for name in names:
            print(f"{name}: {failure(name, 1024) or 'right'}", flush=True)
        return
    end = time.perf_counter() + options.seconds
    rows, left = [], 0
    both = [one for one in libraries() if one.name != "torch"]
    for size in options.sizes.split(","):
        data = [Data(one.array, count_of(size)) for one in both]
        both[0].namespace = Ours()
        for name in names:
            if time.perf_counter() > end:
                left += 1
                continue
            own, *others = [
                timed(one, PROGRAMS[name], operands)
                for one, operands in zip(both, data, strict=True)
            ]
            cuda.Context.synchronize()
            peer = others[0] if others else math.nan
            rows.append((peer / own, name, size, own, peer))
            print(rows[-1], file=sys.stderr, flush=True)
    print(f"| program | elements | {both[0].name}, µs | {both[-1].name}, µs | ratio |")
    print("|---|---|---:|---:|---:|")
    known = sorted(row for row in rows if row[0] == row[0])
    for ratio, name, size, own, peer in known:
        print(f"| {name} | {size} | {own:.4g} | {peer:.4g} | {ratio:.2f} |")
    for row in rows:
        if row[0] != row[0]:
            print(f"not compared: {row[1]}, {row[2]}: {row[3]:.4g} and {row[4]:.4g} µs")
    for size in options.sizes.split(","):
        ratios = [row[0] for row in known if row[2] == size]
        if ratios:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            print(
                f"{size}: {len(ratios)} programs, geometric mean {mean:.2f}, "
                f"{sum(one < 0.9 for one in ratios)} below 0.9"
            )
    if left:
        print(f"{left} rows were not measured")


if __name__ == "__main__":
    main()
