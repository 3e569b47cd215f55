"""Generic addresses: distances between spaces."""

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

DISTANCES = """
typedef unsigned long long u64;

// A slot contains the distance from itself to its target, in bytes or in elements.
__global__ void relative(int *g, int *out)
{
    __shared__ u64 slot[64];
    __shared__ int cell[64];
    int t = threadIdx.x, o = t ^ 5;
    cell[t] = 1000 + t;
    slot[t] = (u64)(g + (63 - t)) - (u64)&slot[t];
    __syncthreads();
    out[t] = *(int *)((u64)&slot[o] + slot[o]);
    __syncthreads();
    slot[t] = (u64)&cell[t] - (u64)(g + t);
    __syncthreads();
    out[64 + t] = *(int *)((u64)(g + o) + slot[o]);
    __syncthreads();
    slot[t] = (g + t) - &cell[t];
    __syncthreads();
    out[128 + t] = *(int *)((u64)&cell[o] + slot[o] * 4);
}

__global__ void local_and_global(int *g, int *out)
{
    __shared__ volatile u64 distance[64];
    int t = threadIdx.x;
    int own[4] = {t, t + 1, t + 2, t + 3};
    distance[t] = (u64)(g + t) - (u64)own;
    out[t] = *(int *)((u64)own + distance[t]) + own[out[t] & 3];
}

// The distance is stored by one function and used by another.
__device__ __noinline__ void link(u64 *slot, const int *target) { *slot = (u64)target ^ (u64)slot; }
__global__ void by_xor(int *g, int *out)
{
    __shared__ u64 slot[64];
    int t = threadIdx.x;
    link(&slot[t], g + t);
    __syncthreads();
    int o = t ^ 9;
    out[t] = *(int *)((u64)&slot[o] ^ slot[o]);
}
"""


@pytest.fixture(scope="module")
def distances(primary_context):
    with primary_context:
        return SourceModule(DISTANCES)


T = np.arange(64)
G = (T * 7).astype(np.int32)


def run(module, name, size, *inputs):
    out = np.zeros(size, np.int32)
    module.get_function(name)(*inputs, cuda.InOut(out), block=(64, 1, 1))
    return out


def test_distances_between_shared_and_global_memory(device, distances):
    out = run(distances, "relative", 192, cuda.In(G))
    o = T ^ 5
    assert np.array_equal(out[:64], G[63 - o])
    assert np.array_equal(out[64:128], 1000 + o)
    assert np.array_equal(out[128:], G[o])


def test_distances_between_local_and_global_memory(device, distances):
    assert np.array_equal(run(distances, "local_and_global", 64, cuda.In(G)), G + T)


def test_distances_that_are_no_differences(device, distances):
    assert np.array_equal(run(distances, "by_xor", 64, cuda.In(G)), G[T ^ 9])
