"""Programs of public collections: their CUDA kernels on the device beside their OpenMP twins on all cores.

    ./run python benchmarks/corpus --hecbench CHECKOUT [--only NAME ...] [--runs N]

The collections are not part of this repository; CHECKOUT is where one lies, such as a clone of
https://github.com/zjin-lcf/HeCBench. Each program's host code runs as it is, over runtime/, which is
as much of CUDA's runtime API as they need. Its twin is compiled with -Ofast -march=native and runs
on all cores. Both check their results. The times are those that the programs print, each the median
of N runs; the ratio is the twin's time by the kernels', so more than 1 means that the kernels win.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import translate
from programs import ROWS, Row

HERE = Path(__file__).resolve().parent
HOST = ["g++", "-O2", "-std=c++17", "-w", "-no-pie", f"-I{HERE / 'runtime'}"]
TWIN = ["g++", "-Ofast", "-march=native", "-fopenmp", "-std=c++17", "-w"]
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "seconds": 1.0}
PATIENCE = 200


class BrokenError(Exception):
    """A program cannot be built, ends with an error, or prints no time or a wrong result."""


@dataclass
class Result:
    """Seconds; kernels: how many of them the program launched."""

    ours: float
    twin: float
    kernels: int


def main() -> int:
    options = parse()
    checkouts = {"hecbench": options.hecbench}
    rows = [row for row in ROWS if not options.only or row.name in options.only]
    ratios, kernels, broken = [], 0, []
    print(f"{'program':24} {'kernels':>7} {'device':>11} {'OpenMP':>11} {'ratio':>6}")
    for row in rows:
        if not checkouts.get(row.collection):
            continue
        try:
            result = measure(row, checkouts[row.collection], options)
        except (BrokenError, ValueError) as error:
            broken.append(row.name)
            print(f"{row.name:24} {error}", flush=True)
            continue
        ratio = result.twin / result.ours
        ratios.append(ratio)
        kernels += result.kernels
        print(
            f"{row.name:24} {result.kernels:7} {seconds(result.ours)} {seconds(result.twin)} {ratio:6.2f}",
            flush=True,
        )
    if ratios:
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        print(
            f"{len(ratios)} programs, {kernels} kernels: geometric mean {mean:.2f}, "
            f"{sum(ratio < 0.5 for ratio in ratios)} under 0.5; not run: {len(broken)}"
        )
    return 1 if broken else 0


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hecbench", type=Path, help="a checkout of HeCBench")
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--build", type=Path, default=HERE.parents[1] / "build/corpus")
    return parser.parse_args()


def seconds(value: float) -> str:
    unit = next((u for u in ("s", "ms", "us") if value >= UNITS[u]), "ns")
    return f"{value / UNITS[unit]:8.2f} {unit:2}"


def measure(row: Row, checkout: Path, options) -> Result:
    folder = options.build / row.collection / row.name
    folder.mkdir(parents=True, exist_ok=True)
    build_program(row, checkout, folder, options.build)
    build_twin(row, checkout, folder)
    times = folder / "times"
    environment = {
        **os.environ,
        "CORPUS_DRIVER": driver_path(),
        "CORPUS_IMAGE": str(folder / "image"),
        "CORPUS_SYMBOLS": str(folder / "symbols"),
    }
    source, twin = (checkout / row.source).parent, (checkout / row.twin).parent
    ours_command = [folder / "program", *row.arguments.split()]
    twin_command = [folder / "twin", *(row.twin_arguments or row.arguments).split()]
    # The first run compiles; it also counts the kernels.
    run(row, ours_command, source, {**environment, "CORPUS_TIMES": str(times)})
    ours = [run(row, ours_command, source, environment) for _ in range(options.runs)]
    twins = [
        run(row, twin_command, twin, dict(os.environ)) for _ in range(options.runs)
    ]
    count = len(times.read_text().splitlines())
    return Result(statistics.median(ours), statistics.median(twins), count)


def driver_path() -> str:
    import pycuda.driver as cuda

    cuda.init()
    return cuda.get_driver_path()


def run(row: Row, command: list, folder: Path, environment: dict[str, str]) -> float:
    """Runs a program and checks its result; the seconds that it prints."""
    try:
        ran = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired as error:
        raise BrokenError(f"{command[0].name} takes more than {PATIENCE} s") from error
    output = ran.stdout + ran.stderr
    if ran.returncode != 0:
        last = (output.strip().splitlines() or ["nothing"])[-1]
        raise BrokenError(f"{command[0].name} ends with {ran.returncode}: {last[:80]}")
    if row.check == "pass" and ("PASS" not in output or "FAIL" in output):
        raise BrokenError(f"{command[0].name} does not pass its own check")
    found = [
        float(number) * UNITS[unit]
        for line in output.splitlines()
        if not re.search(r"[Tt]otal", line)
        for number, unit in re.findall(row.time, line)
    ]
    if not found:
        raise BrokenError(f"{command[0].name} prints no time")
    return sum(found)


# ---- building ------------------------------------------------------------------------------


def build_program(row: Row, checkout: Path, folder: Path, build: Path) -> None:
    """``program`` (its host code), ``symbols`` (its names and addresses), ``image`` (its kernels)."""
    file = checkout / row.source
    text = translate.read_with_includes(file)
    (folder / "host.cpp").write_text(translate.host_source(text))
    runtime = build / "runtime.o"
    if (
        not runtime.exists()
        or runtime.stat().st_mtime < (HERE / "runtime/runtime.cpp").stat().st_mtime
    ):
        call([*HOST, "-c", HERE / "runtime/runtime.cpp", "-o", runtime])
    call(
        [
            *HOST,
            *(f"-I{file.parent}", "-fopenmp", folder / "host.cpp", runtime, "-ldl"),
            *("-Wl,--unresolved-symbols=ignore-all", "-o", folder / "program"),
        ]
    )
    symbols = call(["nm", "--defined-only", folder / "program"])
    (folder / "symbols").write_text(symbols)
    readable = call(["nm", "--defined-only", "-C", folder / "program"])
    device = translate.device_source(text)
    device += translate.instances(device, readable)
    (folder / "device.cu").write_text(device)
    (folder / "image").write_bytes(compile_device(device))


def compile_device(text: str) -> bytes:
    import pycuda.autoprimaryctx  # noqa: F401
    import pycuda.compiler
    import pycuda.driver as cuda

    options = ["-std=c++17", "-w", "-default-device"]
    target = (
        {"target": "ptx", "arch": "sm_90"}
        if "softcuda" in cuda.get_driver_path()
        else {}
    )
    try:
        return pycuda.compiler.compile(
            text, options=options, no_extern_c=True, **target
        )
    except cuda.CompileError as error:
        lines = [line for line in str(error).splitlines() if "error" in line]
        raise BrokenError(f"NVRTC: {(lines or ['?'])[0][:120]}") from error


def build_twin(row: Row, checkout: Path, folder: Path) -> None:
    file = checkout / row.twin
    text = translate.openmp_source(translate.read_with_includes(file))
    (folder / "twin.cpp").write_text(text)
    ours = (checkout / row.source).parent
    call(
        [
            *TWIN,
            f"-I{file.parent}",
            f"-I{ours}",
            folder / "twin.cpp",
            "-o",
            folder / "twin",
        ]
    )


def call(command: list) -> str:
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode != 0:
        lines = [
            line for line in made.stderr.splitlines() if "error" in line
        ] or made.stderr.splitlines()
        raise BrokenError(f"{command[0]}: {(lines or ['?'])[0][-120:]}")
    return made.stdout


if __name__ == "__main__":
    sys.exit(main())
