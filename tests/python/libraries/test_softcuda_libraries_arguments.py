"""Each exported function of softcuda's cuBLAS and so on with bad arguments: it returns a status of its library."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from library_calls import load

import softcuda

FUZZER = Path(__file__).parent / "library_fuzz.py"
# The functions, the library's statuses, and the one of an unexpected exception.
LIBRARIES = {
    "cublas[^L]": ({0, 1, 3, 7, 8, 11, 13, 15}, 14),
    "cublasLt": ({0, 1, 3, 7, 8, 13, 15}, 14),
    "cufft": ({0, 1, 2, 3, 4, 6, 7, 8, 16}, 5),
    "curand": ({0, 101, 102, 103, 104, 105, 201}, 999),
    "cusolver": (set(range(7)) | set(range(8, 32)), 7),
    "cusparse": (set(range(7)) | {8, 9, 10, 11}, 7),
}
# These return a number, or the status of another call.
NO_STATUS = (
    "cublasI",
    "cublasGetError",
    "cusparseGetMat",
    "cublasLtGet",
    "cublasLtDisable",
)


@pytest.mark.parametrize("pattern", LIBRARIES)
def test_bad_arguments(device, pattern, tmp_path):
    load("libcublas.so.13")
    if shutil.which("c++") is None:
        pytest.skip("the signatures are read with a C++ preprocessor")
    log = tmp_path / "log"
    folder = softcuda.loader_folder()
    done = subprocess.run(
        [sys.executable, str(FUZZER), pattern, "1", "5", str(log)],
        env=os.environ | {"LD_LIBRARY_PATH": str(folder), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    calls = log.read_text().splitlines() if log.exists() else []
    assert done.returncode == 0, (calls[-1:], done.stderr[-500:])
    assert "On entry to" not in done.stdout  # OpenBLAS has refused an argument
    known, internal_error = LIBRARIES[pattern]
    statuses = {
        name: {int(status) for status in counts}
        for name, counts in json.loads(done.stdout.splitlines()[-1]).items()
        if not name.startswith(NO_STATUS)
    }
    unexpected = {
        name: found for name, found in statuses.items() if internal_error in found
    }
    assert not unexpected
    assert {
        name: found - known for name, found in statuses.items() if found - known
    } == {}
    assert any(0 in found for found in statuses.values())
    assert any(found != {0} for found in statuses.values())
