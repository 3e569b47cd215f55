"""softcuda's run tests without optional passes, in all variants. CTest runs each kernel in one or two of eight."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
BUILD = ROOT / "build/release"
LIBRARY = BUILD / "softcuda/libsoftcuda.so"
RUN_TESTS = BUILD / "tests/softcuda/softcuda_run_tests"
LIST = BUILD / "tests/softcuda/softcuda_passes"
KERNELS = ROOT / "tests/softcuda/run"


def run(*command, **environment):
    if not (RUN_TESTS.exists() and LIST.exists()):
        pytest.skip("the C++ tests are not built")
    done = subprocess.run(
        command,
        env=os.environ | {"SOFTCUDA_ARCH": "90"} | environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_all_variants_without_passes():
    check = [sys.executable, ROOT / "tools/passes.py", "check"]
    run(*check, LIST, RUN_TESTS, LIBRARY, KERNELS, PYCUDA_ALL_VARIANTS="1")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_all_variants_without_proofs():
    settings = {"SOFTCUDA_SKIP": "loop-ends", "SOFTCUDA_VERIFY": "1"}
    run(RUN_TESTS, LIBRARY, KERNELS, **settings)
