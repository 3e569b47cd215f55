"""gpuarray: arrays on the device, compared with numpy's."""

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule

pytestmark = pytest.mark.usefixtures("device")


# Making arrays, and copies between host and device


@pytest.mark.parametrize(
    "dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f4", "c8", "c16"]
)
def test_round_trip(dtype):
    host = np.arange(24).reshape(2, 3, 4).astype(dtype)
    array = gpuarray.to_gpu(host)
    assert (array.shape, array.dtype) == (host.shape, host.dtype)
    assert (array.size, array.nbytes) == (host.size, host.nbytes)
    np.testing.assert_array_equal(array.get(), host)


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a.T,
        lambda a: a[::2, ::-1],
        lambda a: a.transpose(1, 2, 0),
        lambda a: a[:, 1:2],
        lambda a: a[:0],
    ],
)
def test_to_gpu_of_views(view):
    host = view(np.arange(60, dtype=np.int32).reshape(3, 4, 5))
    array = gpuarray.to_gpu(host)
    np.testing.assert_array_equal(array.get(), host)


def test_no_elements_and_no_axes():
    empty = gpuarray.to_gpu(np.empty((0, 3), np.float32))
    assert (empty.shape, empty.size, empty.gpudata) == ((0, 3), 0, None)
    assert empty.get().shape == (0, 3)
    assert gpuarray.to_gpu(np.array(3.5)).get() == 3.5


def test_kernel_argument():
    double = SourceModule(
        "__global__ void twice(float *x) { x[threadIdx.x] *= 2; }"
    ).get_function("twice")
    array = gpuarray.to_gpu(np.arange(8, dtype=np.float32))
    stream = cuda.Stream()
    double(array, block=(8, 1, 1))
    double(array.gpudata, block=(8, 1, 1), stream=stream)
    stream.synchronize()
    np.testing.assert_array_equal(array.get(), 4 * np.arange(8, dtype=np.float32))


def test_wrong_elements_for_a_kernel_warn():
    double = SourceModule(
        "__global__ void twice(float *x) { x[threadIdx.x] *= 2; }"
    ).get_function("twice")
    with pytest.warns(UserWarning, match="float64"):
        double(gpuarray.to_gpu(np.zeros(8)), block=(1, 1, 1))


def test_use_after_free():
    array = gpuarray.to_gpu(np.zeros(8))
    array.gpudata.free()
    with pytest.raises(cuda.Error, match="has been freed"):
        array.get()


def test_allocator_is_called():
    sizes = []

    def allocate(size):
        sizes.append(size)
        return cuda.mem_alloc(size)

    array = gpuarray.GPUArray((3, 4), np.float32, allocator=allocate)
    assert sizes == [48]
    assert isinstance(array.gpudata, cuda.DeviceAllocation)
    assert int(array.gpudata) == array.ptr


def test_python_objects_are_refused():
    with pytest.raises(TypeError, match="Python objects"):
        gpuarray.to_gpu(np.array([{}, None]))
