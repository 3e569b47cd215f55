"""Neighbouring thread blocks that run together, row by row: the results are those of one block after another."""

import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule

pytestmark = pytest.mark.usefixtures("device")

ORDERS = ["one", "rows", ""]

SHAPES = [
    (32, 8, 1),
    (16, 16, 1),
    (20, 10, 1),
    (64, 4, 1),
    (96, 2, 2),
    (8, 8, 4),
    (7, 5, 3),
    (3, 31, 1),
    (1, 64, 1),
    (128, 1, 1),
]

SOURCE = """
extern "C" __global__ void lattice(const int *in, int *out, int w, int h, int d)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= w || y >= h || z >= d)
        return;
    int i = (z * h + y) * w + x;
    int left = x == 0 ? i + w - 1 : i - 1, right = x == w - 1 ? i - w + 1 : i + 1;
    int up = y > 0 ? i - w : i, down = y + 1 < h ? i + w : i;
    int front = z ? i - w * h : i, back = z != d - 1 ? i + w * h : i;
    int local[4] = {x, y, z, i};
    out[i] = in[left] + 3 * in[right] + 5 * in[up] + 7 * in[down] + 11 * in[front] + 13 * in[back]
        + local[in[i] & 3] + 1000 * (blockIdx.x + 2 * blockIdx.y + 3 * blockIdx.z);
}
"""


def lattice(a, block, grid):
    """What the kernel computes, by NumPy; `a` has the axes z, y, x."""
    z, y, x = np.indices(a.shape)
    flat = np.arange(a.size).reshape(a.shape)

    def beside(axis, step):
        there = np.clip(np.arange(a.shape[axis]) + step, 0, a.shape[axis] - 1)
        return a.take(there, axis)

    blocks = x // block[0] + 2 * (y // block[1]) + 3 * (z // block[2])
    return (
        np.roll(a, 1, 2)
        + 3 * np.roll(a, -1, 2)
        + 5 * beside(1, -1)
        + 7 * beside(1, 1)
        + 11 * beside(0, -1)
        + 13 * beside(0, 1)
        + np.choose(a & 3, [x, y, z, flat])
        + 1000 * blocks
    )


@pytest.fixture(params=ORDERS)
def order(request, monkeypatch):
    monkeypatch.setenv("SOFTCUDA_BLOCK_GROUPS", request.param)
    return request.param


@pytest.mark.parametrize("block", SHAPES)
def test_blocks_of_a_grid(order, block):
    f = SourceModule(SOURCE, no_extern_c=True).get_function("lattice")
    for shape in [(3, 37, 1000), (5, 9, 33), (2, 70, 300)]:
        a = np.random.default_rng(1).integers(0, 1000, shape, np.int32)
        grid = tuple(-(-n // b) for n, b in zip(shape[::-1], block, strict=True))
        out = gpuarray.zeros(shape, np.int32)
        f(cuda.In(a), out, *map(np.int32, shape[::-1]), block=block, grid=grid)
        np.testing.assert_array_equal(out.get(), lattice(a, block, grid))


def run_with(order, program):
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "SOFTCUDA_BLOCK_GROUPS": order},
        capture_output=True,
        text=True,
    )


@pytest.mark.skipif(not is_softcuda(), reason="softcuda reports the block")
@pytest.mark.parametrize("order", ["one", "rows"])
def test_a_fault_names_its_block(order):
    program = """
import numpy, pycuda.autoinit
from pycuda import driver, gpuarray
from pycuda.compiler import SourceModule
f = SourceModule('''
extern "C" __global__ void wrong(int *out, int w)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (blockIdx.x == 5 && blockIdx.y == 2 && threadIdx.y == 3)
        out += 1ll << 50;
    out[y * w + x] = x;
}
''', no_extern_c=True).get_function("wrong")
out = gpuarray.zeros(8 * 32 * 4 * 8, numpy.int32)
f(out, numpy.int32(256), block=(32, 8, 1), grid=(8, 4))
driver.Context.synchronize()
"""
    assert "in block (5,2,0), warp 3, lane 0" in run_with(order, program).stderr


@pytest.mark.skipif(not is_softcuda(), reason="a setting of softcuda")
def test_a_wrong_order():
    program = """
import numpy, pycuda.autoinit
from pycuda import gpuarray
gpuarray.zeros(1, numpy.int32)
"""
    run = run_with("columns", program)
    assert run.returncode != 0
    assert "SOFTCUDA_BLOCK_GROUPS is 'columns'; it may be one or rows" in run.stderr
