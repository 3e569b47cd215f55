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
from pycuda.compiler import SourceModule

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


def add_events(stream, *_):
    event = cuda.Event()
    for _ in range(6000):
        event.record(stream)


def launch_graph(stream, kernel, x):
    other = cuda.Stream()
    with cuda.capture(other) as recording:
        kernel(x, block=(1, 1, 1), stream=other)
    graph = recording.graph.instantiate()
    for _ in range(3000):
        graph.launch(stream)


def use_arrays(stream, _, x):
    with stream:
        for _ in range(2000):
            x += 1


def free_pinned_memory(*_):
    for _ in range(3):
        cuda.pagelocked_empty(1 << 16, np.uint8)


def unregister(*_):
    cuda.register_host_memory(np.zeros(1 << 16, np.uint8)).base.unregister()


def load(stream, *_):
    module = SourceModule("__global__ void other(float *x) { x[0] = 7; }")
    module.get_function("other")(gpuarray.empty(1, np.float32), block=(1, 1, 1))


WAITING = {
    "launches": lambda stream, kernel, x: [
        kernel(x, block=(1, 1, 1), stream=stream) for _ in range(3000)
    ],
    "prepared launches": lambda stream, kernel, x: [
        kernel.prepared_async_call((1, 1), (1, 1, 1), stream, x.gpudata)
        for _ in range(3000)
    ],
    "memory sets": lambda stream, _, x: [
        cuda.memset_d8_async(x.ptr, 0, 64, stream) for _ in range(3000)
    ],
    "copies": lambda stream, _, x: [
        cuda.memcpy_dtod_async(x.ptr, x.ptr + 64, 64, stream) for _ in range(3000)
    ],
    "events": add_events,
    "graphs": launch_graph,
    "array operations": use_arrays,
    "an Array's end": lambda *_: cuda.matrix_to_array(
        np.ones((4, 4), "f4"), "C"
    ).free(),
    "memory's end": lambda *_: cuda.mem_alloc(1 << 20).free(),
    "pinned memory's end": free_pinned_memory,
    "registered memory's end": unregister,
    "code": load,
}


@pytest.mark.parametrize("what", WAITING)
def test_calls_that_wait_for_the_device_release_the_gil(what):
    """The function needs the GIL before the stream goes on. A thread that waits with it waits for ever."""
    module = SourceModule("__global__ void one(float *x) { x[0] += 1; }")
    kernel = module.get_function("one").prepare("P")
    x, stream, seen = gpuarray.zeros(64, np.float32), cuda.Stream(), []
    kernel(x, block=(1, 1, 1), stream=stream)
    stream.synchronize()
    gate = threading.Event()
    cuda.launch_host_func(lambda: gate.wait(5), stream)
    cuda.launch_host_func(lambda: seen.append(gate.is_set()), stream)
    threading.Timer(0.05, gate.set).start()
    WAITING[what](stream, kernel, x)
    stream.synchronize()
    assert seen == [True]


def test_a_copy_is_recorded_while_earlier_copies_run():
    """The buffers of earlier copies are released meanwhile, which is no part of the graph."""
    x, stream, other = gpuarray.zeros(64, np.float32), cuda.Stream(), cuda.Stream()
    gate = threading.Event()
    cuda.launch_host_func(lambda: gate.wait(10), other)
    cuda.memcpy_htod_async(x.ptr, cuda.pagelocked_zeros(32, np.float32), other)
    with cuda.capture(stream) as recording:
        cuda.memcpy_htod_async(x.ptr, np.full(64, 3, np.float32), stream)
    gate.set()
    other.synchronize()
    recording.graph.instantiate().launch(stream)
    stream.synchronize()
    assert np.all(x.get() == 3)
