#!/usr/bin/env python3
"""Measure the cost and the benefit of each pass of softcuda's compiler.

    ./run tools/passes.py write docs/passes.md [PASS...]
                                                    writes the table; with names of passes, measures
                                                    these and keeps the recorded times of the others
    ./run tools/passes.py lines docs/passes.md      updates the list and the lines of code, and keeps
                                                    the recorded figures
    ./run tools/passes.py changes docs/passes.md    counts the kernels that each pass changes
    tools/passes.py check LIST RUN_TESTS LIBRARY FOLDER
                                                    runs the run tests without optional passes

The passes come from ``softcuda_passes``, which the build makes with the tests; LIST is its
path. Each optional pass is skipped with SOFTCUDA_SKIP, while the kernels of ``benchmarks/softcuda``
are compiled and run. All settings are timed in turn in one process, so that a change of the machine's
speed affects all of them; ratios are those of the fastest runs. Kernels run on one thread, and times are
processor times, so that other work on the machine hardly matters.

A pass changes a kernel if the LLVM IR of the kernel differs without the pass. The kernels are those of
``benchmarks/softcuda`` and of ``tests/softcuda/run``.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "build/release/tests/softcuda/softcuda_passes"
ROUNDS = 5  # of compilations and of runs
SECONDS = 0.02  # the minimum time of one measurement of a run

Times = dict[str, dict[str, float]]  # by setting, by kernel

#: Why passes stay that change few kernels.
FEW_KERNELS = """
## Passes for few kernels

These passes change few kernels. Each has a reason to stay, or stays until it is measured elsewhere. HeCBench: the 60
kernels of `benchmarks/corpus` that compile without their host code.

| pass | changed kernels | reason to keep it |
|---|---|---|
| `split-pointers` | 4 kernels of HeCBench, 7 of pycuda's array kernels, both sparse products | a loop over a part of an array, whose begin is loaded, is a common form; 1.11 for the product with a thread for each row |
| `shuffle-floats` | 1 kernel of HeCBench, 14 of pycuda's reductions and scans | cub and pycuda shuffle floats as integers; 1.14 for the product with a warp for each row |
| `find-min-max` | the sorting networks, no kernel of HeCBench | a bitonic sort takes 1.9 to 2.0 times as long without it: LLVM does not turn exchanges of stores into minima |
| `counted` | the histogram, no kernel of HeCBench | a histogram in shared memory takes 1.3 to 1.5 times as long without it, because lanes that count in one element wait for each other's stores |
""".splitlines()


@dataclass
class Pass:
    """One row of the compiler's list."""

    name: str
    layer: str
    optional: bool
    source: str
    what: str

    def lines(self) -> int | None:
        """Lines of its source files; None for LLVM's own passes."""
        if self.source == "LLVM":
            return None
        files = [ROOT / "softcuda/src" / name for name in self.source.split()]
        return sum(len(file.read_text().splitlines()) for file in files)


@dataclass
class Figures:
    """The times in seconds of the fastest compilation and run, by setting and kernel; "" skips no pass."""

    compile: Times = field(default_factory=dict)
    run: Times = field(default_factory=dict)


def read_passes(program: Path) -> list[Pass]:
    text = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    rows = [line.split("\t") for line in text.splitlines()]
    return [Pass(row[0], row[1], row[2] == "optional", row[3], row[4]) for row in rows]


def keep_least(times: Times, setting: str, kernel: str, seconds: float) -> None:
    of_setting = times.setdefault(setting, {})
    of_setting[kernel] = min(seconds, of_setting.get(kernel, math.inf))


