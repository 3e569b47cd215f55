"""The page "Test CUDA code without a GPU": its programs run if their packages are installed."""

import importlib.util
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pycuda.driver as cuda
import softcuda

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/testing_without_a_gpu.md").read_text()
EXAMPLES = runpy.run_path(str(ROOT / "tools/try_examples"))["examples"](PAGE)
MODULES = {
    "numba-cuda": "numba_cuda",
    "cuda.core": "cuda.core",
    "tinygrad": "tinygrad",
    "Dr.Jit": "drjit",
    "PyCUDA": "pycuda",
}

pytestmark = pytest.mark.skipif(
    "softcuda" not in cuda.get_driver_path(),
    reason="softcuda is not the driver under test",
)


def is_installed(module):
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def run(*command, folder):
    return subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=250,
        env={
            **os.environ,
            "SOFTCUDA_CACHE_DIR": str(folder / "cache"),
            "XDG_CACHE_HOME": str(folder / "home"),
        },
    )


def test_each_client_has_an_example_and_its_packages():
    assert {e.title for e in EXAMPLES} == {*MODULES, "C++ compiled by nvcc"}
    for example in EXAMPLES:
        assert example.packages[0] == "$SOFTCUDA"
        assert "all numbers are right" in example.program


@pytest.mark.parametrize("title", MODULES)
def test_program_in_python(title, tmp_path):
    if not is_installed(MODULES[title]):
        pytest.skip(f"{title} is not installed; tools/try_examples runs it")
    (example,) = (e for e in EXAMPLES if e.title == title)
    (tmp_path / "program.py").write_text(example.program)
    command = [sys.executable, "-m", "softcuda.exec", sys.executable, "program.py"]
    done = run(*command, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "all numbers are right\n"


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc")
def test_program_of_nvcc(tmp_path):
    (example,) = (e for e in EXAMPLES if e.language == "cuda")
    (tmp_path / "program.cu").write_text(example.program)
    own = ["-cudart", "none", f"-L{softcuda.loader_folder()}", "-l:libcudart.so.13"]
    for options in (["-cudart", "shared"], own):
        command = ["nvcc", "-arch=compute_80", "-o", "program", "program.cu", *options]
        built = run(*command, folder=tmp_path)
        assert built.returncode == 0, built.stderr
        start = [sys.executable, "-m", "softcuda.exec", "./program"]
        assert run(*start, folder=tmp_path).stdout == "all numbers are right\n"


def test_the_settings_are_the_libraries_own():
    names = {w.strip("`") for w in PAGE.split() if w.startswith("`SOFTCUDA_")}
    text = "".join(path.read_text() for path in (ROOT / "softcuda/src").rglob("*.cpp"))
    assert len(names) >= 5
    assert {name for name in names if f'"{name}"' not in text} == set()
