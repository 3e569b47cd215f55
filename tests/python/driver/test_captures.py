"""Captures of programs of arrays: the graph owns the memory of its capture (core/src/arrays/capture_memory.h)."""

import gc
import sys
import time
import weakref

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda import fft, gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import ReductionKernel
from pycuda.scan import InclusiveScanKernel


def soon(condition):
    """Whether the condition becomes true: CUDA reports the end of a graph in a thread of its own."""
    for _ in range(100):
        gc.collect()
        cuda.mem_get_info()
        if condition():
            return True
        time.sleep(0.05)
    return False


def captured(work, stream):
    """The work in ``stream`` as an executable graph."""
    with cuda.capture(stream) as recording, stream:
        work()
    return recording.graph.instantiate()


@pytest.fixture
def stream(device):
    return cuda.Stream()


@pytest.fixture(params=["blocking", "non-blocking"])
def any_stream(device, request):
    return cuda.Stream(
        0 if request.param == "blocking" else cuda.stream_flags.NON_BLOCKING
    )


N = 1000
RNG = np.random.default_rng(3)
HOST = RNG.standard_normal(N).astype(np.float32)
MATRIX = RNG.standard_normal((8, 8)) + 8 * np.eye(8)

PROGRAMS = {
    "expression": (lambda x, m: (x + 1) * 2 - x, lambda x, m: (x + 1) * 2 - x),
    "views": (lambda x, m: x[::2] + x[1::2], lambda x, m: x[::2] + x[1::2]),
    "sum": (lambda x, m: (x * x).sum(), lambda x, m: (x * x).sum()),
    "mean": (lambda x, m: x.mean(), lambda x, m: x.mean()),
    "where": (lambda x, m: gpuarray.where(x > 0, x, 0), lambda x, m: np.where(x > 0, x, 0)),
    "sort": (lambda x, m: gpuarray.sort(x), lambda x, m: np.sort(x)),
    "argsort": (lambda x, m: gpuarray.argsort(x), lambda x, m: np.argsort(x)),
    "cumsum": (lambda x, m: gpuarray.cumsum(x), lambda x, m: np.cumsum(x)),
    "median": (lambda x, m: gpuarray.median(x), lambda x, m: np.median(x)),
    "concatenate": (lambda x, m: gpuarray.concatenate([x, x + 1]), lambda x, m: np.concatenate([x, x + 1])),
    "constants of the host": (lambda x, m: x + gpuarray.to_gpu(np.arange(N, dtype=np.float32)), lambda x, m: x + np.arange(N, dtype=np.float32)),
    "ranges": (lambda x, m: x + gpuarray.arange(0, N, 1, dtype=np.float32), lambda x, m: x + np.arange(N, dtype=np.float32)),
    "matmul": (lambda x, m: m @ m, lambda x, m: m @ m),
    "fft 64": (lambda x, m: fft.fft(x[:64]), lambda x, m: np.fft.fft(x[:64])),
    "fft 60": (lambda x, m: fft.fft(x[:60]), lambda x, m: np.fft.fft(x[:60])),
    "fft 37": (lambda x, m: fft.fft(x[:37]), lambda x, m: np.fft.fft(x[:37])),
    "rfft": (lambda x, m: fft.rfft(x), lambda x, m: np.fft.rfft(x)),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_captured_program_gives_the_same_results(any_stream, name):
    ours, numpys = PROGRAMS[name]
    x, m = gpuarray.to_gpu(HOST), gpuarray.to_gpu(MATRIX)
    want = np.asarray(numpys(HOST, MATRIX))
    out = gpuarray.zeros(want.shape, ours(x, m).dtype)
    cuda.Context.synchronize()

    def work():
        out[...] = ours(x, m)

    graph = captured(work, any_stream)
    cuda.Context.synchronize()
    assert not out.get().any()  # nothing ran yet
    mine = [gpuarray.to_gpu(np.full(N, 7, np.float32)) for _ in range(20)]
    cuda.Context.synchronize()
    for _ in range(3):
        out.fill(0)
        cuda.Context.synchronize()
        graph.launch(any_stream)
        any_stream.synchronize()
        assert np.allclose(out.get(), want, rtol=1e-4, atol=1e-4)
    assert all((one.get() == 7).all() for one in mine)


def test_a_graph_writes_into_no_array_that_the_program_makes_later(any_stream):
    x = gpuarray.to_gpu(HOST)
    out = gpuarray.zeros(N, np.float32)
    with any_stream:
        out[...] = (x + 1) * 2  # fills the stream's pool
    any_stream.synchronize()

    def work():
        out[...] = (x + 1) * 2

    graph = captured(work, any_stream)
    with any_stream:
        mine = gpuarray.to_gpu_async(np.full(N, -5, np.float32), stream=any_stream)
        other = x * 0 - 7
    any_stream.synchronize()
    for _ in range(1000):
        graph.launch(any_stream)
    any_stream.synchronize()
    assert (mine.get() == -5).all()
    assert (other.get() == -7).all()
    assert np.array_equal(out.get(), (HOST + 1) * 2)


def test_a_graph_keeps_the_arrays_that_it_uses(any_stream):
    inputs, out = [gpuarray.to_gpu(HOST)], gpuarray.zeros(N, np.float32)
    cuda.Context.synchronize()

    def work():
        out[...] = inputs[0] * 2

    graph = captured(work, any_stream)
    inputs.clear()
    gc.collect()
    others = [gpuarray.zeros(N, np.float32) for _ in range(10)]
    cuda.Context.synchronize()
    graph.launch(any_stream)
    any_stream.synchronize()
    assert np.array_equal(out.get(), HOST * 2)
    assert not any(one.get().any() for one in others)


def test_a_graph_keeps_other_memory_and_host_buffers(stream):
    copy = SourceModule(
        "__global__ void copy(float *z, const float *x) { z[threadIdx.x] = x[threadIdx.x]; }"
    ).get_function("copy")
    out = gpuarray.zeros(32, np.float32)
    memory = cuda.to_device(np.full(32, 5, np.float32))

    class Freed:
        done = False

        def __del__(self):
            Freed.done = True

    class Host(np.ndarray):
        pass

    host = np.full(32, 3, np.float32).view(Host)
    host.note = Freed()
    cuda.Context.synchronize()
    with cuda.capture(stream) as recording, stream:
        cuda.memcpy_htod_async(memory, host, stream)
        copy(out, memory, block=(32, 1, 1))
    graph = recording.graph.instantiate()
    del memory, host
    gc.collect()
    assert not Freed.done
    graph.launch(stream)
    stream.synchronize()
    assert (out.get() == 3).all()
    del graph, recording
    assert soon(lambda: Freed.done)


def test_the_memory_returns_when_the_graph_ends(stream):
    x, out = gpuarray.zeros(1 << 20, np.float32), gpuarray.zeros(1 << 20, np.float32)
    cuda.Context.synchronize()
    before = cuda.mem_get_info()[0]

    def work():
        y = x + 1
        for _ in range(20):
            y = y * 2  # each block serves again
        out[...] = y

    graph = captured(work, stream)
    used = before - cuda.mem_get_info()[0]
    assert (1 << 22) <= used <= 4 * (1 << 22)
    graph.launch(stream)
    clone_holder = graph
    del graph
    stream.synchronize()
    assert (out.get() == 1 << 20).all()
    del clone_holder
    assert soon(lambda: cuda.mem_get_info()[0] >= before)


def test_clones_and_executable_graphs_own_the_memory(stream):
    x, out = gpuarray.to_gpu(HOST), gpuarray.zeros(N, np.float32)
    cuda.Context.synchronize()
    with cuda.capture(stream) as recording, stream:
        out[...] = (x + 1) * 2
    clone = recording.graph.clone()
    recording.graph.close()
    del recording, x
    gc.collect()
    others = [gpuarray.to_gpu(np.full(N, 4, np.float32)) for _ in range(10)]
    graph = clone.instantiate()
    clone.close()
    cuda.Context.synchronize()
    graph.launch(stream)
    stream.synchronize()
    assert np.array_equal(out.get(), (HOST + 1) * 2)
    assert all((one.get() == 4).all() for one in others)


def test_a_result_of_a_capture_is_read_after_a_launch(stream):
    x = gpuarray.to_gpu(HOST)
    cuda.Context.synchronize()
    with cuda.capture(stream) as recording, stream:
        y = x * 3
    graph = recording.graph.instantiate()
    graph.launch(stream)
    stream.synchronize()
    assert np.array_equal(y.get(), HOST * 3)
    del graph, recording
    gc.collect()
    assert np.array_equal(y.get(), HOST * 3)  # the array keeps its own block
    assert np.array_equal((y + 1).get(), HOST * 3 + 1)


def test_user_kernels_are_captured(any_stream):
    x, out = gpuarray.to_gpu(np.abs(HOST)), gpuarray.zeros(N, np.float32)
    one = gpuarray.zeros((), np.float32)
    twice = ElementwiseKernel("float *z, float *x", "z[i] = 2 * x[i]")
    total = ReductionKernel(np.float32, "0", "a + b", arguments="float *in")
    scan = InclusiveScanKernel(np.float32, "a + b")
    cuda.Context.synchronize()

    def work():
        twice(out, x)
        one[...] = total(out)
        scan(out)

    graph = captured(work, any_stream)
    others = [gpuarray.to_gpu(np.full(N, 4, np.float32)) for _ in range(10)]
    cuda.Context.synchronize()
    for _ in range(2):
        graph.launch(any_stream)
        any_stream.synchronize()
        assert np.allclose(one.get(), 2 * np.abs(HOST).sum(), rtol=1e-4)
        assert np.allclose(out.get(), np.cumsum(2 * np.abs(HOST)), rtol=1e-4)
    assert all((other.get() == 4).all() for other in others)


WAITS = {
    "get": lambda x: x.get(),
    "item": lambda x: float(x[0]),
    "memcpy_dtoh": lambda x: cuda.memcpy_dtoh(np.empty(N, np.float32), x),
    "Memcpy2D": lambda x: rectangle(x),
    "In": lambda x: SourceModule("__global__ void f(float *x) {}").get_function("f")(
        cuda.In(HOST), block=(1, 1, 1)
    ),
    "nonzero": lambda x: gpuarray.nonzero(x),
    "mask": lambda x: x[x > 0],
    "synchronize": lambda x: CURRENT[0].synchronize(),
}
CURRENT = []


def rectangle(x):
    copy = cuda.Memcpy2D()
    copy.set_src_device(x.gpudata)
    copy.set_dst_host(np.empty(N, np.float32))
    copy.width_in_bytes = copy.src_pitch = copy.dst_pitch = 4 * N
    copy.height = 1
    copy()


@pytest.mark.parametrize("name", WAITS)
def test_a_wait_in_a_capture_is_an_error_and_the_capture_goes_on(any_stream, name):
    x, out = gpuarray.to_gpu(HOST), gpuarray.zeros(N, np.float32)
    cuda.Context.synchronize()
    CURRENT[:] = [any_stream]
    with cuda.capture(any_stream) as recording, any_stream:
        out[...] = x + 1
        with pytest.raises(cuda.Error, match="captur"):
            WAITS[name](x)
        out *= 2
    graph = recording.graph.instantiate()
    graph.launch(any_stream)
    any_stream.synchronize()
    assert np.array_equal(out.get(), (HOST + 1) * 2)


def test_what_a_capture_computes_for_a_cache_is_right_later(any_stream):
    """The roots of a transform are kept in a cache: they exist before the graph is launched, and after it has ended."""
    x = gpuarray.to_gpu(HOST[:29].astype(np.complex64))
    y = gpuarray.zeros(29, np.complex64)
    cuda.Context.synchronize()

    def work():
        y[...] = fft.fft(x)

    graph = captured(work, any_stream)  # the first transform of this length
    want = np.fft.fft(HOST[:29])
    assert np.allclose(fft.fft(x).get(), want, atol=1e-4)
    graph.launch(any_stream)
    any_stream.synchronize()
    assert np.allclose(y.get(), want, atol=1e-4)
    del graph
    gc.collect()
    assert np.allclose(fft.fft(x).get(), want, atol=1e-4)


def test_arrays_and_streams_end_during_a_capture(any_stream):
    """Their memory returns to the pools without work in a stream that the capture forbids."""
    other = cuda.Stream(cuda.stream_flags.NON_BLOCKING)
    with other:
        x = gpuarray.to_gpu(HOST) + 1
    y = gpuarray.to_gpu(HOST)
    with other:
        z = y + 1  # another stream than that of y
    out = gpuarray.zeros(N, np.float32)
    cuda.Context.synchronize()
    with cuda.capture(any_stream) as recording, any_stream:
        out[...] = 1
        del y, z
        other.close()
        del x
        gc.collect()
        out += 1
    graph = recording.graph.instantiate()
    graph.launch(any_stream)
    any_stream.synchronize()
    assert (out.get() == 2).all()
    assert np.array_equal((gpuarray.to_gpu(HOST) + 1).get(), HOST + 1)


def test_streams_that_join_a_capture(device):
    first, second = cuda.Stream(), cuda.Stream()
    x, out, other = (
        gpuarray.to_gpu(HOST),
        gpuarray.zeros(N, np.float32),
        gpuarray.zeros(N, np.float32),
    )
    cuda.Context.synchronize()
    fork, join = cuda.Event(), cuda.Event()
    with cuda.capture(first) as recording:
        with first:
            y = x + 1
            fork.record(first)
        second.wait_for_event(fork)
        with second:
            other[...] = y * 3
            join.record(second)
        with first:
            out[...] = y * 2
            del y  # still read in the second stream: no array of the first stream gets the block
            z = x * 100
            out[...] += z - z
        first.wait_for_event(join)
    graph = recording.graph.instantiate()
    for _ in range(20):
        graph.launch(first)
    first.synchronize()
    assert np.allclose(out.get(), (HOST + 1) * 2)
    assert np.allclose(other.get(), (HOST + 1) * 3)


def test_references_of_a_capture_do_not_leak(stream):
    x, out = gpuarray.to_gpu(HOST), gpuarray.zeros(N, np.float32)
    cuda.Context.synchronize()
    before = sys.getrefcount(x)
    for _ in range(10):

        def work():
            out[...] = x + 1

        captured(work, stream)
    assert soon(lambda: sys.getrefcount(x) <= before + 1)


def test_ufunc_at_of_a_view_is_captured(stream):
    x = gpuarray.zeros(16, np.float64)
    indices = gpuarray.to_gpu(np.array([1, 3, 1]))
    with cuda.capture(stream) as recording, stream:
        np.add.at(x[::2], indices, 1.0)
    graph = recording.graph.instantiate()
    for _ in range(3):
        graph.launch(stream)
    stream.synchronize()
    want = np.zeros(16)
    want[[2, 6]] = 6, 3
    np.testing.assert_array_equal(x.get(), want)


def test_a_graph_keeps_what_it_owns_when_another_hold_of_its_context_ends(stream):
    """`with cuda.Device(0)` retains the primary context, which lives on after the block."""
    x = gpuarray.zeros(N, np.float32)
    host = np.full(N, 6, np.float32)
    of_host = weakref.ref(host)
    with cuda.Context.get_device():
        with cuda.capture(stream) as recording:
            cuda.memcpy_htod_async(x.gpudata, host, stream)
        graph = recording.graph.instantiate()
    del host, recording
    gc.collect()
    assert of_host() is not None
    graph.launch(stream)
    stream.synchronize()
    assert (x.get() == 6).all()
