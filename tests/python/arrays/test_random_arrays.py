"""Random calls of arrays, on the device and in NumPy.

`tools/random_arrays` runs any number of them; this test runs a fixed part.
"""

import pathlib
import sys

import numpy as np
import pytest
from conftest import is_softcuda
from marks import slow

import pycuda.driver as cuda

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent))

from random_arrays import case  # noqa: E402

pytestmark = pytest.mark.usefixtures("device")


# Seeds with different results on an H200: an element that is indexed several times gets any one of its values.
ON_A_GPU = {103, 337, 1657}


def differences(seeds, table="usual") -> list[str]:
    left_out = set() if is_softcuda() else ON_A_GPU
    found = (
        (seed, case.compare(case.make(seed, "", table)))
        for seed in seeds
        if seed not in left_out
    )
    return [f"seed {seed}\n{one}" for seed, one in found if one is not None]


# Indices may repeat: then several threads write one element, in no defined order.
@pytest.mark.cuda_check_allow("race", "sync")
@pytest.mark.parametrize("first", [0, *slow(range(100, 600, 100))])
def test_random_calls(first):
    assert differences(range(first, first + 100)) == []


def test_random_calls_of_more_functions():
    assert differences(range(2000, 2100), "more") == []


@pytest.mark.cuda_check_allow("race", "sync")
@pytest.mark.parametrize("first", [1000, *slow(range(1100, 1400, 100))])
def test_random_calls_with_shared_memory(first):
    """Operands that share memory, masks with fewer axes, calls of functions that the other tables lack."""
    assert differences(range(first, first + 100), "rest") == []


@pytest.mark.cuda_check_allow("race", "sync")
@pytest.mark.parametrize("first", [1500, *slow([1600])])
def test_random_calls_in_a_stream(first):
    with cuda.Stream():
        assert differences(range(first, first + 100)) == []


@pytest.mark.parametrize(
    "ours, what",
    [
        ("r = b0 + 1", "r has dtype|r is"),
        ("r = b0[:2]", "r has shape"),
        ("r = b0.astype('f8')", "r has dtype"),
        ("r = b0[0:99].view()", "no view of b0"),
        ("b0[0] = 9; r = b0.copy()", "r is"),
        ("r = b0.no_such_method()", "raises AttributeError"),
    ],
)
def test_differences_are_found(monkeypatch, ours, what):
    """Test of the comparison: the device runs another statement than NumPy."""
    run = case.run

    def run_other(lines, names):
        on_host = isinstance(names["base"](1, 1, "i4"), np.ndarray)
        return run(lines if on_host else [lines[0], ours], names)

    monkeypatch.setattr(case, "run", run_other)
    found = case.difference(["b0 = base(3, 5, 'i4')", "r = b0.copy()"])
    assert any(word in found for word in what.split("|")), found
