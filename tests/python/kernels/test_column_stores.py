"""Stores in which each column of a thread block writes adjacent elements: softcuda writes them after the last warp.

No thread may observe the delay, threads that do not store must change nothing, and columns whose elements turn out not
to be adjacent are stored element by element.
"""

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

SOURCE = r"""
template <class T> __device__ void turn(const T *in, T *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) out[x * h + (h - 1 - y)] = in[y * w + x];
}
template <class T> __device__ void turn_some(const T *in, T *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    T v = in[y * w + x];
    if ((int)v % 3 != 1) out[x * h + y] = v * 2;
}
template <class T> __device__ void turn_sum(const T *in, T *out, int w, int h) {
    __shared__ T row[1024];
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    bool inside = x < w && y < h;
    if (inside) out[x * h + y] = in[y * w + x] + 1;
    row[t] = inside ? in[y * w + x] : (T)0;
    __syncthreads();
    if (inside) out[x * h + y] += row[t ^ 1];
}
template <class T> __device__ void turn_twice(const T *in, T *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    T v = in[y * w + x];
    out[x * h + y] = v;
    if ((int)v % 2) out[x * h + y] = v + 5;
}
// The last two rows write one column of values, so the places are not adjacent everywhere.
template <class T> __device__ void turn_clamped(const T *in, T *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int row = min(y, h - 2);
    out[x * h + row] = in[row * w + x];
}
"""
NAMES = ("turn", "turn_some", "turn_sum", "turn_twice", "turn_clamped")
TYPES = {"float": np.float32, "double": np.float64, "short": np.int16}
BLOCKS = ((32, 8), (16, 16), (8, 8), (64, 4), (32, 32), (16, 4), (8, 32), (32, 6))


def module() -> SourceModule:
    entries = "".join(
        f'extern "C" __global__ void {name}_{kind}(const {kind} *i, {kind} *o, int w, int h) {{ {name}(i, o, w, h); }}\n'
        for name in NAMES
        for kind in TYPES
    )
    return SourceModule(SOURCE + entries, no_extern_c=True)


def expected(
    name: str, x: np.ndarray, before: np.ndarray, block: tuple[int, int]
) -> np.ndarray:
    if name == "turn":
        return x[::-1].T
    if name == "turn_some":
        return np.where(x.astype(int) % 3 != 1, x * 2, before.T).T
    if name == "turn_twice":
        return np.where(x.astype(int) % 2 != 0, x + 5, x).T
    if name == "turn_clamped":
        result = x.T.copy()
        result[:, -1] = before[:, -1]
        return result
    padded = np.zeros((len(x), -(-x.shape[1] // block[0]) * block[0]), x.dtype)
    padded[:, : x.shape[1]] = x
    beside = padded.reshape(len(x), -1, 2)[:, :, ::-1].reshape(padded.shape)
    return (x + 1 + beside[:, : x.shape[1]]).T


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.usefixtures("device")
def test_columns(block: tuple[int, int]) -> None:
    kernels = module()  # of its own, so that it has code for this block's shape
    for kind, dtype in TYPES.items():
        for width, height in ((128, 256), (37, 256), (37, 53)):
            x = np.random.default_rng(3).integers(0, 99, (height, width)).astype(dtype)
            before = np.full((width, height), 7, dtype)
            for name in NAMES:
                out = before.copy()
                kernels.get_function(f"{name}_{kind}")(
                    cuda.In(x),
                    cuda.InOut(out),
                    np.int32(width),
                    np.int32(height),
                    block=(*block, 1),
                    grid=(-(-width // block[0]), -(-height // block[1])),
                )
                wanted = expected(name, x, before, block)
                np.testing.assert_array_equal(out, wanted, err_msg=f"{name} {kind}")
