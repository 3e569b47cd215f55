"""CUDA arrays, and copies of rows and boxes."""

import numpy as np
import pytest

import pycuda.driver as cuda


def descriptor(width, height=0, format="FLOAT", channels=1):
    d = cuda.ArrayDescriptor()
    d.width, d.height = width, height
    d.format = getattr(cuda.array_format, format)
    d.num_channels = channels
    return d


@pytest.fixture
def make_array(able):
    def make(*args, **keywords):
        return able("CUDA arrays", lambda: cuda.Array(descriptor(*args, **keywords)))

    return make


def test_descriptors_hold_what_is_set(device):
    flat = cuda.ArrayDescriptor()
    assert (flat.width, flat.height, flat.num_channels) == (0, 0, 0)
    flat.width, flat.height, flat.num_channels = 7, 5, 4
    flat.format = cuda.array_format.SIGNED_INT16
    assert (flat.width, flat.height, flat.num_channels) == (7, 5, 4)
    assert flat.format is cuda.array_format.SIGNED_INT16
    deep = cuda.ArrayDescriptor3D()
    deep.width, deep.height, deep.depth = 2, 3, 4
    deep.flags = cuda.array3d_flags.SURFACE_LDST
    assert (deep.width, deep.height, deep.depth, deep.flags) == (2, 3, 4, 2)


def test_array_knows_its_descriptor(make_array):
    array = make_array(16, 8, "UNSIGNED_INT8", 4)
    assert array.handle != 0
    flat, deep = array.get_descriptor(), array.get_descriptor_3d()
    assert (flat.width, flat.height, flat.num_channels) == (16, 8, 4)
    assert (deep.width, deep.height, deep.depth) == (16, 8, 0)
    assert flat.format is cuda.array_format.UNSIGNED_INT8
    assert repr(array) == "<pycuda.driver.Array 16 x 8, 4 channels of UNSIGNED_INT8>"
    array.free()
    with pytest.raises(cuda.LogicError, match="freed before"):
        array.free()
    with pytest.raises(cuda.LogicError, match="was freed"):
        cuda.Memcpy2D().set_src_array(array)


def test_array_does_not_accept_other_descriptors(device):
    with pytest.raises(TypeError, match="ArrayDescriptor3D, not int"):
        cuda.Array(4)


def test_one_dimension(make_array):
    array, other = make_array(64), make_array(64)
    a = np.arange(64, dtype=np.float32)
    back = np.zeros_like(a)
    cuda.memcpy_htoa(array, 0, a)
    cuda.memcpy_atoh(back, array, 0)
    assert (back == a).all()

    gpu = cuda.mem_alloc(a.nbytes)
    cuda.memcpy_atod(gpu, array, 0, a.nbytes)
    cuda.memcpy_dtoa(other, 0, gpu, a.nbytes)
    cuda.memcpy_atoa(other, 0, array, 128, 128)  # the second half of it to the first
    back[:] = 0
    cuda.py_memcpy_atoh(back, other, 0)
    assert (back == np.concatenate([a[32:], a[32:]])).all()
    cuda.py_memcpy_htoa(other, 128, a[:32])
    cuda.memcpy_atoh(back, other, 0)
    assert (back == np.concatenate([a[32:], a[:32]])).all()


@pytest.mark.parametrize("aligned", [False, True])
def test_rows_to_pitched_memory_and_back(device, aligned):
    a = np.arange(20 * 30, dtype=np.float32).reshape(20, 30)
    memory, pitch = cuda.mem_alloc_pitch(30 * 4, 20, 4)
    copy = cuda.Memcpy2D()
    copy.set_src_host(a)
    copy.set_dst_device(memory)
    copy.width_in_bytes = copy.src_pitch = 30 * 4
    copy.dst_pitch, copy.height = pitch, 20
    copy(aligned=aligned)

    back = np.zeros((18, 26), np.float32)  # without a border of 1 and 2
    copy = cuda.Memcpy2D()
    copy.set_src_device(memory)
    copy.src_pitch, copy.src_x_in_bytes, copy.src_y = pitch, 8, 1
    copy.set_dst_host(back)
    copy.width_in_bytes = copy.dst_pitch = 26 * 4
    copy.height = 18
    copy(aligned)
    assert (back == a[1:-1, 2:-2]).all()
    assert copy.src_memory_type is cuda.memory_type.DEVICE
    assert copy.src_device == int(memory)
    assert (copy.dst_x_in_bytes, copy.dst_y) == (0, 0)
    assert copy.dst_memory_type is cuda.memory_type.HOST


def test_rows_of_a_strided_host_array(device):
    a = np.arange(8 * 16, dtype=np.int32).reshape(8, 16)
    view = a[2:6, 4:12]
    memory = cuda.mem_alloc(view.nbytes)
    copy = cuda.Memcpy2D()
    copy.set_src_host(view)
    copy.src_pitch = a.strides[0]
    copy.set_dst_device(memory)
    copy.width_in_bytes = copy.dst_pitch = 8 * 4
    copy.height = 4
    stream = cuda.Stream()
    copy(stream)  # PyCUDA's form of an asynchronous copy
    stream.synchronize()
    assert (cuda.from_device(memory, (4, 8), np.int32) == view).all()


