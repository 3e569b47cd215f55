"""launch_host_func(): Python functions as work of a stream, which run in a thread of the driver."""

import gc
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda import gpuarray

pytestmark = pytest.mark.usefixtures("device")


class Noted:
    """An object whose end is noted, with the thread."""

    def __init__(self, ended):
        self.end = weakref.finalize(
            self, lambda: ended.append(threading.current_thread())
        )


def test_what_a_function_owns_ends_in_a_thread_of_python():
    """Memory, streams and events must not be freed in a thread of the driver."""
    stream, ended = cuda.Stream(), []

    def launch():
        own = [Noted(ended), cuda.Stream(), gpuarray.zeros(100), cuda.mem_alloc(100)]
        gate = threading.Event()
        cuda.launch_host_func(lambda: (gate.wait(10), own)[1], stream)
        return gate

    launch().set()
    stream.synchronize()
    for _ in range(100):
        if ended:
            break
        time.sleep(0.05)
        cuda.Context.synchronize()
    assert ended == [threading.current_thread()]


def test_a_graph_calls_its_function_at_each_launch():
    stream, seen, ended = cuda.Stream(), [], []
    x = cuda.pagelocked_zeros(1, np.int64)
    on_device = gpuarray.zeros(1, np.int64)

    def record():
        own = Noted(ended)

        def note(own=own):
            seen.append(int(x[0]))

        with cuda.capture(stream) as recording:
            with stream:
                on_device.__iadd__(1)
            cuda.memcpy_dtoh_async(x, on_device.gpudata, stream)
            cuda.launch_host_func(note, stream)
        return recording.graph.instantiate(), note

    ready, note = record()
    count = sys.getrefcount(note)
    for _ in range(50):
        ready.launch(stream)
    stream.synchronize()
    assert seen == list(range(1, 51))
    assert sys.getrefcount(note) == count
    del note
    for _ in range(20):
        ready.launch(stream)
    stream.synchronize()
    assert seen[-1] == 70 and not ended
    del ready
    for _ in range(100):
        gc.collect()
        cuda.mem_get_info()
        if ended:
            break
        time.sleep(0.05)
    assert ended, "the graph has ended, and its function has not"


def test_memory_of_another_device_is_freed_in_that_devices_order(run_program):
    done = run_program(
        """
        import time, numpy as np, pycuda.driver as cuda
        cuda.init()
        first, second = (cuda.Device(i).retain_primary_context() for i in range(2))
        with second:
            memory = cuda.mem_alloc_async(1 << 20)
            cuda.launch_host_func(lambda: time.sleep(0.3))
            cuda.memset_d8_async(memory, 7, 1 << 20)
        with first:
            cuda.mem_free_async(memory)
            start = time.perf_counter()
            cuda.Context.synchronize()
            assert time.perf_counter() - start < 0.2, "the default stream of the first device freed it"
        second.synchronize()
        """,
        SOFTCUDA_DEVICES="2",
        PYCUDA_DRIVER="softcuda",
    )
    assert done.returncode == 0, done.stderr
