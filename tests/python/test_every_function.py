"""benchmarks/every_function.py has a row for each public function, with NumPy's values."""

import importlib
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from conftest import is_softcuda

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

pytestmark = pytest.mark.usefixtures("device")


@pytest.fixture(scope="module")
def every_function():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        importlib.import_module("launches")
        return importlib.import_module("every_function")
    finally:
        sys.path.remove(str(BENCHMARKS))


def test_every_function_has_a_row_with_numpys_values(every_function):
    """A new public function needs arguments in benchmarks/function_calls.py if they cannot be guessed."""
    calls = every_function.function_calls()
    ours = every_function.Library(
        "pycuda", every_function._Pycuda(), every_function.gpuarray.to_gpu, None
    )
    failed = {}
    warnings.simplefilter("ignore")
    for name, text in {**calls, **dict.fromkeys(every_function.MORE, "")}.items():
        ours.data = every_function.Operands(ours.array, 1024)
        try:
            if ours.call(name, text)() is None and name not in IN_PLACE:
                failed[name] = "returns None"
            elif every_function.values_differ(ours, name, text):
                failed[name] = "other values than NumPy's"
        except Exception as error:
            failed[name] = f"{type(error).__name__}: {error}"
    assert failed == {}
    assert len(calls) > 300


IN_PLACE = {
    "copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask", "x[i] = 1", "x[mask] = 1", "add.at",
    "add.at of many", "add.at of rows", "maximum.at",
}  # fmt: skip


def test_functions_left_out_exist(every_function):
    names = {one for one in every_function.function_calls()}
    left_out = importlib.import_module("function_calls").LEFT_OUT
    assert not names & set(left_out)
    assert all(left_out.values())


def test_values_that_differ_are_found(every_function):
    assert not every_function.differs(np.ones(3), np.ones(3))
    assert every_function.differs(np.ones(3), np.ones(3) + 1)
    assert every_function.differs([np.ones(3)], [np.ones(4)])
    assert every_function.differs(np.ones(3, int), np.ones(3))


@pytest.mark.skipif(not is_softcuda(), reason="the software device counts launches")
def test_launches_of_calls(every_function):
    launches = sys.modules["launches"]
    ours = every_function.Library(
        "pycuda", every_function._Pycuda(), every_function.gpuarray.to_gpu, None
    )

    def count(name, text):
        ours.data = launches.Operands(ours.array, 1024)
        return launches.Count(ours.call(name, text), ours.data, name == "sin")

    sine, softmax = count("sin", "x"), count("softmax", "")
    assert (sine.launches, sine.copies) == (1, 0)
    assert 1 <= sine.traffic < 1.1
    assert softmax.launches > 1 and softmax.calls > max(sine.calls, 2)
    assert softmax.is_composite and not sine.is_composite
