"""Kernels that lack a barrier where a GPU gives the expected result nevertheless: all warps have read a value long
before one of them overwrites it. softcuda runs the warp that writes last (``warp/order_warps.cpp``)."""

import os

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

pytestmark = pytest.mark.skipif(
    not is_softcuda() or os.environ.get("SOFTCUDA_TIER", "regions") != "regions",
    reason="undefined on a GPU; only the tier of regions orders warps",
)

SUMS = """
__device__ int block_sum_by_shuffles(int value)
{
    __shared__ int sums[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(~0u, value, distance);
    if (lane == 0)
        sums[warp] = value;
    __syncthreads();
    if (warp == 0) {
        value = lane < blockDim.x / 32 ? sums[lane] : 0;
        for (int distance = 16; distance > 0; distance /= 2)
            value += __shfl_down_sync(~0u, value, distance);
        if (lane == 0)
            sums[0] = value;
    }
    __syncthreads();
    return sums[0];
}

__device__ int block_sum_by_tree(int value)
{
    __shared__ int sums[1024];
    sums[threadIdx.x] = value;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    return sums[0];
}

__global__ void two_sums(const int *x, int *out)
{
    int value = x[threadIdx.x];
    out[threadIdx.x] = SUM(value);
    out[blockDim.x + threadIdx.x] = SUM(value * value);
}

__global__ void sums_in_a_loop(const int *x, int *out, int rounds)
{
    for (int round = 0; round < rounds; ++round)
        out[round * blockDim.x + threadIdx.x] = SUM(x[threadIdx.x] + round);
}
"""


def compile_sums(how, name):
    text = SUMS.replace("SUM(", f"block_sum_by_{how}(")
    return SourceModule(text).get_function(name)


@pytest.mark.parametrize("threads", [64, 256, 1024])
@pytest.mark.parametrize("how", ["shuffles", "tree"])
def test_total_is_read_before_the_next_sum_begins(device, how, threads):
    x = np.random.default_rng(1).integers(0, 100, threads).astype(np.int32)
    out = np.zeros((2, threads), np.int32)
    compile_sums(how, "two_sums")(cuda.In(x), cuda.Out(out), block=(threads, 1, 1))
    assert out.tolist() == [[x.sum()] * threads, [(x * x).sum()] * threads]


@pytest.mark.parametrize("how", ["shuffles", "tree"])
def test_totals_in_a_loop(device, how):
    x = np.random.default_rng(1).integers(0, 100, 256).astype(np.int32)
    out = np.zeros((5, 256), np.int32)
    kernel = compile_sums(how, "sums_in_a_loop")
    kernel(cuda.In(x), cuda.Out(out), np.int32(5), block=(256, 1, 1))
    assert out.tolist() == [[x.sum() + 256 * k] * 256 for k in range(5)]


def test_last_thread_carries_the_total(device):
    kernel = SourceModule("""
    __global__ void carry(const int *x, int *out)
    {
        __shared__ int total;
        if (threadIdx.x == 0)
            total = 0;
        for (int piece = 0; piece < 4; ++piece) {
            __syncthreads();
            int before = total;
            out[piece * blockDim.x + threadIdx.x] = before;
            if (threadIdx.x == blockDim.x - 1)
                total = before + x[piece];
        }
    }
    """).get_function("carry")
    x = np.array([5, 7, 1, 3], np.int32)
    out = np.zeros((4, 96), np.int32)
    kernel(cuda.In(x), cuda.Out(out), block=(96, 1, 1))
    assert out[:, 0].tolist() == [0, 5, 12, 13]
    assert (out == out[:, :1]).all()


def test_elements_move_up_in_place(device):
    kernel = SourceModule("""
    __global__ void move_up(int *out)
    {
        __shared__ int tile[129];
        tile[threadIdx.x] = threadIdx.x;
        __syncthreads();
        int mine = tile[threadIdx.x];
        tile[threadIdx.x + 1] = mine;
        __syncthreads();
        out[threadIdx.x] = tile[threadIdx.x];
    }
    """).get_function("move_up")
    out = np.zeros(128, np.int32)
    kernel(cuda.Out(out), block=(128, 1, 1))
    assert out.tolist() == [0, *range(127)]
