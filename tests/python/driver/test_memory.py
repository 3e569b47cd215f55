"""Device memory, copies, fills, pools."""

import gc
import weakref

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.tools import DeviceMemoryPool, PageLockedMemoryPool, bitlog2


def test_copy_there_and_back(device):
    a = np.arange(1000, dtype=np.float64)
    a_gpu = cuda.mem_alloc(a.nbytes)
    assert a_gpu.size == a.nbytes
    cuda.memcpy_htod(a_gpu, a)
    result = np.empty_like(a)
    cuda.memcpy_dtoh(result, a_gpu)
    assert (result == a).all()


@pytest.mark.parametrize("source", [b"abcdefgh", bytearray(8), memoryview(b"12345678")])
def test_any_buffer_can_be_copied(device, source):
    result = bytearray(8)
    cuda.memcpy_dtoh(result, cuda.to_device(source))
    assert result == bytes(source)


def test_fortran_order_is_contiguous_too(device):
    a = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    there = cuda.mem_alloc(a.nbytes)
    cuda.memcpy_htod(there, a)
    back = cuda.from_device(there, a.shape, a.dtype, order="F")
    assert (back == a).all()
    assert (cuda.from_device_like(there, a) == a).all()


def test_kinds_of_device_pointers(device):
    a = np.arange(4, dtype=np.int32)
    memory = cuda.to_device(a)

    class Holder(cuda.PointerHolderBase):
        def get_pointer(self):
            return int(memory)

    class Foreign:
        gpudata = memory

    class Interface:
        __cuda_array_interface__ = {"data": (int(memory), False), "typestr": "<i4"}

    pointers = [int(memory), np.uint64(int(memory)), np.intp(int(memory)), Holder()]
    for pointer in [*pointers, Foreign(), Interface()]:
        assert (cuda.from_device(pointer, 4, np.int32) == a).all()
    assert int(Holder()) == Holder().__index__() == int(memory)

    one = gpuarray.to_gpu(np.array([7], np.int64))  # an index, but its address is meant
    for array in (gpuarray.to_gpu(a), gpuarray.to_gpu(a)[1:], one):
        back = cuda.from_device(array, array.size, array.dtype)
        assert (back == array.get()).all()
        cuda.memset_d8(array, 0, array.nbytes)
        assert not array.get().any()


def test_copy_on_the_device(device):
    a = np.arange(16, dtype=np.uint8)
    source, dest = cuda.to_device(a), cuda.mem_alloc(16)
    cuda.memcpy_dtod(dest, source, 16)
    cuda.memcpy_dtod_async(dest, source, 16, cuda.Stream())
    cuda.memcpy_peer(dest, source, 16)
    cuda.memcpy_peer(dest, source, 16, dest_context=cuda.Context.get_current())
    cuda.Context.synchronize()
    assert (cuda.from_device(dest, 16, np.uint8) == a).all()


def test_async_copies_keep_the_host_array_alive(device):
    stream = cuda.Stream()
    memory = cuda.mem_alloc(1 << 20)
    a = np.arange(1 << 18, dtype=np.int32)
    alive = weakref.ref(a)
    cuda.memcpy_htod_async(memory, a, stream)
    del a
    result = np.empty(1 << 18, np.int32)
    cuda.memcpy_dtoh_async(result, memory, stream)
    stream.synchronize()
    assert (result == np.arange(1 << 18)).all()
    gc.collect()
    assert alive() is None  # and is then freed


@pytest.mark.parametrize("bits, dtype", [(8, "u1"), (16, "u2"), (32, "u4")])
def test_memset(device, bits, dtype):
    memory = cuda.mem_alloc(64)
    count = 512 // bits
    getattr(cuda, f"memset_d{bits}")(memory, 0x55, count)
    assert (cuda.from_device(memory, count, dtype) == 0x55).all()
    stream = cuda.Stream()
    getattr(cuda, f"memset_d{bits}_async")(memory, -1, count, stream)
    stream.synchronize()
    assert (cuda.from_device(memory, count, dtype) == 2**bits - 1).all()


def test_memset_of_rows(device):
    memory, pitch = cuda.mem_alloc_pitch(10, 3, 4)
    assert pitch >= 10
    cuda.memset_d8(memory, 0, pitch * 3)
    cuda.memset_d2d8(memory, pitch, 9, 10, 3)
    rows = cuda.from_device(memory, (3, pitch), np.uint8)
    assert (rows[:, :10] == 9).all() and (rows[:, 10:] == 0).all()


def test_memset_with_a_value_that_does_not_fit_is_an_error(device):
    with pytest.raises(ValueError, match="300, which does not fit into 8 bits"):
        cuda.memset_d8(cuda.mem_alloc(4), 300, 4)


