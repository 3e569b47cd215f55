"""Wrong arguments that ended the process once: see test_argument_fuzz.py, which finds such calls."""

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule

pytestmark = pytest.mark.usefixtures("device")


@pytest.mark.parametrize("name", ["memset_d2d8", "memset_d2d16", "memset_d2d32"])
@pytest.mark.parametrize("pitch, height", [(4, 2**63), (2**62, 2**62), (2**63, 3)])
def test_a_fill_of_rows_beyond_all_memory(name, pitch, height):
    memory = cuda.mem_alloc(64)
    for call in (getattr(cuda, name), getattr(cuda, name + "_async")):
        with pytest.raises(cuda.LogicError):
            call(memory, pitch, 1, 1, height)


def test_a_copy_of_rows_beyond_all_memory():
    copy = cuda.Memcpy2D()
    copy.set_src_device(cuda.mem_alloc(64))
    copy.set_dst_device(cuda.mem_alloc(64))
    copy.src_pitch = copy.dst_pitch = 2**62
    copy.width_in_bytes, copy.height = 4, 2**40
    with pytest.raises(cuda.LogicError):
        copy(aligned=True)


def test_an_empty_list_of_address_modes():
    array = cuda.np_to_array(np.zeros((2, 2), np.float32), "C")
    with pytest.raises(ValueError, match="address_mode"):
        cuda.TextureObject(array, address_mode="")


def test_a_texture_without_a_descriptor():
    texture = cuda.TextureReference()
    with pytest.raises(TypeError, match="descr must be an ArrayDescriptor, not int"):
        texture.set_address_2d(cuda.mem_alloc(64), 3, 32)


def test_a_pointer_without_get_pointer():
    with pytest.raises(TypeError, match="does not define get_pointer"):
        cuda.PointerHolderBase().as_buffer(4)
    with pytest.raises(ValueError, match="does not fit"):
        cuda.managed_empty(4, np.int8, mem_flags=1).base.as_buffer(2**63)


def test_a_prepared_bool_without_a_truth():
    module = SourceModule("__global__ void f(bool b, int *x) { *x = b; }")
    function = module.get_function("f").prepare("?P")
    x = gpuarray.zeros(1, np.int32).fill(9)
    with pytest.raises(ValueError, match="ambiguous"):
        function.prepared_call((1, 1), (1, 1, 1), np.array([1, 2]), x.gpudata)
    assert x.get() == 9


KERNEL = "__global__ void fill(float *x, int n) { x[0] = n; }"


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"block": (-1, 1, 1)}, r"block has -1, expected 1 to 1024 threads"),
        ({"block": (2**40, 1, 1)}, r"block has 1099511627776, expected 1 to 1024"),
        ({"block": (2**70, 1, 1)}, r"block has 1180591620717411303424, expected 1 to"),
        ({"grid": (1, -2)}, r"grid has -2, expected .* 1 to 65535 along y and z"),
        ({"shared": -4}, r"shared has -4, expected the bytes of dynamic shared memory"),
        ({"cluster": (2**33,)}, r"cluster has 8589934592, expected 1 to 16"),
    ],
)
def test_sizes_of_a_launch(given, wanted):
    kernel = SourceModule(KERNEL).get_function("fill")
    x = gpuarray.zeros(1, np.float32)
    with pytest.raises(ValueError, match=wanted):
        kernel(x, np.int32(1), **{"block": (1, 1, 1), **given})


@pytest.mark.parametrize("code", ["i", "q", "I", "Q"])
@pytest.mark.parametrize("value", [2**70, -(2**70)])
def test_a_prepared_int_that_is_too_large(code, value):
    kernel = SourceModule(KERNEL).get_function("fill").prepare("P" + code)
    with pytest.raises(cuda.LogicError, match=rf"{value}, prepared as '{code}'"):
        kernel.prepared_call((1, 1), (1, 1, 1), cuda.mem_alloc(4), value)


def test_an_allocator_that_returns_a_number():
    with pytest.raises(ValueError, match="allocator returned 16, which is not memory"):
        gpuarray.zeros(4, np.float32, allocator=int)
    assert (gpuarray.zeros(4, np.float32) + 1).get().sum() == 4  # the context lives


def test_more_differences_than_elements():
    """The number of passes was the number that was given."""
    assert np.diff(gpuarray.zeros((3, 4), np.float32), 2**70).shape == (3, 0)
