"""The repr of objects: kind, size, and whether they are freed."""

import re

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda.tools import DeviceMemoryPool, PageLockedMemoryPool

SIZE = 1 << 21


def descriptor():
    made = cuda.ArrayDescriptor()
    made.width, made.height, made.num_channels = 4, 3, 1
    made.format = cuda.array_format.FLOAT
    return made


def descriptor_3d():
    made = cuda.ArrayDescriptor3D()
    made.width, made.height, made.depth, made.num_channels = 4, 3, 2, 2
    made.format = cuda.array_format.UNSIGNED_INT8
    return made


def freed(memory):
    memory.free()
    return memory


PRINTED = [
    (descriptor, "ArrayDescriptor 4 x 3, 1 channels of FLOAT"),
    (descriptor_3d, "ArrayDescriptor3D 4 x 3 x 2, 2 channels of UNSIGNED_INT8"),
    (lambda: cuda.Array(descriptor()), "Array 4 x 3.*, 1 channels of FLOAT"),
    (lambda: cuda.MipmappedArray(descriptor_3d(), 2), "MipmappedArray of 2 levels"),
    (
        lambda: cuda.DriverMemoryPool(cuda.Device(0)),
        r"DriverMemoryPool with \d+ of \d+ ",
    ),
    (
        lambda: cuda.PhysicalMemory(SIZE, cuda.Device(0)),
        "PhysicalMemory of 2097152 bytes",
    ),
    (lambda: cuda.VirtualMemory(SIZE), "VirtualMemory of 2097152 bytes"),
    (lambda: cuda.mem_alloc(100), "DeviceAllocation of 100 bytes at 0x"),
    (lambda: freed(cuda.mem_alloc(100)), "DeviceAllocation, freed"),
    (lambda: DeviceMemoryPool().allocate(8), "PooledDeviceAllocation of 8 bytes"),
    (
        lambda: PageLockedMemoryPool().allocate((2,), np.float64).base,
        "PooledHostAllocation of 16 bytes",
    ),
    (
        lambda: freed(PageLockedMemoryPool().allocate((2,), np.int8).base),
        "PooledHostAllocation, freed",
    ),
    (
        lambda: cuda.get_sm_resource(cuda.Device(0)),
        r"SmResource of \d+ multiprocessors",
    ),
    (lambda: cuda.Context.get_current(), "Context 0x"),
    (lambda: cuda.Device(0), "Device 0: "),
    (lambda: cuda.PagelockedHostAllocation(8), "PagelockedHostAllocation of 8 bytes"),
    (
        lambda: freed(cuda.PagelockedHostAllocation(8)),
        "PagelockedHostAllocation, freed",
    ),
    (lambda: freed(cuda.AlignedHostAllocation(8)), "AlignedHostAllocation, freed"),
    (cuda.Graph, "Graph of 0 nodes"),
    (cuda.Stream, "Stream 0x"),
    (cuda.Event, "Event 0x"),
]


@pytest.mark.parametrize("make, printed", PRINTED)
def test_reprs(able, make, printed):
    made = able("such objects", make)
    assert re.match(f"<pycuda.driver.{printed}.*>$", repr(made)), repr(made)
