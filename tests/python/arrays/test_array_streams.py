"""`with stream:` applies to arrays, and their memory is safe with any use of streams."""

import ctypes
import gc
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import pycuda
import pycuda.driver as cuda
from pycuda import cumath, curandom, fft, gpuarray
from pycuda import random as philox
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import ReductionKernel
from pycuda.scan import InclusiveScanKernel

SIZE = 6000
DELAY = 0.06


@pytest.fixture
def stream(device):
    """A stream that does not wait for the default stream, and for which that does not wait."""
    stream = cuda.Stream(flags=cuda.stream_flags.NON_BLOCKING)
    yield stream
    stream.synchronize()


def delay(stream):
    """Delays later work of the stream. Needs no GIL, which a launch may hold under a debugger while it waits for all
    work."""
    sleep = ctypes.cast(ctypes.CDLL(None).usleep, ctypes.c_void_p)
    driver = ctypes.CDLL(cuda.get_driver_path())
    handle = ctypes.c_void_p(None if stream is None else stream.handle)
    microseconds = ctypes.c_void_p(int(DELAY * 1e6))
    assert driver.cuLaunchHostFunc(handle, sleep, microseconds) == 0


def delay_by_python(stream):
    """Like delay(), with a host function that needs the GIL."""
    cuda.launch_host_func(lambda: time.sleep(DELAY), stream)


def under_sanitizer():
    """Whether NVIDIA's compute-sanitizer runs this process. It waits for all work at each launch."""
    maps = Path("/proc/self/maps").read_text()
    return "libsanitizer" in maps or "InterceptorInjection" in maps


def numbers(dtype=np.float32):
    return (np.random.default_rng(1).permutation(SIZE) % 251 + 1).astype(dtype)


def set_item(x, key, value):
    x = x.copy()
    x[key] = value
    return x


def distinct(x):
    """Indices made from x, without repetition."""
    return x.astype(np.int64) * len(x) + gpuarray.arange(len(x), dtype=np.int64)


def in_place(x):
    y = x.copy()
    y += x
    y *= 2
    return y


twice = ElementwiseKernel("float *z, const float *x", "z[i] = 2 * x[i]", "twice")
total = ReductionKernel(
    np.float32, "0", "a + b", "x[i]", "const float *x", name="total"
)


@pycuda.fuse
def fused(x, y):
    return x * 2 + y


@pycuda.fuse
def fused_sum(x):
    return (x * 2).sum()


def elementwise(x):
    z = gpuarray.empty_like(x)
    twice(z, x)
    return z


