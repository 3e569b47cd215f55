"""Large kernels: compiling takes about as long for each statement as in small ones."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

PROGRAM = """
import sys
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

count = int(sys.argv[1])
numbers = np.arange(count, dtype=np.uint32)
threads = np.arange(64, dtype=np.uint32)[:, None]
lines = [f"a[{i}] = t * {i * 40503 % 65536 | 1}u + {i}u;" for i in range(count)]
sums = f"for (int i = 0; i < {count}; i++) h += a[(i * 7 + t) % {count}] * i;"
at = (numbers * 7 + threads) % count
expected = ((threads * (at * 40503 % 65536 | 1) + at) * numbers).sum(axis=1, dtype=np.uint32)
body = f"unsigned a[{count}];" + "".join(lines) + sums
module = SourceModule("__global__ void large(unsigned *out) {"
                      "unsigned t = threadIdx.x, h = 0;" + body + "out[t] = h; }")
out = np.zeros(64, np.uint32)
module.get_function("large")(cuda.Out(out), grid=(1, 1), block=(64, 1, 1))
assert (out == expected).all(), (out, expected)
"""


def machine_code_time(count: int) -> float:
    """Milliseconds of processor time; the kernel runs, too."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(count)],
        env={
            **os.environ,
            "PYCUDA_DRIVER": "softcuda",
            "SOFTCUDA_DISABLE_CACHE": "1",
            "SOFTCUDA_TIMES": "1",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = re.search(r"optimising `large`.*machine code ([0-9.]+)", done.stderr)
    assert found, done.stderr
    return float(found[1])


@pytest.mark.slow
def test_stores_to_a_local_array_compile_in_linear_time():
    """Four thousand stores take 0.5 ms each; it was 4 ms, and 2.5 ms each for a thousand."""
    assert machine_code_time(4000) < 8000
