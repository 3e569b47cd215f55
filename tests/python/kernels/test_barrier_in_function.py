"""Barriers in functions that are not inlined: lanes of a warp come to them one by one."""

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda.autoinit  # noqa: F401
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

GRID_BARRIER = r"""
#include <cooperative_groups.h>
extern "C" __global__ void exchange(volatile int *all, int *wrong)
{
    auto grid = cooperative_groups::this_grid();
    int count = gridDim.x * blockDim.x, mine = blockDim.x * blockIdx.x + threadIdx.x;
    int others = count - 1 - mine, found = 0;
    for (int round = 1; round <= 5; round++) {
        all[mine] = round * 1000 + mine;
        grid.sync();
        found += all[others] != round * 1000 + others;
        grid.sync();
    }
    wrong[mine] = found;
}
"""

#: Thread 0 of the first block polls between two barriers, which are calls with -G.
FLAG = r"""
__device__ __noinline__ void barrier(int number)
{
    asm volatile("barrier.sync %0;" :: "r"(number) : "memory");
}
extern "C" __global__ void wait(volatile int *flag, int *out)
{
    __shared__ volatile int seen;
    if (threadIdx.x == 0)
        seen = 0;
    barrier(0);
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0) {
            while (*flag == 0) {
            }
        } else {
            __threadfence();
            *flag = 7;
        }
        seen = 7;
    }
    barrier(0);
    out[blockIdx.x * blockDim.x + threadIdx.x] = seen;
}
"""


@pytest.mark.parametrize("options", [[], ["-G"]], ids=["optimised", "debug"])
@pytest.mark.parametrize("threads", [32, 96])
def test_grid_barrier(threads, options):
    if options and not is_softcuda():
        pytest.skip("with -G, an H200 and NVRTC 13.0 read old values as well")
    module = SourceModule(GRID_BARRIER, no_extern_c=True, options=options)
    count = 8 * threads
    wrong = np.ones(count, np.int32)
    module.get_function("exchange")(
        cuda.In(np.zeros(count, np.int32)), cuda.InOut(wrong), block=(threads, 1, 1), grid=(8, 1), cooperative=True
    )  # fmt: skip
    assert not wrong.any()


@pytest.mark.parametrize("options", [[], ["-G"]], ids=["optimised", "debug"])
@pytest.mark.parametrize("threads", [32, 96])
def test_barrier_behind_a_loop_of_one_thread(threads, options):
    module = SourceModule(FLAG, no_extern_c=True, options=options)
    out = np.zeros(2 * threads, np.int32)
    module.get_function("wait")(
        cuda.InOut(np.zeros(1, np.int32)),
        cuda.InOut(out),
        block=(threads, 1, 1),
        grid=(2, 1),
    )
    assert (out == 7).all()