def measure(settings: list[str]) -> Figures:
    """Compiles and runs every kernel with every setting."""
    os.environ["SOFTCUDA_DISABLE_CACHE"] = "1"
    os.environ["SOFTCUDA_THREADS"] = "1"
    os.environ.setdefault("PYCUDA_DRIVER", "softcuda")
    sys.path.insert(0, str(ROOT / "benchmarks/softcuda"))
    import cases

    import pycuda.autoinit  # noqa: F401
    import pycuda.driver as cuda
    from pycuda.compiler import compile as compile_source

    def on_device(case: cases.Case) -> tuple[cases.Case, dict]:
        """A case, and the device memory of its arrays."""
        return case, {key: cuda.to_device(array) for key, array in case.arrays.items()}

    def runner(case: cases.Case, memory: dict, ptx: bytes):  # noqa: ANN202
        """Compiles a case; returns a function that runs all of its launches."""
        module = cuda.module_from_buffer(ptx)
        bound = [
            module.get_function(launch.kernel).bind(
                *(memory[a] if isinstance(a, str) else a for a in launch.arguments),
                grid=launch.grid,
                block=(launch.block + (1, 1))[:3],
            )
            for launch in case.launches
        ]

        def run() -> None:
            for launch in bound:
                launch()
            cuda.Context.synchronize()

        return run

    figures = Figures()
    for name in cases.NAMES:
        # Compiled for few elements, so that the time to run them hardly matters; run with many,
        # because short runs depend on whether they wait for another thread.
        few, many = (
            on_device(cases.make(name, small=small)) for small in (True, False)
        )
        ptx = compile_source(few[0].text("cu"), arch="sm_86", target="ptx")
        for _ in range(ROUNDS):
            for setting in settings:
                os.environ["SOFTCUDA_SKIP"] = setting
                start = time.process_time()
                run = runner(*few, ptx)
                run()
                first = time.process_time() - start
                start = time.process_time()
                run()
                second = time.process_time() - start
                keep_least(figures.compile, setting, name, first - second)
        runs = {}
        for setting in settings:
            os.environ["SOFTCUDA_SKIP"] = setting
            runs[setting] = runner(*many, ptx)
            runs[setting]()
        os.environ["SOFTCUDA_SKIP"] = ""
        start = time.process_time()
        runs[""]()
        repeats = max(1, math.ceil(SECONDS / (time.process_time() - start)))
        for _ in range(ROUNDS):
            for setting in settings:
                start = time.process_time()
                for _ in range(repeats):
                    runs[setting]()
                seconds = (time.process_time() - start) / repeats
                keep_least(figures.run, setting, name, seconds)
        print(f"{name}: measured", file=sys.stderr, flush=True)
    return figures


def test_launches() -> list[str]:
    """`FILE KERNEL X Y Z` for each run test."""
    lines = []
    for path in sorted((ROOT / "tests/softcuda/run").glob("*.ptx")):
        launch = re.search(r"LAUNCH: (\S+) .*?block ((?:\d+ ?){1,3})", path.read_text())
        lines.append(f"{path} {launch[1]} {extents(launch[2].split())}")
    return lines


def extents(given: list) -> str:
    return " ".join(map(str, (*given, 1, 1)[:3]))


def benchmark_launches(folder: Path) -> list[str]:
    """`FILE KERNEL X Y Z` for each kernel of the benchmarks, whose PTX goes to the folder."""
    os.environ.setdefault("PYCUDA_DRIVER", "softcuda")
    sys.path.insert(0, str(ROOT / "benchmarks/softcuda"))
    import cases

    import pycuda.autoinit  # noqa: F401
    from pycuda.compiler import compile as compile_source

    launches = {}
    for name in cases.NAMES:
        case = cases.make(name, small=True)
        file = folder / f"{name}.ptx"
        file.write_bytes(compile_source(case.text("cu"), arch="sm_86", target="ptx"))
        for launch in case.launches:
            launches.setdefault(
                launch.kernel, f"{file} {launch.kernel} {extents(launch.block)}"
            )
    return list(launches.values())


def count_changes(program: Path) -> dict[str, str]:
    """By optional pass: the kernels that it changes, of all."""
    with tempfile.TemporaryDirectory() as folder:
        launches = [*benchmark_launches(Path(folder)), *test_launches()]
        text = subprocess.run(
            [program, "--changes"],
            input="\n".join(launches),
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout
    rows = [line.split("\t") for line in text.splitlines()]
    return {name: f"{count} of {kernels}" for name, count, kernels in rows}


def ratios(times: Times, setting: str) -> dict[str, float]:
    """For each kernel, its time with a setting relative to its time without."""
    return {name: times[setting][name] / base for name, base in times[""].items()}


def mean(values: dict[str, float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, values.values())) / len(values))


#: By pass: the cells of its figures; the last one is the number of kernels that it changes.
Cells = dict[str, list[str]]


def measured_cells(passes: list[Pass], figures: Figures) -> Cells:
    """The times of optional passes, for the table."""
    cells = {}
    for row in passes:
        if not row.optional:
            continue
        run = ratios(figures.run, row.name)
        most = max(run, key=run.__getitem__)
        cells[row.name] = [
            f"{mean(ratios(figures.compile, row.name)):.2f}",
            f"{mean(run):.2f}",
            f"{most} {run[most]:.2f}",
        ]
    return cells


def recorded_cells(document: str) -> Cells:
    """The times in a table that was made before."""
    rows = [line.split("|")[1:-1] for line in document.splitlines()]
    return {
        row[0].strip(" `"): [cell.strip() for cell in row[3:]]
        for row in rows
        if len(row) == 7 and row[0].startswith(" `")
    }


