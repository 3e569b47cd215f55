"""Page-locked, aligned, managed and registered host memory."""

import numpy as np
import pytest

import pycuda.driver as cuda

MAKERS = {
    "pagelocked": cuda.PagelockedHostAllocation,
    "aligned": cuda.AlignedHostAllocation,
    "managed": cuda.ManagedAllocation,
}


@pytest.mark.parametrize("kind", MAKERS)
def test_arrays_own_their_memory(device, kind):
    empty = getattr(cuda, f"{kind}_empty")((2, 3), np.float32, order="F")
    assert empty.shape == (2, 3) and empty.flags.f_contiguous
    assert type(empty.base) is MAKERS[kind]
    zeros = getattr(cuda, f"{kind}_zeros")(5, "i8")
    assert zeros.dtype == np.int64 and not zeros.any()
    like = getattr(cuda, f"{kind}_zeros_like")(empty)
    assert like.flags.f_contiguous and like.dtype == np.float32
    assert getattr(cuda, f"{kind}_empty_like")(zeros).shape == (5,)
    assert getattr(cuda, f"{kind}_empty")((0, 4), np.float32).size == 0


def test_copies_from_pinned_memory(device):
    a = cuda.pagelocked_zeros(100, np.int32, mem_flags=cuda.host_alloc_flags.DEVICEMAP)
    a[:] = range(100)
    assert (cuda.from_device_like(cuda.to_device(a), a) == a).all()
    assert a.base.get_flags() & cuda.host_alloc_flags.DEVICEMAP
    assert a.base.get_device_pointer() != 0


def test_pinned_memory_can_be_freed_early(device):
    a = cuda.pagelocked_empty(10, np.int8)
    memory = a.base
    memory.free()
    with pytest.raises(cuda.LogicError):
        memory.free()


def test_aligned(device):
    a = cuda.aligned_empty((7,), np.int8, alignment=256)
    assert a.ctypes.data % 256 == 0


def test_managed_memory_is_a_device_allocation(device):
    a = cuda.managed_zeros(16, np.int32, mem_flags=cuda.mem_attach_flags.GLOBAL)
    assert isinstance(a.base, cuda.DeviceAllocation)
    assert a.base.get_device_pointer() == int(a.base) == a.ctypes.data
    cuda.memset_d32(a.base, 5, 16)
    cuda.Context.synchronize()
    assert (a == 5).all()
    view = a.base.as_buffer(8, offset=4)
    assert view.nbytes == 8 and not view.readonly


def test_register_host_memory(device):
    a = np.arange(4096, dtype=np.float64)
    view = cuda.register_host_memory(a, cuda.mem_host_register_flags.DEVICEMAP)
    assert view.ctypes.data == a.ctypes.data
    assert view.base.base is a
    assert view.base.get_device_pointer() != 0
    view.base.unregister()
    with pytest.raises(ValueError, match="C-contiguous"):
        cuda.register_host_memory(a[::2])


def test_a_wrong_order_is_a_logic_error(device):
    with pytest.raises(cuda.LogicError, match="unrecognized order specifier 'K'"):
        cuda.pagelocked_empty(4, np.int8, order="K")
    with pytest.raises(ValueError, match="could not detect array order"):
        cuda.pagelocked_empty_like(np.zeros((4, 4))[::2, ::2])


def test_kernels_keep_their_registers_over_registered_memory(device):
    """Its addresses are looked up one by one inside a loop with many live values."""
    from pycuda.compiler import SourceModule

    function = SourceModule(
        """
        __global__ void mix(const float *from, float *to, int n)
        {
            float sum[16];
            for (int k = 0; k < 16; ++k)
                sum[k] = k;
            for (int i = threadIdx.x; i < n; i += blockDim.x) {
                float value = from[i];
                for (int k = 0; k < 16; ++k)
                    sum[k] = sum[k] * 0.5f + value;
            }
            for (int k = 0; k < 16; ++k)
                to[k * blockDim.x + threadIdx.x] = sum[k];
        }
        """
    ).get_function("mix")
    threads, n = 96, 960
    host = cuda.aligned_empty(n, np.float32)
    host[:] = np.arange(n) % 64
    registered = cuda.register_host_memory(host, cuda.mem_host_register_flags.DEVICEMAP)
    result = np.empty((16, threads), np.float32)
    address = np.intp(registered.base.get_device_pointer())
    function(address, cuda.Out(result), np.int32(n), block=(threads, 1, 1))
    expected = np.repeat(np.arange(16, dtype=np.float32)[:, None], threads, axis=1)
    for row in host.reshape(-1, threads):
        expected = expected * np.float32(0.5) + row
    np.testing.assert_array_equal(result, expected)
    registered.base.unregister()


@pytest.mark.parametrize("kind", MAKERS)
def test_shapes_and_types_are_checked(device, kind):
    empty = getattr(cuda, f"{kind}_empty")
    assert empty((n for n in (2, 3)), np.uint8).shape == (2, 3)
    assert empty(np.int64(4), np.uint8).shape == (4,)
    for shape in (-1, (2, -3), (-2, -2)):
        with pytest.raises(ValueError, match="negative dimensions"):
            empty(shape, np.uint8)
    with pytest.raises(TypeError, match="cannot hold Python objects"):
        empty(4, object)
    with pytest.raises(TypeError):
        empty(2.5, np.uint8)
    made = empty(4, np.float32).base
    assert f"{type(made).__name__} of 16 bytes" in repr(made)


def test_only_arrays_are_registered(device):
    with pytest.raises(TypeError, match="must be a numpy.ndarray, not list"):
        cuda.register_host_memory([1, 2])
    memory = cuda.register_host_memory(np.zeros(4)).base
    assert repr(memory) == "<pycuda.driver.RegisteredHostMemory of 32 bytes>"


def test_arrays_exist_longer_than_a_detached_context(run_program):
    done = run_program(
        """
        import gc
        import numpy as np
        import pycuda.driver as cuda
        cuda.init()
        context = cuda.Device(0).make_context()
        pinned = cuda.pagelocked_empty(100_000, np.float32)
        managed = cuda.managed_empty(100_000, np.float32)
        device_memory = cuda.to_device(np.ones(4, np.float32))
        context.pop()
        context.detach()
        pinned[:] = 2
        managed[:] = 3
        assert pinned.sum() == 200_000 and managed.sum() == 300_000
        print("read", flush=True)
        del pinned, managed, device_memory, context
        gc.collect()
        """,
        PYCUDA_TRACE="1",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "read\n"
    assert "cuCtxDestroy" in done.stderr[done.stderr.rindex("cuMemFreeHost") :]
