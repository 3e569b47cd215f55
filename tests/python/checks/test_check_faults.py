"""A kernel that fails under the check mode mem destroys its context, or ends alone."""

import os
import subprocess
import sys

import pytest
from conftest import is_softcuda

pytestmark = pytest.mark.skipif(not is_softcuda(), reason="softcuda has check modes")

TWO_FAULTS = """
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

module = SourceModule('''
__global__ void misaligned(char *data) { *(int *)(data + 1) = 1; }
__global__ void outside(int *data) { data[1 << 20] = 1; }
__global__ void right(int *data) { data[0] = 7; }
''')
data = cuda.mem_alloc(64)
for name in ("misaligned", "outside"):
    try:
        module.get_function(name)(data, block=(1, 1, 1))
        cuda.Context.synchronize()
    except cuda.Error as error:
        print(name, "failed")
out = np.zeros(1, np.int32)
try:
    module.get_function("right")(data, block=(1, 1, 1))
    cuda.memcpy_dtoh(out, data)
except cuda.Error as error:
    print("the context has ended")
print(out[0])
"""


@pytest.mark.parametrize("ends", ["kernel", "context"])
def test_effects_of_a_kernel_that_fails(tmp_path, ends):
    (tmp_path / "faults.py").write_text(TWO_FAULTS)
    option = f"--destroy-on-device-error={ends}"
    done = subprocess.run(
        [sys.executable, "-m", "pycuda", "check", "--modes=mem", option, "faults.py"],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        env={**os.environ, "PYCUDA_DRIVER": "softcuda"},
    )
    assert done.returncode == 1
    assert "misaligned failed\noutside failed" in done.stdout
    assert ("\n7\n" in done.stdout) == (ends == "kernel"), done.stdout
    assert ("the context has ended" in done.stdout) == (ends == "context")
    assert ("in kernel outside" in done.stderr) == (ends == "kernel"), done.stderr
    assert "in kernel misaligned" in done.stderr


def test_a_wrong_value_of_the_error_option(run_program):
    done = run_program(
        "import pycuda.driver as cuda; cuda.init()",
        PYCUDA_DRIVER="softcuda",
        SOFTCUDA_CHECK="mem",
        SOFTCUDA_CHECK_DESTROY="warp",
    )
    assert done.returncode == 1
    assert "SOFTCUDA_CHECK_DESTROY is 'warp'; expected kernel or context" in done.stderr
