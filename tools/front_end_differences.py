#!/usr/bin/env python3
"""Compare what nvcc and this package compile, and what the kernels compute: docs/front_end.md.

    ./run tools/front_end_differences.py                  a tenth of the texts, as a list of differences
    ./run tools/front_end_differences.py --all            all texts: half an hour the first time, then minutes
    ./run tools/front_end_differences.py --all --new      those that were not compared yet: an --all that was stopped goes on
    ./run tools/front_end_differences.py --write          the page, of the last comparison of each text
    ./run tools/front_end_differences.py --group pragmas --only GCC

The texts are those of tools/front_end. nvcc comes from PATH, CUDA_HOME, /usr/local/cuda or --nvcc. This package compiles
without nvcc. Both images run on the current device (softcuda without a GPU), and the kernels' numbers are compared.
nvcc's answers are kept in build/front_end, so a second run only asks about new texts. The verdicts are kept there too.

A difference needs a row in tools/front_end/decisions.py. Exits with 1 if one has none.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from front_end import decisions  # noqa: E402
from front_end.cases import Case, declarations, macros, mathematics  # noqa: E402
from front_end.language import language  # noqa: E402

import pycuda.driver as cuda  # noqa: E402
from pycuda import compiler  # noqa: E402

KEPT = ROOT / "build" / "front_end"
HEADERS = KEPT / "headers"
VERDICTS = KEPT / "verdicts.json"
PAGE = ROOT / "docs" / "front_end.md"
ARCHITECTURE = "compute_80"
INPUT = [2.5, 3.25, 1.5, 0.5, 4.0, 7.0, 0.0, 9.0]
LARGEST_BATCH = 200
RELAXED = "--expt-relaxed-constexpr"


@dataclass
class Answer:
    """What one compiler made of a text: the kernel's numbers, or the first error."""

    numbers: list[str] | None
    error: str = ""
    relaxed: list[str] | None = (
        None  # with --expt-relaxed-constexpr, if only this helps
    )

    @property
    def accepted(self) -> bool:
        return self.numbers is not None


def text_of(case: Case, number: str, kernel: str) -> str:
    include = f'#include "{write_header(case.header)}"' if case.header else ""
    text = f'{include}{case.before}\nextern "C" __global__ void {kernel}(double *o) {{ {case.body} }}\n'
    return text.replace("@", number)


def write_header(text: str) -> str:
    """The name of the file."""
    HEADERS.mkdir(parents=True, exist_ok=True)
    file = HEADERS / (hashlib.sha256(text.encode()).hexdigest()[:24] + ".h")
    if not file.exists():
        file.write_text(text)
    return file.name


def run_all(image: str, kernels: list[str]) -> Iterator[Answer]:
    """The numbers of each kernel; a fault of a kernel is an error."""
    done = 0
    while done < len(kernels):
        context = cuda.Device(0).make_context()  # a fault of a kernel ends the context
        try:
            module = cuda.module_from_buffer(image.encode())
            for kernel in kernels[done:]:
                data = np.array(INPUT)
                module.get_function(kernel)(cuda.InOut(data), block=1)
                done += 1
                yield Answer([repr(float(x)) for x in data[:3]])
        except cuda.Error as reason:
            done += 1
            yield Answer(None, f"at run time: {reason}"[:200])
        finally:
            context.pop()
            context.detach()


def run(image: str, kernel: str) -> Answer:
    return next(run_all(image, [kernel]))


