"""Races with reads of memory that a launch does not write: they are recorded apart from other accesses.

Only the first stream of a process records them in this way, so each test has a process of its own.
"""

import json
import subprocess
import sys

import pytest
from conftest import is_softcuda

pytestmark = pytest.mark.skipif(
    not is_softcuda(), reason="only softcuda has check modes"
)

PROGRAM = """
import json, sys
import numpy as np
import pycuda, pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

module = SourceModule('''
__global__ void total(const int *data, int *result) {
    atomicAdd(result, data[blockIdx.x * blockDim.x + threadIdx.x]);
}
__global__ void fill(int *data) {
    data[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
__global__ void gather(const int *data, int *result) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    result[i] = data[i * 7 % 1000] + data[i / 3];
}
''')
total, fill, gather = (module.get_function(name) for name in ("total", "fill", "gather"))
N = 1024
data, result = cuda.mem_alloc(4 * N), cuda.mem_alloc(4 * N)
cuda.memset_d32(data, 1, N)
cuda.memset_d32(result, 0, N)
host = cuda.pagelocked_zeros(N, np.int32)
one, other = cuda.Stream(), cuda.Stream()
shape = {"block": (64, 1, 1)}

def at(array, element):
    return np.uint64(int(array) + 4 * element)

with pycuda.check("race") as checks:
    exec(sys.argv[1])
    cuda.Context.synchronize()
print(json.dumps([[f.kind, f.kernel, sorted(a.line for a in f.accesses if a.line)]
                  for f in checks.findings]))
"""


def findings_of(work: str):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, work],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


READS = "total(data, result, grid=(16, 1), stream=one, **shape);"
GATHERS = "gather(data, result, grid=(16, 1), stream=one, **shape);"


def test_another_stream_writes_what_a_kernel_has_read():
    found = findings_of(READS + "fill(data, grid=(16, 1), stream=other, **shape)")
    assert [finding[0] for finding in found] in (
        ["write-after-read"],
        ["read-after-write"],
    )
    assert found[0][2] == [3, 6]


def test_another_stream_copies_over_what_a_kernel_has_read():
    found = findings_of(READS + "cuda.memcpy_htod_async(data, host, other)")
    assert len(found) == 1 and found[0][1] == "total"


def test_a_fill_of_one_element_that_a_kernel_has_gathered():
    found = findings_of(GATHERS + "cuda.memset_d32_async(at(data, 999), 1, 1, other)")
    assert len(found) == 1 and found[0][1] == "gather"


def test_a_fill_of_elements_that_no_thread_has_gathered():
    work = GATHERS + "cuda.memset_d32_async(at(data, 1000), 1, 24, other)"
    assert findings_of(work) == []


def test_the_other_half_of_an_array_is_written():
    work = (
        "total(data, result, grid=(8, 1), stream=one, **shape);"
        "fill(at(data, 512), grid=(8, 1), stream=other, **shape)"
    )
    assert findings_of(work) == []


def test_an_event_orders_the_reads():
    work = (
        READS + "event = cuda.Event(); event.record(one); other.wait_for_event(event);"
        "fill(data, grid=(16, 1), stream=other, **shape)"
    )
    assert findings_of(work) == []


def test_memory_that_is_allocated_again():
    work = (
        "again = cuda.mem_alloc(4 * N);"
        "total(again, result, grid=(16, 1), stream=one, **shape);"
        "again.free(); again = cuda.mem_alloc(4 * N);"
        "fill(again, grid=(16, 1), stream=other, **shape)"
    )
    assert findings_of(work) == []
