"""How the time to compile a kernel grows with its size, for each kind of growth.

    ./run benchmarks/softcuda/compile_growth.py [--limit 60] [--kilobytes 200] [--isa avx512 avx2 sse4] [KIND ...]

The kernels are generated as PTX. A process of its own compiles each of them, with no cache. A kind grows to
twice the size each time, from about 1000 instructions on, until a compilation takes more than --limit seconds,
or the PTX has --kilobytes.
Times are processor time of the compiling thread (SOFTCUDA_TIMES=1), in milliseconds for each 1000 lines of PTX:
where the time grows in proportion to the kernel, a column has equal numbers.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import subprocess
import sys

os.environ.setdefault("PYCUDA_DRIVER", "softcuda")

import numpy as np
from growing_kernels import KINDS as FIRST_KINDS
from growing_statements import MORE_KINDS

import pycuda.autoinit
import pycuda.driver as cuda

KINDS = FIRST_KINDS | MORE_KINDS
STAGES = ("PTX and IR", "analyses", "code generation", "LLVM's passes", "machine code")


def stage_of(line: str, name: str) -> str:
    """The stage of a pass, by the line of SOFTCUDA_TIMES that it is in."""
    if line.startswith("reading") or line.startswith("planning") and name in IR_PASSES:
        return STAGES[0]
    if line.startswith("planning"):
        return STAGES[1]
    return {"code generation": STAGES[2], "machine code": STAGES[4]}.get(
        name, STAGES[3]
    )


IR_PASSES = {
    "specialize",
    "fold",
    "simplify-flow",
    "dead-code",
    "canonicalize-loops",
    "split-pointers",
    "split-at-barriers",
    "simplify-loops",
    "close-loops",
}


def child(kind: str, size: int) -> None:
    """Compiles one kernel; its times go to stderr."""
    module = cuda.module_from_buffer(KINDS[kind][0](size).encode())
    memory = cuda.mem_alloc(4 * (256 + 64))
    cuda.memset_d32(memory, 1, 256 + 64)
    module.get_function("grow").bind(
        memory, np.uint32(1), grid=(1, 1), block=(256, 1, 1)
    )()
    cuda.Context.synchronize()


def measure(kind: str, size: int, isa: str) -> dict[str, float] | None:
    """Milliseconds by stage; None if the kernel takes much longer than the limit, or fails."""
    try:
        process = subprocess.run(
            [sys.executable, __file__, "--child", str(size), kind],
            env={
                **os.environ,
                "SOFTCUDA_DISABLE_CACHE": "1",
                "SOFTCUDA_TIMES": "1",
                "SOFTCUDA_ISA": isa,
            },
            stderr=subprocess.PIPE,
            text=True,
            timeout=600,
        )
    except subprocess.TimeoutExpired:
        return None
    times = dict.fromkeys(STAGES, 0.0)
    for line in process.stderr.splitlines():
        found = re.match(r"softcuda: times of (.*?): (.*)", line)
        for part in found[2].split(", ") if found else ():
            name, milliseconds = part.rsplit(" ", 1)
            times[stage_of(found[1], name)] += float(milliseconds)
    # A processor without the instructions compiles the kernel, and fails when it runs.
    return times if times[STAGES[-1]] > 0 else None


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kinds", nargs="*", default=list(KINDS), metavar="KIND")
    parser.add_argument("--limit", type=float, default=60, help="seconds")
    parser.add_argument(
        "--kilobytes", type=float, default=math.inf, help="the last size of the PTX"
    )
    parser.add_argument("--isa", nargs="+", default=["native"], metavar="ISA")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        assert pycuda.autoinit.device is not None
        child(options.kinds[0], options.child)
        return
    print(
        "| ms for each 1000 lines | ISA | lines | KB | "
        + " | ".join(STAGES)
        + " | all | s |"
    )
    print("|---|---|---:|---:|" + "---:|" * (len(STAGES) + 2))
    for kind in options.kinds:
        make, size = KINDS[kind]
        for isa in options.isa:
            print_growth(kind, make, size, isa, options.limit, options.kilobytes)


def print_growth(
    kind, make, size: int, isa: str, limit: float, kilobytes: float
) -> None:
    """The rows of one kind and ISA."""
    seconds = 0.0
    while seconds < limit:
        text = make(size)
        lines = text.count("\n")
        times = measure(kind, size, isa)
        row = f"| {kind} | {isa} | {lines} | {len(text) / 1000:.0f} | "
        if times is None:
            print(row + "failed or took more than 600 s |", flush=True)
            return
        seconds = sum(times.values()) / 1e3
        cells = [f"{t / lines * 1e3:.0f}" for t in (*times.values(), seconds * 1e3)]
        print(row + " | ".join(cells) + f" | {seconds:.1f} |", flush=True)
        if len(text) > kilobytes * 1000:
            return
        size *= 2


if __name__ == "__main__":
    main()
