"""Accesses whose index has known bounds, and generic addresses: one comparison of a pointer checks all lanes."""

from __future__ import annotations

import json

import numpy as np
import pytest
from conftest import is_softcuda

from pycuda import driver
from pycuda.compiler import SourceModule

pytestmark = pytest.mark.skipif(not is_softcuda(), reason="softcuda checks addresses")

SOURCE = """\
__global__ void gather(const float *table, const int *where, float *out)
{
    out[threadIdx.x] = table[where[threadIdx.x] & 127]; // LINE gather
}
__global__ void scatter(float *table, const int *where, const float *in)
{
    table[where[threadIdx.x] & 127] = in[threadIdx.x]; // LINE scatter
}
__global__ void turn(const float *in, float *out, int by, int memory)
{
    __shared__ float tile[256];
    float own[256];
    int t = threadIdx.x;
    tile[t] = in[t];
    for (int k = 0; k < 256; k++)
        own[k] = in[k];
    __syncthreads();
    const float *from = memory == 0 ? in : memory == 1 ? tile : memory == 2 ? own : t < 100 ? in : tile;
    float sum = 0;
    #pragma unroll
    for (int k = 0; k < 4; k++)
        sum += from[(t + k) & 255];
    out[t] = sum + from[(t + by) & 255] + from[min(t + 1, 255)];
}
__global__ void put(float *out, int memory)
{
    __shared__ float tile[256];
    int t = threadIdx.x;
    float *to = memory == 0 ? out : memory == 1 ? tile : t < 100 ? out : tile;
    to[(t + 1) & 255] = t;
    __syncthreads();
    if (to != out)
        out[(t + 1) & 255] = tile[(t + 1) & 255] + 1000;
}
"""


def line_of(name: str) -> int:
    return 1 + next(
        n for n, line in enumerate(SOURCE.splitlines()) if f"// LINE {name}" in line
    )


@pytest.fixture
def functions(device):
    return SourceModule(SOURCE)


@pytest.mark.parametrize("memory", range(4))
def test_a_tile_that_is_read_in_turns(functions, memory):
    values = np.arange(256, dtype=np.float32) ** 2 % 1021
    out = np.empty_like(values)
    functions.get_function("turn")(
        driver.In(values), driver.Out(out), np.int32(7), np.int32(memory),
        block=(256, 1, 1), grid=(1, 1),
    )  # fmt: skip
    t = np.arange(256)
    expected = sum(values[(t + k) & 255] for k in range(4))
    expected += values[(t + 7) & 255] + values[np.minimum(t + 1, 255)]
    assert np.array_equal(out, expected)


@pytest.mark.parametrize("memory", range(3))
def test_a_tile_that_is_written_in_turns(functions, memory):
    out = np.zeros(256, np.float32)
    functions.get_function("put")(
        driver.InOut(out), np.int32(memory), block=(256, 1, 1), grid=(1, 1)
    )
    t = np.arange(256)
    expected = np.empty(256, np.float32)
    in_tile = {0: t < 0, 1: t >= 0, 2: t >= 100}[memory]
    expected[(t + 1) & 255] = t + 1000 * in_tile
    assert np.array_equal(out, expected)


PROGRAM = f"""
import json, sys
import numpy as np
import pycuda.autoinit
from pycuda import driver, gpuarray
from pycuda.compiler import SourceModule
name, kind, far, shift = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
mod = SourceModule({SOURCE!r})
raw = np.zeros(3 * 4096, np.uint8)
page = raw[-raw.ctypes.data % 4096 :][:4096].view(np.float32)
page[...] = np.arange(1024)
if kind == "registered":
    memory = driver.register_host_memory(page, driver.mem_host_register_flags.DEVICEMAP)
    base = int(memory.base.get_device_pointer())
else:
    memory = driver.to_device(page)
    base = int(memory)
where = np.arange(32, dtype=np.int32) * 5 % 100
where[17] = far
values = np.arange(32, dtype=np.float32) + 7000
given, others = gpuarray.to_gpu(where), gpuarray.to_gpu(values)
table = base + 4 * 924 + shift  # the last 100 numbers
try:
    mod.get_function(name)(np.uintp(table), given, others, block=(32, 1, 1))
    driver.Context.synchronize()
    if kind != "registered":
        driver.memcpy_dtoh(page, memory)
    print(json.dumps({{"values": others.get().tolist(), "table": page[924:].tolist()}}))
except driver.LogicError as error:
    print(json.dumps({{"line": error.line, "element": (error.address - table) / 4,
                      "access": error.access, "thread": error.thread}}))
"""


def run(run_program, *arguments: object) -> dict:
    done = run_program(PROGRAM, *map(str, arguments))
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("kind", ["registered", "device"])
def test_bounds_that_end_behind_the_memory_are_no_error(run_program, kind):
    where = np.arange(32) * 5 % 100
    where[17] = 99
    seen = run(run_program, "gather", kind, 99, 0)
    assert seen["values"] == (924 + where).tolist()
    seen = run(run_program, "scatter", kind, 99, 0)
    expected = np.arange(924, 1024)
    expected[where] = 7000 + np.arange(32)
    assert seen["table"] == expected.tolist()


@pytest.mark.parametrize(("name", "access"), [("gather", "read"), ("scatter", "write")])
def test_an_element_behind_the_memory_is_named(run_program, name, access):
    error = run(run_program, name, "registered", 100, 0)
    assert error["line"] == line_of(name)
    assert error["element"] == 100
    assert error["access"] == access
    assert error["thread"] in ([17, 0, 0], None)


@pytest.mark.parametrize("kind", ["registered", "device"])
def test_a_misaligned_pointer_is_an_error(run_program, kind):
    error = run(run_program, "gather", kind, 5, 2)
    assert error["line"] == line_of("gather")
    assert error["access"] == "read"
