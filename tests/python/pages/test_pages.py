"""Each page of the docs runs from its first program to its last, as a reader types it, and prints what it promises."""

import re
from pathlib import Path

import pytest
from conftest import is_softcuda

import pycuda.driver as cuda

ROOT = Path(__file__).parents[3]
# Each block of this page is a program for another library; test_testing_without_a_gpu.py runs them.
OTHER_CLIENTS = "testing_without_a_gpu.md"
PAGES = [
    page
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    if "\n```python\n" in page.read_text() and page.name != OTHER_CLIENTS
]
# A program of another library, beside ours, is marked `py` instead of `python` and is not run.
# Pages that take more than some seconds.
SLOW = {"user_guide.md"}
NEED_SOFTCUDA = {"finding_defects.md", "finding_slow.md"}
# A reader without one of these packages leaves out its block.
OPTIONAL = {"torch", "cupy", "numba", "pyopencl", "mpi4py", "dask"}

# Runs the blocks of a page one after the other, in one namespace. A `try` of a page shows an error: none is a failure,
# unless a GPU does not notice the mistake.
RUNNER = """
import ast, sys
blocks, names, optional, shows_errors = {blocks!r}, {{"__name__": "__main__"}}, {optional!r}, {shows_errors}
for number, block in enumerate(blocks, 1):
    tree = ast.parse(block)
    for node in ast.walk(tree):
        if shows_errors and isinstance(node, ast.Try) and not node.orelse:
            node.orelse = ast.parse("raise AssertionError('the page shows an error here')").body
    try:
        exec(compile(tree, f"block {{number}}", "exec"), names)
    except ModuleNotFoundError as error:
        if error.name.split(".")[0] not in optional:
            raise
        print(f"block {{number}} left out: there is no {{error.name}}", file=sys.stderr)
"""


def programs(page):
    """The programs of a page: lists of blocks. A block with `import pycuda.autoinit` begins a program, the others
    continue it."""
    found = []
    for block in re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.M | re.S):
        if not found or re.search(r"^import pycuda\.autoinit\b", block, re.M):
            found.append([])
        found[-1].append(block)
    return found


def promised(block):
    """The outputs that the comments behind print() show, as patterns: `...` is any text."""
    lines = re.findall(r"^ *(?:print\(.*\)|\))  # (.*)$", block, re.M)
    lines = [line.removeprefix("back to NumPy: ") for line in lines]
    if not is_softcuda():  # a fault has no details, or is not noticed
        lines = [line for line in lines if "..." not in line]
    return [
        ".*".join(re.escape(part.strip()) for part in line.split("..."))
        for line in lines
    ]


def run_page(run_program, blocks):
    source = RUNNER.format(blocks=blocks, optional=OPTIONAL, shows_errors=is_softcuda())
    return run_program(source, SOFTCUDA_DEVICES="2")


def cases():
    for page in PAGES:
        for number, blocks in enumerate(programs(page), 1):
            marks = [pytest.mark.slow] if page.name in SLOW else []
            yield pytest.param(page, blocks, id=f"{page.stem}-{number}", marks=marks)


@pytest.mark.parametrize(("page", "blocks"), list(cases()))
def test_a_program_of_a_page(page, blocks, run_program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if page.name in NEED_SOFTCUDA and not is_softcuda():
        pytest.skip("softcuda finds defects and counts")
    if page.name == "multiple_devices.md" and not is_softcuda():
        cuda.init()
        if cuda.Device.count() < 2:
            pytest.skip("needs two devices")
    done = run_page(run_program, blocks)
    assert done.returncode == 0, done.stderr
    printed = iter(done.stdout.splitlines())
    if "left out" not in done.stderr:
        for block in blocks:
            for line in promised(block):
                assert any(re.fullmatch(line, one) for one in printed), (
                    f"{page.name} promises {line!r}: {done.stdout}"
                )


def test_pages_have_programs():
    names = {page.name for page in PAGES}
    assert {"README.md", "tutorial.md", "user_guide.md", "arrays.md"} <= names
    assert len(programs(ROOT / "docs/user_guide.md")) == 1
    assert len(programs(ROOT / "docs/migration.md")) == 5
    assert len(programs(ROOT / "README.md")) == 2
    for name, count in {"tutorial.md": 4, "arrays.md": 11}.items():
        (blocks,) = programs(ROOT / "docs" / name)
        assert sum(len(promised(block)) for block in blocks) >= count, name


def test_a_name_that_the_page_does_not_define_fails(run_program):
    done = run_page(run_program, ["x = 1\n", "print(y)\n"])
    assert done.returncode == 1 and "NameError" in done.stderr
    done = run_page(run_program, ["import torch.nothing_like_this\n", "print(1)\n"])
    assert done.returncode == 0 and done.stdout == "1\n"
    done = run_page(run_program, ["import nothing_like_this\n"])
    assert "No module named 'nothing_like_this'" in done.stderr


@pytest.mark.skipif(not is_softcuda(), reason="a GPU may not notice a mistake")
def test_an_error_that_a_page_shows_must_be_raised(run_program):
    block = "try:\n    {}\nexcept ValueError as error:\n    print(error)\n"
    assert run_page(run_program, [block.format("int('x')")]).returncode == 0
    done = run_page(run_program, [block.format("int('1')")])
    assert done.returncode == 1 and "the page shows an error here" in done.stderr


def test_the_fault_of_the_tutorial(run_program):
    """Its last program makes a mistake, and one line on stderr explains the mistake."""
    (blocks,) = programs(ROOT / "docs/tutorial.md")
    done = run_page(run_program, blocks)
    if is_softcuda():
        assert "illegal memory access" in done.stdout
        assert re.search(
            r"kernel `fill` failed at kernel\.cu:2 in block \(\d+,0,0\), .*: illegal address writing 0x\w+, "
            r"\d+ bytes after the 4000-byte allocation",
            done.stderr,
        )


def test_no_code_is_broken_into_a_list():
    """A line that begins with "* " is an item of a list, also inside of `4 * 130`. Our lists begin with "- "."""
    folder = ROOT / "docs"
    pages = [*folder.glob("*.md"), *folder.glob("course/*.md")]
    assert len(pages) > 30
    broken = [
        f"{page.name}:{number}"
        for page in pages
        for number, line in enumerate(page.read_text().splitlines(), 1)
        if line.startswith(("* ", "+ "))
    ]
    assert not broken
