"""Address ranges with mapped memory; parts of a device's multiprocessors."""

import gc
import os

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

FILL = "__global__ void fill(float *a, float x) { a[blockIdx.x * blockDim.x + threadIdx.x] = x; }"


@pytest.fixture
def page(device, able):
    return able("virtual memory", lambda: cuda.mem_get_allocation_granularity(device))


def test_granularity(device, page):
    assert page > 0 and page & (page - 1) == 0
    recommended = cuda.mem_get_allocation_granularity(device, recommended=True)
    assert recommended % page == 0


def test_array_that_grows_without_moving(device, page):
    fill = SourceModule(FILL).get_function("fill")
    per_page = page // 4
    with cuda.VirtualMemory(4 * page) as range_:
        assert range_.size == 4 * page
        for step in range(2):
            range_.map(cuda.PhysicalMemory(page, device), step * page)
            range_.set_access(device)
            fill(
                range_,
                np.float32(step + 1),
                block=(256, 1, 1),
                grid=((step + 1) * per_page // 256, 1),
            )
        assert (cuda.from_device(range_, 2 * per_page, np.float32) == 2).all()
        assert range_.get_access(device, page) == cuda.mem_access.READ_WRITE
        cuda.memset_d8(int(range_) + page, 0, page)
        ends = cuda.from_device(range_, 2 * per_page, np.float32)[[0, -1]]
        assert ends.tolist() == [2, 0]
        cuda.Context.synchronize()


def test_the_same_memory_at_two_addresses(device, page):
    memory = cuda.PhysicalMemory(page, device)
    assert (memory.size, memory.device) == (page, device)
    ranges = [cuda.VirtualMemory(page) for _ in range(2)]
    for range_ in ranges:
        range_.map(memory)
        range_.set_access(device)
    del memory
    gc.collect()  # mapped memory still exists
    cuda.memcpy_htod(ranges[0], np.arange(4, dtype=np.int32))
    assert cuda.from_device(ranges[1], 4, np.int32).tolist() == [0, 1, 2, 3]
    ranges[0].unmap()
    assert cuda.from_device(ranges[1], 4, np.int32).tolist() == [0, 1, 2, 3]
    for range_ in ranges:
        range_.close()
        range_.close()  # a second time does nothing


def test_memory_by_file_descriptor(device, page, able):
    memory = able(
        "memory to be shared", lambda: cuda.PhysicalMemory(page, device, shareable=True)
    )
    descriptor = memory.export_fd()
    again = cuda.PhysicalMemory.import_fd(descriptor, page)
    os.close(descriptor)
    first, second = cuda.VirtualMemory(page), cuda.VirtualMemory(page)
    first.map(memory)
    second.map(again)
    for range_ in (first, second):
        range_.set_access(device)
    cuda.memcpy_htod(first, np.array([42], np.int32))
    assert cuda.from_device(second, 1, np.int32)[0] == 42


def test_errors_of_ranges(device, page):
    with pytest.raises(cuda.LogicError, match="multiples of"):
        cuda.PhysicalMemory(page + 1, device)
    range_ = cuda.VirtualMemory(page)
    with pytest.raises(cuda.LogicError, match="do not fit into a range"):
        range_.map(cuda.PhysicalMemory(page, device), 1)
    with pytest.raises(cuda.LogicError, match="nothing was mapped at offset 0"):
        range_.unmap()
    with pytest.raises(cuda.LogicError, match="nothing was mapped at offset 7"):
        range_.set_access(device, offset=7)
    range_.close()
    with pytest.raises(cuda.LogicError, match="was closed"):
        int(range_)


def test_virtual_memory_of_a_driver_without_it_is_named(device):
    try:
        cuda.mem_get_allocation_granularity(device)
    except cuda.Error as error:
        assert error.name in (
            "CUDA_ERROR_NOT_SUPPORTED",
            "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER",
        )
        assert "cuMemGetAllocationGranularity" in str(error)


# Green contexts


@pytest.fixture
def multiprocessors(device, able):
    return able("green contexts", lambda: cuda.get_sm_resource(device))


def test_multiprocessors_are_split(device, multiprocessors):
    assert multiprocessors.count == device.multiprocessor_count
    groups, remaining = multiprocessors.split(1, 1)
    assert len(groups) == 1 and groups[0].count >= 1
    assert groups[0].count + remaining.count == multiprocessors.count
    assert len(multiprocessors.split(1)[0]) >= 1
    with pytest.raises(ValueError, match="at least 1"):
        multiprocessors.split(0)
    with pytest.raises(cuda.Error, match="groups of 100000"):
        multiprocessors.split(100_000, 1)
    with pytest.raises(TypeError, match="Device or a Context"):
        cuda.get_sm_resource(3)


def test_kernels_in_a_green_context(device, multiprocessors):
    (some,), _ = multiprocessors.split(1, 1)
    green = cuda.GreenContext(device, some)
    assert green.resource.count == some.count
    stream = green.create_stream()
    with green.context:
        assert cuda.get_sm_resource(cuda.Context.get_current()).count == some.count
        memory = cuda.mem_alloc(1024)
        fill = SourceModule(FILL).get_function("fill")
        fill(memory, np.float32(3), block=(256, 1, 1), stream=stream)
        stream.synchronize()
        assert (cuda.from_device(memory, 256, np.float32) == 3).all()
        del fill, memory
        gc.collect()
    del green
    gc.collect()
    assert stream.is_done()  # it keeps its context alive