OPERATIONS = {
    "add": lambda x: x + 1,
    "two arrays": lambda x: x * x - x,
    "in place": in_place,
    "compare": lambda x: x > 100,
    "power": lambda x: x**2,
    "divmod": lambda x: divmod(x, 7)[1],
    "ufunc": lambda x: np.hypot(x, 3),
    "cumath": cumath.sqrt,
    "cumath.modf": lambda x: cumath.modf(x / 3)[0],
    "strided": lambda x: x[::2] + x[1::2],
    "slice": lambda x: x[10:-10:3].copy(),
    "astype": lambda x: x.astype(np.int64),
    "copy": lambda x: x.copy(),
    "reverse": lambda x: x.reverse(),
    "fill": lambda x: gpuarray.empty_like(x).fill(x[3]),
    "set item": lambda x: set_item(x, slice(0, 100), x[100:200]),
    "set indices": lambda x: set_item(x, distinct(x[:20]), x[20:40]),
    "set mask": lambda x: set_item(x, x > 50, -1),
    "indices": lambda x: x[(x[:100] * 2).astype(np.int64)],
    "mask": lambda x: x[x > 100],
    "take": lambda x: gpuarray.take(x, x[:100].astype(np.int32)),
    "nonzero": lambda x: (x > 200).nonzero()[0],
    "where": lambda x: gpuarray.where(x > 100, x, -x),
    "if_positive": lambda x: gpuarray.if_positive(x - 100, x, -x),
    "clip": lambda x: gpuarray.clip(x, 10, 100),
    "sum": lambda x: x.sum(),
    "sum over an axis": lambda x: x.reshape(60, 100).sum(axis=0),
    "gpuarray.sum": lambda x: gpuarray.sum(x),
    "mean": lambda x: x.mean(),
    "var": lambda x: x.var(),
    "argmax": lambda x: x.argmax(),
    "any": lambda x: (x > 250).any(),
    "dot": lambda x: gpuarray.dot(x, x),
    "subset_sum": lambda x: gpuarray.subset_sum(x[:50].astype(np.int32), x),
    "cumsum": lambda x: x.cumsum(),
    "cumsum with out": lambda x: np.cumsum(x, out=gpuarray.empty_like(x)),
    "cumprod": lambda x: (x / 125).cumprod(),
    "sort": lambda x: gpuarray.sort(x),
    "argsort": lambda x: gpuarray.argsort(x),
    "sort in place": lambda x: (y := x.copy(), y.sort())[0],
    "topk": lambda x: gpuarray.topk(x, 5)[0],
    "partition": lambda x: gpuarray.partition(x, 3)[:4].sum(),
    "searchsorted": lambda x: gpuarray.searchsorted(gpuarray.sort(x), x),
    "unique": lambda x: gpuarray.unique(x),
    "median": lambda x: np.median(x),
    "histogram": lambda x: gpuarray.histogram(x, 10)[0],
    "bincount": lambda x: gpuarray.bincount(x.astype(np.int64)),
    "concatenate": lambda x: gpuarray.concatenate([x, x[:5]]),
    "stack": lambda x: gpuarray.stack([x, x]),
    "roll": lambda x: gpuarray.roll(x, 3),
    "pad": lambda x: gpuarray.pad(x, 3),
    "diff": lambda x: gpuarray.diff(x),
    "matmul": lambda x: x.reshape(60, 100) @ x.reshape(100, 60),
    "matrix and vector": lambda x: x.reshape(60, 100) @ x[:100],
    "einsum": lambda x: gpuarray.einsum("ij,ij->i", *[x.reshape(60, 100)] * 2),
    "fft": lambda x: fft.fft(x[:1024]),
    "fuse": lambda x: fused(x, x),
    "fuse and reduce": fused_sum,
    "ElementwiseKernel": elementwise,
    "ReductionKernel": lambda x: total(x),
    "InclusiveScanKernel": lambda x: InclusiveScanKernel(np.float32, "a + b")(x.copy()),
    "put": lambda x: (y := x.copy(), gpuarray.put(y, x[:9].astype(np.int64), x[9:18]))[0],
    "multi_take": lambda x: gpuarray.multi_take([x], x[:100].astype(np.int32))[0],
    "transpose": lambda x: x.reshape(60, 100).T.copy(),
    "tolist": lambda x: (x[:5] + 1).tolist(),
    "item": lambda x: (x[7] + 1).item(),
    "repr": repr,
}  # fmt: skip


def host(result):
    return result.get() if isinstance(result, gpuarray.GPUArray) else result


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_uses_the_current_stream(stream, name):
    operation = OPERATIONS[name]
    data = numbers()
    expected = host(operation(gpuarray.to_gpu(data)))
    x = gpuarray.zeros(SIZE, np.float32) + 1
    later = gpuarray.to_gpu(data)
    cuda.Context.synchronize()
    delay(stream)
    cuda.memcpy_dtod_async(x.gpudata, later.gpudata, x.nbytes, stream)
    with stream:
        result = host(operation(x))
    if isinstance(expected, str):
        assert result == expected
    else:
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_follows_another_of_the_stream(stream, name):
    operation = OPERATIONS[name]
    data = numbers()
    expected = host(operation(gpuarray.to_gpu(data)))
    x = gpuarray.to_gpu(data - 1)
    operation(x)
    cuda.Context.synchronize()
    with stream:
        delay(stream)
        result = host(operation(x + 1))
    if isinstance(expected, str):
        assert result == expected
    else:
        np.testing.assert_array_equal(result, expected)


@pytest.mark.skipif(under_sanitizer(), reason="launches wait for all work")
@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_waits_without_the_gil(stream, name):
    """The stream waits for a host function, which needs the GIL that the waiting thread has."""
    operation = OPERATIONS[name]
    x = gpuarray.to_gpu(numbers())
    operation(x)
    context = cuda.Context.get_current()
    finished = threading.Event()

    def run():
        with context, stream:
            delay_by_python(stream)
            host(operation(x))
            finished.set()

    threading.Thread(target=run, daemon=True).start()
    assert finished.wait(30)


def test_get_and_set_use_the_current_stream(stream):
    data, x = numbers(), gpuarray.zeros(SIZE, np.float32)
    cuda.Context.synchronize()
    with stream:
        delay(stream)
        x.fill(3)
        assert (x.get() == 3).all()
        delay(stream)
        x.fill(4)
        x.set(data)
        y = x + 0
        assert (y.get() == data).all()
        delay(stream)
        x.fill(5)
        x.set_async(data)
        assert (x.get() == data).all()


def test_random_numbers_use_the_current_stream(stream):
    expected = philox.Generator(1).random(SIZE).get()
    out = gpuarray.zeros(SIZE, np.float32)
    cuda.Context.synchronize()
    with stream:
        delay(stream)
        out.fill(5)
        philox.Generator(1).random(out=out)
        assert (out.get() == expected).all()
        generator = curandom.XORWOWRandomNumberGenerator()
        delay(stream)
        out.fill(5)
        generator.fill_uniform(out)
        assert (out.get() <= 1).all()