class Nvcc:
    """Compiles texts with nvcc, and keeps the answers."""

    def __init__(self, program: str):
        self.program = program
        self.version = subprocess.run(
            [program, "--version"], capture_output=True, text=True, check=True
        ).stdout
        KEPT.mkdir(parents=True, exist_ok=True)
        self.file = KEPT / "nvcc.json"
        self.known = json.loads(self.file.read_text()) if self.file.exists() else {}

    def key(self, case: Case) -> str:
        return hashlib.sha256(
            (self.version + text_of(case, "1", "k")).encode()
        ).hexdigest()[:24]

    def compile(self, text: str, *options: str) -> tuple[str | None, str]:
        """PTX, or None and the messages."""
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "kernel.cu").write_text(text)
            command = [
                self.program,
                "-arch=" + ARCHITECTURE,
                "-w",
                f"-I{HEADERS}",
                "-Xcudafe",
                "--error_limit=100000",
                "--ptx",
                *options,
            ]
            done = subprocess.run(
                [*command, "kernel.cu", "-o", "kernel.ptx"],
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=600,
            )
            ptx = Path(folder, "kernel.ptx")
            if done.returncode == 0 and ptx.exists():
                return ptx.read_text(), ""
            return None, done.stdout + done.stderr

    def answers(self, cases: list[Case]) -> dict[Case, Answer]:
        new = [case for case in cases if self.key(case) not in self.known]
        together = [case for case in new if not case.alone]
        alone = [case for case in new if case.alone]
        for begin in range(0, len(together), LARGEST_BATCH):
            some = together[begin : begin + LARGEST_BATCH]
            for case, answer in self.batch(some).items():
                self.note(case, answer)
            host = [case for case in some if RELAXED[2:] in self.answer(case).error]
            for case, answer in self.batch(host, RELAXED).items():
                self.note(case, replace(self.answer(case), relaxed=answer.numbers))
            self.save()
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            done = pool.map(lambda case: self.compile(text_of(case, "1", "k")), alone)
            for case, (ptx, log) in zip(alone, done, strict=True):
                self.note(
                    case, run(ptx, "k") if ptx else Answer(None, first_error(log))
                )
                self.save()
        return {case: self.answer(case) for case in cases}

    def answer(self, case: Case) -> Answer:
        return Answer(**self.known[self.key(case)])

    def note(self, case: Case, answer: Answer) -> None:
        self.known[self.key(case)] = vars(answer)

    def save(self) -> None:
        self.file.write_text(json.dumps(self.known, indent=0))

    def batch(self, cases: list[Case], *options: str) -> dict[Case, Answer]:
        return answers_of_batch(cases, lambda text: self.compile(text, *options))


def answers_of_batch(
    cases: list[Case], compile_text: Callable[[str], tuple[str | None, str]]
) -> dict[Case, Answer]:
    """Compiles the texts as one file. Texts with errors are left out until the others compile."""
    answers: dict[Case, Answer] = {}
    left = list(cases)
    while left:
        file, owners = "", []
        for number, case in enumerate(left):
            text = text_of(case, str(number), f"k{number}")
            file += text
            owners += [case] * text.count("\n")
        ptx, log = compile_text(file)
        if ptx:
            kernels = [f"k{number}" for number in range(len(left))]
            return answers | dict(zip(left, run_all(ptx, kernels), strict=True))
        wrong: dict[Case, str] = {}
        for found in re.finditer(r"kernel\.cu[(:](\d+)[):].*?error:?\s*(.*)", log):
            wrong.setdefault(owners[min(int(found[1]), len(owners)) - 1], found[2])
        if not wrong:
            raise SystemExit(
                f"the compiler failed without an error in a text:\n{log[:2000]}"
            )
        for case, message in wrong.items():
            answers[case] = Answer(None, message)
        left = [case for case in left if case not in wrong]
    return answers


def first_error(log: str) -> str:
    found = re.search(r"error:?\s+(.*)", log)
    return (
        found[1]
        if found
        else log.strip().splitlines()[-1]
        if log.strip()
        else "no message"
    )