def test_address_range(device):
    memory = cuda.mem_alloc(1000)
    assert cuda.mem_get_address_range(int(memory) + 10) == (int(memory), 1000)


def test_freeing_twice_is_an_error(device):
    memory = cuda.mem_alloc(16)
    memory.free()
    with pytest.raises(cuda.LogicError, match="16 bytes.* was freed before"):
        memory.free()


def test_out_of_memory_collects_garbage_first(device):
    class Hoarder:
        def __init__(self):
            self.me = self  # only the garbage collector can free it
            self.memory = cuda.mem_alloc(total // 2 + (total // 16))

    gc.collect()
    total = cuda.mem_get_info()[0]
    gc.disable()
    try:
        Hoarder()
        Hoarder()
    finally:
        gc.enable()
        gc.collect()


def test_pool_reuses_blocks(device):
    pool = DeviceMemoryPool()
    block = pool.allocate(100)
    assert len(block) == 100 and int(block) != 0 and bool(block)
    assert (pool.active_blocks, pool.active_bytes, pool.managed_bytes) == (1, 100, 103)
    address = int(block)
    block.free()
    assert pool.held_blocks == 1
    again = pool.allocate(101)
    assert int(again) == address
    with pytest.raises(cuda.LogicError):
        block.free()
    del again
    pool.free_held()
    assert (pool.held_blocks, pool.managed_bytes) == (0, 0)
    pool.stop_holding()
    pool.allocate(10).free()
    assert pool.held_blocks == 0


def test_pool_bins():
    sizes = [1, 17, 100, 1000, 123456789]
    for size in sizes:
        block = DeviceMemoryPool.alloc_size(DeviceMemoryPool.bin_number(size))
        assert size <= block < size * (1 + 1 / 16) + 1
    assert DeviceMemoryPool.alloc_size(DeviceMemoryPool.bin_number(100)) == 103
    assert [bitlog2(n) for n in (0, 1, 2, 3, 1024)] == [0, 0, 1, 1, 10]


def test_blocks_exist_longer_than_their_pool(device):
    pool = DeviceMemoryPool()
    block = pool.allocate(64)
    del pool
    cuda.memset_d8(block, 1, 64)
    assert (cuda.from_device(block, 64, np.uint8) == 1).all()


def test_page_locked_pool(device):
    pool = PageLockedMemoryPool()
    array = pool.allocate((3, 4), np.float32)
    array[:] = 1
    assert array.shape == (3, 4) and pool.active_blocks == 1
    assert isinstance(array.base, cuda.PooledHostAllocation)
    del array
    gc.collect()
    assert pool.held_blocks == 1


def test_to_device_has_c_order(device):
    for a in (np.arange(10)[::2], np.arange(6).reshape(2, 3).T, np.arange(4)[::-1]):
        there = cuda.to_device(a)
        assert there.size == a.nbytes
        assert (cuda.from_device(there, a.shape, a.dtype) == a).all()


def test_buffers_stay_within_the_allocation(device):
    memory = cuda.mem_alloc(64)
    assert memory.as_buffer(60, 4).nbytes == 60
    for size, offset in ((65, 0), (60, 5), (0, 65), (1, 2**63)):
        with pytest.raises(ValueError, match="does not fit into the 64 bytes"):
            memory.as_buffer(size, offset)


def test_a_buffer_keeps_its_memory(device):
    class Holder(cuda.PointerHolderBase):
        def __init__(self):
            super().__init__()
            self.memory = cuda.mem_alloc(1 << 16)

        def get_pointer(self):
            return int(self.memory)

    for make in (
        lambda: cuda.mem_alloc(1 << 16),
        lambda: gpuarray.zeros(1 << 14, np.float32).gpudata,
        lambda: cuda.ManagedAllocation(1 << 16),
        Holder,
    ):
        memory = make()
        view = memory.as_buffer(1 << 15, 1 << 15)
        address = int(memory)
        cuda.memset_d8(memory, 3, 1 << 16)
        cuda.Context.synchronize()
        del memory
        again = make()  # of the same size: at the address if it was free
        assert int(again) != address
        assert not view.readonly and view.nbytes == 1 << 15
        if is_softcuda():
            assert (np.frombuffer(view, np.uint8) == 3).all()


def test_pools_report_their_memory(device):
    pool = DeviceMemoryPool()
    block, other = pool.allocate(100), pool.allocate(8)
    other.free()
    assert repr(pool) == (
        "<pycuda.driver.DeviceMemoryPool with 1 blocks in use and 1 held, 111 bytes>"
    )
    assert len(block) == 100


def test_arrays_of_python_objects_are_an_error(device):
    """Values that a kernel leaves in them would be used as addresses."""
    objects = np.array([1, "a"], object)
    record = np.zeros(2, [("n", "i4"), ("o", object)])
    memory = cuda.mem_alloc(64)
    for use in (
        lambda: cuda.memcpy_htod(memory, objects),
        lambda: cuda.memcpy_htod_async(memory, record),
        lambda: cuda.memcpy_dtoh(objects, memory),
        lambda: cuda.to_device(objects),
        lambda: cuda.from_device(memory, 2, object),
    ):
        with pytest.raises(TypeError, match="holds Python objects"):
            use()
    cuda.memcpy_htod(memory, np.zeros(2))  # the error is not remembered


def test_copies_of_rows_stay_within_host_memory(device):
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    there = cuda.mem_alloc(1 << 16)
    copy = cuda.Memcpy2D()
    copy.set_src_host(a[:, :3])  # the gap after the last row does not belong to it
    copy.set_dst_device(there)
    copy.src_pitch, copy.dst_pitch = 16, 12
    copy.width_in_bytes, copy.height = 12, 3
    copy(aligned=False)
    assert (cuda.from_device(there, (3, 3), np.float32) == a[:, :3]).all()
    for change in (
        {"height": 4},
        {"width_in_bytes": 16},
        {"src_x_in_bytes": 1},
        {"src_y": 1},
        {"src_pitch": 20},
        {"src_y": 2**62},
    ):
        before = {name: getattr(copy, name) for name in change}
        for name, value in change.items():
            setattr(copy, name, value)
        with pytest.raises(
            cuda.LogicError, match="the copy exceeds its source, 44 bytes"
        ):
            copy(aligned=False)
        for name, value in before.items():
            setattr(copy, name, value)

    back = cuda.Memcpy3D()
    back.set_src_device(there)
    back.set_dst_host(np.zeros((2, 3, 4), np.uint8))
    back.src_pitch = back.dst_pitch = back.width_in_bytes = 4
    back.src_height = back.dst_height = back.height = 3
    back.depth = 2
    back()
    back.depth = 3
    for call in (back, lambda: back(cuda.Stream())):
        with pytest.raises(
            cuda.LogicError, match="the copy exceeds its destination, 24 "
        ):
            call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda m, h: cuda.memcpy_htod(int(m) + 500, h),
            "copy to device memory .* of 1000 bytes ends after 500",
        ),
        (
            lambda m, h: cuda.memcpy_dtoh(h, int(m) + 10),
            "copy from device memory .* of 1000 bytes ends after 990",
        ),
        (
            lambda m, h: cuda.memset_d32(int(m) + 500, 1, 300),
            r"memset of device memory at \w+ \(1200 bytes\): the allocation of 1000 bytes ends after 500",
        ),
        (
            lambda m, h: cuda.memset_d8(64, 1, 20),
            r"memset of device memory at 0x40 \(20 bytes\): there is no allocation",
        ),
    ],
    ids=["htod", "dtoh", "memset", "nothing"],
)
def test_an_error_says_where_the_allocation_ends(device, call, message):
    memory = cuda.mem_alloc(1000)
    with pytest.raises(cuda.LogicError, match=message):
        call(memory, np.zeros(2000, np.uint8))
    cuda.memset_d8(memory, 1, 1000)


