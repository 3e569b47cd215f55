"""Times of the first use of an array operation: compiling its kernels without caches and with the caches on disk.

    ./run benchmarks/first_use.py [--processes 5] [--processor-time] [NAME ...]

Each figure is the median over new processes, in milliseconds, of the first call minus the second call. An
operation of another kind runs before, so that the compilers are already loaded; the time to load them has a row
of its own. A process runs three times: with no cache; with the compiler's output cached but without the
driver's code for it, which separates the two parts; with both. On a GPU the compiler makes the machine code.
`--processor-time` is for a machine with other work: it counts the processor time of all threads, so the times of
kernels that are compiled in parallel add up.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np

import pycuda
import pycuda.autoinit  # noqa: F401
import pycuda.driver as cuda
from pycuda import gpuarray, random

LIMIT = 40  # milliseconds, with no cache

#: The timed expressions by their names in the table; they can use the names of `operands()`.
OPERATIONS: dict[str, str] = {
    "x + y": "x + y",
    "2 * x": "2 * x",
    "x // y": "x // y",
    "x ** y": "x ** y",
    "x > y": "x > y",
    "exp": "gpuarray.exp(x)",
    "log": "gpuarray.log(x)",
    "sin": "gpuarray.sin(x)",
    "sin, float64": "gpuarray.sin(d)",
    "exp, complex64": "gpuarray.exp(c)",
    "x + y, float16": "h + h",
    "where": "gpuarray.where(b, x, y)",
    "astype": "x.astype('int32')",
    "x[::2] + y[::2]": "x[::2] + y[::2]",
    "matrix + row": "m + m[0]",
    "transposed copy": "m.T.copy()",
    "x[indices]": "x[i]",
    "x[mask]": "x[b]",
    "sum": "x.sum()",
    "sum, axis=0": "m.sum(axis=0)",
    "sum, axis=1": "m.sum(axis=1)",
    "mean": "x.mean()",
    "max": "x.max()",
    "argmax": "x.argmax()",
    "any": "b.any()",
    "var": "x.var()",
    "dot": "gpuarray.dot(x, y)",
    "matrix @ vector": "m @ x[:512]",
    "matmul": "m @ m",
    "matmul, float64": "e @ e",
    "cumsum": "x.cumsum()",
    "cumsum, float16": "h.cumsum()",
    "cumsum, axis=0": "m.cumsum(axis=0)",
    "sort": "gpuarray.sort(x)",
    "argsort": "gpuarray.argsort(x)",
    "random": "generator.random(1000, dtype=np.float32)",
    "normal": "generator.standard_normal(1000, dtype=np.float32)",
    "fused 2 * x + y": "fused(x, y)",
}
OPENING = "the first in a process (`-x`)"


def operands() -> dict[str, object]:
    """Arrays by the names that OPERATIONS use."""
    x = gpuarray.to_gpu(np.linspace(0.5, 2, 1 << 18, dtype=np.float32))
    return {
        "np": np,
        "gpuarray": gpuarray,
        "x": x,
        "y": gpuarray.to_gpu(x.get()),
        "d": gpuarray.to_gpu(x.get().astype(np.float64)),
        "c": gpuarray.to_gpu(x.get().astype(np.complex64)),
        "h": gpuarray.to_gpu(x.get().astype(np.float16)),
        "b": gpuarray.to_gpu(x.get() > 1),
        "i": gpuarray.to_gpu(np.arange(1000)),
        "m": x.reshape(512, 512),
        "e": gpuarray.to_gpu(x.get().astype(np.float64)).reshape(512, 512),
        "generator": random.Generator(1),
        "fused": pycuda.fuse(lambda x, y: 2 * x + y),
    }


def first_use(expression: str, clock: Callable[[], float]) -> float:
    """Milliseconds of the first call minus those of the second, in this process."""
    names = operands()
    if expression != OPENING:
        eval("-x", names)
        cuda.Context.synchronize()  # its kernel is compiled then
    else:
        expression = "-x"
    work = compile(expression, "<operation>", "eval")

    def milliseconds() -> float:
        start = clock()
        kept = eval(work, names)
        cuda.Context.synchronize()
        del kept
        return (clock() - start) * 1e3

    first = milliseconds()
    return first - min(milliseconds() for _ in range(3))


def in_process(expression: str, folder: str, options: list[str]) -> float:
    """first_use() in a process with its caches below `folder`."""
    caches = {
        "PYCUDA_CACHE_DIR": os.path.join(folder, "compiler"),
        "SOFTCUDA_CACHE_DIR": os.path.join(folder, "driver"),
        "CUDA_CACHE_PATH": os.path.join(folder, "nvidia"),
    }
    child = subprocess.run(
        [sys.executable, __file__, "--child", expression, *options],
        env={**os.environ, **caches},
        capture_output=True,
        text=True,
    )
    if child.returncode != 0:
        raise RuntimeError(f"{expression} failed:\n{child.stderr}")
    return float(child.stdout)


def times_of(expression: str, options: list[str]) -> tuple[float, float, float]:
    """Milliseconds cold, with the compiler's output cached, and with all cached."""
    with tempfile.TemporaryDirectory() as folder:
        cold = in_process(expression, folder, options)
        shutil.rmtree(os.path.join(folder, "driver"), ignore_errors=True)
        compiled = in_process(expression, folder, options)
        return cold, compiled, in_process(expression, folder, options)


def medians(sample: Callable[[], tuple[float, ...]], count: int) -> list[float]:
    """The median of each part over `count` samples."""
    return [
        statistics.median(part)
        for part in zip(*(sample() for _ in range(count)), strict=True)
    ]


def row(name: str, cold: float, compiled: float, cached: float) -> str:
    """A row of the table, in Markdown."""
    return f"| {name} | {cold:.0f} | {max(cold - compiled, 0):.0f} | {max(compiled - cached, 0):.0f} | {cached:.1f} |"


def main() -> None:
    """Print the table, the slowest first."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="operations; default: all"
    )
    parser.add_argument("--processes", type=int, default=3, help="samples of each")
    parser.add_argument(
        "--processor-time", action="store_true", help="count processor time"
    )
    parser.add_argument("--child", metavar="EXPRESSION", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        clock = time.process_time if arguments.processor_time else time.perf_counter
        print(first_use(arguments.child, clock))
        return
    options = ["--processor-time"] if arguments.processor_time else []
    if unknown := [name for name in arguments.names if name not in OPERATIONS]:
        parser.error(f"no operation {unknown[0]!r}; there are {', '.join(OPERATIONS)}")
    chosen = {name: OPERATIONS[name] for name in arguments.names} or {
        OPENING: OPENING,
        **OPERATIONS,
    }
    rows = {
        name: medians(
            lambda expression=expression: times_of(expression, options),
            arguments.processes,
        )
        for name, expression in chosen.items()
    }
    print(
        "| first use, ms | no cache | compiler | driver | cached |\n|---|---|---|---|---|"
    )
    for name, times in sorted(rows.items(), key=lambda item: -item[1][0]):
        print(row(name if name == OPENING else f"`{name}`", *times))
    slow = sum(times[0] > LIMIT for times in rows.values())
    print(
        f"\nmedian {statistics.median(times[0] for times in rows.values()):.0f} ms; "
        f"{slow} of {len(rows)} above the limit of {LIMIT} ms"
    )


if __name__ == "__main__":
    main()
