"""pycuda.driver.TensorMap: maps of arrays as kernel arguments, and the errors of maps that a GPU refuses."""

import gc

import numpy as np
import pytest
from conftest import is_softcuda
from hopper_tensor import box_of, encode, swizzle_bytes

import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule

LOAD = r"""
#include <cuda.h>
#include <cuda/barrier>
using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace bulk = cuda::device::experimental;
extern "C" __global__ void load(const __grid_constant__ CUtensorMap map, int x, int y, void *out, int bytes)
{
    __shared__ alignas(1024) char box[16384];
    #pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier full;
    if (threadIdx.x == 0) {
        init(&full, blockDim.x);
        bulk::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        bulk::cp_async_bulk_tensor_2d_global_to_shared(box, &map, x, y, full);
        token = cuda::device::barrier_arrive_tx(full, 1, bytes);
    } else {
        token = full.arrive();
    }
    full.wait(std::move(token));
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) static_cast<char *>(out)[i] = box[i];
}
"""


@pytest.fixture
def load(hopper):
    return SourceModule(LOAD, no_extern_c=True).get_function("load")


def loaded(load, tensor_map, begin, box, dtype):
    """The box that begins at (row, column)."""
    out = gpuarray.empty(box, dtype)
    row, column = begin
    load(
        tensor_map,
        np.int32(column),
        np.int32(row),
        out,
        np.int32(out.nbytes),
        block=(64, 1, 1),
    )
    return out.get()


def image(dtype=np.float32, shape=(20, 40)):
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)


@pytest.mark.parametrize(
    "dtype", [np.uint8, np.int16, np.float16, np.int32, np.float64]
)
def test_kernel_loads_a_box(load, dtype):
    host = image(dtype, (20, 48))
    tensor_map = cuda.TensorMap.tiled(gpuarray.to_gpu(host), (8, 16))
    got = loaded(load, tensor_map, (3, 16), (8, 16), dtype)
    assert (got == host[3:11, 16:32]).all()


def test_axes_are_those_of_the_array(load):
    host = image()
    rows = gpuarray.to_gpu(host)[1::2, 4:36]
    tensor_map = cuda.TensorMap.tiled(rows, (4, 8), element_strides=(2, 1))
    got = loaded(load, tensor_map, (2, 4), (2, 8), np.float32)
    assert (got == host[1::2, 4:36][2:6:2, 4:12]).all()


@pytest.mark.parametrize("fill", [False, True])
def test_elements_outside_are_filled(load, fill):
    host = image()
    tensor_map = cuda.TensorMap.tiled(gpuarray.to_gpu(host), (8, 16), fill_nan=fill)
    got = loaded(load, tensor_map, (-2, 32), (8, 16), np.float32)
    wanted = box_of(host, (32, -2), (16, 8), fill=np.nan if fill else 0)
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("swizzle", [32, 64, 128])
def test_swizzle_permutes_shared_memory(load, swizzle):
    host = image(np.uint8, (64, 128))
    box = (16, swizzle)
    tensor_map = cuda.TensorMap.tiled(gpuarray.to_gpu(host), box, swizzle=swizzle)
    got = loaded(load, tensor_map, (0, 0), box, np.uint8)
    wanted = swizzle_bytes(host[:16, :swizzle].reshape(-1), swizzle)
    assert (got.reshape(-1) == wanted).all()


def test_options_reach_the_driver(hopper):
    tensor = gpuarray.to_gpu(image())
    layout = ((40, 20), (160,), (16, 8))
    result, plain = encode(tensor.ptr, "f4", *layout)
    assert result == 0
    assert bytes(cuda.TensorMap.tiled(tensor, (8, 16))) == plain.tobytes()
    variants = {"float32_ftz": "f4_ftz", "tfloat32": "tf32", "tfloat32_ftz": "tf32_ftz"}
    for name, driver_name in variants.items():
        made = cuda.TensorMap.tiled(tensor, (8, 16), data_type=name)
        _, wanted = encode(tensor.ptr, driver_name, *layout)
        assert bytes(made) == wanted.tobytes() != plain.tobytes()
    for promotion in (64, 128, 256):  # softcuda has no L2 cache
        made = cuda.TensorMap.tiled(tensor, (8, 16), l2_promotion=promotion)
        assert bytes(made) == plain.tobytes() or not is_softcuda()


def test_a_map_keeps_the_memory(load):
    host = image()
    tensor_map = cuda.TensorMap.tiled(gpuarray.to_gpu(host), (8, 16))
    gc.collect()
    others = [gpuarray.zeros(host.shape, np.float32) for _ in range(8)]
    got = loaded(load, tensor_map, (0, 0), (8, 16), np.float32)
    assert (got == host[:8, :16]).all() and len(others) == 8


