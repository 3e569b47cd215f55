"""Polished balls on a chessboard: a thread follows a ray of light backwards.


./run examples/gallery/ray_tracer.py [PICTURE]
"""

import sys

import numpy as np
from PIL import Image

import pycuda.autoinit  # noqa: F401
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

SOURCE = """
using V = float3; struct Ball { V centre; float radius; V colour; float mirror; };
__device__ V operator+(V a, V b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ V operator-(V a, V b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ V operator*(V a, V b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
__device__ V operator*(float s, V a) { return {s * a.x, s * a.y, s * a.z}; }
__device__ float dot(V a, V b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ V unit(V a) { return rsqrtf(dot(a, a)) * a; }

// The first ball on a ray's way before `distance`, which is set, or -1.
__device__ int meet(const Ball *balls, int n, V from, V along, float &distance) {
    int found = -1;
    for (int i = 0; i < n; ++i) {
        V to = balls[i].centre - from;
        float r = balls[i].radius, b = dot(to, along), t = b - sqrtf(b * b - dot(to, to) + r * r);
        if (t > 1e-3f && t < distance) distance = t, found = i;
    }
    return found;
}

__device__ V trace(const Ball *balls, int n, V from, V along) {
    V sun = unit({0.6f, 0.55f, -0.6f}), white = {0.95f, 0.75f, 0.62f}, light = {}, share = {1, 1, 1};
    for (int bounce = 0; bounce < 6; ++bounce) {
        float distance = along.y < 0 ? -from.y / along.y : 1e9f, far = 1e9f;
        int i = meet(balls, n, from, along, distance);
        if (i < 0 && along.y >= 0) return light + share * (white - sqrtf(along.y) * V{0.75f, 0.4f, 0});
        from = from + distance * along;
        float tile = (int)floorf(from.x) + (int)floorf(from.z) & 1 ? 0.8f : 0.13f;
        V normal = {0, 1, 0}, colour = {tile, tile, tile}; // the floor's
        if (i >= 0) normal = unit(from - balls[i].centre), colour = balls[i].colour;
        float mirror = i < 0 ? 0.12f : balls[i].mirror, air = i < 0 ? expf(-0.03f * distance) : 1;
        float sunny = meet(balls, n, from, sun, far) < 0 ? fmaxf(dot(normal, sun), 0) : 0;
        light = light + share * ((1 - mirror) * (0.25f + sunny) * air * colour + (1 - air) * white);
        share = mirror * air * share, along = along - 2 * dot(along, normal) * normal;
    }
    return light;
}

extern "C" __global__ void render(V *picture, int width, int height, const Ball *balls, int n) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    V along = unit({(col + 0.5f - 0.5f * width) / height, 0.4f - (row + 0.5f) / height, 1.2f});
    picture[row * width + col] = trace(balls, n, {0, 1.4f, -5}, along);
}
"""


def render(balls, width, height):
    """The light (height, 32 i, 3). A ball is x, y, z, radius, red, green, blue, mirror."""
    kernel = SourceModule(SOURCE, no_extern_c=True).get_function("render")
    light, scene = np.empty((height, width, 3), np.float32), cuda.In(np.float32(balls))
    shape = dict(block=(32, 1, 1), grid=(width // 32, height))
    kernel(cuda.Out(light), width, height, scene, len(balls), **shape)
    return light


if __name__ == "__main__":
    balls = [[0, 1, 1, 1, 1, 0.85, 0.6, 0.8]]  # a mirror on the floor, y = 0
    for angle in np.linspace(0.3, 0.3 + 2 * np.pi, 11, endpoint=False):
        colour = 0.55 + 0.4 * np.cos(angle + np.array([0, 2.1, 4.2]))
        balls.append([2.1 * np.sin(angle), 0.38, 1 + 2.1 * np.cos(angle), 0.38, *colour, 0.25])
    light = render(balls, 3200, 2000).reshape(500, 4, 800, 4, 3).mean(axis=(1, 3))
    name = sys.argv[1] if len(sys.argv) > 1 else "ray_tracer.jpg"
    Image.fromarray(np.uint8(255 * np.sqrt(light.clip(0, 1)))).save(name, quality=88)
    print("the picture is", name)
