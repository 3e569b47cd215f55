"""The programs of docs/tutorial.md and README.md run, and print what their comments say."""

import re
from pathlib import Path

from conftest import is_softcuda

DOCS = Path(__file__).parents[2] / "docs"


def programs(path):
    return re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL)


def promised(block):
    """What the comments behind print() say."""
    lines = re.findall(r"^print\(.*\)  # (.*)$", block, re.MULTILINE)
    return [line.removeprefix("back to NumPy: ") for line in lines]


def test_the_tutorial(run_program):
    blocks = programs(DOCS / "tutorial.md")
    done = run_program("\n".join(blocks))
    assert done.returncode == 0, done.stderr
    printed = done.stdout.splitlines()
    wanted = [line for block in blocks for line in promised(block)]
    assert len(wanted) == 4
    assert printed[: len(wanted)] == wanted
    explained = "\n".join(printed[len(wanted) :])
    assert "illegal memory access" in explained
    if is_softcuda():
        assert re.search(
            r"kernel `fill` failed in block \(\d+,0,0\), .*: illegal address writing 0x\w+, "
            r"\d+ bytes after the 4000-byte allocation",
            done.stderr,
        )


def test_the_readmes_programs(run_program):
    found = programs(DOCS.parent / "README.md")
    assert len(found) == 2
    for program in found:
        done = run_program(program)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines() == promised(program)
