#!/usr/bin/env python3
"""Make docs/api_table.md: each name that PyCUDA has, and the test that uses it.

    tools/api_table.py           write the table
    tools/api_table.py --check   exit with 1 where the table in docs is not this one

tests/api_names.txt has the names. The test of a name is the first test function, in the order of
files and lines, whose text has the name as a word of its own (the last part of a dotted name). A
name without a test stands in the table as such.
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = Path("docs/api_table.md")

HEAD = """\
# PyCUDA's names and their tests

`tools/api_table.py` makes this table of `tests/api_names.txt` and the tests; a test checks that it is
current. Each name is that of a public function, class, method or constant of PyCUDA that a program
may use, here under the module that it is imported from.

"""


def read_names(root: Path) -> list[tuple[str, str]]:
    """(module, name) of each name, in the file's order."""
    names = []
    for line in (root / "tests/api_names.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            module, _, rest = line.partition(":")
            names += [(module, name) for name in rest.split()]
    return names


@dataclass
class Test:
    """A test function, or what a file has beside its functions."""

    name: str
    words: set[str]
    file: str  # the text of all of its file


def read_tests(root: Path) -> list[Test]:
    """Each test function and, after those of its file, the file's own level."""
    tests = []
    for path in sorted((root / "tests/python").glob("test_*.py")):
        text = path.read_text()
        lines = text.splitlines()
        functions = [
            node
            for node in ast.parse(text).body
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        ]
        taken: set[int] = set()
        for node in functions:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            span = range(first - 1, node.end_lineno or node.lineno)
            taken.update(span)
            words = _words(lines[i] for i in span)
            tests.append(Test(f"{path.stem}::{node.name}", words, text))
        rest = _words(line for i, line in enumerate(lines) if i not in taken)
        tests.append(Test(path.stem, rest, text))
    return tests


def _words(lines: object) -> set[str]:
    return set(re.findall(r"\w+", "\n".join(lines)))


def test_of(module: str, name: str, tests: list[Test]) -> str | None:
    """The test of a name; one whose text has the class as well goes first.

    What a header has is tested where its name stands, and nowhere else.
    """
    if module.endswith(".hpp"):
        tests = [test for test in tests if module in test.file]
    *owner, last = name.split(".")
    for wanted in ({*owner, last}, {last}):
        for test in tests:
            if wanted <= test.words:
                return test.name
    return None


def make_table(root: Path) -> str:
    """The whole text of docs/api_table.md."""
    tests = read_tests(root)
    rows: dict[str, list[str]] = {}
    missing = 0
    names = read_names(root)
    for module, name in names:
        test = test_of(module, name, tests)
        missing += test is None
        shown = f"`{test}`" if test else "none"
        rows.setdefault(module, []).append(f"| `{name}` | {shown} |")
    text = HEAD + f"{len(names)} names, {len(names) - missing} with a test.\n"
    for module, lines in rows.items():
        text += (
            f"\n## {module}\n\n| name | test |\n|---|---|\n" + "\n".join(lines) + "\n"
        )
    return text


def main() -> int:
    """Write or check the table."""
    text = make_table(ROOT)
    path = ROOT / TABLE
    if "--check" not in sys.argv[1:]:
        path.write_text(text)
        return 0
    if path.exists() and path.read_text() == text:
        return 0
    print(f"{TABLE} is not current: run tools/api_table.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
