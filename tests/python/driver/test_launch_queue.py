"""A stream holds about a thousand launches; the thread that launches more waits, and can be interrupted there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

SOURCE = """
__device__ unsigned long long now()
{
    unsigned long long time;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
    return time;
}

__global__ void wait(unsigned long long nanoseconds)
{
    for (unsigned long long start = now(); now() - start < nanoseconds;) {}
}

__global__ void count(int *sum) { atomicAdd(sum, 1); }
"""
MOST = 1024


@pytest.fixture(name="kernels")
def make_kernels(device):
    module = SourceModule(SOURCE)
    wait, count = module.get_function("wait"), module.get_function("count")
    sums = cuda.mem_alloc(4)
    cuda.memset_d32(sums, 0, 1)
    wait(np.uint64(1), grid=(1, 1), block=(1, 1, 1))
    count(sums, grid=(1, 1), block=(1, 1, 1))  # both are compiled now
    cuda.Context.synchronize()
    cuda.memset_d32(sums, 0, 1)
    return wait, count, sums


def sum_of(sums) -> int:
    result = np.zeros(1, np.int32)
    cuda.memcpy_dtoh(result, sums)
    return int(result[0])


def test_launches_wait_behind_a_slow_kernel(kernels):
    wait, count, sums = kernels
    stream = cuda.Stream()
    wait(np.uint64(2_000_000_000), grid=(1, 1), block=(1, 1, 1), stream=stream)
    slow = []
    for k in range(3 * MOST):
        start = time.monotonic()
        count(sums, grid=(1, 1), block=(1, 1, 1), stream=stream)
        if time.monotonic() - start > 0.5:
            slow.append(k)
    assert len(slow) == 1 and MOST // 2 - 4 < slow[0] <= MOST
    stream.synchronize()
    assert sum_of(sums) == 3 * MOST


def test_fewer_launches_do_not_wait(kernels):
    wait, count, sums = kernels
    stream, other = cuda.Stream(), cuda.Stream()
    start = time.monotonic()
    wait(np.uint64(3_000_000_000), grid=(1, 1), block=(1, 1, 1), stream=stream)
    for _ in range(MOST // 2):
        count(sums, grid=(1, 1), block=(1, 1, 1), stream=stream)
    for _ in range(MOST // 2):
        count(sums, grid=(1, 1), block=(1, 1, 1), stream=other)
    assert time.monotonic() - start < 2.5
    cuda.Context.synchronize()
    assert sum_of(sums) == MOST


ENDLESS = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np, pycuda.autoinit, pycuda.driver as cuda
from pycuda.compiler import SourceModule
module = SourceModule('''
__global__ void endless(volatile int *flag) { while (*flag == 0) {} }
__global__ void empty() {}''')
endless, empty = module.get_function("endless"), module.get_function("empty")
flag = cuda.mem_alloc(4)
cuda.memset_d32(flag, 0, 1)
empty(grid=(1, 1), block=(1, 1, 1))
endless(flag, grid=(1, 1), block=(1, 1, 1))
print("begun", flush=True)
try:
    while True:
        empty(grid=(1, 1), block=(1, 1, 1))
except (KeyboardInterrupt, cuda.Error) as error:
    print("ended", flush=True)
"""


@pytest.mark.skipif(not is_softcuda(), reason="a GPU cannot end a running kernel")
def test_interrupt_ends_the_wait_for_room():
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYCUDA_DRIVER": "softcuda"},
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        time.sleep(2)  # it waits for room now
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[0] == "ended\n"
    finally:
        process.kill()
