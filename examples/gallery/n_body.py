"""Two galaxies pass each other: every star attracts every other one.

    ./run examples/gallery/n_body.py [PICTURE]

A block reads the bodies in tiles into its shared memory. The constant of gravity is 1.
"""

import sys

import numpy as np
from PIL import Image, ImageFilter

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

SOURCE = """
__global__ void kick(const float4 *bodies, float4 *velocities, int n, float dt, float softening)
{
    __shared__ float4 tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = bodies[i];
    float3 kick = {0, 0, 0};
    for (int first = 0; first < n; first += 256) {
        tile[threadIdx.x] = bodies[first + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 256; ++k) {
            float x = tile[k].x - me.x, y = tile[k].y - me.y, z = tile[k].z - me.z;
            float inverse = rsqrtf(x * x + y * y + z * z + softening * softening);
            float pull = dt * tile[k].w * inverse * inverse * inverse;
            kick.x += pull * x, kick.y += pull * y, kick.z += pull * z;
        }
        __syncthreads();
    }
    velocities[i].x += kick.x, velocities[i].y += kick.y, velocities[i].z += kick.z;
}
"""


def galaxy(random, stars, centre, velocity, tilt):
    """A core of mass 1 with a disc of light stars on circles: positions and velocities (2, n, 4)."""
    radius, angle = np.sqrt(random.uniform(0.09, 2.56, stars)), random.uniform(0, 2 * np.pi, stars)
    speed = radius / (radius**2 + 0.1**2) ** 0.75
    across = np.stack([-np.sin(angle), np.cos(angle) * np.cos(tilt), np.cos(angle) * np.sin(tilt)])
    along = np.stack([np.cos(angle), np.sin(angle) * np.cos(tilt), np.sin(angle) * np.sin(tilt)])
    both = np.zeros((2, stars + 1, 4), np.float32)
    both[:, 1:, :3] = (radius * along).T, (speed * across).T
    both[..., :3] += np.array([centre, velocity], np.float32)[:, None]
    both[0, :, 3] = [1] + stars * [0.02 / stars]  # the masses
    return both


def simulate(bodies, velocities, steps, dt, softening=0.1):
    """Leapfrog steps: half a kick, a drift and a kick in turn, half a kick. The number of bodies is arbitrary."""
    kick = SourceModule(SOURCE).get_function("kick")
    n = -(-len(bodies) // 256) * 256  # the last ones have no mass
    both = np.pad([bodies, velocities], [(0, 0), (0, n - len(bodies)), (0, 0)])
    x, v = gpuarray.to_gpu(both[0]), gpuarray.to_gpu(both[1])
    for step in range(steps + 1):
        kick_dt = dt / 2 if step in (0, steps) else dt
        kick(x, v, n, kick_dt, softening, block=(256, 1, 1), grid=(n // 256, 1))
        if step < steps:
            x += dt * v
    return x.get()[: len(bodies)], v.get()[: len(bodies)]


if __name__ == "__main__":
    random = np.random.default_rng(2)
    one = galaxy(random, 8191, (-1.6, -0.9, 0), (0.3, -0.05, 0), 0.4)
    two = galaxy(random, 8191, (1.6, 0.9, 0), (-0.3, 0.05, 0), -0.7)
    x, _ = simulate(*np.concatenate([one, two], axis=1), 420, 0.016)
    sky = np.zeros((560, 800, 3))
    for (px, py), colour in ((x[:8192, :2].T, (1, 0.55, 0.25)), (x[8192:, :2].T, (0.3, 0.6, 1))):
        sky += np.histogram2d(-py, px, (560, 800), [(-3.5, 3.5), (-5, 5)])[0][..., None] * colour
    sky = Image.fromarray(np.uint8(255 * np.tanh(0.8 * sky)))
    glow = (np.array(sky.filter(ImageFilter.GaussianBlur(r)), float) for r in (0.7, 2, 7))
    name = sys.argv[1] if len(sys.argv) > 1 else "n_body.jpg"
    Image.fromarray(np.uint8(255 * np.tanh(sum(glow) / 90))).save(name, quality=88)
    print("the picture is", name)
