"""Kernels compute in the modes of a GPU, whatever the calling thread has set, and leave its modes alone.

A library that was built with -ffast-math sets FTZ and DAZ of the thread that loads it, and new threads inherit them.
"""

import ctypes
import os
import platform
import struct
import subprocess
import sys

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64",
    reason="the modes are those of MXCSR and the x87 control word",
)

FLUSH, UPWARDS, TOWARDS_ZERO = 0x8040, 0x4000, 0x6000
TRAPS = 0x0F80  # the masks of all exceptions save inexact results
INEXACT = 0x20  # the flag of MXCSR: the host's own code sets it (the growth of a hash table, Python's int("3"))

SOURCE = """
__device__ float compute(float x) { return x * 0.5f + x / 3.0f; }

__global__ void plain(const float *x, float *y)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    y[i] = compute(x[i]);
}

// Warps with a barrier of their own are fibers.
__global__ void fibers(const float *x, float *y)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    float v = compute(x[i]);
    if (threadIdx.x < 32) asm volatile("bar.sync 1, 32;");
    y[i] = v;
}

__global__ void prints(float x) { printf("%.3g %.3g\\n", x, 1.0f / 3.0f); }
"""

INPUT = np.tile(np.array([0x000116C2, 0x3F9E0419], np.uint32), 16)
WANTED = np.tile(np.array([0xE84C, 0x3F83AE15], np.uint32), 16)


class Modes:
    """The calling thread's MXCSR, x87 control word and x87 status word."""

    libm = ctypes.CDLL("libm.so.6")

    @classmethod
    def read(cls):
        state = ctypes.create_string_buffer(32)
        cls.libm.fegetenv(state)
        control, status = struct.unpack_from("<HxxH", state, 0)
        return struct.unpack_from("<I", state, 28)[0], control, status

    @classmethod
    def write(cls, vector, x87=0x037F):
        state = ctypes.create_string_buffer(32)
        cls.libm.fegetenv(state)
        struct.pack_into("<HxxH", state, 0, x87, 0)
        struct.pack_into("<I", state, 28, vector)
        cls.libm.fesetenv(state)


@pytest.fixture
def modes():
    before = Modes.read()
    yield Modes
    Modes.write(before[0], before[1])


def run_with(setting, name, module, blocks):
    """The results, and the modes before and after the launch."""
    x = cuda.to_device(np.tile(INPUT, blocks))
    y = cuda.mem_alloc(4 * 32 * blocks)
    function = module.get_function(name)
    Modes.write(*setting)
    before = Modes.read()
    try:
        function(x, y, block=(32, 1, 1), grid=(blocks, 1))
        cuda.Context.synchronize()
        after = Modes.read()
    finally:
        Modes.write(0x1F80)
    return cuda.from_device(y, 32 * blocks, np.uint32), before, after


@pytest.mark.parametrize("name", ["plain", "fibers"])
@pytest.mark.parametrize("blocks", [1, 4000])
@pytest.mark.parametrize(
    "setting",
    [
        (0x1F80 | FLUSH, 0x037F),
        (0x1F80 | UPWARDS, 0x0B7F),
        (0x1F80 | TOWARDS_ZERO, 0x0F7F),
        (0x1F80 & ~TRAPS, 0x0360),
    ],
    ids=["flush", "upwards", "towards zero", "exceptions"],
)
def test_modes_of_the_caller(device, modes, primary_context, name, blocks, setting):
    module = SourceModule(SOURCE)
    got, before, after = run_with(setting, name, module, blocks)
    assert np.array_equal(got, np.tile(WANTED, blocks)), [hex(v) for v in got[:2]]
    assert after[0] | INEXACT == before[0] | INEXACT, (
        "the launch changed the thread's modes"
    )
    assert after[1] == before[1], "the launch changed the modes of the x87 unit"
    assert after[2] & 0x3F == 0, "the launch set flags of the x87 unit"


def test_compilation_with_other_modes(device, modes, primary_context):
    """Constants are folded in the modes of a GPU, too."""
    text = (
        "__global__ void k(float *o) { volatile float x = 1.0f; o[0] = x / 3.0f; o[1] = __fdividef(1.0f, 3.0f) * 0.1f; }"
        " // %d"
    )
    results = []
    for number, vector in enumerate([0x1F80, 0x1F80 | FLUSH | UPWARDS]):
        out = cuda.mem_alloc(8)
        Modes.write(vector)
        SourceModule(text % number).get_function("k")(out, block=(1, 1, 1))
        cuda.Context.synchronize()
        Modes.write(0x1F80)
        results.append(cuda.from_device(out, 2, np.uint32).tolist())
    assert results[0] == results[1]


@pytest.mark.skipif(
    not is_softcuda(), reason="host functions run in a thread of NVIDIA's driver"
)
def test_host_functions_have_the_usual_modes(device, primary_context):
    """In a process whose first thread flushes, and in which threads inherit it."""
    program = f"""
import sys
sys.path.insert(0, {os.path.dirname(__file__)!r})
from test_float_environment import FLUSH, SOURCE, WANTED, Modes, run_with
Modes.write(0x1f80 | FLUSH)
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule
seen = []
module = SourceModule(SOURCE)
for blocks in (1, 4000):
    got, *_ = run_with((0x1f80 | FLUSH, 0x37f), "plain", module, blocks)
    assert np.array_equal(got, np.tile(WANTED, blocks)), [hex(v) for v in got[:2]]
stream = cuda.Stream()
Modes.write(0x1f80 | FLUSH)
cuda.launch_host_func(lambda: seen.append(Modes.read()[0] & 0xe040), stream)
stream.synchronize()
assert seen == [0], seen
print("done")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True
    )
    assert done.stdout == "done\n", done.stderr
