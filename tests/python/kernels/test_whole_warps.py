"""Conditions that hold for all lanes of most warps: code has one version for those, and one for the others."""

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

KERNELS = r"""
extern "C" __global__ void strided(const int *x, int *out, int n) {
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += x[i] * (i + 1);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
extern "C" __global__ void blur(const unsigned char *in, unsigned char *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int sum = 0;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++)
            if (y + j >= 0 && y + j < h && x + i >= 0 && x + i < w)
                sum += in[(y + j) * w + x + i];
    out[y * w + x] = sum;
}
template <class T> __device__ void some(const T *in, T *out, int start, int first, int end) {
    int t = threadIdx.x;
    out[t] = t >= first && t < end ? in[start + t] : (T)77;
}
extern "C" __global__ void some_bytes(const char *in, char *out, int s, int a, int z) { some(in, out, s, a, z); }
extern "C" __global__ void some_shorts(const short *in, short *out, int s, int a, int z) { some(in, out, s, a, z); }
// Lanes leave two loops at different times, and some come back: the inner loop starts again.
extern "C" __global__ void leave(const int *x, int *out, int n, int limit) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    if (t < n) {
        for (int a = 0; a < 4; a++) {
            int i = t;
            while (i < n) {
                int v = x[i];
                i += 32 + (v & 1);
                if (v % 7 == a)
                    continue;
                if (v > limit + a)
                    break;
                sum += v * (a + 1);
            }
            sum ^= i;
        }
        out[t] = sum;
    }
}
"""


@pytest.fixture(scope="module")
def kernels(primary_context):
    with primary_context:
        yield SourceModule(KERNELS, no_extern_c=True)


@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 511, 512, 1024, 1500])
@pytest.mark.parametrize("block", [32, 48, 256])
def test_strided_loop(device, kernels, n, block):
    x = np.arange(7, n + 7, dtype=np.int32)
    threads, out = 2 * block, np.full(2 * block, -1, np.int32)
    kernels.get_function("strided")(
        cuda.In(x), cuda.InOut(out), np.int32(n), block=(block, 1, 1), grid=(2, 1)
    )  # fmt: skip
    terms = x * np.arange(1, n + 1, dtype=np.int32)
    wanted = [terms[t::threads].sum(dtype=np.int32) for t in range(threads)]
    assert (out == wanted).all()


@pytest.mark.parametrize("block", [(32, 8), (16, 16), (8, 4), (20, 3)])
@pytest.mark.parametrize("width", [31, 32, 64, 70, 96])
def test_borders_of_bytes(device, kernels, width, block):
    height = 19
    image = np.random.default_rng(2).integers(0, 28, (height, width), np.uint8)
    out = np.full_like(image, 255)
    grid = (-(-width // block[0]), -(-height // block[1]))
    kernels.get_function("blur")(
        cuda.In(image), cuda.InOut(out), np.int32(width), np.int32(height), block=(*block, 1), grid=grid
    )  # fmt: skip
    padded = np.pad(image, 1)
    wanted = sum(
        padded[j : j + height, i : i + width] for j in range(3) for i in range(3)
    )
    assert (out == wanted).all()


@pytest.mark.parametrize("name, kind", [("bytes", np.int8), ("shorts", np.int16)])
@pytest.mark.parametrize("first, end", [(0, 31), (1, 32), (5, 20), (31, 32), (9, 9)])
def test_some_lanes_of_rows_across_pages(device, kernels, name, kind, first, end):
    x = np.random.default_rng(4).integers(-100, 100, 3 * 4096).astype(kind)
    on_device, out = cuda.to_device(x), np.zeros(32, kind)
    lanes = np.arange(32)
    for start in (0, 2030, 4060, 4064, 4065, 4080, 4095, x.size - 32):
        kernels.get_function(f"some_{name}")(
            on_device, cuda.Out(out), np.int32(start), np.int32(first), np.int32(end), block=(32, 1, 1)
        )  # fmt: skip
        inside = (lanes >= first) & (lanes < end)
        assert (out == np.where(inside, x[start + lanes], 77)).all(), start


def left(x, n, limit, t):
    total = 0
    for a in range(4):
        i = t
        while i < n:
            v = int(x[i])
            i += 32 + (v & 1)
            if v % 7 == a:
                continue
            if v > limit + a:
                break
            total += v * (a + 1)
        total ^= i
    return total


@pytest.mark.parametrize("limit", [-1, 60, 1000])
def test_lanes_that_leave_loops(device, kernels, limit):
    n = 200
    x = np.random.default_rng(3).integers(0, 100, n).astype(np.int32)
    out = np.zeros(n, np.int32)
    kernels.get_function("leave")(
        cuda.In(x), cuda.InOut(out), np.int32(n), np.int32(limit), block=(64, 1, 1), grid=(4, 1)
    )  # fmt: skip
    assert out.tolist() == [left(x, n, limit, t) for t in range(n)]
