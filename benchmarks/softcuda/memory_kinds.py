"""Cost of memory outside the arena of device memory: the same kernels with other kinds of memory, in turn.

    ./run benchmarks/softcuda/memory_kinds.py [NAME...]

Each number is the least time with this kind of memory divided by the least time with device memory, or, for a pointer
whose space is not known when the kernel is compiled, with a pointer of a known space to the same memory.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import pycuda.autoinit  # noqa: F401
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

N = 1 << 20
ROUNDS = 15
SOURCE = r"""
extern "C" __global__ void saxpy(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += 2 * x[i];
}
extern "C" __global__ void gather(const float *x, float *y, const int *index, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[index[i]];
}
extern "C" __global__ void stencil(const float *x, float *y, int width, int height) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && j > 0 && i < width - 1 && j < height - 1) {
        int at = j * width + i;
        y[at] = x[at] + x[at - 1] + x[at + 1] + x[at - width] + x[at + width];
    }
}
extern "C" __global__ void bytes(const unsigned char *x, unsigned char *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 255 - x[i];
}
template <bool known> __device__ void sums(const float *x, float *y, int own) {
    __shared__ float tile[256];
    tile[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    const float *from = tile;
    if (!known)
        from = own ? tile : x;
    float sum = 0;
    for (int k = 0; k < 64; k++)
        sum += from[(threadIdx.x & 192) + (threadIdx.x + k & 63)] + from[k];
    y[blockIdx.x * 256 + threadIdx.x] = sum;
}
extern "C" __global__ void shared_known(const float *x, float *y, int, int own) {
    sums<true>(x, y, own);
}
extern "C" __global__ void shared_generic(const float *x, float *y, int, int own) {
    sums<false>(x, y, own);
}
template <bool known> __device__ void steps(const float *x, float *y, int n, int use_own) {
    float own[16];
    for (int k = 0; k < 16; k++)
        own[k] = x[(blockIdx.x * 256 + threadIdx.x + k * 1021) % n];
    float *from = own;
    if (!known)
        from = use_own ? own : y;
    int at = threadIdx.x & 15;
    for (int k = 0; k < 64; k++) {
        from[at] += 1;
        at = (at + (int)from[at]) & 15;
    }
    y[blockIdx.x * 256 + threadIdx.x] = from[at];
}
extern "C" __global__ void local_known(const float *x, float *y, int n, int own) {
    steps<true>(x, y, n, own);
}
extern "C" __global__ void local_generic(const float *x, float *y, int n, int own) {
    steps<false>(x, y, n, own);
}
"""


def device(array: np.ndarray):
    memory = cuda.mem_alloc(array.nbytes)
    cuda.memcpy_htod(memory, array)
    return memory, memory


def host(make):
    def made(array: np.ndarray):
        copy = make(array.shape, array.dtype)
        copy[:] = array
        return copy, np.uint64(copy.ctypes.data)

    return made


def registered(array: np.ndarray):
    copy = array.copy()
    keep = cuda.register_host_memory(copy, cuda.mem_host_register_flags.DEVICEMAP)
    return (keep, copy), np.uint64(copy.ctypes.data)


KINDS = {
    "device": device,
    "page-locked": host(lambda s, d: cuda.pagelocked_empty(s, d, mem_flags=cuda.host_alloc_flags.DEVICEMAP)),
    "managed": host(lambda s, d: cuda.managed_empty(s, d, mem_flags=cuda.mem_attach_flags.GLOBAL)),
    "registered": registered,
}  # fmt: skip


def launches(module, make):
    """By name: a function that launches once, with memory of one kind."""
    rng = np.random.default_rng(1)
    x, y = rng.random(N, np.float32), np.zeros(N, np.float32)
    index = rng.integers(0, 1 << 14, N).astype(np.int32)
    arrays = [make(a) for a in (x, y, index)]
    px, py, pi = (pointer for _, pointer in arrays)
    n, side = np.int32(N), np.int32(1024)
    line = {"block": (256, 1, 1), "grid": (N // 256, 1)}
    square = {"block": (16, 16, 1), "grid": (64, 64)}
    calls = {
        "saxpy": lambda f: f(px, py, n, **line),
        "gather": lambda f: f(px, py, pi, n, **line),
        "stencil": lambda f: f(px, py, side, side, **square),
        "bytes": lambda f: f(px, py, n, **line),
    }
    functions = {name: module.get_function(name) for name in calls}
    return {
        name: (lambda c=c, f=functions[name]: c(f)) for name, c in calls.items()
    }, arrays


def generic(module):
    """By space: launches of two kernels, of which the second one does not know the space."""
    x, y = (device(np.random.default_rng(2).random(N, np.float32))[1] for _ in range(2))
    shape = {"block": (256, 1, 1), "grid": (N // 256, 1)}
    for name in ("shared", "local"):
        functions = [
            module.get_function(f"{name}_{form}") for form in ("known", "generic")
        ]
        yield (
            name,
            [lambda f=f: f(x, y, np.int32(N), np.int32(1), **shape) for f in functions],
        )


def least(runs) -> list[float]:
    """Least times of functions that run in turn."""
    times = [float("inf")] * len(runs)
    for _ in range(ROUNDS):
        for k, run in enumerate(runs):
            start = time.perf_counter()
            run()
            cuda.Context.synchronize()
            times[k] = min(times[k], time.perf_counter() - start)
    return times


def main() -> None:
    module = SourceModule(SOURCE, no_extern_c=True)
    wanted = sys.argv[1:]
    kinds = {kind: launches(module, make) for kind, make in KINDS.items()}
    print(f"| {'kernel':10} | device, ms | " + " | ".join(list(KINDS)[1:]) + " |")
    for name in kinds["device"][0]:
        if not wanted or name in wanted:
            first, *others = least([functions[name] for functions, _ in kinds.values()])
            print(
                f"| {name:10} | {first * 1e3:10.2f} | "
                + " | ".join(f"{t / first:.2f}" for t in others)
                + " |"
            )
    for name, runs in generic(module):
        if not wanted or name in wanted:
            known, unknown = least(runs)
            print(
                f"{name} memory through a generic pointer: {unknown / known:.2f} of {known * 1e3:.2f} ms"
            )


if __name__ == "__main__":
    main()
