"""gpuarray: the methods and functions of PyCUDA that numpy does not have."""

import pickle

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule

pytestmark = pytest.mark.usefixtures("device")

A = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture
def x():
    return gpuarray.to_gpu(A)


def test_get_into(x):
    out = np.empty((2, 3), np.float32)
    assert x.get(out) is out
    assert (out == A).all()
    with pytest.raises(ValueError, match="same size"):
        x.get(np.empty(5, np.float32))
    with pytest.raises(TypeError, match="same dtype"):
        x.get(np.empty((2, 3)))
    transposed = np.empty((3, 2), np.float32).T
    assert (x.get(transposed) == A).all()
    later = x.get_async()
    cuda.Context.synchronize()
    assert (later == A).all()


def test_get_async_into_a_new_array_is_complete(x):
    """Programs for PyCUDA read the new array at once: its memory is pageable, so the copy waits."""
    module = SourceModule("""
__global__ void finish_late(float *a, int n)
{
    float sum = a[0];
    for (int i = 0; i < n; i++)
        sum = sum * 0.5f + a[i % 6];
    a[0] = sum > 0 ? 7 : 8;
}
""")
    stream = cuda.Stream()
    x[0, 0] = 1
    cuda.Context.synchronize()
    module.get_function("finish_late")(x, 5_000_000, block=(1, 1, 1), stream=stream)
    assert x.get_async(stream)[0, 0] == 7


def test_set(x):
    x.set(A * 2)
    assert (x.get() == A * 2).all()
    with pytest.raises(ValueError, match="same dtype"):
        x.set(A.astype(np.float64))
    with pytest.warns(UserWarning, match="different shape"):
        x.set(A.ravel())
    x[:, ::2].set(-A[:, ::2])
    assert (x.get() == A * [-1, 1, -1]).all()


def test_copies_and_views(x):
    assert (x.reverse().get().ravel() == A.ravel()[::-1]).all()
    assert (x.view(np.int32).get() == A.view(np.int32)).all()
    with pytest.raises(ValueError, match="not compatible"):
        x.view(np.float64)
    assert x[None].squeeze().shape == (2, 3)
    assert gpuarray.zeros((0, 1)).squeeze().shape == (0,)
    assert (x.T.flags.c_contiguous, x.T.flags.f_contiguous) == (False, True)
    assert gpuarray.zeros_like(x, order="F").flags.f_contiguous
    assert (pickle.loads(pickle.dumps(x)).get() == A).all()
    with pytest.raises(ValueError, match="total size"):
        x.reshape(5)
    with pytest.raises(ValueError, match="one unknown"):
        x.reshape(-1, -1)


def test_as_a_python_object(x):
    assert len(x) == 2
    assert [row.get().tolist() for row in x] == A.tolist()
    assert (float(x[0, 1]), bool(x[0, 0]), int(x[1, 2])) == (1.0, False, 5)
    assert (repr(x), str(x)) == (repr(A), str(A))
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(x)
    with pytest.raises(TypeError, match="unsized"):
        len(x.sum())


def test_functions(x):
    same = np.testing.assert_array_equal
    same(x.mul_add(2, x, 3).get(), 5 * A)
    same(gpuarray.if_positive(x - 2, x, -x).get(), np.where(A > 2, A, -A))
    same(gpuarray.logical_not(x).get(), A == 0)
    same(gpuarray.logical_and(x, 1).get(), A != 0)
    same(gpuarray.minimum(2, x).get(), np.minimum(2, A))
    same(x.clip(1, 4).get(), A.clip(1, 4))
    z = gpuarray.to_gpu(A + 2j * A)
    same(z.real.get(), A)
    same(z.imag.get(), 2 * A)
    same(z.conj().get(), A - 2j * A)
    assert x.real is x
    same(x.imag.get(), 0 * A)
    with pytest.warns(UserWarning, match="guessed dtype"):
        same(gpuarray.arange(3, 9, 2).get(), [3, 5, 7])


