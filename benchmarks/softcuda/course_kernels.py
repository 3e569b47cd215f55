"""Kernels as programming courses write them, beside plain C++ with OpenMP, in turn.

    ninja -C build/release hand_written && ./run benchmarks/softcuda/course_kernels.py [--processor-time] [NAME...]

Nobody tuned softcuda for these kernels: convolutions through a shared tile, page rank, a
grid-stride sum, images and sounds whose pixels and samples are structures of bytes or halves, and a pointer whose space
is chosen at run time. Each ratio is the least time of the C++ function (``hand_written/course.cpp``) divided by
softcuda's: more is better. The results are compared first. NAME is the begin of a row's name. ``--processor-time`` is for a machine with other work: one thread on both sides, and its processor time.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Callable, Iterator

if "--processor-time" in sys.argv:
    os.environ.update(SOFTCUDA_THREADS="1", OMP_NUM_THREADS="1")
    CLOCK = time.process_time
else:
    CLOCK = time.perf_counter

import numpy as np
from sides import HandWritten

import pycuda.autoinit  # noqa: F401
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

ROUNDS = 15
SIDE, PAGES, VALUES = 1024, 1 << 17, 1 << 22
SOURCE = r"""
#define RADIUS 2
#define TAPS (2 * RADIUS + 1)
__constant__ float taps[TAPS * TAPS];

template <int W, int H> __device__ void convolve(const float *in, float *out, int width, int height) {
    __shared__ float tile[H + 2 * RADIUS][W + 2 * RADIUS];
    const int tile_width = W + 2 * RADIUS, cells = tile_width * (H + 2 * RADIUS);
    for (int k = threadIdx.y * W + threadIdx.x; k < cells; k += W * H) {
        int x = blockIdx.x * W + k % tile_width - RADIUS, y = blockIdx.y * H + k / tile_width - RADIUS;
        bool inside = x >= 0 && x < width && y >= 0 && y < height;
        tile[k / tile_width][k % tile_width] = inside ? in[y * width + x] : 0;
    }
    __syncthreads();
    int x = blockIdx.x * W + threadIdx.x, y = blockIdx.y * H + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float sum = 0;
    for (int j = 0; j < TAPS; j++)
        for (int i = 0; i < TAPS; i++)
            sum += tile[threadIdx.y + j][threadIdx.x + i] * taps[j * TAPS + i];
    out[y * width + x] = sum;
}
extern "C" __global__ void convolve_16x16(const float *in, float *out, int w, int h) { convolve<16, 16>(in, out, w, h); }
extern "C" __global__ void convolve_32x8(const float *in, float *out, int w, int h) { convolve<32, 8>(in, out, w, h); }
extern "C" __global__ void convolve_32x32(const float *in, float *out, int w, int h) { convolve<32, 32>(in, out, w, h); }