# Whether x + 0 comes before or after x.fill(3) does not matter here.
@pytest.mark.cuda_check_allow("race")
def test_a_stream_argument_wins_over_the_current_stream(stream):
    other = cuda.Stream(flags=cuda.stream_flags.NON_BLOCKING)
    x = gpuarray.zeros(SIZE, np.float32)
    cuda.Context.synchronize()
    with stream:
        delay(other)
        x.fill(3, stream=other)
        assert (cumath.sqrt(x + 0, stream=other).get(stream=other) < 2).all()
        y = x.copy(stream=other)
        other.synchronize()
    assert (y.get() == 3).all()


def may_wait_for_all():
    """The check mode mem waits for all work when memory is returned to a pool."""
    return "mem" in pycuda.check.modes_on() or under_sanitizer()


@pytest.mark.skipif(may_wait_for_all(), reason="streams wait for each other")
def test_the_default_stream_continues(stream):
    x = gpuarray.zeros(SIZE, np.float32)
    cuda.Context.synchronize()
    with stream:
        inside = x + 1
        with cuda.Stream() as _:
            pass
    delay(stream)
    assert (x + 2).get()[0] == 2  # does not wait for the stream
    assert not stream.is_done()
    stream.synchronize()
    assert (inside.get() == 1).all()


# Memory


def test_memory_freed_while_another_stream_reads_it(stream):
    data = numbers()
    x = gpuarray.to_gpu(data)
    cuda.Context.synchronize()
    with stream:
        delay(stream)
        y = x + 1
    del x
    others = [gpuarray.zeros(SIZE, np.float32) for _ in range(4)]
    stream.synchronize()
    assert (y.get() == data + 1).all()
    assert not any(other.get().any() for other in others)


def test_memory_of_a_stream_freed_while_the_default_stream_reads_it(stream):
    data = numbers()
    with stream:
        x = gpuarray.to_gpu(data)
    stream.synchronize()
    delay(None)
    y = x + 1
    del x
    with stream:
        others = [gpuarray.zeros(SIZE, np.float32) for _ in range(4)]
    cuda.Context.synchronize()
    assert (y.get() == data + 1).all()
    assert not any(other.get().any() for other in others)


def test_a_new_array_is_first_written_by_another_stream(stream):
    """Work of the default stream may still read its memory."""
    data = numbers()
    x = gpuarray.to_gpu(data)
    y = gpuarray.empty_like(x)
    cuda.Context.synchronize()
    delay(None)
    twice(y, x)
    del x
    new = [gpuarray.empty(SIZE, np.float32) for _ in range(4)]
    with stream:
        for array in new:
            array.fill(9)
    cuda.Context.synchronize()
    assert (y.get() == 2 * data).all()
    assert all((array.get() == 9).all() for array in new)


LAUNCHES = """
import numpy as np
import pycuda.autoinit, pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule
add = SourceModule("__global__ void add(float *x, float *y) { x[threadIdx.x] += y[threadIdx.x]; }").get_function("add")
x = gpuarray.zeros(64, np.float32)
y = gpuarray.zeros(64, np.float32) + 1
streams = [cuda.Stream(), cuda.Stream()]
for stream in streams:
    for _ in range(50):
        add(x, y, block=(64, 1, 1), stream=stream)
    stream.synchronize()
assert (x.get() == 100).all()
"""


def test_a_loop_of_launches_records_one_event_again(run_program):
    result = run_program(LAUNCHES, PYCUDA_TRACE="1")
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("cuEventRecord(") >= 100
    assert result.stderr.count("cuEventCreate(") <= 6


