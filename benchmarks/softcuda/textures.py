"""Textures and surfaces beside plain C++ with OpenMP, in turn.

    ninja -C build/release hand_written && ./run benchmarks/softcuda/textures.py

Each ratio is softcuda's least time divided by that of the C++ function (``hand_written/textures.cpp``). The results are
compared first.
"""

from __future__ import annotations

import ctypes
import time

import numpy as np
from sides import HandWritten

import pycuda.autoinit  # noqa: F401
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

ROUNDS = 15
WIDTH, DEPTH = 1024, 96
STEP, COSINE, SINE = np.float32(0.7), np.float32(0.8987), np.float32(0.2013)
SOURCE = r"""
texture<float, 2> plane;
texture<float, 3> volume;
texture<unsigned char, 2, cudaReadModeNormalizedFloat> bytes;
surface<void, cudaSurfaceType2D> source, target;

__global__ void zoom_linear(float *out, int width, float step) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * width + x] = tex2D(plane, x * step + 0.5f, y * step + 0.5f);
}
__global__ void zoom_volume(float *out, int n, float step) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
    out[(z * n + y) * n + x] = tex3D(volume, x * step + 0.5f, y * step + 0.5f, z * step + 0.5f);
}
__global__ void turn_bytes(float *out, int width, float c, float s) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * width + x] = tex2D(bytes, x * c - y * s, x * s + y * c);
}
__global__ void surface_stencil(int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x == 0 || y == 0 || x >= width - 1 || y >= height - 1)
        return;
    float at, left, right, above, below;
    surf2Dread(&at, source, x * 4, y);
    surf2Dread(&left, source, x * 4 - 4, y);
    surf2Dread(&right, source, x * 4 + 4, y);
    surf2Dread(&above, source, x * 4, y - 1);
    surf2Dread(&below, source, x * 4, y + 1);
    surf2Dwrite(at + left + right + above + below, target, x * 4, y);
}
"""


def least(runs) -> list[float]:
    """Least times of functions that run in turn."""
    times = [float("inf")] * len(runs)
    for _ in range(ROUNDS):
        for k, run in enumerate(runs):
            start = time.perf_counter()
            run()
            times[k] = min(times[k], time.perf_counter() - start)
    return times


def launcher(module, name: str, *arguments, grid, block=(32, 8, 1)):
    function = module.get_function(name)

    def run() -> None:
        function(*arguments, grid=grid, block=block)
        cuda.Context.synchronize()

    return run


def twin(name: str, *arguments):
    function = getattr(ctypes.CDLL(str(HandWritten.library())), name)
    function.restype = None
    given = [
        ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else a
        for a in arguments
    ]
    return lambda: function(*given)


def pairs(module):
    """For each row: its name, both runs, and both results."""
    rng = np.random.default_rng(1)
    image = rng.random((WIDTH, WIDTH), np.float32)
    box = rng.random((DEPTH, DEPTH, DEPTH), np.float32)
    grey = rng.integers(0, 256, (WIDTH, WIDTH)).astype(np.uint8)
    flat, deep = (WIDTH // 32, WIDTH // 8), (DEPTH // 32, DEPTH // 8, DEPTH)
    side, step = np.int32(WIDTH), ctypes.c_float(STEP)
    keep = []

    def reference(name, array, linear):
        texture = module.get_texref(name)
        texture.set_array(array)
        if linear:
            texture.set_filter_mode(cuda.filter_mode.LINEAR)
        keep.append((texture, array))

    reference("plane", cuda.matrix_to_array(image, "C"), True)
    reference("volume", cuda.np_to_array(box, "C"), True)
    reference("bytes", cuda.matrix_to_array(grey, "C"), False)

    seen, wanted = np.zeros_like(image), np.zeros_like(image)
    out = cuda.mem_alloc(image.nbytes)
    get = lambda: cuda.memcpy_dtoh(seen, out) or seen  # noqa: E731
    yield "bilinear, float, 2-D", [
        launcher(module, "zoom_linear", out, side, STEP, grid=flat),
        twin("zoom_linear", image, wanted, WIDTH, WIDTH, step),
    ], get, wanted  # fmt: skip
    yield "nearest, bytes, 2-D, turned", [
        launcher(module, "turn_bytes", out, side, COSINE, SINE, grid=flat),
        twin("turn_bytes", grey, wanted, WIDTH, WIDTH, ctypes.c_float(COSINE), ctypes.c_float(SINE)),
    ], get, wanted  # fmt: skip

    cubes = [np.zeros_like(box) for _ in range(2)]
    deep_out = cuda.mem_alloc(box.nbytes)
    yield "trilinear, float, 3-D", [
        launcher(module, "zoom_volume", deep_out, np.int32(DEPTH), STEP, grid=deep),
        twin("zoom_volume", box, cubes[1], DEPTH, step),
    ], lambda: cuda.memcpy_dtoh(cubes[0], deep_out) or cubes[0], cubes[1]  # fmt: skip

    arrays = [
        cuda.np_to_array(a, "C", allowSurfaceBind=True)
        for a in (image, np.zeros_like(image))
    ]
    for name, array in zip(("source", "target"), arrays, strict=True):
        module.get_surfref(name).set_array(array)
    keep.append(arrays)
    wanted[:] = 0

    def read_back():
        copy = cuda.Memcpy2D()
        copy.set_src_array(arrays[1])
        copy.set_dst_host(seen)
        copy.width_in_bytes = copy.dst_pitch = WIDTH * 4
        copy.height = WIDTH
        copy(aligned=True)
        return seen

    yield "5-point stencil, surface, 2-D", [
        launcher(module, "surface_stencil", side, side, grid=flat),
        twin("surface_stencil", image, wanted, WIDTH, WIDTH),
    ], read_back, wanted  # fmt: skip


def main() -> None:
    module = SourceModule(SOURCE)
    print("| reads | softcuda, ms | C++, ms | ratio |\n|---|---|---|---|")
    for name, runs, get, wanted in pairs(module):
        for run in runs:
            run()
        # Coordinates are rounded differently: a weight may differ by 1/256, a nearest point rarely.
        assert np.mean(np.abs(get() - wanted) > 0.01) < 0.001, name
        ours, theirs = least(runs)
        print(
            f"| {name} | {ours * 1e3:.2f} | {theirs * 1e3:.2f} | {ours / theirs:.2f} |"
        )


if __name__ == "__main__":
    main()
