"""Compares CUDA kernels of public collections on the device with their OpenMP versions ("twins") on all cores.

    ./run python benchmarks/corpus --hecbench CHECKOUT [--only NAME ...] [--runs N] [--one-core]

The collections are not part of this repository. CHECKOUT is the path of a collection, such as a clone of
https://github.com/zjin-lcf/HeCBench. Each program's host code runs unchanged on runtime/, which implements as
much of CUDA's runtime API as the programs need. The twin is compiled with -Ofast -march=native and runs
on all cores. The results are checked: by the program itself, or by comparing what the two print.

The times are those that the programs print. Both programs run in turn, N times; a time is the median.
Only times with the same label are added up: a CUDA program often has variants of a kernel that its twin
lacks. The ratio is the twin's time divided by the kernels' time: above 1, the kernels are faster.

--one-core is for machines with other work: both programs run with one thread, and their clocks count the
process's own processor time (runtime/processor_time.cpp).
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
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"


class BrokenError(Exception):
    """A program cannot be built, ends with an error, or prints no time or a wrong result."""


@dataclass
class Result:
    """Seconds of each program; kernels: the number of kernels that were measured."""

    ours: float
    twin: float
    kernels: int


@dataclass
class Output:
    """What a program printed: its times in seconds by label, and the lines without times."""

    times: dict[tuple[str, int], float]
    rest: list[str]


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
    parser.add_argument("--one-core", action="store_true")
    parser.add_argument("--build", type=Path, default=HERE.parents[1] / "build/corpus")
    return parser.parse_args()


def seconds(value: float) -> str:
    unit = next((u for u in ("s", "ms", "us") if value >= UNITS[u]), "ns")
    return f"{value / UNITS[unit]:8.2f} {unit:2}"


def measure(row: Row, checkout: Path, options) -> Result:
    folder = options.build / row.collection / row.name
    folder.mkdir(parents=True, exist_ok=True)
    if not is_built(row, checkout, folder):
        build_program(row, checkout, folder, options.build)
        build_twin(row, checkout, folder)
    times = folder / "times"
    common = {**os.environ, **(one_core(options.build) if options.one_core else {})}
    environment = {
        **common,
        "CORPUS_DRIVER": driver_path(),
        "CORPUS_IMAGE": str(folder / "image"),
        "CORPUS_SYMBOLS": str(folder / "symbols"),
    }
    source, twin = (checkout / row.source).parent, (checkout / row.twin).parent
    ours_command = [folder / "program", *row.arguments.split()]
    twin_command = [folder / "twin", *(row.twin_arguments or row.arguments).split()]
    # The first run compiles; it also counts the kernels.
    first = run(row, ours_command, source, {**environment, "CORPUS_TIMES": str(times)})
    ours, twins = [], []
    for _ in range(options.runs):
        ours.append(run(row, ours_command, source, environment))
        twins.append(run(row, twin_command, twin, common))
    if row.check == "output":
        compare(row, first.rest, twins[0].rest)
    labels = common_labels(ours[0], twins[0])
    launched = len(times.read_text().splitlines())
    measured = len({label for label, _ in labels})
    kernels = launched if len(labels) == len(ours[0].times) else min(launched, measured)
    return Result(median(ours, labels), median(twins, labels), kernels)


def common_labels(ours: Output, twin: Output) -> list[tuple[str, int]]:
    """The labels of the times that both print equally often."""
    labels = [
        key
        for key in ours.times
        if count(ours, key[0]) == count(twin, key[0]) and key in twin.times
    ]
    if not labels:
        raise BrokenError("the two programs print no time with the same label")
    return [key for key in labels if "total" not in key[0]] or labels


def count(output: Output, label: str) -> int:
    return sum(known == label for known, _ in output.times)


def median(outputs: list[Output], labels: list[tuple[str, int]]) -> float:
    return statistics.median(
        sum(output.times[label] for label in labels) for output in outputs
    )


def compare(row: Row, ours: list[str], twin: list[str]) -> None:
    """Raises BrokenError unless the two outputs are equal, apart from the last digits of numbers."""
    numbers = [re.findall(NUMBER, " ".join(lines)) for lines in (ours, twin)]
    if not numbers[0]:
        raise BrokenError("the programs print nothing that could be compared")
    if len(numbers[0]) != len(numbers[1]):
        raise BrokenError("the two programs print different results")
    for a, b in zip(*numbers, strict=True):
        if not math.isclose(
            float(a), float(b), rel_tol=row.tolerance, abs_tol=row.tolerance
        ):
            raise BrokenError(f"the two programs print different results: {a}, {b}")


def driver_path() -> str:
    import pycuda.driver as cuda

    cuda.init()
    return cuda.get_driver_path()


def run(row: Row, command: list, folder: Path, environment: dict[str, str]) -> Output:
    """Runs a program and checks its result."""
    try:
        ran = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired as error:
        raise BrokenError(f"{command[0].name} takes more than {PATIENCE} s") from error
    output = ran.stdout + ran.stderr
    if ran.returncode != 0:
        last = (output.strip().splitlines() or ["nothing"])[-1]
        raise BrokenError(f"{command[0].name} ends with {ran.returncode}: {last[:80]}")
    passed = re.search(row.passed, output) and not re.search("FAIL|Fail", output)
    if row.check == "pass" and not passed:
        raise BrokenError(f"{command[0].name} does not pass its own check")
    read = read_output(row, output)
    if not read.times:
        raise BrokenError(f"{command[0].name} prints no time")
    return read


def read_output(row: Row, output: str) -> Output:
    read = Output({}, [])
    for line in output.splitlines():
        found = list(re.finditer(row.time, line))
        if not found:
            if not re.search(
                r"[KMGT]i?[Bb](it)?/s|[FO][Ll][Oo][Pp][Ss]?/?s?|[Tt]ime", line
            ):
                read.rest.append(line)
            continue
        for match in found:
            label = " ".join(line[: match.start(1)].lower().split())
            read.times[label, count(read, label)] = (
                float(match[1]) * UNITS[row.unit or match[2]]
            )
    return read


# ---- building ------------------------------------------------------------------------------


def is_built(row: Row, checkout: Path, folder: Path) -> bool:
    """Whether ``folder`` has both programs, built from the current sources."""
    twin = folder / "twin"  # is made last
    folders = [(checkout / row.source).parent, (checkout / row.twin).parent, HERE]
    sources = [file for f in folders for file in f.rglob("*.*") if file.is_file()]
    own = (HERE / "__main__.py", HERE / "programs.py")
    return twin.exists() and all(
        file in own or file.stat().st_mtime < twin.stat().st_mtime for file in sources
    )


def build_program(row: Row, checkout: Path, folder: Path, build: Path) -> None:
    """Build ``program`` (its host code), ``symbols`` (its names and addresses) and ``image`` (its kernels)."""
    file = checkout / row.source
    (folder / "twin").unlink(missing_ok=True)
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


def one_core(build: Path) -> dict[str, str]:
    """The environment of programs that run on one core and measure their processor time."""
    library = build / "processor_time.so"
    call(
        ["g++", "-O2", "-shared", "-fPIC", HERE / "runtime/processor_time.cpp"]
        + ["-o", library]
    )
    return {
        "LD_PRELOAD": str(library),
        "OMP_NUM_THREADS": "1",
        "SOFTCUDA_THREADS": "1",
    }


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
