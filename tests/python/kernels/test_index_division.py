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
