"""Kernels that count in shared memory with atomics.

softcuda counts in several tables if this is not visible: these tests check that it is not.
"""

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

THREADS, BLOCKS, BINS = 96, 3, 200

SOURCE = """
extern "C" __global__ void count(const unsigned *data, const {type} *weights, {type} *bins, int n,
                                 unsigned most)
{{
    __shared__ {type} other[8], mine[{bins}], another[8];
    if (threadIdx.x < 8)
        other[threadIdx.x] = another[threadIdx.x] = 7;
    for (int i = threadIdx.x; i < {bins}; i += blockDim.x)
        mine[i] = i;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        if (data[i] < most)
            atomicAdd(&mine[data[i]], weights[i]);
    __syncthreads();
    for (int i = threadIdx.x; i < {bins}; i += blockDim.x)
        bins[blockIdx.x * {bins} + i] = mine[i] + (other[0] - 7) + (another[7] - 7);
}}
"""

WORDS = {"int": np.int32, "unsigned": np.uint32, "unsigned long long": np.uint64}


def expected(data, weights, bins, n, most):
    sums = np.zeros((BLOCKS, bins), weights.dtype)
    for block in range(BLOCKS):
        sums[block] = np.arange(bins)
        mine = (np.arange(n) // THREADS) % BLOCKS == block
        with np.errstate(over="ignore"):
            chosen = mine & (data < most)
            np.add.at(sums[block], data[chosen], weights[chosen])
    return sums


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("bins", [BINS, 256, 500])
@pytest.mark.parametrize("most", [0xFFFFFFFF, 100, 1], ids=["all", "some", "few"])
def test_sums(device, word, bins, most):
    dtype = np.dtype(WORDS[word])
    random = np.random.default_rng(bins)
    n = 5000
    data = random.integers(0, bins, n, np.uint32)
    data[: n // 2] //= 64  # many equal keys
    weights = random.integers(0, np.iinfo(dtype).max, n, dtype)
    out = np.zeros((BLOCKS, bins), dtype)
    kernel = SourceModule(
        SOURCE.format(type=word, bins=bins), no_extern_c=True
    ).get_function("count")
    for _ in range(2):  # counts of the first launch must not appear in the second
        kernel(
            cuda.In(data), cuda.In(weights), cuda.Out(out), np.int32(n), np.uint32(most),
            block=(THREADS, 1, 1), grid=(BLOCKS, 1),
        )  # fmt: skip
        assert np.array_equal(out, expected(data, weights, bins, n, most))


@pytest.mark.cuda_check_allow("mem")
def test_beyond_the_table(device):
    """Memory after the counted variable is ordinary shared memory."""
    source = """
    extern "C" __global__ void count(const int *data, int *out, int n)
    {
        extern __shared__ int behind[];
        __shared__ int mine[64];
        behind[threadIdx.x] = 100;
        mine[threadIdx.x] = 0;
        __syncthreads();
        for (int i = threadIdx.x; i < n; i += blockDim.x)
            atomicAdd(mine + data[i], 1);
        __syncthreads();
        out[threadIdx.x] = mine[threadIdx.x];
        out[64 + threadIdx.x] = behind[threadIdx.x];
    }
    """
    data = np.arange(128, dtype=np.int32).repeat(3)
    out = np.zeros(128, np.int32)
    kernel = SourceModule(source, no_extern_c=True).get_function("count")
    kernel(
        cuda.In(data), cuda.Out(out), np.int32(data.size), block=(64, 1, 1), shared=256
    )
    assert np.array_equal(out, [3] * 64 + [103] * 64)


def test_memory_of_the_launch(device):
    """The compiler does not know the size of ``extern __shared__``."""
    source = """
    extern "C" __global__ void count(const int *data, int *out, int n, int bins)
    {
        extern __shared__ int mine[];
        for (int i = threadIdx.x; i < bins; i += blockDim.x)
            mine[i] = 0;
        __syncthreads();
        for (int i = threadIdx.x; i < n; i += blockDim.x)
            atomicAdd(mine + data[i], 1);
        __syncthreads();
        for (int i = threadIdx.x; i < bins; i += blockDim.x)
            out[i] = mine[i];
    }
    """
    data = (np.arange(5000) ** 2 % 50).astype(np.int32)
    out = np.zeros(50, np.int32)
    kernel = SourceModule(source, no_extern_c=True).get_function("count")
    for _ in range(2):
        kernel(
            cuda.In(data), cuda.Out(out), np.int32(data.size), np.int32(50),
            block=(64, 1, 1), shared=200,
        )  # fmt: skip
        assert np.array_equal(out, np.bincount(data, minlength=50))


def test_look_in_between(device):
    """A thread that reads the counts of its warp's other threads gets the current values."""
    source = """
    extern "C" __global__ void count(const int *data, int *out, int rounds)
    {
        __shared__ int mine[64];
        mine[threadIdx.x] = 0;
        __syncthreads();
        for (int i = 0; i < rounds; ++i) {
            atomicAdd(&mine[data[threadIdx.x]], 1);
            __syncwarp();
            out[i * blockDim.x + threadIdx.x] = mine[data[threadIdx.x]];
            __syncwarp();
        }
        __syncthreads();
        out[rounds * blockDim.x + threadIdx.x] = mine[threadIdx.x];
    }
    """
    lanes = np.arange(64)
    data = (lanes // 32 * 32 + lanes % 5).astype(
        np.int32
    )  # different bins for each warp
    counts = np.bincount(data, minlength=64)
    rounds = 4
    out = np.zeros((rounds + 1, 64), np.int32)
    kernel = SourceModule(source, no_extern_c=True).get_function("count")
    kernel(cuda.In(data), cuda.Out(out), np.int32(rounds), block=(64, 1, 1))
    for i in range(rounds):
        assert np.array_equal(out[i], (i + 1) * counts[data])
    assert np.array_equal(out[rounds], rounds * counts)
