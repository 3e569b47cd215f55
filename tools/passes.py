#!/usr/bin/env python3
"""Measure the cost and the benefit of each pass of softcuda's compiler.

    ./run tools/passes.py write docs/passes.md [PASS...]
                                                    writes the table; with names of passes, measures
                                                    these and keeps the recorded times of the others
    ./run tools/passes.py lines docs/passes.md      updates the list and the lines of code, and keeps
                                                    the recorded times
    tools/passes.py check LIST RUN_TESTS LIBRARY FOLDER
                                                    runs the run tests without each optional pass

The passes come from ``softcuda_passes``, which the build makes with the tests; LIST is its
path. Each optional pass is skipped with SOFTCUDA_SKIP, while the kernels of ``benchmarks/softcuda``
are compiled and run. All settings are timed in turn in one process, so that a change of the machine's
speed affects all of them; ratios are those of the fastest runs. Kernels run on one thread, and times are
processor times, so that other work on the machine hardly matters.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "build/release/tests/softcuda/softcuda_passes"
ROUNDS = 5  # of compilations and of runs
SECONDS = 0.02  # the minimum time of one measurement of a run

Times = dict[str, dict[str, float]]  # by setting, by kernel


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


def ratios(times: Times, setting: str) -> dict[str, float]:
    """For each kernel, its time with a setting relative to its time without."""
    return {name: times[setting][name] / base for name, base in times[""].items()}


def mean(values: dict[str, float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, values.values())) / len(values))


Cells = dict[str, list[str]]  # by pass: the cells of its times


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
        if len(row) == 6 and row[0].startswith(" `")
    }


def table(passes: list[Pass], times: Cells) -> str:
    """The document."""
    text = [
        "# The passes of softcuda's compiler",
        "",
        "Made by `./run tools/passes.py write docs/passes.md`. `softcuda/src/compiler/pipeline.cpp` lists the passes",
        "in their order; some passes run more than once. `SOFTCUDA_DUMP=name,...` prints a kernel after these passes.",
        "`SOFTCUDA_SKIP=name,...` skips optional passes. `SOFTCUDA_VERIFY=1` checks the IR after each pass over the IR,",
        "and the LLVM IR that code generation makes.",
        "`SOFTCUDA_TIMES=1` prints the processor time of each pass.",
        "",
        "The column lines counts the lines of the pass's own source files. The other columns are times without the pass",
        "divided by times with all passes, over the kernels of `benchmarks/softcuda`: the geometric means of compile times",
        "and of run times, and the kernel with the largest change of its run time. Passes without figures are required,",
        "or newer than the last measurement. Run times of one kernel differ by up to a tenth between runs.",
    ]
    for layer in dict.fromkeys(row.layer for row in passes):
        text += ["", f"## {layer}", ""]
        text += ["| pass | what it does | lines | compile | run | most |"]
        text += ["|---|---|---|---|---|---|"]
        for row in passes:
            if row.layer == layer:
                text.append(table_row(row, times.get(row.name, ["", "", ""])))
    return "\n".join(text) + "\n"


def table_row(row: Pass, times: list[str]) -> str:
    lines = row.lines()
    cells = [f"`{row.name}`", row.what, "LLVM" if lines is None else str(lines), *times]
    return "| " + " | ".join(cells) + " |"


def check(run_tests: str, library: str, folder: str, passes: list[Pass]) -> int:
    """Runs the run tests without all optional passes, and an eighth of them without each single pass."""
    names = [row.name for row in passes if row.optional]
    files = sorted(path for path in Path(folder).iterdir() if path.suffix == ".ptx")
    settings = [(",".join(names), files)]
    settings += [(name, files[i % 8 :: 8]) for i, name in enumerate(names)]
    failed = []
    for skipped, chosen in settings:
        process = subprocess.run(
            [run_tests, library, *chosen],
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
        command not in ("write", "lines")
        or (command == "lines" and named)
        or not set(named) <= set(optional)
    ):
        print(__doc__)
        return 2
    recorded = Path(document).read_text() if named or command == "lines" else ""
    times = recorded_cells(recorded)
    if command == "write":
        chosen = [row for row in passes if row.name in (named or optional)]
        figures = measure(["", *(row.name for row in chosen)])
        times |= measured_cells(chosen, figures)
    Path(document).write_text(table(passes, times))
    return 0


if __name__ == "__main__":
    sys.exit(main())
