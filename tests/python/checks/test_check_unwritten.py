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
import json, sys, time
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
__global__ void row(const int *data, int *result) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    result[i] = data[i];
}
__global__ void later(const int *data, int *result) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    result[i] = data[i + 5];
}
__global__ void tile(const int *data, int *result, int width) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    result[y * 32 + x] = data[y * width + x];
}
__global__ void vector(const int4 *data, int *result) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int4 all = data[i];
    result[i] = all.x + all.y + all.z + all.w;
}
__global__ void every_third(const int *data, int *result) {
    result[blockIdx.x * blockDim.x + threadIdx.x] = data[3 * blockIdx.x];
}
__global__ void twenty(const int *data, int *result) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % 32 < 20)
        result[i] = data[i];
}
''')
names = ("total", "fill", "gather", "row", "later", "tile", "vector", "every_third", "twenty")
total, fill, gather, row, later, tile, vector, every_third, twenty = map(module.get_function, names)
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


# A kernel's code records most reads itself, by rows of lanes: by kernel, words that it reads, and
# words beside them.
ROWS = {
    "row(data, result, grid=(8, 1), stream=one, **shape)": ([0, 511], [512]),
    "later(data, result, grid=(8, 1), stream=one, **shape)": ([5, 516], [4, 517]),
    "tile(data, result, np.int32(48), grid=(2, 4), block=(16, 4, 1), stream=one)": (
        [31, 48 * 15 + 16],
        [32, 47, 48 * 3 + 32, 48 * 15 + 32],
    ),
    "vector(data, result, grid=(2, 1), stream=one, **shape)": ([0, 511], [512]),
    "every_third(data, result, grid=(16, 1), stream=one, **shape)": (
        [0, 24, 45],
        [1, 46],
    ),
    "twenty(data, result, grid=(8, 1), stream=one, **shape)": ([19, 499], [20, 500]),
}


@pytest.mark.parametrize(
    ("launch", "element"), [(launch, e) for launch in ROWS for e in ROWS[launch][0]]
)
def test_a_word_of_a_row_is_recorded(launch, element):
    fill = f"cuda.memset_d32_async(at(data, {element}), 1, 1, other)"
    found = findings_of(f"{launch}; time.sleep(0.3); {fill}")
    assert {finding[1] for finding in found} == {launch.split("(")[0]}


@pytest.mark.parametrize("launch", ROWS)
def test_words_beside_a_row_are_not_recorded(launch):
    fills = (
        f"cuda.memset_d32_async(at(data, {element}), 1, 1, other)"
        for element in ROWS[launch][1]
    )
    assert findings_of(";".join([launch, "time.sleep(0.3)", *fills])) == []