extern "C" __global__ void page_rank(const int *starts, const int *from, const float *rank, const int *degree,
                                     float *out, int pages, float damping) {
    int page = blockIdx.x * blockDim.x + threadIdx.x;
    if (page >= pages)
        return;
    float sum = 0;
    for (int e = starts[page]; e < starts[page + 1]; e++)
        sum += rank[from[e]] / degree[from[e]];
    out[page] = (1 - damping) / pages + damping * sum;
}
extern "C" __global__ void grid_sum(const float *x, float *out, int n) {
    __shared__ float part[256];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += x[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k >>= 1) {
        if (threadIdx.x < k)
            part[threadIdx.x] += part[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}
extern "C" __global__ void grey(const unsigned char *rgb, unsigned char *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int i = 3 * (y * width + x);
    out[y * width + x] = (rgb[i] * 77 + rgb[i + 1] * 150 + rgb[i + 2] * 29) >> 8;
}
extern "C" __global__ void to_mono(const short *stereo, short *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = (stereo[2 * i] + stereo[2 * i + 1]) / 2;
}
extern "C" __global__ void ring(const float *x, float *out, int n, int shared) {
    __shared__ float tile[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    tile[threadIdx.x] = x[i];
    __syncthreads();
    const float *from = shared ? tile : x + blockIdx.x * 256;
    float sum = 0;
    for (int k = 0; k < 32; k++)
        sum += from[(threadIdx.x + k) & 255] * (k + 1);
    out[i] = sum;
}
extern "C" __global__ void invert(unsigned char *rgb, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    rgb[3 * i] = 255 - rgb[3 * i];
    rgb[3 * i + 1] = 255 - rgb[3 * i + 1];
    rgb[3 * i + 2] = 255 - rgb[3 * i + 2];
}
"""

#: Both runs, and a function that returns both results.
Row = tuple[Callable[[], None], Callable[[], None], Callable[[], tuple]]


def twin(name: str, *arguments) -> Callable[[], None]:
    function = getattr(ctypes.CDLL(str(HandWritten.library())), name)
    function.restype = None
    given = [
        ctypes.c_void_p(a.ctypes.data)
        if isinstance(a, np.ndarray)
        else ctypes.c_float(a)
        if isinstance(a, np.float32)
        else int(a)
        for a in arguments
    ]
    return lambda: function(*given)


def row(
    module, kernel: str, function: str, inputs, output, numbers, grid, block
) -> Row:  # noqa: ANN001
    """A row whose kernel and function have the same arguments: inputs, output, numbers."""
    wanted, seen = output.copy(), output.copy()
    on_device = [cuda.to_device(a) for a in inputs]
    out = cuda.to_device(output)
    launch = module.get_function(kernel).bind(
        *on_device, out, *numbers, grid=grid, block=block
    )

    def run(keep=on_device) -> None:  # noqa: ANN001
        launch()
        cuda.Context.synchronize()

    def results() -> tuple:
        cuda.memcpy_dtoh(seen, out)
        return seen, wanted

    return run, twin(function, *inputs, wanted, *numbers), results


def rows(module) -> Iterator[tuple[str, Row]]:  # noqa: ANN001
    rng = np.random.default_rng(1)
    image, taps = rng.random((SIDE, SIDE), np.float32), rng.random((5, 5), np.float32)
    cuda.memcpy_htod(module.get_global("taps")[0], taps)
    side = np.int32(SIDE)
    for x, y in (16, 16), (32, 8), (32, 32):
        kernel = f"convolve_{x}x{y}"
        grid, block = (SIDE // x, SIDE // y), (x, y, 1)
        run, _, results = row(
            module, kernel, "convolve", [image], image * 0, (side, side), grid, block
        )
        wanted = results()[1]
        theirs = twin("convolve", image, wanted, taps, side, side)
        yield f"convolution, tile for {x} x {y}", (run, theirs, results)
    starts = np.zeros(PAGES + 1, np.int32)
    starts[1:] = np.cumsum(rng.poisson(16, PAGES))
    links = rng.integers(0, PAGES, starts[-1]).astype(np.int32)
    degree = np.maximum(np.bincount(links, minlength=PAGES), 1).astype(np.int32)
    graph = [starts, links, rng.random(PAGES, np.float32), degree]
    zeros, numbers = np.zeros(PAGES, np.float32), (np.int32(PAGES), np.float32(0.85))
    grid, block = (PAGES // 256, 1), (256, 1, 1)
    yield (
        "page rank",
        row(module, "page_rank", "page_rank", graph, zeros, numbers, grid, block),
    )
    x, sums = rng.random(VALUES, np.float32), np.zeros(64, np.float32)
    run, theirs, results = row(
        module, "grid_sum", "whole_sum", [x], sums, (np.int32(VALUES),), (64, 1), block
    )
    yield (
        "grid-stride sum",
        (run, theirs, lambda: tuple(a.sum(dtype=float) for a in results())),
    )
    pixels = rng.integers(0, 256, (SIDE, SIDE, 3)).astype(np.uint8)
    wanted, count = pixels[..., 0].copy(), np.int32(SIDE * SIDE)
    for x, y in (32, 8), (16, 16):
        grid, block = (SIDE // x, SIDE // y), (x, y, 1)
        run, _, results = row(
            module, "grey", "grey", [pixels], wanted, (side, side), grid, block
        )
        theirs = twin("grey", pixels, results()[1], count)
        yield f"RGB to grey, {x} x {y} threads", (run, theirs, results)
    sound = rng.integers(-32768, 32768, (SIDE * SIDE, 2)).astype(np.int16)
    grid, block = (SIDE * SIDE // 256, 1), (256, 1, 1)
    yield (
        "stereo to mono",
        row(
            module,
            "to_mono",
            "to_mono",
            [sound],
            sound[:, 0].copy(),
            (count,),
            grid,
            block,
        ),
    )
    yield (
        "RGB inverted in place",
        row(module, "invert", "invert", [], pixels, (count,), grid, block),
    )
    x, grid = rng.random(1 << 20, np.float32), (1 << 12, 1)
    for shared, name in (1, "shared"), (0, "global"):
        numbers = np.int32(x.size), np.int32(shared)
        yield (
            f"ring of 256 values, generic pointer to {name} memory",
            row(module, "ring", "ring", [x], x * 0, numbers, grid, block),
        )


def least(runs) -> list[float]:  # noqa: ANN001
    """Least times of functions that run in turn."""
    times = [float("inf")] * len(runs)
    for _ in range(ROUNDS):
        for k, run in enumerate(runs):
            start = CLOCK()
            run()
            times[k] = min(times[k], CLOCK() - start)
    return times


def main() -> None:
    module = SourceModule(SOURCE, no_extern_c=True)
    named = [word for word in sys.argv[1:] if not word.startswith("--")]
    print("| kernel | softcuda, ms | C++, ms | ratio |\n|---|---|---|---|")
    for name, (run, theirs, results) in rows(module):
        if named and not any(name.startswith(word) for word in named):
            continue
        run()
        theirs()
        np.testing.assert_allclose(*results(), rtol=1e-4, atol=1e-5, err_msg=name)
        ours, other = least([run, theirs])
        print(
            f"| {name} | {ours * 1e3:.2f} | {other * 1e3:.2f} | {other / ours:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
