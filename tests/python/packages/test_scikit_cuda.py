"""A program with scikit-cuda, from PyPI: its matrix product and its transform around a kernel of one's own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from library_calls import load

import pycuda.driver as cuda

PAGE = Path(__file__).parents[3] / "docs/closed_libraries.md"
# Without their requirements: scikit-cuda's is a pycuda from PyPI.
PACKAGES = (
    *("scikit-cuda==0.5.3", "mako==1.4.3", "markupsafe==3.0.4"),
    *("pytools==2026.1.1", "platformdirs==4.14.8", "siphash24==1.9"),
    "typing_extensions==4.16.0",
)


@pytest.mark.slow  # pip downloads the packages
def test_the_program_of_the_docs_runs(device, tmp_path):
    load("libcublas.so.13")
    (program,) = re.findall(
        r"^```py\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL
    )
    (tmp_path / "program.py").write_text(program)
    install = ("-m", "pip", "install", "-q", "--no-deps", "--target", tmp_path / "site")
    pip = subprocess.run(
        [sys.executable, *install, *PACKAGES], capture_output=True, text=True
    )
    if "No matching distribution" in pip.stderr:
        pytest.skip("pip reaches no packages")
    assert pip.returncode == 0, pip.stderr
    done = subprocess.run(
        [sys.executable, "-m", "softcuda.exec", sys.executable, "program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(
                [os.environ.get("PYTHONPATH", ""), str(tmp_path / "site")]
            ),
            "PYCUDA_SOFTCUDA_LIBRARY": cuda.get_driver_path(),
            "PYCUDA_CACHE_DIR": str(tmp_path / "cache"),
            "XDG_CACHE_HOME": str(tmp_path / "home"),
        },
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "True\n"
