"""python -m pycuda check: leaks, and the names of kernels in findings."""

import json
import os
import subprocess
import sys

import pytest
from conftest import is_softcuda

pytestmark = pytest.mark.skipif(
    not is_softcuda(), reason="only softcuda has check modes"
)


@pytest.fixture
def check(tmp_path):
    """Run python -m pycuda check in the test's folder; returns the finished process."""

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "pycuda", "check", *arguments],
            capture_output=True,
            text=True,
            timeout=120,
            cwd=tmp_path,
            env={**os.environ, "PYCUDA_DRIVER": "softcuda"},
        )

    return run


LEAK = """
import ctypes
import pycuda.autoinit
import pycuda.driver as cuda
import pycuda.fft
import pycuda.gpuarray as gpuarray

kept = cuda.mem_alloc(1000)
array = gpuarray.zeros(100, "f")
pool = cuda.DeviceMemoryPool()
block = pool.allocate(300)
pool.allocate(400).free()
lost = cuda.mem_alloc(2000)
ctypes.pythonapi.Py_IncRef(ctypes.py_object(lost))
"""


def test_a_leak_names_the_line_that_allocated(check, tmp_path):
    (tmp_path / "leak.py").write_text(LEAK)
    done = check("--modes=mem", "--json=out.json", "leak.py")
    assert done.returncode == 1, done.stderr
    (finding,) = json.loads((tmp_path / "out.json").read_text())["findings"]
    assert finding["kind"] == "leak"
    line = LEAK.split("\n").index("lost = cuda.mem_alloc(2000)") + 1
    assert f"leak.py:{line}" in finding["text"] and "2000" in finding["text"]


def test_leaks_can_be_left_out(check, tmp_path):
    (tmp_path / "leak.py").write_text(LEAK)
    done = check("--modes=mem", "--no-leaks", "leak.py")
    assert done.returncode == 0, done.stderr


TEMPLATE = """
from pycuda.compiler import SourceModule
import pycuda.autoinit
import pycuda.driver as cuda

module = SourceModule('''
namespace lib { template <class T> __global__ void reverse(T *data) {
    __shared__ T tile[64];
    tile[threadIdx.x] = data[threadIdx.x];
    data[threadIdx.x] = tile[63 - threadIdx.x];
} }
template __global__ void lib::reverse<float>(float *);
''', nvcc="nvrtc", no_extern_c=True)
module.get_function("_ZN3lib7reverseIfEEvPT_")(cuda.mem_alloc(256), block=(64, 1, 1))
"""


@pytest.mark.parametrize(
    "named", [None, "lib*reverse<float>", "_ZN3lib7reverseIfEEvPT_"]
)
def test_a_kernel_has_the_name_of_its_source(check, tmp_path, named):
    (tmp_path / "template.py").write_text(TEMPLATE)
    (tmp_path / "names").write_text(f"race:*:{named}:*:*")
    options = ["--suppress=names"] if named else []
    done = check("--modes=race", *options, "template.py")
    assert ("in kernel lib::reverse<float>" in done.stderr) == (named is None), (
        done.stderr
    )
    assert done.returncode == (named is None)