def compile_here(text: str) -> tuple[str | None, str]:
    """PTX by this package without nvcc, or None and the messages."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = compiler.compile(
                text,
                nvcc="nvrtc",
                target="ptx",
                arch=ARCHITECTURE,
                include_dirs=[str(HEADERS)],
                no_extern_c=True,
                cache_dir=False,
            )
    except cuda.CompileError as reason:
        return None, str(reason)
    return image.decode(), ""


def ours(case: Case) -> Answer:
    """Compiled by this package, alone."""
    ptx, log = compile_here(text_of(case, "1", "k"))
    return run(ptx, "k") if ptx else Answer(None, first_error(log))


def all_of_ours(cases: list[Case], theirs: dict[Case, Answer]) -> dict[Case, Answer]:
    """Compiled by this package: calls of functions as one file, and other texts alone.

    A text of a file that differs from nvcc's answer is compiled alone, too. Other texts are always alone, because
    this package may adapt a whole file for the sake of one text.
    """
    calls = [case for case in cases if case.group == "mathematics" and not case.alone]
    found = answers_of_batch(calls, compile_here)
    for case in cases:
        kind = kind_of_difference(theirs[case], found[case]) if case in found else None
        if kind not in ("", "only here"):
            found[case] = ours(case)
    return found


def kind_of_difference(nvcc: Answer, own: Answer) -> str:
    """ "" if there is none."""
    numbers = nvcc.numbers or nvcc.relaxed
    if nvcc.accepted and not own.accepted:
        return "only nvcc"
    if not own.accepted or (nvcc.accepted and numbers == own.numbers):
        return ""
    if not numbers or numbers == own.numbers:
        return "only here"
    near = np.allclose(
        np.array(numbers, float),
        np.array(own.numbers, float),
        rtol=1e-6,
        atol=0,
        equal_nan=True,
    )
    return "last bits" if near else "another number"


# A text's group, its name, and the difference: "both" or "neither" if there is none.
Row = tuple[str, str, str]
KINDS = ("both", "neither", "only nvcc", "only here", "another number", "last bits")


def has_difference(row: Row) -> bool:
    return row[2] not in KINDS[:2]


class Verdicts:
    """The last verdict about each text, in a file."""

    def __init__(self):
        KEPT.mkdir(parents=True, exist_ok=True)
        self.release = ""
        self.kinds: dict[tuple[str, str], str] = {}
        if VERDICTS.exists():
            self.release, rows = json.loads(VERDICTS.read_text())
            self.kinds = {(group, name): kind for group, name, kind in rows}

    def add(self, rows: list[Row], release: str) -> None:
        self.release = release
        self.kinds.update({row[:2]: row[2] for row in rows})
        VERDICTS.write_text(json.dumps([release, self.rows(all_texts())], indent=0))

    def rows(self, cases: list[Case]) -> list[Row]:
        """Those of the texts that were compared."""
        keys = [(case.group, case.name) for case in cases]
        return [(*key, self.kinds[key]) for key in keys if key in self.kinds]


def all_texts() -> list[Case]:
    return [*mathematics(), *declarations(), *macros(), *language()]


def compare(cases: list[Case], nvcc: Nvcc) -> list[Row]:
    """Compiles the texts by both compilers, and prints the differences."""
    theirs = nvcc.answers(cases)
    here = all_of_ours(cases, theirs)
    rows = []
    for case in cases:
        own = here[case]
        kind = kind_of_difference(theirs[case], own)
        rows.append(
            (case.group, case.name, kind or ("both" if own.accepted else "neither"))
        )
        if not kind:
            continue
        said = theirs[case].error or own.error
        shown = (
            ""
            if kind.startswith("only")
            else f"{theirs[case].numbers or theirs[case].relaxed} here {own.numbers} "
        )
        decision = decisions.find(rows[-1]) or "NO DECISION"
        print(
            f"{case.group:12} {kind:14} {case.name:40} {decision}: {shown}{said[:110]}",
            flush=True,
        )
    return rows


def page(version: str, rows: list[Row]) -> str:
    """The text of docs/front_end.md."""
    counts = Counter((group, kind) for group, _, kind in rows)
    totals = Counter(kind for _, _, kind in rows)
    calls, all_calls = sum(row[0] == "mathematics" for row in rows), len(mathematics())
    head = decisions.HEAD.format(
        version=version,
        texts=len(rows),
        only_nvcc=totals["only nvcc"],
        other=totals["another number"],
        only_here=totals["only here"],
        mathematics=f"all {calls}"
        if calls == all_calls
        else f"{calls} of the {all_calls}",
    )
    lines = [
        head,
        "| texts | " + " | ".join(KINDS) + " |",
        "|-" * (len(KINDS) + 1) + "|",
    ]
    for group in dict.fromkeys(row[0] for row in rows):
        lines.append(
            f"| {group} | "
            + " | ".join(str(counts[group, kind]) for kind in KINDS)
            + " |"
        )
    lines += [
        "",
        "## Decisions",
        "",
        "| texts | difference | number | decision | such as |",
        "|-|-|-|-|-|",
    ]
    grouped: dict[tuple[str, str, str], list[str]] = {}
    for row in filter(has_difference, rows):
        grouped.setdefault((row[0], row[2], decisions.find(row) or "none"), []).append(
            row[1]
        )
    for (group, kind, decision), names in grouped.items():
        shown = ", ".join(f"`{name}`" for name in names[:4]).replace("|", "\\|")
        lines.append(f"| {group} | {kind} | {len(names)} | {decision} | {shown} |")
    return "\n".join(lines) + "\n"


def find_nvcc() -> str | None:
    folders = [
        Path(folder) for folder in os.environ.get("PATH", "").split(":") if folder
    ]
    folders += [
        Path(os.environ[name], "bin")
        for name in ("CUDA_HOME", "CUDA_PATH")
        if name in os.environ
    ]
    for folder in [*folders, Path("/usr/local/cuda/bin")]:
        if os.access(folder / "nvcc", os.X_OK):
            return str(folder / "nvcc")
    return None


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--all", action="store_true", help="all texts, not a sample")
    options.add_argument("--group", help="only the texts of this group")
    options.add_argument("--only", help="only texts with this in their name")
    options.add_argument(
        "--new", action="store_true", help="only texts without a verdict"
    )
    options.add_argument("--seed", type=int, default=1, help="of the sample")
    options.add_argument(
        "--write", action="store_true", help="write docs/front_end.md of all verdicts"
    )
    options.add_argument("--nvcc", default=find_nvcc(), help="the path of nvcc")
    given = options.parse_args()
    verdicts = Verdicts()
    if given.write:
        rows = verdicts.rows(all_texts())
        PAGE.write_text(page(verdicts.release, rows))
        return report(rows)
    if not given.nvcc:
        print(
            "no nvcc was found: PATH, CUDA_HOME and /usr/local/cuda have none; --nvcc PATH names one"
        )
        return 2
    cuda.init()
    cases = all_texts()
    if given.group:
        cases = [case for case in cases if case.group == given.group]
    if given.only:
        cases = [case for case in cases if given.only in case.name]
    if not (given.all or given.group or given.only):
        cases = random.Random(given.seed).sample(cases, len(cases) // 10)
    if given.new:
        cases = [
            case for case in cases if (case.group, case.name) not in verdicts.kinds
        ]
    nvcc = Nvcc(given.nvcc)
    release = re.search(r"release ([\d.]+)", nvcc.version)
    rows = []
    for begin in range(0, len(cases), LARGEST_BATCH):
        rows += compare(cases[begin : begin + LARGEST_BATCH], nvcc)
        verdicts.add(rows, release[1] if release else "")
    for (group, kind), number in sorted(
        Counter((row[0], row[2]) for row in rows).items()
    ):
        print(f"{group:12} {kind:15} {number}")
    return report(rows)


def report(rows: list[Row]) -> int:
    """Prints the sum; 1 if a difference has no decision."""
    differences = [row for row in rows if has_difference(row)]
    undecided = sum(decisions.find(row) is None for row in differences)
    print(
        f"{len(rows)} texts, {len(differences)} differences, {undecided} without a decision"
    )
    return 1 if undecided else 0


if __name__ == "__main__":
    sys.exit(main())
