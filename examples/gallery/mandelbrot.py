"""The Mandelbrot set, four times, each time 30 times larger.

    ./run examples/gallery/mandelbrot.py [PICTURE]

One thread computes one pixel: four samples, each with up to `limit` iterations of z² + c.
"""

import sys

import numpy as np
from PIL import Image

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

SOURCE = """
// How fast z² + c escapes: a smooth number of iterations, or -1 if it does not escape.
__device__ float escape(double re, double im, int limit)
{
    double x = 0, y = 0;
    for (int i = 0; i < limit; ++i) {
        double xx = x * x, yy = y * y;
        if (xx + yy > 256) return i + 1 - log2f(0.5f * log2f((float)(xx + yy)));
        y = 2 * x * y + im;
        x = xx - yy + re;
    }
    return -1;
}

__global__ void mandelbrot(uchar3 *picture, int width, int height, double centre_re,
                           double centre_im, double pixel, int limit)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= width || row >= height) return;
    float3 sum = {0, 0, 0};
    for (int sample = 0; sample < 4; ++sample) {
        double dx = col + 0.25 + 0.5 * (sample & 1) - 0.5 * width;
        double dy = row + 0.25 + 0.5 * (sample >> 1) - 0.5 * height;
        float count = escape(centre_re + dx * pixel, centre_im - dy * pixel, limit);
        if (count < 0) continue; // a point of the set is black
        float t = 0.35f * logf(count + 2) * logf(count + 2);
        sum.x += 0.5f - 0.5f * cosf(t + 0.2f);
        sum.y += 0.5f - 0.5f * cosf(t + 0.9f) * 0.95f;
        sum.z += 0.5f - 0.5f * cosf(t + 1.9f) * 0.85f;
    }
    picture[row * width + col] = make_uchar3(63.75f * sum.x, 63.75f * sum.y, 63.75f * sum.z);
}
"""


def render(width, height, centre, span, limit):
    """An array (height, width, 3) of uint8: `span` units of the complex plane from left to right."""
    kernel = SourceModule(SOURCE).get_function("mandelbrot")
    picture = gpuarray.empty((height, width, 3), np.uint8)
    grid = (-(-width // 32), -(-height // 8))
    kernel(
        *(picture, width, height, centre.real, centre.imag, span / width, limit),
        block=(32, 8, 1),
        grid=grid,
    )
    return picture.get()


if __name__ == "__main__":
    point = -0.743643887037151 + 0.131825904205330j  # in the valley of the seahorses
    frames = [
        render(400, 300, -0.65 + 0j, 3.3, 500),
        *(render(400, 300, point, 3.3 / 30**zoom, 3000) for zoom in (1, 2, 3)),
    ]
    name = sys.argv[1] if len(sys.argv) > 1 else "mandelbrot.jpg"
    rows = [np.hstack(frames[:2]), np.hstack(frames[2:])]
    Image.fromarray(np.vstack(rows)).save(name, quality=85)
    print("the picture is", name)
