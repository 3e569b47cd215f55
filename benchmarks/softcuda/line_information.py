"""Cost of line information: NVRTC with and without it, and softcuda on PTX with and without it.

    ./run benchmarks/softcuda/line_information.py [KERNEL...]

The kernels are those of compare.py. Each number is CPU time of all threads, the minimum of several rounds that take
turns: NVRTC from CUDA C++ to PTX, and softcuda from PTX to machine code (the first launch included), without its
cache on disk. The last line has the geometric means of the ratios.
"""

from __future__ import annotations

import argparse
import ctypes
import math
import os
import re
import statistics
import time
from collections.abc import Callable
from pathlib import Path

os.environ["PYCUDA_DRIVER"] = "softcuda"
os.environ["SOFTCUDA_DISABLE_CACHE"] = "1"

import cases

import pycuda.autoinit  # noqa: F401
import pycuda.driver as cuda
from pycuda import compiler

ROUNDS = 9
OPTIONS = [b"--gpu-architecture=compute_80"]
LINES = b"--generate-line-info"


def loaded_nvrtc() -> ctypes.CDLL:
    """The NVRTC that this process has compiled with, whose headers are in its folder."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        paths = {line.split()[-1] for line in maps if "libnvrtc.so" in line}
    path = paths.pop()
    OPTIONS[1:] = [b"-I" + str(Path(path).parent.parent / "include").encode()]
    return ctypes.CDLL(path)


def compile_text(nvrtc: ctypes.CDLL, text: bytes, options: list[bytes]) -> None:
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, b"kernel.cu", 0, None, None)
    words = (ctypes.c_char_p * len(options))(*options)
    status = nvrtc.nvrtcCompileProgram(program, len(options), words)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    if status != 0:
        raise RuntimeError(f"NVRTC failed with status {status}")


def least(runs: list[Callable[[], None]]) -> list[float]:
    """The minimum CPU time of each, in milliseconds."""
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(ROUNDS):
        for run, of_run in zip(runs, times, strict=True):
            start = time.process_time()
            run()
            of_run.append((time.process_time() - start) * 1e3)
    return [min(of_run) for of_run in times]


class FirstLaunch:
    """Loads PTX and launches its kernels; the text is different each time."""

    number = 0

    def __init__(self, case: cases.Case, ptx: bytes) -> None:
        self._case, self._ptx = case, ptx
        self._memory = {name: cuda.to_device(a) for name, a in case.arrays.items()}

    def __call__(self) -> None:
        FirstLaunch.number += 1
        module = cuda.module_from_buffer(self._ptx + b"\n// %d\n" % self.number)
        for launch in self._case.launches:
            arguments = (
                self._memory[a] if isinstance(a, str) else a for a in launch.arguments
            )
            block = (launch.block + (1, 1))[:3]
            module.get_function(launch.kernel)(
                *arguments, grid=launch.grid, block=block
            )
        cuda.Context.synchronize()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels", nargs="*", default=list(cases.NAMES))
    print("| kernel | NVRTC, ms | with lines | softcuda, ms | with lines |")
    print("|---|---:|---:|---:|---:|")
    ratios: list[tuple[float, float]] = []
    for name in parser.parse_args().kernels:
        case = cases.make(name)
        text = case.text("cu")
        ptx = compiler.compile(
            text, nvcc="nvrtc", target="ptx", arch="sm_80", cache_dir=False
        )
        nvrtc, source = loaded_nvrtc(), text.encode()
        without = re.sub(rb"^[ \t]*\.(loc|file)\b.*\n", b"", ptx, flags=re.MULTILINE)
        plain, lines = least(
            [
                lambda: compile_text(nvrtc, source, OPTIONS),  # noqa: B023
                lambda: compile_text(nvrtc, source, [*OPTIONS, LINES]),  # noqa: B023
            ]
        )
        code, code_lines = least([FirstLaunch(case, without), FirstLaunch(case, ptx)])
        ratios.append((lines / plain, code_lines / code))
        print(
            f"| {name} | {plain:.1f} | {lines / plain:.3f} | {code:.1f} | {code_lines / code:.3f} |",
            flush=True,
        )
    means = [
        math.exp(statistics.fmean(map(math.log, of)))
        for of in zip(*ratios, strict=True)
    ]
    print(f"| geometric mean | | {means[0]:.3f} | | {means[1]:.3f} |")


if __name__ == "__main__":
    main()
