"""A race planted in a tutorial: the report gives its line."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest
from conftest import is_softcuda

pytestmark = pytest.mark.skipif(not is_softcuda(), reason="softcuda has check modes")
TUTORIALS = pathlib.Path(__file__).parents[3] / "examples" / "tutorials"
PLANTED = {
    # Every second thread adds; without the factor 2 its neighbour adds, too.
    "calculate_pi.py": ("id %% (2*i) == 0", "id %% i == 0", "kernel reducer"),
    # Rows of four elements; with 2 they overlap.
    "doublify.py": ("threadIdx.y*4", "threadIdx.y*2", "kernel doublify"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_race_in_a_tutorial_is_named_by_its_line(name: str, tmp_path: pathlib.Path):
    right, wrong, kernel = PLANTED[name]
    source = (TUTORIALS / name).read_text()
    assert right in source
    program = tmp_path / name
    program.write_text(source.replace(right, wrong))
    text = source[source.index(f"__global__ void {kernel.split()[1]}") :]
    opening = source.rindex('"""', 0, source.index(text)) + 3
    line = (
        source[opening : source.index(right)].count("\n") + 2
    )  # the access follows it
    done = subprocess.run(
        [sys.executable, "-m", "pycuda", "check", "--modes=race", str(program)],
        capture_output=True,
        text=True,
    )
    report = done.stdout + done.stderr
    assert done.returncode != 0
    assert kernel in report
    assert f"kernel.cu:{line}: read" in report, report


@pytest.mark.parametrize("name", [*PLANTED, "manual_context.py", "multiply_them.py"])
def test_the_tutorial_itself_has_no_finding(name: str):
    done = subprocess.run(
        [sys.executable, "-m", "pycuda", "check", str(TUTORIALS / name)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
