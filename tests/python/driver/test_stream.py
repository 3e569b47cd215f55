"""Streams and events."""

import time

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule


def test_stream(device):
    stream = cuda.Stream()
    assert stream.handle != 0
    stream.synchronize()
    assert stream.is_done() is True
    assert stream.__cuda_stream__() == (0, stream.handle)


def test_priority_and_flags(device):
    stream = cuda.Stream(flags=cuda.stream_flags.NON_BLOCKING, priority=0)
    assert stream.flags == cuda.stream_flags.NON_BLOCKING
    assert isinstance(stream.priority, int)


def test_streams_wait_for_events(device):
    first, second = cuda.Stream(), cuda.Stream()
    memory = cuda.mem_alloc(4096)
    cuda.memset_d8_async(memory, 1, 4096, first)
    done = cuda.Event().record(first)
    second.wait_for_event(done)
    cuda.memset_d8_async(memory, 2, 2048, second)
    second.synchronize()
    result = cuda.from_device(memory, 4096, np.uint8)
    assert (result[:2048] == 2).all() and (result[2048:] == 1).all()


def test_event_methods_return_the_event(device):
    event = cuda.Event()
    assert event.record() is event
    assert event.synchronize() is event
    assert event.query() is True


def test_event_times(device):
    start, end = cuda.Event().record(), cuda.Event()
    end.record().synchronize()
    assert end.time_since(start) >= 0
    assert start.time_till(end) == end.time_since(start)


def test_time_of_an_event_without_timing_is_an_error(device):
    start = cuda.Event(cuda.event_flags.DISABLE_TIMING).record()
    end = cuda.Event(cuda.event_flags.DISABLE_TIMING).record().synchronize()
    with pytest.raises(cuda.LogicError):
        end.time_since(start)


def test_a_wrong_stream_is_a_type_error(device):
    memory = cuda.mem_alloc(16)
    with pytest.raises(
        TypeError, match="stream must be a pycuda.driver.Stream or None"
    ):
        cuda.memset_d8_async(memory, 0, 16, "stream")


def test_closed_streams_and_events_are_an_error(device):
    """And they do not mean the default stream, which has no handle either."""
    stream, memory, event = cuda.Stream(), cuda.mem_alloc(64), cuda.Event()
    stream.close()
    assert repr(stream) == "<pycuda.driver.Stream, closed>"
    for use in (
        stream.synchronize,
        stream.is_done,
        stream.__cuda_stream__,
        lambda: stream.handle,
        lambda: stream.priority,
        lambda: stream.wait_for_event(event),
        lambda: event.record(stream),
        lambda: cuda.memset_d8_async(memory, 0, 64, stream),
        lambda: cuda.memcpy_htod_async(memory, np.zeros(4), stream),
    ):
        with pytest.raises(cuda.LogicError, match="the stream was closed"):
            use()
    event.close()
    assert repr(event) == "<pycuda.driver.Event, closed>"
    for use in (event.query, event.record, event.synchronize, event.ipc_handle):
        with pytest.raises(cuda.LogicError, match="the event was closed"):
            use()

    default = cuda.Stream.from_handle(0)
    assert default.handle == 0 and "closed" not in repr(default)
    event = cuda.Event().record(default)
    default.synchronize()
    assert event.query()


@pytest.mark.parametrize("flags", [0, cuda.stream_flags.NON_BLOCKING])
@pytest.mark.parametrize(
    "end", [cuda.Stream.close, lambda stream: None], ids=["closed", "dropped"]
)
def test_the_context_waits_for_the_work_of_a_stream_that_ended(device, flags, end):
    done = []
    stream = cuda.Stream(flags)
    cuda.launch_host_func(lambda: (time.sleep(0.1), done.append(True)), stream)
    end(stream)
    del stream
    cuda.Context.synchronize()
    assert done


def test_events_that_are_not_over(device):
    kernel = SourceModule("""
        __global__ void turn(volatile int *x, long long n) { for (long long i = 0; i < n; ++i) *x = i; }
    """).get_function("turn")
    begin, end = cuda.Event(), cuda.Event()
    begin.record()
    kernel(gpuarray.zeros(1, np.int32), np.int64(100_000_000), block=(1, 1, 1))
    end.record()
    with pytest.raises(
        cuda.RuntimeError,
        match=r"not done; call synchronize\(\) of the later event first",
    ):
        begin.time_till(end)
    assert end.synchronize().time_since(begin) > 0
