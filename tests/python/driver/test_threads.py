"""Many threads at once; a thread that waits must not hold the GIL."""

import gc
import queue
import threading
import time

import numpy as np
import pytest

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

    # The number of rounds for about 0.2 s must be found, for clock rates from 0.1 to 10 GHz.
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


def test_threads_allocate_launch_and_free(device, primary_context):
    """Objects of one thread are used and freed by others, with errors and new types in between."""
    twice = SourceModule(
        "__global__ void twice(float *a, int n) { a[threadIdx.x] *= n; }"
    )
    pool = cuda.DeviceMemoryPool()
    handed_on, failures = queue.SimpleQueue(), []
    ones = np.ones(32, np.float32)

    def work(number):
        class Own:  # a type that was never packed before
            def __init__(self, memory):
                self.memory = memory

            @property
            def __cuda_array_interface__(self):
                place = (int(self.memory), False)
                return {"data": place, "typestr": "<f4", "shape": (32,), "version": 3}

        try:
            with primary_context:
                function = twice.get_function("twice")
                stream = cuda.Stream()
                for turn in range(40):
                    memory = (pool.allocate if turn % 2 else cuda.mem_alloc)(128)
                    cuda.memcpy_htod(memory, ones)
                    function(Own(memory), 2, block=(32, 1, 1), stream=stream)
                    function(memory, np.int32(3), block=(32, 1, 1), stream=stream)
                    with pytest.raises(cuda.ArgumentError):
                        function(memory, "many", block=(32, 1, 1))
                    stream.synchronize()
                    handed_on.put(memory)
                    mine = handed_on.get()
                    assert (cuda.from_device(mine, 32, np.float32) == 6).all()
                    if turn % 3:
                        mine.free()
                inout = np.ones(32, np.float32)
                function(cuda.InOut(inout), number, block=(32, 1, 1))
                assert (inout == number).all()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]
    del threads
    gc.collect()
    assert pool.active_blocks == 0


def test_a_wait_ends_while_other_threads_launch(device, primary_context):
    spin = SourceModule("""
    __global__ void spin(int *p) { for (int i = 0; i < 2000; ++i) p[blockIdx.x * 32 + threadIdx.x] += i; }
    """).get_function("spin")
    memory, stream, done = cuda.mem_alloc(20 * 128), cuda.Stream(), threading.Event()
    cuda.memset_d8(memory, 0, 20 * 128)
    marks = [cuda.Event() for _ in range(16)]

    def launch_without_end():
        with primary_context:
            turn = 0
            while not done.is_set():  # never idle, and never far ahead
                spin(memory, block=(32, 1, 1), grid=(20, 1), stream=stream)
                marks[turn % 16].record(stream)
                turn += 1
                marks[turn % 16].synchronize()

    busy = threading.Thread(target=launch_without_end)
    busy.start()
    try:
        start = time.monotonic()
        for _ in range(3):
            stream.synchronize()
            cuda.Context.synchronize()
        assert time.monotonic() - start < 10
    finally:
        done.set()
        busy.join()


def test_the_first_calls_of_numpy_come_from_several_threads(run_program):
    """What the first call imports must not be waited for with the GIL."""
    done = run_program(
        """
        import sys, threading
        import numpy as np
        import pycuda.autoinit
        from pycuda import gpuarray

        sys.setswitchinterval(1e-6)
        x = gpuarray.zeros(8, np.float32)
        ready, results = threading.Barrier(8), []

        def call():
            ready.wait()
            results.append(float((np.sum(x) + np.add(x, 1).get()[0]).get()))

        threads = [threading.Thread(target=call, daemon=True) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        print(results)
        """
    )
    assert (done.stdout, done.stderr) == (f"{[1.0] * 8}\n", "")