@pytest.mark.parametrize("kind", [cuda.Memcpy2D, cuda.Memcpy3D])
def test_structured_copies_whose_sides_are_not_set(device, kind):
    """An error instead of an access to the address 0."""
    memory, host = cuda.mem_alloc(64), np.zeros(16, np.float32)
    kind()()  # no bytes: nothing to do

    def sized():
        copy = kind()
        copy.width_in_bytes = copy.src_pitch = copy.dst_pitch = 16
        copy.height = 4
        if kind is cuda.Memcpy3D:
            copy.src_height = copy.dst_height = 4
            copy.depth = 1
        return copy

    for missing in ("source", "destination"):
        for stream in (None, cuda.Stream()):
            copy = sized()
            if missing == "source":
                copy.set_dst_device(memory)
            else:
                copy.set_src_host(host)
            with pytest.raises(
                cuda.LogicError, match=f"the {missing} of the copy is not set"
            ):
                copy(stream=stream)
    copy = sized()
    copy.set_src_host(host)
    copy.set_dst_device(memory)
    for wrong in (cuda.memory_type.ARRAY, 77):
        copy.dst_memory_type = wrong
        with pytest.raises(cuda.LogicError, match=f"its memory type, {int(wrong)}"):
            copy()
    copy.dst_memory_type = cuda.memory_type.DEVICE
    copy()
