"""gpuarray: arrays on the device, compared with numpy's."""

import re

import numpy as np
import pytest
from marks import slow

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


def test_python_objects_are_an_error():
    with pytest.raises(TypeError, match="Python objects"):
        gpuarray.to_gpu(np.array([{}, None]))


# Arithmetic

A = np.arange(-5.0, 7.0, dtype=np.float32).reshape(3, 4)
B = np.full((3, 4), 3, np.float32)


def same(array, expected, rtol=1e-6):
    """Equal to numpy's array: type, shape and values."""
    result = array.get()
    expected = np.asarray(expected)
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(result, expected, rtol=rtol, atol=rtol)


@pytest.mark.parametrize(
    "operate",
    [
        lambda a, b: a + b,
        lambda a, b: a - 2 * b,
        lambda a, b: a * b / 4,
        lambda a, b: 1 / b,
        lambda a, b: a // b,
        lambda a, b: a % b,
        lambda a, b: b**a,
        lambda a, b: a**2,
        lambda a, b: -a + abs(a),
        lambda a, b: (a < b) | (a == 4),
        lambda a, b: a[::2, ::-1] + b[1:],
        lambda a, b: a.T + b.T,
        lambda a, b: a.T + b.reshape(4, 3),
        lambda a, b: a[:, :1] * b[:1],
        lambda a, b: a[..., None] + b[0, None, :2],
        lambda a, b: a + np.float64(0.5),
        lambda a, b: np.int8(3) - a,
        lambda a, b: 1j * a,
    ],
)
def test_arithmetic(operate):
    same(operate(gpuarray.to_gpu(A), gpuarray.to_gpu(B)), operate(A, B))


def test_types_follow_numpy():
    for left, right in [
        ("i4", "i4"),
        ("u1", "i1"),
        ("i8", "f4"),
        ("f2", "i2"),
        ("?", "?"),
    ]:
        a, b = np.ones(4, left), np.ones(4, right)
        same(gpuarray.to_gpu(a) + gpuarray.to_gpu(b), a + b)
    same(gpuarray.to_gpu(np.arange(4)) / 2, np.arange(4) / 2)
    with pytest.raises(OverflowError, match="300 out of bounds for uint8"):
        gpuarray.to_gpu(np.ones(4, np.uint8)) + 300
    with pytest.raises(TypeError, match="subtract"):
        gpuarray.to_gpu(np.ones(4, bool)) - gpuarray.to_gpu(np.ones(4, bool))


def test_in_place():
    a, x = A.copy(), gpuarray.to_gpu(A)
    view = x[1:, ::2]
    for array in (a, x):
        array += 1
        array *= 3
        array -= array[:, :1]
        array[1:, ::2] /= 4
    same(x, a)
    assert view.base is x
    same(view, a[1:, ::2])
    with pytest.raises(TypeError, match="cannot be cast"):
        integers = gpuarray.to_gpu(np.ones(3, np.int32))
        integers /= 2


def test_overlapping_operands():
    a, x = np.arange(1000.0), gpuarray.to_gpu(np.arange(1000.0))
    a[1:] += a[:-1].copy()
    x[1:] += x[:-1]
    same(x, a)
    x[:] = x[::-1]
    same(x, a[::-1])


def test_host_arrays_are_an_error():
    with pytest.raises(TypeError, match="is in host memory"):
        gpuarray.to_gpu(A) + A
    with pytest.raises(TypeError, match="is in host memory"):
        A + gpuarray.to_gpu(A)
    with pytest.raises(TypeError, match=r"call get\(\)"):
        np.asarray(gpuarray.to_gpu(A))


def test_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match=r"\(3, 4\) \(3,\)"):
        gpuarray.to_gpu(A) + gpuarray.to_gpu(np.ones(3, np.float32))


def test_odd_sizes_and_misaligned_starts():
    for size in (1, 31, 1023, 2049):
        host = np.arange(size, dtype=np.float32)
        x = gpuarray.to_gpu(host)
        same(x + 1, host + 1)
        same(x[1:] + x[:-1], host[1:] + host[:-1])


def test_no_elements():
    x = gpuarray.zeros((0, 3))
    same(x + 1, np.zeros((0, 3)))
    same(x.sum(), np.float64(0))
    same(x.sum(0), np.zeros(3))
    with pytest.raises(ValueError, match="no identity"):
        x.max()
    same(gpuarray.arange(5, dtype=np.int32)[5:3], np.arange(0, dtype=np.int32))


def test_results_are_of_the_subclass():
    class Mine(gpuarray.GPUArray):
        pass

    x = Mine((4,), np.float32)
    x.fill(2)
    for result in (x + 1, 1 - x, x[1:], -x, x.copy(), x.sum()):
        assert type(result) is Mine


def test_allocator_of_results():
    sizes = []

    def allocate(size):
        sizes.append(size)
        return cuda.mem_alloc(size)

    x = gpuarray.to_gpu(A, allocator=allocate)
    same(x + 1, A + 1)
    assert sizes == [48, 48]
    assert x.allocator is allocate


