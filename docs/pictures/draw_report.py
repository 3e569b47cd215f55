#!/usr/bin/env python3
"""Take the picture of docs/finding_slow.md: the report of a program, in a browser. Needs chromium.

./run docs/pictures/draw_report.py [FOLDER]      FOLDER: this file's own by default
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

os.environ["PYCUDA_DRIVER"] = "softcuda"

import numpy as np
from playwright.sync_api import sync_playwright

import pycuda
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

SOURCE = """
__global__ void transpose(const float *in, float *out, int n)
{
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        out[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}

__global__ void histogram(const float *in, int *counts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0.75f)
        atomicAdd(&counts[(int)(in[i] * 16)], 1);
}
"""


def record() -> pycuda.profile.Profile:
    """A profile of two kernels in two streams."""
    module = SourceModule(SOURCE)
    transpose, histogram = map(module.get_function, ("transpose", "histogram"))
    n = 512
    host = cuda.pagelocked_empty((n, n), np.float32)
    host[:] = np.random.default_rng(1).random((n, n))
    matrix, result = cuda.mem_alloc(host.nbytes), cuda.mem_alloc(host.nbytes)
    counts = cuda.mem_alloc(64)
    streams = [cuda.Stream(), cuda.Stream()]

    def run() -> None:
        first, second = streams
        cuda.memcpy_htod_async(matrix, host, first)
        uploaded = cuda.Event().record(first)
        second.wait_for_event(uploaded)
        cuda.memset_d32_async(counts, 0, 16, second)
        transpose(
            matrix,
            result,
            np.int32(n),
            block=(32, 8, 1),
            grid=(n // 32, n // 32),
            stream=first,
        )
        size = np.int32(n * n)
        histogram(
            matrix,
            counts,
            size,
            block=(256, 1, 1),
            grid=(n * n // 256, 1),
            stream=second,
        )
        cuda.memcpy_dtoh_async(host, result, first)
        for stream in streams:
            stream.synchronize()

    with pycuda.profile():
        run()  # compiles
    with pycuda.profile() as profile:
        run()
    return profile


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        page_file = Path(temporary) / "report.html"
        record().save(page_file)
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1180, "height": 1545})
        page.goto(page_file.as_uri())
        page.screenshot(path=folder / "kernel_report.png")
        browser.close()


if __name__ == "__main__":
    main()