def test_taking_and_putting(x):
    places = gpuarray.to_gpu(np.array([2, 0], np.int32))
    same = np.testing.assert_array_equal
    same(gpuarray.take(x, places).get(), [2, 0])
    same(
        [array.get() for array in gpuarray.multi_take([x, -x], places)],
        [[2, 0], [-2, 0]],
    )
    (put,) = gpuarray.multi_put(
        [places], places, (3,), out=[gpuarray.zeros(3, np.int32)]
    )
    same(put.get(), [0, 0, 2])
    (moved,) = gpuarray.multi_take_put(
        [x], places, places, out=[gpuarray.zeros(3, np.float32)], src_offsets=[3]
    )
    same(moved.get(), [3, 0, 5])
    assert gpuarray.subset_sum(places, x).get() == 2
    assert gpuarray.subset_dot(places, x, x).get() == 4
    assert gpuarray.subset_min(places, x).get() == 0
    assert gpuarray.subset_max(places, x).get() == 2
    with pytest.raises(IndexError, match="out of bounds"):
        gpuarray.take(x, gpuarray.to_gpu(np.array([6])))


def test_joining(x):
    y = x + 1
    np.testing.assert_array_equal(
        gpuarray.concatenate([x, y], axis=1).get(), np.concatenate([A, A + 1], axis=1)
    )
    np.testing.assert_array_equal(
        gpuarray.stack([x, y], axis=2).get(), np.stack([A, A + 1], axis=2)
    )
    with pytest.raises(ValueError, match="same shape"):
        gpuarray.concatenate([x, x.T])


def test_vector_types():
    vec = gpuarray.vec
    assert (vec.float3.itemsize, vec.float3.names) == (12, ("x", "y", "z"))
    value = vec.make_int2(1, 2)
    assert (value["x"], value["y"], value.dtype) == (1, 2, vec.int2)
    with pytest.raises(TypeError, match="expected 2"):
        vec.make_int2(1)


@pytest.mark.slow
def test_more_than_2_to_31_elements():
    count = 2**31 + 1000
    if cuda.mem_get_info()[0] < 40 * 2**30:
        pytest.skip("needs 40 GiB of device memory")
    x = gpuarray.zeros(count, np.int8)
    x[-3:] = 5
    x[2**31 + 1] = 7
    assert (x.sum().get(), x[::2].sum().get(), x.argmax().get()) == (22, 5, 2**31 + 1)
    assert (x + x)[-3:].get().tolist() == [10, 10, 10]
    assert x[::-1].copy()[:5].get().tolist() == [5, 5, 5, 0, 0]
    places = gpuarray.to_gpu(np.array([2**31 + 1, count - 1]))
    assert x[places].get().tolist() == [7, 5]
    matrix = x[: 2**31].reshape(2, 2**30)
    matrix[1, -1] = 3
    assert matrix.sum(1).get().tolist() == [0, 3]
    assert matrix.sum(0)[-2:].get().tolist() == [0, 3]
    assert (matrix.T + 1)[-1].get().tolist() == [1, 4]


def test_parts_may_be_set(device):
    host = (np.arange(6) + 1j).reshape(2, 3).astype(np.complex64)
    z = gpuarray.to_gpu(host).T
    z.real, z.imag = np.arange(6, dtype=np.float32).reshape(3, 2), 7
    np.testing.assert_array_equal(z.get(), np.arange(6).reshape(3, 2) + 7j)
    assert z.real.flags.forc  # kernels take its address
    x = gpuarray.to_gpu(A)
    x.real = 2
    assert (x.get() == 2).all()
    with pytest.raises(TypeError, match="no imaginary part"):
        x.imag = 1


