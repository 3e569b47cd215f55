"""XORWOW and MRG32k3a compared with cuRAND's device code, if a CUDA toolkit has its header."""

import os
from pathlib import Path

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda.compiler import SourceModule
from pycuda.curandom import MRG32k3aRandomNumberGenerator, XORWOWRandomNumberGenerator
from pycuda.gpuarray import to_gpu

HOMES = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
INCLUDES = [
    Path(home, "include")
    for home in HOMES
    if home and Path(home, "include/curand_kernel.h").exists()
]

SOURCE = """
#include <curand_kernel.h>
extern "C" __global__ void draw(int *seeds, unsigned long long offset, unsigned n,
                                unsigned *bits, float *uniform, double *uniform_double)
{
    const unsigned own = blockIdx.x * blockDim.x + threadIdx.x;
    if (own >= n) return;
    STATE state;
    curand_init(seeds[own], own, offset, &state);
    for (int i = 0; i < 2; ++i) bits[i * n + own] = curand(&state);
    for (int i = 0; i < 2; ++i) uniform[i * n + own] = curand_uniform(&state);
    for (int i = 0; i < 2; ++i) uniform_double[i * n + own] = curand_uniform_double(&state);
}
"""


@pytest.mark.skipif(not INCLUDES, reason="there is no curand_kernel.h")
@pytest.mark.parametrize(
    "cls, state",
    [
        (XORWOWRandomNumberGenerator, "curandStateXORWOW_t"),
        (MRG32k3aRandomNumberGenerator, "curandStateMRG32k3a_t"),
    ],
)
@pytest.mark.parametrize("offset", [0, 12345])
def test_numbers_are_curands(device, cls, state, offset):
    def seeds(n):
        return to_gpu(np.arange(n, dtype=np.int32) * 7919 - 100)

    generator = cls(seeds, offset)
    n = generator.generators
    kernel = SourceModule(
        SOURCE.replace("STATE", state),
        no_extern_c=True,
        include_dirs=[str(INCLUDES[0])],
    ).get_function("draw")
    bits = np.zeros(2 * n, np.uint32)
    uniform, double = np.zeros(2 * n, np.float32), np.zeros(2 * n, np.float64)
    kernel(
        seeds(n),
        np.uint64(offset),
        np.uint32(n),
        cuda.Out(bits),
        cuda.Out(uniform),
        cuda.Out(double),
        block=(64, 1, 1),
        grid=(-(-n // 64), 1),
    )
    np.testing.assert_array_equal(generator.gen_uniform(2 * n, np.uint32).get(), bits)
    np.testing.assert_array_equal(
        generator.gen_uniform(2 * n, np.float32).get(), uniform
    )
    np.testing.assert_array_equal(
        generator.gen_uniform(2 * n, np.float64).get(), double
    )
