"""Halide's tests of GPUs: each test/correctness/*gpu*.cpp is compiled with the package's library and run.

CLIENT_CHECKOUT is a checkout of halide/Halide at the package's version. A test passes if the process ends with
status 0 and prints "Success!", and is skipped if it prints "[SKIP]", as Halide's own test driver has it.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(os.environ["CLIENT_CHECKOUT"])
PACKAGE = next(
    Path(folder) / "halide"
    for folder in sys.path
    if (Path(folder) / "halide/include/Halide.h").is_file()
)
SOURCES = sorted((CHECKOUT / "test/correctness").glob("*gpu*.cpp"))
COMPILE = ("c++", "-std=c++17", "-O0", "-fno-rtti")


@pytest.fixture(scope="session")
def header(tmp_path_factory):
    """A folder with Halide.h, compiled once: the header takes most of a test's compilation."""
    folder = tmp_path_factory.mktemp("header")
    shutil.copy(PACKAGE / "include/Halide.h", folder)
    subprocess.run([*COMPILE, "-x", "c++-header", folder / "Halide.h"], check=True)
    return folder


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_halide(tmp_path, header, source):
    program = tmp_path / source.stem
    folders = (
        header,
        PACKAGE / "include",
        CHECKOUT / "test/common",
        CHECKOUT / "tools",
    )
    library = next(PACKAGE.glob("lib*/libHalide.so"))
    subprocess.run(
        [
            *COMPILE,
            *(f"-I{folder}" for folder in folders),
            *("-o", program, source, library, f"-Wl,-rpath,{library.parent}"),
        ],
        check=True,
    )
    done = subprocess.run(
        [program],
        cwd=tmp_path,
        env={
            **os.environ,
            "HL_TARGET": "host-cuda",
            "HL_JIT_TARGET": "host-cuda",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    print(done.stdout)
    if "[SKIP]" in done.stdout:
        pytest.skip(done.stdout.splitlines()[-1])
    assert done.returncode == 0
    assert "Success!" in done.stdout