def test_freed_memory_is_an_error_at_the_launch(load):
    tensor = gpuarray.to_gpu(image())
    tensor_map = cuda.TensorMap.tiled(tensor, (8, 16))
    tensor.gpudata.free()
    with pytest.raises(cuda.Error, match="free"):
        loaded(load, tensor_map, (0, 0), (8, 16), np.float32)


def test_a_bound_launch_takes_a_map(load):
    host = image()
    tensor_map = cuda.TensorMap.tiled(gpuarray.to_gpu(host), (8, 16))
    out = gpuarray.empty((8, 16), np.float32)
    bound = load.bind(
        tensor_map, np.int32(0), np.int32(1), out, np.int32(512), block=(64, 1, 1)
    )
    bound()
    assert (out.get() == host[1:9, :16]).all()


def test_other_parameters_refuse_a_map(load):
    tensor_map = cuda.TensorMap.tiled(gpuarray.to_gpu(image()), (8, 16))
    with pytest.raises(cuda.LogicError, match="a TensorMap"):
        load(tensor_map, tensor_map, 0, 0, 0, block=(64, 1, 1))


WRONG = [
    (lambda t: (t, (8,)), {}, "the box has 1 axes and the tensor 2"),
    (lambda t: (t, (8, 257)), {}, "257 elements on axis 1, expected 1 to 256"),
    (lambda t: (t, (0, 16)), {}, "0 elements on axis 0"),
    (lambda t: (t, (8, 3)), {}, "last axis has 12 bytes, expected a multiple of 16"),
    (lambda t: (t, (8, 16)), {"swizzle": 32}, "64 bytes, more than the swizzle of 32"),
    (
        lambda t: (t, (8, 8)),
        {"swizzle": 48},
        "swizzle is 48, expected 0 or a power of 2",
    ),
    (lambda t: (t, (8, 8)), {"l2_promotion": 32}, "l2_promotion is 32"),
    (lambda t: (t, (8, 8)), {"element_strides": (9, 1)}, "stride on axis 0 is 9"),
    (lambda t: (t, (8, 8)), {"element_strides": (1, 2)}, "last axis is 2, expected 1"),
    (lambda t: (t, (8, 8)), {"element_strides": (1,)}, "1 element strides .* 2 axes"),
    (lambda t: (t, (8, 8)), {"data_type": "float64"}, "data_type is 'float64'"),
    (lambda t: (t.T, (8, 8)), {}, "stride on axis 0 is 4 bytes, expected a multiple"),
    (lambda t: (t[:, ::2], (8, 8)), {}, "axis 1, the last one, is 8 bytes"),
    (lambda t: (t[:, 1:], (8, 8)), {}, "begins 4 bytes after a multiple of 16"),
    (lambda t: (t[::-1], (8, 8)), {}, "stride on axis 0 is -160 bytes"),
    (lambda t: (t[:0], (8, 8)), {}, "the tensor has 0 elements on axis 0"),
    (lambda t: (t.ravel()[:780].reshape(20, 39), (8, 8)), {}, "axis 0 is 156 bytes"),
    (lambda t: (t.reshape((1, 1, 2, 2, 10, 20)), (8,)), {}, "6 axes, expected 1 to 5"),
    (lambda t: (t.astype(np.complex64), (8, 8)), {}, "none for complex numbers"),
    (
        lambda t: (t.astype(np.int32), (8, 8)),
        {"fill_nan": True},
        "only a tensor of floats",
    ),
    (
        lambda t: (t.astype(np.float16), (8, 8)),
        {"data_type": "tfloat32"},
        "needs a tensor of float32",
    ),
]


@pytest.mark.parametrize("arguments, options, message", WRONG)
def test_errors_name_what_is_wrong(hopper, arguments, options, message):
    tensor, box = arguments(gpuarray.to_gpu(image()))
    with pytest.raises(ValueError, match=message):
        cuda.TensorMap.tiled(tensor, box, **options)


def test_a_host_array_is_an_error(hopper):
    with pytest.raises(TypeError, match="tensor must be a GPUArray, not numpy.ndarray"):
        cuda.TensorMap.tiled(image(), (8, 8))


def test_older_devices_have_none(device):
    if device.compute_capability() >= (9, 0):
        pytest.skip("needs a device without tensor maps")
    with pytest.raises(cuda.Error, match=r"tensor maps need 9\.0"):
        cuda.TensorMap.tiled(gpuarray.to_gpu(image()), (8, 8))
