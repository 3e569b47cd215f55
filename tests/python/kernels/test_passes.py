"""The half of softcuda's run tests that CTest leaves out when it skips all optional passes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
BUILD = ROOT / "build/release"


@pytest.mark.slow
def test_the_other_half_without_passes():
    programs = [BUILD / "tests/softcuda" / name for name in ("softcuda_passes", "softcuda_run_tests")]  # fmt: skip
    for program in programs:
        if not program.exists():
            pytest.skip("the C++ tests are not built")
    done = subprocess.run(
        [
            sys.executable, ROOT / "tools/passes.py", "check", *programs,
            BUILD / "softcuda/libsoftcuda.so", ROOT / "tests/softcuda/run",
        ],
        env=os.environ | {"PYCUDA_OTHER_HALF": "1", "SOFTCUDA_ARCH": "90"},
        capture_output=True,
        text=True,
        timeout=1800,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
