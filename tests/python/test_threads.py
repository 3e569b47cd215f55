"""Many threads at once, and the GIL that waits must not hold."""

import threading
import time

import numpy as np

import pycuda.driver as cuda
from pycuda.compiler import SourceModule


def test_threads_share_a_context(device, primary_context):
    add = SourceModule("__global__ void add(int *p) { atomicAdd(p, 1); }").get_function(
        "add"
    )
    total = cuda.to_device(np.zeros(1, np.int32))
    errors = []

    def work():
        try:
            with primary_context:
                stream = cuda.Stream()
                mine = cuda.to_device(np.zeros(1, np.int32))
                for _ in range(50):
                    add(mine, block=(32, 1, 1), stream=stream)
                    add(total, block=(32, 1, 1), stream=stream)
                stream.synchronize()
                assert cuda.from_device(mine, 1, np.int32)[0] == 1600
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    cuda.Context.synchronize()
    assert cuda.from_device(total, 1, np.int32)[0] == 8 * 1600


def test_other_threads_run_while_one_waits(device):
    spin = SourceModule("""
    __global__ void spin(long long ticks, int *p)
    { long long start = clock64(); while (clock64() - start < ticks) p[1] = 0; }
    """).get_function("spin")
    memory = cuda.mem_alloc(8)
    ticks, counted, done = 0, [], threading.Event()

    def count():
        while not done.is_set():
            counted.append(time.monotonic())
            time.sleep(0.001)

    # About 0.2 s on anything between 0.1 and 10 GHz takes some finding.
    ticks = 1_000_000
    while True:
        seconds = spin(ticks, memory, block=(1, 1, 1), time_kernel=True)
        if seconds > 0.2:
            break
        ticks *= 2
    counter = threading.Thread(target=count)
    spin(ticks, memory, block=(1, 1, 1))
    counter.start()
    cuda.Context.synchronize()
    done.set()
    counter.join()
    assert len(counted) > 20
