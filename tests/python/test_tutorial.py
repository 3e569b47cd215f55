"""The programs of the docs run and print the output in their comments; the guide's are in test_guide.py."""

import re
from pathlib import Path

import numpy
from conftest import is_softcuda

from pycuda import gpuarray
from pycuda.compiler import SourceModule

DOCS = Path(__file__).parents[2] / "docs"


def programs(path):
    return re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL)


def promised(block):
    """The output that the comments after print() show."""
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
    if is_softcuda():
        assert "illegal memory access" in explained
        assert re.search(
            r"kernel `fill` failed at kernel\.cu:2 in block \(\d+,0,0\), .*: illegal address writing 0x\w+, "
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


def test_the_guide_to_arrays(run_program):
    """Its programs build on each other."""
    blocks = programs(DOCS / "arrays.md")
    done = run_program("\n".join(blocks))
    assert done.returncode == 0, done.stderr
    wanted = [line for block in blocks for line in promised(block)]
    assert len(wanted) == "".join(blocks).count("print(")
    assert done.stdout.splitlines() == wanted


# Pages whose programs another test runs.
RUN_ELSEWHERE = {
    "arrays.md": "test_the_guide_to_arrays",
    "tutorial.md": "test_tutorial",
    "user_guide.md": "test_guide",
    "multiple_devices.md": "test_multiple_devices",
    "finding_defects.md": "test_check",
    "finding_slow.md": "test_profile",
    "debugging.md": "test_gdb",
    "testing_without_a_gpu.md": "test_testing_without_a_gpu",
}


def test_programs_of_other_pages(device):
    """Short programs, listed here with the definitions that their context implies."""
    rest = {
        p.name: programs(p) for p in DOCS.glob("*.md") if p.name not in RUN_ELSEWHERE
    }
    names = {}
    exec(
        "import numpy\nfrom pycuda import gpuarray\nimport pycuda.driver as cuda", names
    )
    x = numpy.float32([[1, 2, 3], [3, 3, 3]])
    names["x"] = gpuarray.to_gpu(x)

    (softmax,) = rest.pop("array_api.md")
    exec(softmax, names)
    expected = numpy.exp(x) / numpy.exp(x).sum(axis=1, keepdims=True)
    numpy.testing.assert_allclose(
        names["softmax"](names["x"]).get(), expected, rtol=1e-6
    )

    (launch,) = rest.pop("life_of_a_launch.md")
    source = (
        "__global__ void f(int *a, int b) { a[blockIdx.x * 256 + threadIdx.x] = b; }"
    )
    names["func"] = SourceModule(source).get_function("f")
    names["a_gpu"] = a_gpu = gpuarray.zeros(64 * 256, numpy.int32)
    exec(launch, names)
    assert (a_gpu.get() == 7).all()

    assert {page: found for page, found in rest.items() if found} == {}