def table(passes: list[Pass], times: Cells) -> str:
    """The document."""
    text = [
        "# The passes of softcuda's compiler",
        "",
        "Made by `./run tools/passes.py write docs/passes.md`. `pipeline.cpp` and `llvm_passes.cpp` in `softcuda/src/compiler` list the passes",
        "in their order; some passes run more than once. `SOFTCUDA_DUMP=name,...` prints a kernel after these passes.",
        "`SOFTCUDA_SKIP=name,...` skips optional passes. `SOFTCUDA_VERIFY=1` checks the IR after each pass over the IR,",
        "and the LLVM IR that code generation makes.",
        "`SOFTCUDA_TIMES=1` prints the processor time of each pass.",
        "",
        "Of a kernel with more than 150,000 LLVM instructions, LLVM's passes whose time grows faster than the kernel are left",
        "out, and its machine code is not optimised. Of a kernel with more than 3000 LLVM basic blocks, `inst-combine` and",
        "`loop-invariants` are left out. If there are more than 1000, values that are live in more than 200 of them are kept in",
        "memory (`jit/long_lived.h`, `promote-slots`). Blends of such values of four registers or more are then calls of a",
        "function that preserves all registers (`jit/called_blends.h`), masks are combined as bytes (`jit/byte_masks.h`), and",
        "four of LLVM's machine passes are left out. In a kernel with more than 200 accesses, the rare path of a check calls",
        "the runtime at once, without a comparison with the range that the access used last.",
        "",
        "The column lines counts the lines of the pass's own source files. The other columns are times without the pass",
        "divided by times with all passes, over the kernels of `benchmarks/softcuda`: the geometric means of compile times",
        "and of run times, and the kernel with the largest change of its run time. Passes without figures are required,",
        "or newer than the last measurement. Run times of one kernel differ by up to a tenth between runs.",
        "The column kernels counts those whose LLVM IR the pass changes, of `benchmarks/softcuda` and `tests/softcuda/run`.",
    ]
    for layer in dict.fromkeys(row.layer for row in passes):
        text += ["", f"## {layer}", ""]
        text += ["| pass | effect | lines | compile | run | most | kernels |"]
        text += ["|---|---|---|---|---|---|---|"]
        for row in passes:
            if row.layer == layer:
                text.append(table_row(row, times.get(row.name, [""] * 4)))
    return "\n".join([*text, *FEW_KERNELS]) + "\n"


def table_row(row: Pass, times: list[str]) -> str:
    lines = row.lines()
    cells = [f"`{row.name}`", row.what, "LLVM" if lines is None else str(lines), *times]
    return "| " + " | ".join(cells) + " |"


def check(run_tests: str, library: str, folder: str, passes: list[Pass]) -> int:
    """Runs the run tests without all optional passes, and some of them without each single pass.

    Each kernel runs in one of the eight variants of softcuda_run_tests, a tier with or without code for the block's
    shape. Without a single pass, one kernel in ten runs. If PYCUDA_ALL_VARIANTS is set, each kernel runs in all
    variants, and without a single pass one kernel in 24 does.
    """
    names = [row.name for row in passes if row.optional]
    files = sorted(path for path in Path(folder).iterdir() if path.suffix == ".ptx")
    every_variant = bool(os.environ.get("PYCUDA_ALL_VARIANTS"))
    step = 24 if every_variant else 10
    settings = [(",".join(names), files)]
    settings += [(name, files[i % step :: step]) for i, name in enumerate(names)]
    failed = []
    for number, (skipped, chosen) in enumerate(settings):
        one = [] if every_variant else ["--one", str(number)]
        process = subprocess.run(
            [run_tests, *one, library, *chosen],
            env={**os.environ, "SOFTCUDA_SKIP": skipped, "SOFTCUDA_VERIFY": "1"},
            capture_output=True,
            text=True,
        )
        if process.returncode != 0:
            failed.append(skipped)
            print(f"without {skipped}:\n{process.stdout}{process.stderr}", flush=True)
    print(f"{len(settings)} settings, {len(failed)} failed")
    return 1 if failed else 0


def main() -> int:
    if len(sys.argv) == 6 and sys.argv[1] == "check":
        return check(*sys.argv[3:6], passes=read_passes(Path(sys.argv[2])))
    passes = read_passes(LIST)
    optional = [row.name for row in passes if row.optional]
    command, document, *named = sys.argv[1:] if len(sys.argv) > 2 else ("", "")
    if (
        command not in ("write", "lines", "changes")
        or (command != "write" and named)
        or not set(named) <= set(optional)
    ):
        print(__doc__)
        return 2
    times = recorded_cells(Path(document).read_text())
    if command == "write":
        chosen = [row for row in passes if row.name in (named or optional)]
        figures = measure(["", *(row.name for row in chosen)])
        for name, cells in measured_cells(chosen, figures).items():
            times[name] = [*cells, times.get(name, [""] * 4)[3]]
    if command == "changes":
        for name, count in count_changes(LIST).items():
            times[name] = [*times.get(name, [""] * 4)[:3], count]
    Path(document).write_text(table(passes, times))
    return 0


if __name__ == "__main__":
    sys.exit(main())
