"""Indices divided by a number that is equal for all lanes: rows and columns of flat indices, borders that wrap."""

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

KERNELS = r"""
#define INDEX (start + step * (T)threadIdx.x + (T)(blockIdx.x * 1000))
#define THREAD ((blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x)
template <class T, int step> __device__ void divide(T *q, T start, T by) { q[THREAD] = INDEX / by; }
template <class T, int step> __device__ void rest(T *r, T start, T by) { r[THREAD] = INDEX % by; }
#define BOTH(NAME, T, STEP) \
extern "C" __global__ void divide_##NAME(T *q, T start, T by) { divide<T, STEP>(q, start, by); } \
extern "C" __global__ void rest_##NAME(T *r, T start, T by) { rest<T, STEP>(r, start, by); }
BOTH(signed, int, 1) BOTH(unsigned, unsigned, 1) BOTH(back, int, -3)
"""
BLOCKS = [(32, 2), (16, 4), (8, 8), (33, 2)]
STARTS = [0, 1, 5, 30, 31, 995, -1, -40, -2000, 2**31 - 3100, 2**31 - 1020, 2**31 - 1]
DIVISORS = [1, 2, 7, 31, 32, 33, 36, 94, 100, 1000, 2**31 - 1, -1, -5, -36, -(2**31)]


@pytest.fixture(scope="module")
def kernels(primary_context):
    with primary_context:
        yield SourceModule(KERNELS, no_extern_c=True)


def split(index, by, kind):
    """C's quotient and remainder, in 32 bits."""
    index = index.astype(kind).astype(np.int64)
    by = int(np.int64(by).astype(kind))
    quotient = (
        np.abs(index) // abs(by) * np.where(index < 0, -1, 1) * (-1 if by < 0 else 1)
    )
    return quotient.astype(kind), (index - quotient * by).astype(kind)


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize(
    "name, kind, step",
    [("signed", np.int32, 1), ("unsigned", np.uint32, 1), ("back", np.int32, -3)],
)
def test_quotients_and_remainders(device, kernels, name, kind, step, block):
    x, y = block
    column = np.tile(np.arange(x), y)
    index = np.concatenate([step * column, step * column + 1000])
    q, r = np.zeros(2 * x * y, kind), np.zeros(2 * x * y, kind)
    shape = {"block": (x, y, 1), "grid": (2, 1)}
    divide, rest = (
        kernels.get_function(f"{word}_{name}") for word in ("divide", "rest")
    )
    for start in STARTS:
        for by in DIVISORS:
            arguments = (np.int64(start).astype(kind), np.int64(by).astype(kind))
            divide(cuda.Out(q), *arguments, **shape)
            rest(cuda.Out(r), *arguments, **shape)
            wanted = split(index + start, by, kind)
            assert (q == wanted[0]).all() and (r == wanted[1]).all(), (start, by)


@pytest.mark.parametrize("word", ["divide", "rest"])
def test_division_by_zero_has_all_bits(device, kernels, word):
    out = np.zeros(128, np.uint32)
    kernels.get_function(f"{word}_unsigned")(
        cuda.Out(out), np.uint32(3), np.uint32(0), block=(32, 2, 1), grid=(2, 1)
    )
    assert (out == 2**32 - 1).all()


ACCESSES = r"""
template <class T> __device__ void mirror(const T *in, T *out, int *counts, int width, int pitch, int count, int first) {
    __shared__ int tile[1024];
    int k = first + blockIdx.x * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x;
    tile[threadIdx.y * blockDim.x + threadIdx.x] = 0;
    __syncthreads();
    int y = k / width, x = k % width;
    if (k < count) {
        int band = y % 3;
        out[y * pitch + (width - 1 - x)] = in[y * width + x] + (T)(band + counts[y]);
        atomicAdd(&counts[pitch + x % pitch], x);
        atomicAdd(&tile[y & 1023], 1);
    }
    __syncthreads();
    int seen = tile[threadIdx.y * blockDim.x + threadIdx.x];
    if (seen)
        atomicAdd(&counts[2 * pitch + threadIdx.y * blockDim.x + threadIdx.x], seen);
    // A loop carries the quotient along.
    long sum = 0;
    if (k < count)
        for (int step = 0; step < 3; step++, y += 2)
            sum += in[y % 4 * width + x];
    if (sum == -1)
        out[0] = 0;
}
#define OF(NAME, T) extern "C" __global__ void mirror_##NAME(const T *in, T *out, int *counts, int width, int pitch, \
    int count, int first) { mirror<T>(in, out, counts, width, pitch, count, first); }
OF(bytes, unsigned char) OF(words, int) OF(doubles, double)
"""


@pytest.mark.parametrize("block", [(64, 1), (16, 4), (33, 2)])
@pytest.mark.parametrize(
    "name, kind", [("bytes", np.uint8), ("words", np.int32), ("doubles", np.float64)]
)
def test_accesses_at_quotients_and_remainders(
    device, primary_context, name, kind, block
):
    with primary_context:
        kernel = SourceModule(ACCESSES, no_extern_c=True).get_function(f"mirror_{name}")
        for width in (1, 3, 31, 32, 36, 64, 100, 129, 5000):
            pitch, rows, threads = (
                max(width + 7, 1000),
                700 // width + 4,
                block[0] * block[1],
            )
            first, count = 5 % width, 700
            k = np.arange(first, count)
            y, x = k // width, k % width
            source = (np.arange(rows * width) % 97).astype(kind)
            result, counts = np.zeros(rows * pitch, kind), np.zeros(4 * pitch, np.int32)
            counts[: rows if rows < pitch else pitch] = 3
            wanted, sums = result.copy(), counts.copy()
            wanted[y * pitch + width - 1 - x] = (
                source[y * width + x] + y % 3 + counts[y]
            ).astype(kind)
            np.add.at(sums, pitch + x % pitch, x)
            block_of = (k - first) // threads
            for part in np.unique(block_of):
                seen = np.bincount(y[block_of == part] & 1023, minlength=1024)[:threads]
                sums[2 * pitch : 2 * pitch + threads] += seen.astype(np.int32)
            kernel(
                cuda.In(source),
                cuda.InOut(result),
                cuda.InOut(counts),
                *map(np.int32, (width, pitch, count, first)),
                block=(*block, 1),
                grid=(-(-(count - first) // threads), 1),
            )
            assert (result == wanted).all() and (counts == sums).all(), width
