"""Heat in a plate, on several devices: MPI processes that exchange the edges of their parts.

    ./run mpirun --oversubscribe -n 4 python examples/multi_device/mpi_stencil.py [--size 512] [--steps 200]

The plate is cut into bands of rows, one for each process. A process has its band on its device with one
more row at each side: the halo, which holds the neighbour's edge. In a step the edges are sent, and the
inner rows, which need no halo, are computed meanwhile. Rank 0 compares the sum of the heat and the
plate itself with what NumPy computes.
"""

from __future__ import annotations

import argparse

import numpy as np
from mpi4py import MPI

import pycuda.driver as cuda
from pycuda import gpuarray, mpi
from pycuda.compiler import SourceModule

KERNEL = """
// Rows first to last of `to`: each element is drawn to the mean of its four neighbours.
__global__ void diffuse(const double *from, double *to, int columns, int first, int last)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = first + blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= columns || y > last)
        return;
    const int i = y * columns + x;
    const double left = from[x > 0 ? i - 1 : i], right = from[x < columns - 1 ? i + 1 : i];
    const double sum = left + right + from[i - columns] + from[i + columns];
    to[i] = from[i] + 0.2 * (sum - 4 * from[i]);
}
"""


def start_heat(size: int) -> np.ndarray:
    """A cold plate with two hot spots."""
    y, x = np.mgrid[:size, :size] / size
    spots = ((0.3, 0.3, 0.05), (0.7, 0.6, 0.1))
    return sum(
        np.exp(-((x - px) ** 2 + (y - py) ** 2) / width**2) for px, py, width in spots
    )


def on_host(plate: np.ndarray, steps: int) -> np.ndarray:
    """The same with NumPy."""
    for _ in range(steps):
        p = np.pad(plate, 1, mode="edge")
        sum_of_four = (p[1:-1, :-2] + p[1:-1, 2:]) + p[:-2, 1:-1] + p[2:, 1:-1]
        plate = plate + 0.2 * (sum_of_four - 4 * plate)
    return plate


class Band:
    """This process's rows, twice: before and after a step."""

    def __init__(self, comm: mpi.Comm, plate: np.ndarray) -> None:
        self.comm, rank, ranks = comm, comm.Get_rank(), comm.Get_size()
        bounds = [len(plate) * r // ranks for r in range(ranks + 1)]
        self.rows, self.columns = bounds[rank + 1] - bounds[rank], plate.shape[1]
        padded = np.pad(plate, ((1, 1), (0, 0)), mode="edge")
        self.now = gpuarray.to_gpu(padded[bounds[rank] : bounds[rank + 1] + 2].copy())
        self.next = self.now.copy()
        self.above = rank - 1 if rank > 0 else MPI.PROC_NULL
        self.below = rank + 1 if rank < ranks - 1 else MPI.PROC_NULL
        self.kernel = SourceModule(KERNEL).get_function("diffuse")

    def compute(self, first: int, last: int, stream: cuda.Stream) -> None:
        """Rows first to last of the band, counted with the halo."""
        if last < first:
            return
        grid = -(-self.columns // 32), -(-(last - first + 1) // 8)
        self.kernel(
            self.now, self.next, np.int32(self.columns), np.int32(first), np.int32(last),
            block=(32, 8, 1), grid=grid, stream=stream,
        )  # fmt: skip

    def step(self, inner: cuda.Stream, edge: cuda.Stream) -> None:
        """One step in time."""
        comm, now = self.comm, self.now
        self.compute(2, self.rows - 1, inner)
        requests = [
            comm.Irecv(now[0], self.above, 1), comm.Irecv(now[-1], self.below, 2),
            comm.Isend(now[1], self.above, 2), comm.Isend(now[-2], self.below, 1),
        ]  # fmt: skip
        mpi.waitall(requests)
        if self.above == MPI.PROC_NULL:
            now[0] = now[1]
        if self.below == MPI.PROC_NULL:
            now[-1] = now[-2]
        self.compute(1, 1, edge)
        if self.rows > 1:
            self.compute(self.rows, self.rows, edge)
        inner.synchronize()
        edge.synchronize()
        self.now, self.next = self.next, self.now


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=256, help="rows and columns")
    parser.add_argument("--steps", type=int, default=50)
    given = parser.parse_args()
    world = MPI.COMM_WORLD
    cuda.init()
    device = cuda.Device(world.Get_rank() % cuda.Device.count())
    with device:
        edge, inner = cuda.Stream(), cuda.Stream()
        # Messages wait only for the edges of the last step, not for the inner rows of this one.
        comm = mpi.Comm(world, stream=edge)
        plate = start_heat(given.size)
        band = Band(comm, plate)
        start = MPI.Wtime()
        for _ in range(given.steps):
            band.step(inner, edge)
        seconds = MPI.Wtime() - start
        parts = world.gather(band.now.get()[1:-1], root=0)
        devices = world.gather(device.handle, root=0)
    if world.Get_rank() == 0:
        expected = on_host(plate, given.steps)
        np.testing.assert_allclose(np.concatenate(parts), expected, rtol=1e-12)
        rate = given.size**2 * given.steps / seconds * 1e-6
        print(
            f"{world.Get_size()} processes on devices {sorted(set(devices))}: {given.steps} steps, "
            f"{rate:.1f} million elements a second; heat {np.concatenate(parts).sum():.6f}, as NumPy"
        )


if __name__ == "__main__":
    main()