def test_unified_rows(device):
    a = np.arange(64, dtype=np.uint8).reshape(8, 8)
    managed = cuda.managed_zeros((8, 8), np.uint8)
    copy = cuda.Memcpy2D()
    copy.set_src_unified(cuda.to_device(a))
    copy.set_dst_unified(managed)
    copy.width_in_bytes = copy.src_pitch = copy.dst_pitch = copy.height = 8
    copy(aligned=False, stream=None)
    cuda.Context.synchronize()
    assert (managed == a).all()
    assert copy.dst_memory_type is cuda.memory_type.UNIFIED
    assert copy.dst_device == managed.ctypes.data


def box_copy(kind, a, memory, back):
    depth, height, width = a.shape
    copy = kind()
    copy.set_src_host(a)
    copy.set_dst_device(memory)
    copy.width_in_bytes = copy.src_pitch = copy.dst_pitch = width * a.itemsize
    copy.src_height = copy.dst_height = copy.height = height
    copy.depth = depth
    copy()
    copy.set_src_device(memory)
    copy.set_dst_host(back)
    copy.src_z, copy.dst_z, copy.depth = 1, 0, depth - 1
    stream = cuda.Stream()
    copy(stream)
    stream.synchronize()
    assert (back[:-1] == a[1:]).all() and (back[-1] == 0).all()
    assert (copy.src_lod, copy.dst_lod) == (0, 0)


@pytest.mark.parametrize("kind", ["Memcpy3D", "Memcpy3DPeer"])
def test_boxes(device, able, kind):
    a = np.arange(4 * 5 * 6, dtype=np.float64).reshape(4, 5, 6)
    memory = cuda.mem_alloc(a.nbytes)
    able(kind, lambda: box_copy(getattr(cuda, kind), a, memory, np.zeros_like(a)))


def test_boxes_between_contexts(device, able, primary_context):
    a = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    source, target = cuda.to_device(a), cuda.mem_alloc(a.nbytes)
    copy = cuda.Memcpy3DPeer()
    copy.set_src_context(primary_context)
    copy.set_dst_context(primary_context)
    copy.set_src_device(source)
    copy.set_dst_device(target)
    copy.width_in_bytes = copy.src_pitch = copy.dst_pitch = 16
    copy.src_height = copy.dst_height = copy.height = 3
    copy.depth = 2
    able("Memcpy3DPeer", copy)
    cuda.Context.synchronize()
    assert (cuda.from_device_like(target, a) == a).all()


def box_of(array, shape, dtype):
    back = np.zeros(shape, dtype)
    copy = cuda.Memcpy3D()
    copy.set_src_array(array)
    copy.set_dst_host(back)
    copy.width_in_bytes = copy.dst_pitch = shape[-1] * back.itemsize
    copy.dst_height = copy.height = shape[-2]
    copy.depth = shape[0] if len(shape) == 3 else 1
    copy()
    return back


@pytest.mark.parametrize(
    "dtype", [np.uint8, np.int16, np.float32, np.float64, np.complex64, np.complex128]
)
@pytest.mark.parametrize("shape", [(3, 5), (2, 3, 5)])
@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("surface", [False, True])
def test_np_to_array(device, able, dtype, shape, order, surface):
    a = np.arange(np.prod(shape)).reshape(shape).astype(dtype, order=order)
    array = able("CUDA arrays", lambda: cuda.np_to_array(a, order, surface))
    lying = a if order == "C" else a.T
    assert (box_of(array, lying.shape, dtype) == lying).all()
    flags = array.get_descriptor_3d().flags
    assert bool(flags & cuda.array3d_flags.SURFACE_LDST) is surface


def test_np_to_array_with_other_shapes_is_an_error(device):
    with pytest.raises(cuda.LogicError, match="2 or 3 dimensions"):
        cuda.np_to_array(np.zeros(3), "C")
    with pytest.raises(cuda.LogicError, match="must be 'F' or 'C'"):
        cuda.matrix_to_array(np.zeros((3, 3), np.float32), "K")
    with pytest.raises(TypeError, match="int64"):
        cuda.dtype_to_array_format(np.int64)


def test_gpuarray_to_array(device, able):
    gpuarray = pytest.importorskip("pycuda.gpuarray", reason="it is not there yet")
    a = np.arange(15, dtype=np.float32).reshape(3, 5)
    on_device = gpuarray.to_gpu(a)
    array = able("CUDA arrays", lambda: cuda.gpuarray_to_array(on_device, "C"))
    assert (box_of(array, a.shape, a.dtype) == a).all()
    with pytest.raises(cuda.LogicError, match="not contiguous in order 'F'"):
        cuda.gpuarray_to_array(on_device, "F")


def test_mipmaps(device, able):
    d = cuda.ArrayDescriptor3D()
    d.width, d.height, d.num_channels = 16, 8, 1
    d.format = cuda.array_format.FLOAT
    mipmap = able("mipmaps", lambda: cuda.MipmappedArray(d, 3))
    assert mipmap.levels == 3
    level = mipmap.get_level(2).get_descriptor_3d()
    assert (level.width, level.height) == (4, 2)
    with pytest.raises(cuda.LogicError, match="level 3 of 3"):
        mipmap.get_level(3)
