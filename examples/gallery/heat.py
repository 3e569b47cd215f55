"""Heat in a plate: hot and cold rods, and walls that let no heat through.

    ./run examples/gallery/heat.py [PICTURE]

A time step is arithmetic with parts of an array, as in NumPy; @pycuda.fuse makes one kernel from
the formula.
"""

import sys

import matplotlib
import numpy as np

import pycuda
import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray


@pycuda.fuse
def diffuse(here, north, south, west, east, open_n, open_s, open_w, open_e, rate):
    """The temperature after a step; open_*: 1 where heat flows to that side, 0 at a wall."""
    along_y = open_n * (north - here) + open_s * (south - here)
    along_x = open_w * (west - here) + open_e * (east - here)
    return here + rate * (along_y + along_x)


def simulate(temperature, wall, held, steps, rate=0.2):
    """The temperature (height, width) of float32 after this number of steps.

    `wall` and `held` are masks of the same shape: no heat crosses a wall or the plate's edge, and the
    temperature of held cells does not change. `rate` is diffusivity * time step / spacing², at
    most 0.25.
    """
    free = np.pad(~wall, 1)
    sides = (free[:-2, 1:-1], free[2:, 1:-1], free[1:-1, :-2], free[1:-1, 2:])
    moves = free[1:-1, 1:-1] & ~held
    opened = [gpuarray.to_gpu((side & moves).astype(np.float32)) for side in sides]
    now, following = (gpuarray.to_gpu(np.pad(temperature, 1)) for _ in range(2))
    for _ in range(steps):
        neighbours = (now[:-2, 1:-1], now[2:, 1:-1], now[1:-1, :-2], now[1:-1, 2:])
        following[1:-1, 1:-1] = diffuse(now[1:-1, 1:-1], *neighbours, *opened, rate)
        now, following = following, now
    return now[1:-1, 1:-1].get()


def plate(height=180, width=300):
    """A temperature in degrees, the walls, and the rods that are held at their temperatures."""
    y, x = np.mgrid[:height, :width].astype(np.float32)
    temperature = np.full((height, width), 20, np.float32)
    wall = np.zeros((height, width), bool)
    for col, top in ((0.25, True), (0.5, False), (0.75, True)):
        side = y < 0.68 * height if top else y > 0.32 * height
        wall |= (abs(x - col * width) < 2) & side
    held = np.zeros_like(wall)
    for row, col, degrees in ((0.25, 0.12, 100), (0.7, 0.4, 70), (0.3, 0.62, 0), (0.2, 0.9, 85)):
        rod = np.hypot(y - row * height, x - col * width) < 0.05 * height
        temperature[rod], held = degrees, held | rod
    return temperature, wall, held


if __name__ == "__main__":
    matplotlib.use("agg")
    from matplotlib import pyplot

    temperature, wall, held = plate()
    shown = np.ma.masked_where(wall, simulate(temperature, wall, held, 12000))
    figure = pyplot.figure(figsize=(8, 4.8), dpi=100)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.imshow(shown, "inferno", vmin=0, vmax=100, interpolation="bilinear")
    axes.contour(shown, np.arange(4, 100, 4), colors="white", linewidths=0.6, alpha=0.6)
    name = sys.argv[1] if len(sys.argv) > 1 else "heat.jpg"
    figure.savefig(name, facecolor="black")
    print("the picture is", name)
