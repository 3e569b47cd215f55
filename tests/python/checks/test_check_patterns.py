"""Races between accesses of many shapes, compared with a model of the bytes that threads access."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda.autoinit  # noqa: F401
import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
from pycuda import check
from pycuda.compiler import SourceModule

pytestmark = [
    pytest.mark.skipif(not is_softcuda(), reason="softcuda has check modes"),
    pytest.mark.cuda_check_allow("mem", "race", "init", "sync"),
]

PLACES = 704
#: Threads of a block: a part of a warp, a warp, several warps, and a part of a last one.
SIZES = (7, 32, 64, 100)
#: The code between the stores and the loads, and whether it orders those of two threads.
ORDERS = {
    "": lambda one, other: one == other,
    "__syncwarp();": lambda one, other: one // 32 == other // 32,
    "__syncthreads();": lambda one, other: True,
}
TYPES = {
    "unsigned char": 1,
    "unsigned short": 2,
    "unsigned int": 4,
    "uint2": 8,
    "uint4": 16,
}
SOURCE = """
__device__ void put(unsigned char &to, unsigned value) { to = (unsigned char)value; }
__device__ void put(unsigned short &to, unsigned value) { to = (unsigned short)value; }
__device__ void put(unsigned int &to, unsigned value) { to = value; }
__device__ void put(uint2 &to, unsigned value) { to = make_uint2(value, value); }
__device__ void put(uint4 &to, unsigned value) { to = make_uint4(value, value, value, value); }
__device__ unsigned take(unsigned char from) { return from; }
__device__ unsigned take(unsigned short from) { return from; }
__device__ unsigned take(unsigned int from) { return from; }
__device__ unsigned take(uint2 from) { return from.x + from.y; }
__device__ unsigned take(uint4 from) { return from.x + from.y + from.z + from.w; }

__device__ void access(char *memory, const int *stores, const int *loads, unsigned *out)
{
    int t = threadIdx.x;
    if (stores[t] >= 0)
        put(*(TYPE *)(memory + stores[t]), t + 1);
    BETWEEN
    if (loads[t] >= 0)
        out[t] = take(*(const TYPE *)(memory + loads[t]));
}

extern "C" __global__ void in_global(char *memory, const int *stores, const int *loads, unsigned *out)
{
    access(memory, stores, loads, out);
}

extern "C" __global__ void in_shared(char *, const int *stores, const int *loads, unsigned *out)
{
    __shared__ __align__(16) char memory[11264];
    for (int i = threadIdx.x; i < 11264; i += blockDim.x)
        memory[i] = 0;
    __syncthreads();
    access(memory, stores, loads, out);
}
"""


def places(random: np.random.Generator, size: int, threads: int) -> np.ndarray:
    """The offset in bytes of each thread's access; -1 for threads without one."""
    thread = np.arange(threads)
    start = int(random.integers(100, 140))
    chosen = {
        "row": start + thread,
        "backward": start + threads - thread,
        "stride": start + thread * int(random.integers(2, 6)),
        "one": np.full(threads, start),
        "pairs": start + thread // 2,
        "exchanged": start + (thread ^ int(random.integers(1, 32))),
        "far": start + (thread * 37) % 301,
        "warps": start + thread % 32,
        "any": random.integers(0, PLACES, threads),
    }
    index = chosen[str(random.choice(list(chosen)))].astype(np.int32) * size
    active = random.choice(["all", "even", "first", "some"])
    if active == "even":
        index[1::2] = -1
    elif active == "first":
        index[int(random.integers(1, threads)) :] = -1
    elif active == "some":
        index[random.random(threads) < 0.5] = -1
    return index


def races(stores: np.ndarray, loads: np.ndarray, is_ordered) -> bool:
    """Whether two unordered threads access the same byte, and at least one of them stores."""
    written = stores[stores >= 0]
    if len(set(written)) < len(written):
        return True
    owner = {int(at): thread for thread, at in enumerate(stores) if at >= 0}
    return any(
        not is_ordered(owner.get(int(at), thread), thread)
        for thread, at in enumerate(loads)
        if at >= 0
    )


@pytest.mark.parametrize("type_name", TYPES)
@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("between", ORDERS, ids=["nothing", "syncwarp", "syncthreads"])
def test_races_are_at_bytes_that_several_threads_access(between, space, type_name):
    size = TYPES[type_name]
    random = np.random.default_rng([size, space == "shared", len(between)])
    memory = gpuarray.zeros(PLACES * 16, np.uint8)
    out = gpuarray.zeros(max(SIZES), np.uint32)
    wrong = []
    kernel = SourceModule(
        f"#define TYPE {type_name}\n#define BETWEEN {between}\n" + SOURCE,
        no_extern_c=True,
    ).get_function(f"in_{space}")
    for case in range(60):
        threads = SIZES[case % len(SIZES)]
        stores, loads = (places(random, size, threads) for _ in range(2))
        with check("race") as found:
            kernel(
                memory,
                gpuarray.to_gpu(stores),
                gpuarray.to_gpu(loads),
                out,
                block=(threads, 1, 1),
            )
            cuda.Context.synchronize()
        if bool(found.findings) != races(stores, loads, ORDERS[between]):
            wrong.append((stores.tolist(), loads.tolist(), found.findings))
    assert not wrong, f"{len(wrong)} of {case + 1}, the first: {wrong[0]}"
