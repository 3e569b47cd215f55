"""benchmarks/every_function.py has a row for each public function, with NumPy's values."""

import importlib
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from conftest import is_softcuda

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"

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


def measure(path, *options):
    command = [sys.executable, BENCHMARKS / "every_function.py", "--rows", path]
    return subprocess.run(
        [*command, "--sizes", "1Ki", "--kinds", "f4", *options],
        capture_output=True,
        text=True,
        check=True,
    )


def test_rows_are_kept_and_measured_once(tmp_path):
    path = tmp_path / "rows.jsonl"
    first = measure(path, "--processes", "2", "squeeze", "exp")
    kept = path.read_text()
    assert kept.count("\n") == 2
    assert "| exp | 1 Ki f4 |" in first.stderr and "2 rows, geometric" in first.stdout
    second = measure(path, "squeeze", "exp", "x[i]")
    assert path.read_text().startswith(kept)
    assert "| exp |" not in second.stderr and "| x[i] |" in second.stderr
    assert "3 rows, geometric" in second.stdout
    third = measure(path, "--minutes", "0", "--worst", "1", "sin")
    assert "stopped by SIGALRM" in third.stdout and third.stdout.count("| 1 Ki") == 1


def test_a_signal_ends_the_measurement(every_function):
    with pytest.raises(every_function.Stopped, match="SIGTERM"):
        with every_function.stopped_by_signals(60):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(60)
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_every_function_has_a_group(every_function):
    groups = every_function.function_groups()
    assert set(groups) == {*every_function.MORE, *every_function.function_calls()}
    assert groups["squeeze"] == "shapes" and groups["linalg.qr"] == "linalg"


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
