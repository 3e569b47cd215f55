"""Water flows past a pillar and leaves a street of whirls (von Kármán): a lattice Boltzmann method.

    ./run examples/gallery/fluid.py [PICTURE]

A cell has nine numbers: how much fluid moves in each direction. In a step, a thread collects for one
cell what flows in from its neighbours, and moves it towards equilibrium. Walls reflect the flow.
"""

import sys

import numpy as np
from matplotlib import colormaps
from PIL import Image

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

SOURCE = """
__constant__ int ex[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int ey[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ int opposite[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};

__device__ float equilibrium(int i, float density, float ux, float uy) {
    float weight = i == 0 ? 4 / 9.f : i < 5 ? 1 / 9.f : 1 / 36.f, along = 3 * (ex[i] * ux + ey[i] * uy);
    return weight * density * (1 + along + 0.5f * along * along - 1.5f * (ux * ux + uy * uy));
}

// `inflow` is the speed at the left edge; if negative, left and right are joined, as top and bottom.
__global__ void step(const float *flow, float *next, const unsigned char *wall, float2 *velocity,
                     int height, int width, float relaxation, float inflow) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, cells = height * width;
    if (x >= width) return;
    int here = y * width + x;
    float f[9], density = 0, ux = 0, uy = 0;
    for (int i = 0; i < 9; ++i) {
        int from = (y - ey[i] + height) % height * width + (x - ex[i] + width) % width;
        f[i] = wall[from] ? flow[opposite[i] * cells + here] : flow[i * cells + from];
        density += f[i], ux += ex[i] * f[i], uy += ey[i] * f[i];
    }
    ux /= density, uy /= density;
    bool edge = inflow >= 0 && (x == 0 || x == width - 1); // the undisturbed stream
    for (int i = 0; i < 9; ++i)
        next[i * cells + here] = edge ? equilibrium(i, 1, inflow, 0)
            : f[i] + relaxation * (equilibrium(i, density, ux, uy) - f[i]);
    velocity[here] = wall[here] ? float2{0, 0} : float2{ux, uy};
}
"""

EX, EY = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1]), np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
WEIGHTS = (np.array([16, 4, 4, 4, 4, 1, 1, 1, 1]) / 36)[:, None, None]


def simulate(ux, uy, wall, steps, viscosity, inflow=-1.0):
    """Velocities (height, width, 2) after this number of steps, from those at the start; cells per step."""
    step, (height, width) = SourceModule(SOURCE).get_function("step"), wall.shape
    along = 3 * (np.multiply.outer(EX, ux) + np.multiply.outer(EY, uy))
    flow = WEIGHTS * (1 + along + 0.5 * along**2 - 1.5 * (ux**2 + uy**2))
    flow, wall = gpuarray.to_gpu(np.float32(flow)), gpuarray.to_gpu(wall)
    following, velocity = gpuarray.empty_like(flow), gpuarray.empty((*ux.shape, 2), np.float32)
    relaxation, grid = 1 / (3 * viscosity + 0.5), (-(-width // 128), height)
    arguments = wall, velocity, height, width, relaxation, inflow
    for _ in range(steps):
        step(flow, following, *arguments, block=(128, 1, 1), grid=grid)
        flow, following = following, flow
    return velocity.get()


if __name__ == "__main__":
    height, width, speed = 200, 648, 0.1
    y, x = np.mgrid[:height, :width]
    wall = np.uint8(np.hypot(y - 101, x - 90) < 14)
    velocity = simulate(speed + 0 * x, 0.01 * np.sin(x / 40), wall, 10000, 0.014, speed)
    curl = np.gradient(velocity[..., 1], axis=1) - np.gradient(velocity[..., 0], axis=0)
    picture = colormaps["RdBu_r"](0.5 + 0.5 * np.tanh(80 * curl))[..., :3]
    picture[wall == 1] = 0.15
    name = sys.argv[1] if len(sys.argv) > 1 else "fluid.png"
    Image.fromarray(np.uint8(255 * picture[:, :640])).save(name)
    print("the picture is", name)
