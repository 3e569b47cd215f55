#!/usr/bin/env python3
"""Build and run the programs of docs/cpp.md with an installed libpycuda; ./test install calls this program.

    tools/cpp_page.py PREFIX FOLDER    PREFIX: where libpycuda is installed; FOLDER: for the sources and builds

Three projects outside the repository, with the page's own CMakeLists.txt: the first program as the page shows it, the
first program continued by all blocks of the page, and the program that needs softcuda alone. Each must print what the
comments behind its output say.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs/cpp.md"
OUTPUT = re.compile(r"(?:printf|puts)\(.*\);\s*// (.*)$", re.MULTILINE)


@dataclass
class Project:
    """The sources of a project, and the lines that its program prints."""

    name: str
    source: str
    cmake: str

    def expected(self) -> list[str]:
        return OUTPUT.findall(self.source)


def continued(program: str, blocks: list[str]) -> str:
    """A program whose main() goes on with other blocks."""
    body = program.rstrip().removesuffix("}")
    return "#include <thread>\n" + body + "\n".join(blocks) + "}\n"


def projects(text: str) -> list[Project]:
    programs = re.findall(r"^```cpp\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    cmake, of_softcuda = re.findall(
        r"^```cmake\n(.*?)^```$", text, re.MULTILINE | re.DOTALL
    )
    first, *blocks, softcuda = programs
    return [
        Project("scale", first, cmake),
        Project("scale", continued(first, blocks), cmake),
        Project("devices", softcuda, of_softcuda),
    ]


def run(project: Project, prefix: Path, folder: Path) -> list[str]:
    """Builds and runs a project; returns the lines that it prints."""
    folder.mkdir(parents=True)
    (folder / f"{project.name}.cpp").write_text(project.source)
    (folder / "CMakeLists.txt").write_text(project.cmake)
    build = folder / "build"
    configure = [
        *("cmake", "-S", folder, "-B", build, "-G", "Ninja"),
        *(f"-DCMAKE_PREFIX_PATH={prefix}", f"-DPython_EXECUTABLE={sys.executable}"),
        "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror",
    ]
    for step in (configure, ["cmake", "--build", build]):
        subprocess.run(step, check=True)
    done = subprocess.run([build / project.name], capture_output=True, text=True)
    sys.stderr.write(done.stderr)
    if done.returncode != 0:
        sys.exit(f"{folder.name} ended with status {done.returncode}")
    return done.stdout.splitlines()


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print(__doc__)
        return 2
    prefix, folder = map(Path, arguments)
    shutil.rmtree(folder, ignore_errors=True)
    wrong = 0
    for number, project in enumerate(projects(PAGE.read_text())):
        printed = run(project, prefix.resolve(), folder / f"{project.name}{number}")
        expected = project.expected()
        same = len(printed) == len(expected) and all(
            line.startswith(start.removesuffix(" ..."))
            for line, start in zip(printed, expected, strict=True)
        )
        if not same or not expected:
            print(f"printed {printed}, but {PAGE.name} says {expected}")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
