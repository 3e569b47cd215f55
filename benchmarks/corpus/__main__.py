"""Compares CUDA kernels of public collections on the device with their OpenMP versions ("twins") on all cores.

    ./run python benchmarks/corpus --hecbench CHECKOUT [--only NAME ...] [--runs N] [--one-core]
        [--driver LIBRARY] [--build FOLDER]

The collections are not part of this repository. CHECKOUT is the path of a collection, such as a clone of
https://github.com/zjin-lcf/HeCBench. Each program's host code runs unchanged on runtime/, which implements as
much of CUDA's runtime API as the programs need. The twin is compiled with -Ofast -march=native and runs
on all cores. The results are checked: by the program itself, or by comparing what the two print.

The times are those that the programs print. Both programs run in turn, N times; a time is the median.
Only times with the same label are added up: a CUDA program often has variants of a kernel that its twin
lacks. The ratio is the twin's time divided by the kernels' time: above 1, the kernels are faster.

--one-core is for machines with other work: both programs run with one thread, and their clocks count the
process's own processor time (runtime/processor_time.cpp).

--driver names the driver's library; without it, pycuda finds one. What is in --build is used again as long
as no source is newer, so a folder that was built elsewhere, and --driver, need no pycuda and no NVRTC. Only
the twins are compiled again on another kind of processor.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
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

    @property
    def ratio(self) -> float:
        return self.twin / self.ours


@dataclass
class Output:
    """What a program printed: its times in seconds by label, and the lines without times."""

    times: dict[tuple[str, int], float]
    rest: list[str]


def main() -> int:
    options = parse()
    checkouts = {"hecbench": options.hecbench}
    rows = [
        row
        for row in ROWS
        if checkouts.get(row.collection)
        and (not options.only or row.name in options.only)
    ]
    results, broken = {}, []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        builds = {
            row.name: pool.submit(build, row, checkouts[row.collection], options.build)
            for row in rows
        }
    for row in rows:
        try:
            builds[row.name].result()
            results[row.name] = measure(row, checkouts[row.collection], options)
            print(table_row(row.name, results[row.name]), file=sys.stderr)
        except (BrokenError, ValueError) as error:
            broken.append(row.name)
            print(f"{row.name}: {error}", file=sys.stderr)
    if results:
        print_table(results)
    return 1 if broken else 0


def print_table(results: dict[str, Result]) -> None:
    """The table of docs/benchmarks_record.md: the slowest rows first."""
    ratios = [result.ratio for result in results.values()]
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    print(
        f"{len(results)} programs with {sum(r.kernels for r in results.values())} kernels; "
        f"geometric mean {mean:.2f}; {sum(r < 0.5 for r in ratios)} below 0.5, "
        f"{sum(r < 1 for r in ratios)} below 1.0:\n\n"
        "| program | kernels | device | OpenMP | ratio |\n|---|---:|---:|---:|---:|"
    )
    for name in sorted(results, key=lambda name: results[name].ratio):
        print(table_row(name, results[name]))


def table_row(name: str, r: Result) -> str:
    times = f"{seconds(r.ours)} | {seconds(r.twin)}"
    return f"| {name} | {r.kernels} | {times} | {r.ratio:.2f} |"


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hecbench", type=path, help="a checkout of HeCBench")
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--one-core", action="store_true")
    parser.add_argument("--driver", type=path, help="the driver's library")
    parser.add_argument("--build", type=path, default=HERE.parents[1] / "build/corpus")
    return parser.parse_args()


def path(text: str) -> Path:
    return Path(text).resolve()


def seconds(value: float) -> str:
    unit = next((u for u in ("s", "ms", "us") if value >= UNITS[u]), "ns")
    return f"{value / UNITS[unit]:.2f} {unit}"


def measure(row: Row, checkout: Path, options) -> Result:
    folder = options.build / row.collection / row.name
    times = folder / "times"
    common = {**os.environ, **(one_core(options.build) if options.one_core else {})}
    environment = {
        **common,
        "CORPUS_DRIVER": str(options.driver or driver_path()),
        "CORPUS_IMAGE": str(folder / "image"),
        "CORPUS_SYMBOLS": str(folder / "symbols"),
    }
    source, twin = (checkout / row.source).parent, (checkout / row.twin).parent
    ours_command = [folder / "program", *arguments(row.arguments, folder)]
    twin_arguments = row.twin_arguments or row.arguments
    twin_command = [folder / "twin", *arguments(twin_arguments, folder)]
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


def arguments(text: str, folder: Path) -> list[str]:
    return [str(folder / "input") if a == "INPUT" else a for a in text.split()]


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


def build(row: Row, checkout: Path, shared: Path) -> None:
    """Build both programs, unless they are newer than all sources."""
    folder = shared / row.collection / row.name
    folder.mkdir(parents=True, exist_ok=True)
    own = [HERE / "translate.py", HERE / "runtime"]
    source, twin = (checkout / row.source).parent, (checkout / row.twin).parent
    edits, made_for = folder / "edits", folder / "processor"
    if not edits.exists() or edits.read_text() != repr(row.edits):
        (folder / "image").unlink(missing_ok=True)
        made_for.unlink(missing_ok=True)
        edits.write_text(repr(row.edits))
    if is_older(folder / "image", [source, *own]):
        build_program(row, checkout, folder)
    if is_older(made_for, [source, twin, own[0]]) or (
        made_for.read_text() != processor()
    ):
        build_twin(row, checkout, folder)
        made_for.write_text(processor())  # is made last
    if row.input and is_older(folder / "input", [HERE / "inputs.py"]):
        row.input(folder / "input")


def edited(text: str, row: Row) -> str:
    for old, new in row.edits:
        if old not in text:
            raise BrokenError(f"{old!r} is not in the source")
        text = text.replace(old, new)
    return text


def is_older(made: Path, sources: list[Path]) -> bool:
    files = [f for s in sources for f in (s.rglob("*.*") if s.is_dir() else [s])]
    return not made.exists() or any(
        file.stat().st_mtime > made.stat().st_mtime for file in files if file.is_file()
    )


def processor() -> str:
    """The model that -march=native compiles for."""
    text = Path("/proc/cpuinfo").read_text()
    return re.search(r"model name.*(?=\n)", text)[0]


def build_program(row: Row, checkout: Path, folder: Path) -> None:
    """Build ``program`` (its host code), ``symbols`` (its names and addresses) and ``image`` (its kernels)."""
    file = checkout / row.source
    text = edited(translate.read_with_includes(file), row)
    (folder / "host.cpp").write_text(translate.host_source(text))
    runtime = HERE / "runtime/runtime.cpp"
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
    (folder / "image").write_bytes(compile_device(device))  # is made last


def one_core(shared: Path) -> dict[str, str]:
    """The environment of programs that run on one core and measure their processor time."""
    library = shared / "processor_time.so"
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
    text = translate.openmp_source(edited(translate.read_with_includes(file), row))
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
