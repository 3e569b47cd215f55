"""Large headers are precompiled for the later sources of a process."""

from __future__ import annotations

import os
import signal

import pytest

PROGRAM = """
import os, sys, warnings
from pathlib import Path
from pycuda.compiler import compile
warnings.simplefilter("error")
cache = Path(os.environ["PYCUDA_CACHE_DIR"])
def files():
    return sorted(cache.glob("precompiled-headers/*/*.pch"))
def kernel(number, headers="#include <cub/block/block_reduce.cuh>", **how):
    source = headers + "\\n__global__ void k(int *x) { *x = %d; }" % number
    return compile(source, arch="compute_80", target="ptx", nvcc="nvrtc", **how)
"""


@pytest.fixture
def run(run_program):
    done = run_program(PROGRAM + "kernel(1)\nprint(len(files()))")
    assert done.returncode == 0, done.stderr
    if done.stdout.split() == ["0"]:
        pytest.skip("this NVRTC has no precompiled headers")
    return run_program


def test_one_file_for_sources_with_the_same_headers(run, tmp_path):
    """And none for small headers, or if nothing is to be cached. All are removed at the end."""
    done = run(
        PROGRAM
        + """
kernel(2, "#include <cuda_fp16.h>")
kernel(3, cache_dir=False)
print(len(files()))
first = kernel(4)
[file] = files()
stamp = file.stat().st_mtime_ns
second = kernel(5)
assert first != second
[file] = files()
print(file.stat().st_mtime_ns == stamp)
kernel(6, options=["-DX=1"])
print(len(files()))
"""
    )
    assert done.stdout.split() == ["0", "True", "2"], done.stderr
    assert not list(tmp_path.glob("cache/precompiled-headers/*"))


@pytest.mark.slow
def test_a_forked_child_and_its_parent_compile(run, tmp_path):
    """NVRTC in the child removes the files of the parent, which then makes new ones."""
    done = run(
        PROGRAM
        + """
kernel(4)
child = os.fork()
if child == 0:
    kernel(5)
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
kernel(6)
kernel(7)
print(len(files()))
"""
    )
    assert done.stdout.split() == ["1"], done.stderr
    assert not list(tmp_path.glob("cache/precompiled-headers/*"))


@pytest.mark.slow
def test_the_files_of_a_killed_process_are_removed(run, tmp_path):
    killed = run(PROGRAM + "kernel(4)\nos.kill(os.getpid(), 9)")
    assert killed.returncode == -signal.SIGKILL
    [left] = tmp_path.glob("cache/precompiled-headers/*/*.pch")
    alive = tmp_path / "cache" / "precompiled-headers" / f"{os.getpid()}-1"
    alive.mkdir()  # a process of this number lives, but began at another time
    done = run(PROGRAM + "kernel(5)\nprint(len(files()))")
    assert done.stdout.split() == ["1"], done.stderr
    assert not left.exists() and not alive.exists()


def test_other_directives_before_the_same_headers_give_no_warning(run):
    done = run(
        PROGRAM
        + """
header = "#include <cooperative_groups.h>"
for directives in (header, "#define MY_FIRST 1\\n" + header, header + "\\n#define MY_SECOND 2"):
    kernel(8, directives)
"""
    )
    assert (done.returncode, done.stderr) == (0, "")