def test_flat(x):
    assert len(x.flat) == 6 and [float(e.get()) for e in x.T.flat] == [*A.T.flat]
    assert x.flat[4].get() == 4 and x.flat[::-2].get().tolist() == [5, 3, 1]
    expected = A.copy()
    for device_array, host in (
        (x, expected),
        (x.T, expected.T),
        (x[:, ::2], expected[:, ::2]),
    ):
        device_array.flat[1] = host.flat[1] = 9
        device_array.flat[-2:] = host.flat[-2:] = 8
        np.testing.assert_array_equal(x.get(), expected)
    x.flat = 1
    assert (x.flat.copy().get() == np.ones(6)).all()


def test_shape_may_be_set(x):
    x.shape = (3, -1)
    assert (x.shape, x.strides) == ((3, 2), (8, 4)) and (
        x.get().ravel() == A.ravel()
    ).all()
    x.shape = 6
    assert x.shape == (6,)
    x.shape = (3, 4)
    with pytest.raises(ValueError, match="shape was set"):
        x.get()
    with pytest.raises(TypeError, match="deleted"):
        del x.shape


def test_transpose_by_keyword(x):
    assert x.transpose(axes=(1, 0)).shape == x.transpose(axes=None).shape == (3, 2)
    assert gpuarray.zeros((1, 2, 3)).transpose(axes=[0, 2, 1]).shape == (1, 3, 2)


def test_private_methods_of_dependents(x):
    new = x._new_like_me()
    assert (new.shape, new.dtype, new.strides) == (x.shape, x.dtype, x.strides)
    assert x.T._new_like_me().flags.f_contiguous
    assert x._new_like_me(np.int16).dtype == np.int16
    assert x._new_like_me(np.float64, order="F").flags.f_contiguous
    out = gpuarray.empty_like(x)
    cases = [
        (x._axpbyz(2, x, 3, out), 5 * A),
        (x._axpbz(2, 1, out), 2 * A + 1),
        (x._elwise_multiply(x, out), A * A),
        ((x + 1)._div(x + 2, out), (A + 1) / (A + 2)),
        ((x + 1)._rdiv_scalar(2, out), 2 / (A + 1)),
    ]
    assert all(result is out for result, _ in cases)
    np.testing.assert_allclose(out.get(), cases[-1][1], rtol=1e-6)
    for method, arguments, expected in (
        (x._axpbyz, (2, x, 3), 5 * A),
        (x._axpbz, (2, 1), 2 * A + 1),
        (x._elwise_multiply, (x,), A * A),
        ((x + 1)._div, (x + 2,), (A + 1) / (A + 2)),
        ((x + 1)._rdiv_scalar, (2,), 2 / (A + 1)),
        (x._pow, (2, True), A**2),
    ):
        np.testing.assert_allclose(method(*arguments).get(), expected, rtol=1e-6)
    assert x._pow(2, new=False) is x and (x.get() == A**2).all()


def test_mul_add_returns_its_time(x):
    told = []
    result = x.mul_add(2, x, 3, add_timer=lambda *args: told.append(args))
    assert (result.get() == 5 * A).all()
    assert told[0][0] == 3 * x.nbytes and 0 <= told[0][1] < 10


def test_to_gpu_and_set_take_device_arrays(device):
    host = np.arange(12, dtype=np.float32).reshape(3, 4)
    first = gpuarray.to_gpu(host)
    for copy in (
        gpuarray.to_gpu(first),
        gpuarray.to_gpu_async(first),
        gpuarray.to_gpu(first.T, allocator=cuda.mem_alloc).T,
    ):
        first.fill(0)
        np.testing.assert_array_equal(copy.get(), host)
        first.set(copy)
        np.testing.assert_array_equal(first.get(), host)
    first[:, ::2].set(first[:, 1::2])
    np.testing.assert_array_equal(first.get()[:, ::2], host[:, 1::2])
    with pytest.raises(ValueError, match="must have the same dtype: int32 and float32"):
        first.set(gpuarray.zeros((3, 4), np.int32))
    with pytest.raises(ValueError, match="must be the same size: 3 and 12"):
        first.set(gpuarray.zeros(3, np.float32))
