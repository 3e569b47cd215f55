"""Wrong arguments of every function: no process dies, and each error is one that an argument may cause.

The functions are found in the stub of pycuda._driver and by inspect.signature(); see argument_cases.py. Each batch of
functions runs in a process of its own.
"""

import os
import pathlib
import subprocess
import sys

import pytest

import pycuda

CASES = pathlib.Path(__file__).with_name("argument_cases.py")


def start(*arguments):
    folder = pathlib.Path(pycuda.__file__).parent.parent
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", CASES, *map(str, arguments)],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=1500,
        env={**os.environ, "PYTHONPATH": str(folder), "SOFTCUDA_DEVICES": "2", "SOFTCUDA_MEMORY": "1G"},
    )  # fmt: skip


def complaints_of(first: int, last: int, seed: int) -> list[str]:
    """The calls of these functions that ended the process or raised another error than those of arguments."""
    found = []
    while first < last:
        result = start("run", first, last, seed)
        lines = result.stdout.splitlines()
        found += [line for line in lines if line.startswith("! ")]
        if lines and lines[-1] == "done":
            return found
        calls = [line for line in lines if line.startswith("? ")]
        assert calls, result.stderr[-2000:]
        found.append(f"the process ended with {result.returncode} at {calls[-1]}")
        first = int(calls[-1].split()[1]) + 1
    return found


def count() -> int:
    return len(start("list").stdout.splitlines())


def test_the_functions_are_found():
    names = start("list").stdout.split("\n")
    for wanted in (
        "_driver.memcpy_htod dest src",
        "_driver.Stream.synchronize",
        "gpuarray.concat",
        "gpuarray.GPUArray.reshape",
        "fft.fft",
        "linalg.svd",
        "sparse.csr_array",
    ):
        assert any(name.startswith(wanted) for name in names), wanted
    assert len(names) > 1300


def test_an_object_of_each_class_is_made():
    """Without an object, none of the methods of a class would be called."""
    result = start("owners")
    assert result.returncode == 0, result.stderr[-2000:]
    assert result.stdout == ""


@pytest.mark.slow
@pytest.mark.skipif(
    not os.environ.get("PYCUDA_ALL_ARGUMENTS"),
    reason="takes long: PYCUDA_ALL_ARGUMENTS=1 ./test tests/python/driver/test_argument_fuzz.py",
)
@pytest.mark.parametrize("batch", range(20))
def test_wrong_arguments_are_errors(batch):
    functions = count()
    last = functions if batch == 19 else functions * (batch + 1) // 20
    assert complaints_of(functions * batch // 20, last, -1) == []


def test_some_wrong_arguments_are_errors():
    """A part of the functions with a few values each; the slow test calls all of them with all values."""
    assert complaints_of(0, 120, 1) == []
