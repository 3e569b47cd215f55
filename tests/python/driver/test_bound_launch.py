"""Function.bind(): a launch whose arguments are packed once."""

import gc
import time
import weakref

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule


@pytest.fixture(scope="module")
def add(primary_context):
    with primary_context:
        return SourceModule(
            "__global__ void add(int *out, int by) { out[threadIdx.x] += by; }"
        ).get_function("add")


def test_runs_as_often_as_called(device, add):
    out = cuda.to_device(np.arange(4, dtype=np.int32))
    step = add.bind(out, np.int32(10), block=(4, 1, 1))
    for _ in range(3):
        assert step() is None
    assert cuda.from_device(out, 4, np.int32).tolist() == [30, 31, 32, 33]


def test_shows_its_contents(device, add):
    out = cuda.mem_alloc(16)
    stream = cuda.Stream()
    step = add.bind(out, 1, block=(4, 2), grid=3, stream=stream, shared=64)
    assert (step.block, step.grid, step.shared) == ((4, 2, 1), (3, 1, 1), 64)
    assert step.function is add
    assert step.arguments == (out, 1)
    assert step.stream is stream
    assert "BoundLaunch add, grid=(3, 1, 1), block=(4, 2, 1)" in repr(step)


def test_another_stream_for_one_call(device, add):
    stream = cuda.Stream(flags=cuda.stream_flags.NON_BLOCKING)
    out = cuda.to_device(np.zeros(4, np.int32))
    add.bind(out, 5, block=(4, 1, 1))(stream=stream)
    stream.synchronize()
    assert cuda.from_device(out, 4, np.int32).tolist() == [5] * 4


def test_the_arguments_stay_alive(device, add):
    class Memory(cuda.PointerHolderBase):
        def __init__(self, memory):
            super().__init__()
            self.memory = memory
            self.gpudata = memory

        def get_pointer(self):
            return int(self.memory)

    memory = Memory(cuda.to_device(np.zeros(4, np.int32)))
    gone = weakref.ref(memory)
    step = add.bind(memory, 1, block=(4, 1, 1))
    address = int(memory)
    del memory
    gc.collect()
    assert gone() is not None
    step()
    assert cuda.from_device(address, 4, np.int32).tolist() == [1] * 4
    del step
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(
    "allocate", [cuda.mem_alloc, lambda n: cuda.DeviceMemoryPool().allocate(n)]
)
def test_notices_freed_memory(device, add, allocate):
    memory = allocate(16)
    step = add.bind(memory, 1, block=(4, 1, 1))
    memory.free()
    with pytest.raises(cuda.LogicError, match="16 bytes"):
        step()


def test_invalid_bind_arguments_are_an_error(device, add):
    host = np.zeros(4, np.int32)
    with pytest.raises(TypeError, match="bind.. does not accept In, Out or InOut"):
        add.bind(cuda.InOut(host), 1, block=(4, 1, 1))
    with pytest.raises(ValueError, match="must specify block size"):
        add.bind(cuda.mem_alloc(16), 1)
    with pytest.raises(cuda.ArgumentError, match="takes 2 arguments"):
        add.bind(cuda.mem_alloc(16), block=(4, 1, 1))
    step = add.bind(cuda.mem_alloc(16), 1, block=(4, 1, 1))
    with pytest.raises(TypeError, match="takes no arguments"):
        step(1)
    with pytest.raises(TypeError, match="stream only, not grid"):
        step(grid=(2, 1))


def test_freed_arrays_are_an_error(device, add):
    array = gpuarray.zeros(8, np.int32)
    step = add.bind(array, 1, block=(8, 1, 1))
    step()
    array.gpudata.free()
    with pytest.raises(cuda.LogicError, match="has been freed"):
        step()


def test_the_use_of_arrays_is_recorded(device, add):
    """The memory of an array is not reused while the launch may still run."""
    stream = cuda.Stream(flags=cuda.stream_flags.NON_BLOCKING)
    size = 1 << 16
    array = gpuarray.zeros(size, np.int32)
    step = add.bind(array, 1, block=(8, 1, 1))
    cuda.Context.synchronize()
    cuda.launch_host_func(lambda: time.sleep(0.1), stream)
    step(stream=stream)
    del step, array
    gc.collect()
    others = [gpuarray.zeros(size, np.int32) for _ in range(3)]
    stream.synchronize()
    cuda.Context.synchronize()
    assert not any(other.get().any() for other in others)


def test_without_a_stream_the_current_one_is_used(device, add):
    stream = cuda.Stream(flags=cuda.stream_flags.NON_BLOCKING)
    array = gpuarray.zeros(8, np.int32)
    step = add.bind(array, 1, block=(8, 1, 1))
    cuda.Context.synchronize()
    with stream:
        cuda.launch_host_func(lambda: time.sleep(0.1), stream)
        array.fill(5)
        step()
        assert (array.get() == 6).all()
