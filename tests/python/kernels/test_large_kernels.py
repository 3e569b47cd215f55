"""Large kernels: compiling takes about as long for each statement as in small ones."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from marks import slow

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

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


LOOK_UPS = """
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

count = 1000
lines = [f"h += in[(t * {2 * i + 1} + {i * 13}) & 1023] * {2 * i + 1}u;" for i in range(count)]
module = SourceModule("__global__ void large(unsigned *out, const unsigned *in) {"
                      "unsigned t = threadIdx.x, h = t;" + "".join(lines) + "out[t] = h; }")
table = np.arange(1024, dtype=np.uint32) * 3 + 1
threads = np.arange(64, dtype=np.uint32)[:, None]
odd = 2 * np.arange(count, dtype=np.uint32) + 1
at = (threads * odd + np.arange(count, dtype=np.uint32) * 13) & 1023
expected = (table[at] * odd).sum(axis=1, dtype=np.uint32) + threads[:, 0]
out = np.zeros(64, np.uint32)
module.get_function("large")(cuda.Out(out), cuda.In(table), grid=(1, 1), block=(64, 1, 1))
np.testing.assert_array_equal(out, expected)
"""


@pytest.mark.slow
def test_look_ups_in_a_table_compile_in_linear_time():
    """A thousand look-ups took 20 s, with code for each lane of each of them."""
    done = subprocess.run(
        [sys.executable, "-c", LOOK_UPS],
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
    assert float(found[1]) < 8000


SHARED_ARRAYS = """
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

count = 1200
lines = [f"a[{k * 8} + (h & 7)] = h; h += a[{k * 8 + k % 8}];" for k in range(count)]
module = SourceModule("__global__ void large(unsigned *out) {"
                      f"__shared__ unsigned a[{8 * count}];"
                      "unsigned h = out[0];" + "".join(lines) + "out[0] = h; }")
out = np.full(1, 3, np.uint32)
module.get_function("large")(cuda.InOut(out), grid=(1, 1), block=(1, 1, 1))
"""


@pytest.mark.slow
def test_loads_and_stores_in_shared_memory_are_sunk_in_linear_time():
    """LLVM's sinking pass compares each load with all later stores: 2.5 s for 1200 of each."""
    done = subprocess.run(
        [sys.executable, "-c", SHARED_ARRAYS],
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
    found = re.search(r"optimising `large`.* sink(?:-cold)? ([0-9.]+)", done.stderr)
    assert found, done.stderr
    assert float(found[1]) < 300


CASES = """
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

count = 600
lines = [f"case {i}: h = (h ^ {i}u) * {2 * i + 3}u + in[{i % 64}];" for i in range(count)]
module = SourceModule("__global__ void large(unsigned *out, const volatile unsigned *in) {"
                      "unsigned t = threadIdx.x, h = t;"
                      f"switch (in[t] % {count}) {{" + "".join(lines) + "} out[t] = h; }")
numbers = np.arange(64, dtype=np.uint32) * 2654435761
out = np.zeros(64, np.uint32)
module.get_function("large")(cuda.Out(out), cuda.In(numbers), grid=(1, 1), block=(64, 1, 1))
for t in range(64):
    h = t
    for i in range(int(numbers[t]) % count, count):
        h = ((h ^ i) * (2 * i + 3) + int(numbers[i % 64])) & 0xFFFFFFFF
    assert h == out[t], (t, h, out[t])
"""


@pytest.mark.slow
@pytest.mark.parametrize("isa", ["native", "sse4"])
def test_masks_of_a_thousand_basic_blocks_are_kept_in_memory(isa):
    """Each case of a switch with fall-through has a mask and a value that live until the case is reached."""
    done = subprocess.run(
        [sys.executable, "-c", CASES],
        env={
            **os.environ,
            "PYCUDA_DRIVER": "softcuda",
            "SOFTCUDA_ISA": isa,
            "SOFTCUDA_DISABLE_CACHE": "1",
            "SOFTCUDA_DUMP": "optimized",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    kept = re.findall(r"store volatile <32 x i8> %", done.stderr + done.stdout)
    assert len(kept) > 200, "masks are in registers"


ACCESSES = """
__global__ void large(TYPE *out, const TYPE *in, const int *places)
{
    __shared__ TYPE rows[64];
    TYPE own[8];
    const int t = threadIdx.x;
    rows[t] = in[t];
    for (int i = 0; i < 8; i++) own[(i + t) & 7] = in[places[t] + i];
    __syncthreads();
    int at = places[t];
    TYPE sum = 0;
    LINES
    out[places[t] * 2 + 1] = sum;
}
"""


@pytest.mark.parametrize("dtype", [np.int8, np.float64, *slow([np.uint16, np.int32])])
@pytest.mark.parametrize("tier", ["regions", "lanes"])
def test_called_accesses_compute_as_inline_ones(device, monkeypatch, dtype, tier):
    """A kernel with more than 800 accesses calls the runtime for those that need code for each lane."""
    monkeypatch.setenv("SOFTCUDA_TIER", tier)
    name = {
        "int8": "char",
        "uint16": "unsigned short",
        "int32": "int",
        "float64": "double",
    }
    lines, count = [], 300
    for k in range(count):
        lines.append(f"at = (at * 5 + {k}) & 63;")
        if k % 3 == 0:
            lines.append(f"if (at & {1 << k % 6}) sum += in[at];")
        elif k % 3 == 1:
            lines.append("sum += own[at & 7]; sum += rows[at];")
        else:
            lines.append(
                f"if (t != {k % 64}) out[(places[t] + 64 * {k % 2}) * 2] = sum;"
            )
    source = ACCESSES.replace("LINES", "\n".join(lines))
    module = SourceModule(source.replace("TYPE", name[np.dtype(dtype).name]))
    places = np.random.default_rng(5).permutation(64).astype(np.int32)
    numbers = (np.arange(96) % 7).astype(dtype)
    out = np.zeros(256, dtype)
    module.get_function("large")(
        cuda.InOut(out), cuda.In(numbers), cuda.In(places),
        grid=(1, 1), block=(64, 1, 1),
    )  # fmt: skip
    expected = np.zeros(256, dtype)
    for t in range(64):
        own = np.zeros(8, dtype)
        for i in range(8):
            own[(i + t) & 7] = numbers[places[t] + i]
        at, total = int(places[t]), dtype(0)
        with np.errstate(over="ignore"):
            for k in range(count):
                at = (at * 5 + k) & 63
                if k % 3 == 0:
                    total = dtype(total + numbers[at]) if at & 1 << k % 6 else total
                elif k % 3 == 1:
                    total = dtype(dtype(total + own[at & 7]) + numbers[at])
                elif t != k % 64:
                    expected[(places[t] + 64 * (k % 2)) * 2] = total
        expected[places[t] * 2 + 1] = total
    np.testing.assert_array_equal(out, expected)
