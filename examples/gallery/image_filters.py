"""A photograph of Grace Hopper, from matplotlib: blurred, its edges, and with a paint effect.

./run examples/gallery/image_filters.py [PICTURE]
"""

import sys

import numpy as np
from matplotlib.cbook import get_sample_data
from PIL import Image

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

SOURCE = """
struct Picture {
    const float *pixels; int height, width;
    __device__ float operator()(int y, int x, int c) const { // beyond the border, the nearest
        return pixels[(min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)) * 3 + c];
    }
};

// A Gaussian blur along (dy, dx). One along the columns and then one along the rows make the whole.
__device__ float blur(Picture in, int y, int x, int c, float sigma, int dy, int dx) {
    float sum = 0, weights = 0, weight;
    for (int k = -3 * sigma; k <= 3 * sigma; ++k)
        weights += weight = expf(-0.5f * k * k / (sigma * sigma)),
        sum += weight * in(y + k * dy, x + k * dx, c);
    return sum / weights;
}

// The length of the gradient by Sobel's operator, in units of brightness for one pixel.
__device__ float edges(Picture in, int y, int x, int c, float gain, int, int) {
    float gx = 0, gy = 0;
    for (int k = -1; k <= 1; ++k)
        gx += (2 - abs(k)) * (in(y + k, x + 1, c) - in(y + k, x - 1, c)),
        gy += (2 - abs(k)) * (in(y + 1, x + k, c) - in(y - 1, x + k, c));
    return gain * hypotf(gx, gy) / 8;
}

// Kuwahara's filter: the mean of the most even one of the four squares with a corner at the pixel.
__device__ float paint(Picture in, int y, int x, int c, float size, int, int) {
    float least = 1e30f, result = 0;
    for (int corner = 0; corner < 4; ++corner) {
        float sum = 0, green = 0, squares = 0, n = size * size;
        for (int k = 0; k < n; ++k) {
            int m = size, i = y + (corner & 1 ? k / m : -k / m), j = x + (corner & 2 ? k % m : -k % m);
            sum += in(i, j, c), green += in(i, j, 1), squares += in(i, j, 1) * in(i, j, 1);
        }
        if (squares - green * green / n < least) least = squares - green * green / n, result = sum / n;
    }
    return result;
}

__global__ void apply(float *out, const float *in, int h, int w, float size, int dy, int dx) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, c = blockIdx.z; // c: colour
    if (x < w) out[(y * w + x) * 3 + c] = FILTER({in, h, w}, y, x, c, size, dy, dx);
}
"""


def apply(name, photo, size, dy=0, dx=0):
    """A filter of a photograph (height, width, 3) of float32 on the device."""
    kernel = SourceModule(SOURCE, options=["-DFILTER=" + name]).get_function("apply")
    out, (h, w, _) = gpuarray.empty_like(photo), photo.shape
    kernel(out, photo, h, w, size, dy, dx, block=(128, 1, 1), grid=(-(-w // 128), h, 3))
    return out


if __name__ == "__main__":
    photo = np.asarray(Image.open(get_sample_data("grace_hopper.jpg")), np.float32)
    photo = gpuarray.to_gpu(photo[:480, 85:445].copy())
    blurred = apply("blur", apply("blur", photo, 6, 1, 0), 6, 0, 1)
    shown = photo, blurred, apply("edges", photo, 8), apply("paint", photo, 7)
    picture = np.concatenate(shown, axis=1).clip(0, 255).astype(np.uint8).get()
    name = sys.argv[1] if len(sys.argv) > 1 else "image_filters.jpg"
    Image.fromarray(picture).save(name, quality=80)
    print("the picture is", name)
