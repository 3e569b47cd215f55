#!/usr/bin/env python3
"""Print how many lines of the C++ sources have run in a build with counters.

    tools/cpp_coverage.py build/coverage

The preset `coverage` compiles with counters (gcc --coverage). A process of this build adds its counts to the .gcda
files when it ends. This program reads the counts with gcov, and prints a row for each folder, and the files
with the most lines that did not run. ./test coverage calls it after the tests. A header counts once, however
many sources include it; a line has run if it ran in any of them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("core/", "softcuda/", "python/src/")
MOST_FILES = 20

# Of each file: the numbers of the lines with code, and whether they ran.
Lines = dict[str, dict[int, bool]]


def source_name(name: str, build: Path) -> str:
    """A source's name relative to the repository. ccache makes names relative to the folder of the build."""
    if name.startswith(".."):
        name = os.path.normpath(build / name)
    return name.removeprefix(f"{ROOT}/")


def read_counts(file: Path, build: Path) -> Iterator[tuple[str, int, bool]]:
    """The lines of one object file: (source relative to the repository, line, whether it ran)."""
    command = ["gcov", "--json-format", "--stdout", "--relative-only"]
    done = subprocess.run(
        [*command, f"--source-prefix={ROOT}", file],
        capture_output=True,
        text=True,
        cwd=file.parent,
    )
    if done.returncode != 0:
        raise RuntimeError(f"gcov failed for {file}: {done.stderr.strip()}")
    for text in done.stdout.splitlines():
        for source in json.loads(text)["files"]:
            name = source_name(source["file"], build)
            if name.startswith(SOURCES):
                for line in source["lines"]:
                    yield name, line["line_number"], line["count"] > 0


def merge(objects: list[Path], build: Path) -> Lines:
    """The lines of all object files."""
    lines: Lines = defaultdict(dict)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for counts in pool.map(lambda file: list(read_counts(file, build)), objects):
            for name, line, ran in counts:
                lines[name][line] = lines[name].get(line, False) or ran
    return lines


def row(name: str, lines: list[bool]) -> str:
    ran = sum(lines)
    return f"{name:40} {len(lines):7} {ran:7} {100 * ran / len(lines):6.1f} %"


def folder_of(name: str) -> str:
    """core/src/arrays, softcuda/src/codegen, core/include/pycuda, python/src."""
    return "/".join(name.split("/")[:-1][:3])


def report(lines: Lines) -> list[str]:
    """The rows of the table."""
    folders: dict[str, list[bool]] = defaultdict(list)
    for name, ran in lines.items():
        folders[folder_of(name)].extend(ran.values())
    rows = [f"{'C++ folder':40} {'lines':>7} {'run':>7}"]
    rows += [row(name, folders[name]) for name in sorted(folders)]
    rows.append(row("all", [ran for part in folders.values() for ran in part]))
    missed = {name: list(ran.values()).count(False) for name, ran in lines.items()}
    worst = sorted(missed, key=lambda name: -missed[name])[:MOST_FILES]
    rows += ["", "most lines that did not run:"]
    rows += [f"{name:60} {missed[name]:5}" for name in worst if missed[name]]
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path, help="the folder of the build")
    build = parser.parse_args().build.resolve()
    objects = sorted(build.rglob("*.gcda"))
    lines = merge(objects, build)
    if not lines:
        print("there are no counts: run tests of a build with the preset coverage")
        return 1
    print("\n".join(report(lines)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