def test_structs():
    dtype = np.dtype([("a", "f4"), ("b", "i4"), ("c", "u1")])
    host = np.zeros(6, dtype)
    host["b"] = np.arange(6)
    x = gpuarray.to_gpu(host)
    np.testing.assert_array_equal(x[::-2].get(), host[::-2])
    same(x["b"], host["b"])
    with pytest.raises(TypeError, match="not defined"):
        x + x


# Reductions


@pytest.mark.parametrize("shape", [(1000,), (300, 7), (7, 300), (40, 5, 6), (100_000,)])
def test_sums(shape):
    host = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    x = gpuarray.to_gpu(host)
    for axis in (None, 0, -1):
        same(x.sum(axis), host.sum(axis), rtol=2e-5)
    same(x.T.sum(0), host.T.sum(0), rtol=2e-5)


@pytest.mark.parametrize("shape", [(5000, 100), (100, 5000), (9, 70_001), (70_001, 9)])
def test_every_element_counts_once(shape):
    host = np.random.default_rng(3).integers(0, 3, shape).astype(np.float32)
    x = gpuarray.to_gpu(host)
    for axis in (None, 0, 1):
        np.testing.assert_array_equal(x.sum(axis).get(), host.sum(axis))
        np.testing.assert_array_equal(x[:, 1:].sum(axis).get(), host[:, 1:].sum(axis))


def test_other_reductions():
    host = np.random.default_rng(2).standard_normal((30, 40)).astype(np.float32)
    host[3, 4] = host[5, 4] = 9
    x = gpuarray.to_gpu(host)
    same(x.max(), host.max())
    same(x.min(1, keepdims=True), host.min(1, keepdims=True))
    same(x.argmax(0), host.argmax(0))
    same(x.argmin(), host.argmin())
    same(x.mean(0), host.mean(0))
    same(x.std(), host.std())
    same(x.var(1, ddof=1), host.var(1, ddof=1), rtol=2e-6)
    same((x > 0).any(1), (host > 0).any(1))
    same((x > 0).all(), (host > 0).all())
    same(gpuarray.count_nonzero(x > 1), np.count_nonzero(host > 1))
    same(x.sum(where=x > 0), host.sum(where=host > 0), rtol=1e-5)
    same(gpuarray.dot(x, x), (host * host).sum(), rtol=1e-5)
    host[0, 0] = np.nan
    x = gpuarray.to_gpu(host)
    assert np.isnan(x.max().get()) and np.isnan(x.min().get())
    same(gpuarray.nanmax(x), np.nanmax(host))
    same(gpuarray.nansum(x, 0), np.nansum(host, 0), rtol=1e-5)
    same(x.argmax(), host.argmax())


def test_sums_are_accurate_and_the_same_each_time():
    host = np.full(1_000_003, 0.1, np.float32)
    x = gpuarray.to_gpu(host)
    total = x.sum().get()
    assert abs(total - host.sum(dtype=np.float64)) < 1e-6 * total
    assert all(x.sum().get() == total for _ in range(5))
    half = gpuarray.to_gpu(np.full(10_000, 0.25, np.float16))
    same(half.sum(), np.float16(2500))
    same(gpuarray.to_gpu(np.full(300, 100, np.int8)).sum(), np.int64(30_000))