def test_threads_record_the_uses_of_one_array(stream):
    """The memory serves another array after the work of all threads, whichever recorded its event last."""
    errors = []

    def work(x, y):
        try:
            for _ in range(20):
                with stream:
                    x += y
        except BaseException as error:
            errors.append(error)

    for _ in range(3):
        x, y = gpuarray.zeros(SIZE, np.float32), gpuarray.zeros(SIZE, np.float32) + 1
        delay(stream)
        threads = [threading.Thread(target=work, args=(x, y)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors
        x.gpudata.free()
        new = [gpuarray.zeros(SIZE, np.float32) for _ in range(4)]
        stream.synchronize()
        assert all((array.get() == 0).all() for array in new)
        del x, y, new, threads


def test_an_event_is_not_recorded_again_in_a_later_stream(device):
    """A new stream may have the handle of a stream that was closed and still works."""
    for _ in range(4):
        x = gpuarray.to_gpu(numbers())
        first = cuda.Stream(flags=cuda.stream_flags.NON_BLOCKING)
        delay(first)
        x.fill(3, stream=first)
        first.close()
        second = cuda.Stream(flags=cuda.stream_flags.NON_BLOCKING)
        with second:
            y = x[:10].copy()
        second.synchronize()
        x.gpudata.free()
        z = gpuarray.zeros(SIZE, np.float32)
        time.sleep(2 * DELAY)
        assert (z.get() == 0).all()
        del x, y


def test_memory_of_a_stream_that_was_closed(device):
    data = numbers()
    for _ in range(3):
        stream = cuda.Stream(flags=cuda.stream_flags.NON_BLOCKING)
        with stream:
            x = gpuarray.to_gpu(data)
            delay(stream)
            temporary = x + 1
            y = temporary + 1
            del temporary
        stream.close()
        others = [gpuarray.zeros(SIZE, np.float32) for _ in range(4)]
        cuda.Context.synchronize()
        assert (y.get() == data + 2).all()
        assert not any(other.get().any() for other in others)
        del x, y
        gc.collect()


def check_that_streams_do_not_wait(stream, second):
    """Arrays are created and freed in one stream while another one is busy."""
    x = gpuarray.zeros(SIZE, np.float32)
    cuda.Context.synchronize()
    gate = threading.Event()
    for one in (stream, second):
        with one:
            assert (((x + 1) * 2) - 1).get()[0] == 1
    try:
        cuda.launch_host_func(lambda: gate.wait(30), stream)
        with stream:
            busy = ((x + 1) * 2) - 1
            del busy
        with second:
            for _ in range(5):
                assert ((x + 1) * 2).get()[0] == 2
        assert not stream.is_done()
    finally:
        gate.set()


@pytest.mark.skipif(may_wait_for_all(), reason="streams wait for each other")
def test_streams_do_not_wait_for_each_other(stream):
    second = cuda.Stream(flags=cuda.stream_flags.NON_BLOCKING)
    check_that_streams_do_not_wait(stream, second)


@pytest.mark.skipif(may_wait_for_all(), reason="streams wait for each other")
def test_streams_of_a_context_that_was_retained_twice_do_not_wait(device):
    """The streams belong to the second owner of the context, the arrays to the first."""
    gpuarray.zeros(SIZE, np.float32)
    again = device.retain_primary_context()
    streams = [cuda.Stream(flags=cuda.stream_flags.NON_BLOCKING) for _ in range(2)]
    check_that_streams_do_not_wait(*streams)
    cuda.Context.synchronize()
    del streams, again


def test_a_stream_of_other_code(stream):
    """Nothing reports the end of such a stream, so its arrays' memory belongs to the default stream."""
    foreign = cuda.Stream.from_handle(stream.handle)
    data = numbers()
    with foreign:
        x = gpuarray.to_gpu(data)
        delay(foreign)
        y = x + 1
        del x
        z = y * 2
    others = [gpuarray.zeros(SIZE, np.float32) for _ in range(4)]
    foreign.synchronize()
    cuda.Context.synchronize()
    assert (z.get() == 2 * (data + 1)).all()
    assert not any(other.get().any() for other in others)


def test_an_allocator_of_the_user_is_safe_across_streams(stream):
    from pycuda.tools import DeviceMemoryPool

    pool, data = DeviceMemoryPool(), numbers()
    x = gpuarray.to_gpu(data, allocator=pool.allocate)
    cuda.Context.synchronize()
    with stream:
        delay(stream)
        y = x + 1
    del x
    others = [gpuarray.zeros(SIZE, np.float32, pool.allocate) for _ in range(4)]
    stream.synchronize()
    assert (y.get() == data + 1).all()
    assert not any(other.get().any() for other in others)


def test_interface_names_the_stream(stream):
    x = gpuarray.zeros(4, np.float32)
    delay(None)
    assert x.__cuda_array_interface__["stream"] == 1
    cuda.Context.synchronize()
    assert x.__cuda_array_interface__["stream"] is None  # no wait is needed
    with stream:
        assert x.__cuda_array_interface__["stream"] == stream.handle


@pytest.mark.parametrize("n", [483, 490, 507, 1014, 1025, 4103])
def test_the_first_transform_of_a_length_while_the_default_stream_is_busy(stream, n):
    """cuFFT copies the tables of a new plan in the default stream, for which this stream does not wait."""
    x = np.random.default_rng(2).random(n) + 1j
    with stream:
        on_device = gpuarray.to_gpu(x)
    delay(None)
    with stream:
        found = fft.fft(on_device).get()
    np.testing.assert_allclose(found, np.fft.fft(x), rtol=1e-9, atol=1e-9)
