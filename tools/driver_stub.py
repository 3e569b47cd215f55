#!/usr/bin/env python3
"""Generate the type stub of the compiled module.

    ./run tools/driver_stub.py           write python/pycuda/_driver.pyi
    ./run tools/driver_stub.py --check   exit with 1 if the stub is not current

nanobind's stubgen reads the module. python/src/stub_patterns.txt contains what stubgen cannot see of the classes that
are written by hand. The stub has no docstrings, because the module has them, and no values of constants.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STUB = ROOT / "python/pycuda/_driver.pyi"
PATTERNS = ROOT / "python/src/stub_patterns.txt"
HEAD = "# Made by tools/driver_stub.py; not to be edited.\n# ruff: noqa\n# fmt: off\n"
WIDTH = 160
# A constant of an enum: ``    WARP_SIZE: device_attribute = ...``.
CONSTANT = re.compile(r"^(    \w+: \w+) = .*$", re.MULTILINE)
# The attributes of a class that follow each other, one a line.
ATTRIBUTES = re.compile(r"(?:^    \w+: [^#\n]*[^#,\n]\n){2,}", re.MULTILINE)
# An attribute that can be read and set, as two functions.
ATTRIBUTE = re.compile(
    r"^    @property\n    def (\w+)\(self\) -> (.*): \.\.\.\n"
    r"    @\1\.setter\n    def \1\(self, arg: (.*), /\) -> None: \.\.\.$",
    re.MULTILINE,
)


def generated() -> str:
    """The stub as stubgen writes it."""
    os.environ["NB_STUBGEN"] = "1"  # before the module is imported
    from nanobind.stubgen import StubGen, load_pattern_file

    import pycuda._driver

    patterns = load_pattern_file(str(PATTERNS))
    stubs = StubGen(pycuda._driver, include_docstrings=False, patterns=patterns)
    stubs.put(pycuda._driver)
    unused = [str(one.query) for one in patterns if not one.matches]
    if unused:
        raise SystemExit(f"patterns that match nothing: {', '.join(unused)}")
    return stubs.get()


def stub() -> str:
    """The text of the stub."""
    text = CONSTANT.sub(r"\1", generated()).replace("\n    pass\n", " ...\n")
    text = formatted(re.sub(r"\n\n+", "\n", text), STUB.name)
    text = ATTRIBUTE.sub(
        lambda m: f"    {m[1]}: {m[2]}" if m[2] in (m[3], "object") else m[0], text
    )
    return HEAD + ATTRIBUTES.sub(lambda m: several_in_a_line(m[0].splitlines()), text)


def several_in_a_line(items: list[str], between: str = "; ") -> str:
    lines = [items[0]]
    for one in items[1:]:
        longer = f"{lines[-1]}{between}{one.strip()}"
        lines = [*lines[:-1], longer] if len(longer) <= WIDTH else [*lines, one]
    return "\n".join(lines) + "\n"


def formatted(text: str, name: str) -> str:
    """The text of a stub in ruff's format, with long lines."""
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--config", f"line-length={WIDTH}", "--stdin-filename", name, "-"],
        input=text, capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    return done.stdout


def main() -> int:
    if STUB.read_text() == (text := stub()):
        return 0
    if "--check" in sys.argv[1:]:
        print(f"{STUB.name} is not current: run ./run tools/driver_stub.py")
        return 1
    STUB.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