@pytest.mark.parametrize("dtype", ["f4", "i8", "c8", "f2", "?"])
@pytest.mark.parametrize("elements, step", [(30_007, 1), (20_000, 3)])
def test_long_reductions(dtype, elements, step):
    # For sums, minima and tests, both launches may be of the same kernel.
    host = np.random.default_rng(5).integers(0, 2, elements * step).astype(dtype)
    host[-1] = 1
    x, host = gpuarray.to_gpu(host)[::step], host[::step]
    same(x.sum(), host.sum(), rtol=2e-3)
    for result in (x[1:].max(), (x == x).all(), x.any(), gpuarray.maximum(x, 1).prod()):
        assert result.get() == 1
    for at in (0, elements // 2, elements - 1):
        host[:] = 1
        host[at] = 0
        y = gpuarray.to_gpu(host)
        assert (
            y.min().get() == 0
            and not y.all().get()
            and y.sum().dtype == host.sum().dtype
        )


def test_long_sums_of_as_many_states_as_a_kernel_takes_at_once():
    x = gpuarray.full(2048 * 4096 + 5, 0.5, np.float64)
    assert x.sum().get() == x.size / 2


@pytest.mark.parametrize("dtype", ["f4", "c8", *slow(["f8", "u1", "f2"])])
@pytest.mark.parametrize(
    "shape, axis",
    [((100_003,), None), ((30, 5000), 1), ((5000, 30), 0), ((5000, 30), 1), ((6, 5, 4), (0, 2))],
)  # fmt: skip
def test_variances(dtype, shape, axis):
    random = np.random.default_rng(7)
    host = random.standard_normal(shape) * 20 + 90
    host = (host + 1j * random.random(shape) if dtype[0] == "c" else host).astype(dtype)
    exact = host.astype(np.complex128 if dtype[0] == "c" else np.float64)
    rtol = {"f4": 1e-6, "c8": 1e-6, "f2": 1e-3}.get(dtype, 1e-12)
    x = gpuarray.to_gpu(host)
    assert x.var(axis).dtype == np.zeros(1, dtype).var().dtype
    np.testing.assert_allclose(x.var(axis).get(), exact.var(axis), rtol=rtol)
    np.testing.assert_allclose(x[1:].std(axis).get(), exact[1:].std(axis), rtol=rtol)
    mask = random.random(shape) < 0.5
    result = x.var(axis, where=gpuarray.to_gpu(mask), ddof=1)
    np.testing.assert_allclose(
        result.get(), exact.var(axis, where=mask, ddof=1), rtol=rtol
    )


def test_variances_far_from_zero():
    host = (np.random.default_rng(8).random(70_001) + 1e4).astype(np.float32)
    x = gpuarray.to_gpu(host)
    np.testing.assert_allclose(x.var().get(), host.var(dtype=np.float64), rtol=2e-7)
    masked = gpuarray.to_gpu(np.where(host < 1e4 + 0.5, host, 1e30).astype(np.float32))
    inside = host[host < 1e4 + 0.5].astype(np.float64)
    np.testing.assert_allclose(masked.var(where=masked < 1e30).get(), inside.var(), rtol=2e-5)  # fmt: skip
    assert gpuarray.full(100_001, 0.1, np.float32).var().get() == 0
    assert np.isnan(gpuarray.to_gpu(np.array([1, np.inf])).var().get())


def test_means_of_float16_do_not_overflow():
    x = gpuarray.full(100_000, 50, np.float16)
    assert (x.mean().dtype, x.mean().get()) == (np.float16, 50)
    x[:50_000] = 450
    assert (x.std().dtype, x.std().get()) == (np.float16, 200)


# Streams and the end of the program


def test_streams_and_the_pool():
    stream = cuda.Stream(cuda.event_flags.DEFAULT)
    host = np.arange(100_000, dtype=np.float32)
    for _ in range(20):
        x = gpuarray.to_gpu_async(host, stream=stream)
        y = gpuarray.exp(x, stream=stream, out=gpuarray.empty_like(x))
        del x
        z = gpuarray.zeros(host.shape, np.float32)  # may reuse x's block
        stream.synchronize()
        same(z, np.zeros_like(host))
        del y


def test_async_copies_of_any_order_of_axes():
    stream = cuda.Stream()
    host = np.arange(24.0).reshape(2, 3, 4).transpose(0, 2, 1)
    x = gpuarray.to_gpu_async(host, stream=stream)
    assert x.strides == host.strides
    same(x, host)
    x.set_async(host + 1, stream=stream)
    for back in (x.get_async(stream=stream), np.empty_like(host)):
        assert x.get_async(ary=back, stream=stream) is back
        stream.synchronize()
        np.testing.assert_array_equal(back, host + 1)


@pytest.mark.parametrize("shape", [(3, 2), (4, -1), (-5,)])
def test_a_reshape_of_another_size_names_size_and_shape(shape):
    words = f"must be unchanged: the array has 7 elements, .* fit shape {re.escape(str(shape))}"
    with pytest.raises(ValueError, match=words):
        gpuarray.zeros(7, np.float32).reshape(shape)


def test_arrays_alive_at_exit(run_program):
    done = run_program(
        """
        import numpy, pycuda.autoinit
        from pycuda import gpuarray
        x = gpuarray.to_gpu(numpy.ones(1000, numpy.float32))
        keep = [x + 1, (x * 2)[::2], x.sum(), x.gpudata]
        loop = [keep, x.T]
        loop.append(loop)
        print(keep[2])
        """
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "1000.0\n", "")


def test_arrays_exist_longer_than_their_context(run_program):
    done = run_program(
        """
        import numpy, pycuda.driver as cuda
        cuda.init()
        from pycuda import gpuarray
        for _ in range(3):
            context = cuda.Device(0).make_context()
            x = gpuarray.to_gpu(numpy.ones(1000, numpy.float32)) + 1
            print(x.sum())
            context.pop()
            context.detach()
        """
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "2000.0\n" * 3, "")


def test_arrays_of_indices_are_checked_at_both_ends():
    x = gpuarray.to_gpu(np.arange(20.0).reshape(4, 5))
    ends = gpuarray.to_gpu(np.array([-4, 3]))
    np.testing.assert_array_equal(x[ends].get(), x.get()[[-4, 3]])
    for wrong in (-5, 4, -(2**63), 2**63 - 1):
        indices = gpuarray.to_gpu(np.array([0, wrong]))
        with pytest.raises(IndexError, match=f"index {wrong} is out of bounds"):
            x[indices]


@pytest.mark.parametrize("target", [[0, 0], bytes(16), 1])
def test_get_into_what_is_not_an_array_is_a_type_error(device, target):
    with pytest.raises(TypeError, match="ary must be a NumPy array, not "):
        gpuarray.array([1, 2]).get(target)
