"""Functions that copy several arrays, or several parts, in one launch."""

import itertools

import numpy as np
import pytest

import pycuda
import pycuda.driver as cuda
from pycuda import gpuarray

pytestmark = pytest.mark.usefixtures("device")

JOIN = {
    "concatenate": lambda arrays: np.concatenate(arrays, -1),
    "flat": lambda arrays: np.concatenate(arrays, None),
    "stack": lambda arrays: np.stack(arrays, 1),
    "vstack": np.vstack, "hstack": np.hstack, "dstack": np.dstack, "column_stack": np.column_stack,
    "meshgrid": lambda arrays: np.meshgrid(*arrays, indexing="ij")[-1],
}  # fmt: skip


def launches(call) -> int:
    call()
    cuda.Context.synchronize()
    with pycuda.profile(counters=False) as profile:
        call()
    return sum(event.activity == "kernel" for event in profile.events)


def check(function, hosts):
    arrays = [gpuarray.to_gpu(host) for host in hosts]
    try:
        theirs = function(hosts)
    except ValueError:
        with pytest.raises(ValueError):
            function(arrays)
        return
    ours = function(arrays)
    assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
    np.testing.assert_array_equal(ours.get(), theirs)


@pytest.mark.parametrize("name", JOIN)
@pytest.mark.parametrize("count", [1, 2, 5, 40])
def test_like_numpy(name, count):
    shapes = [(), (1,), (5,), (0,), (3, 4), (1, 4), (2, 3, 2)]
    for shape in shapes if name != "meshgrid" or count < 5 else []:
        hosts = [np.full(shape, i, "f4") for i in range(count)]
        check(JOIN[name], hosts)
        if shape:
            check(JOIN[name], [host.T[::-1] for host in hosts])


@pytest.mark.parametrize("name", JOIN)
def test_arrays_of_two_shapes(name):
    shapes = [(), (1,), (5,), (3, 4), (3, 2), (1, 4)]
    for one, other in itertools.product(shapes, shapes):
        check(JOIN[name], [np.ones(one, "f4"), np.zeros(other, "f4")])


@pytest.mark.parametrize("dtype", ["?", "u1", "f2", "i4", "f8", "c16", [("a", "i4"), ("b", "f8")]])  # fmt: skip
def test_elements_of_any_size(dtype):
    host = np.zeros((6, 10), dtype)
    host.view(np.uint8)[...] = np.arange(host.nbytes).reshape(6, -1) % 2
    check(JOIN["concatenate"], [host, host[:, 1::3], host[:, ::-1]])
    x = gpuarray.to_gpu(host)
    for shift, axis in [(3, None), (-1, 1), ((2, 4), (0, 1)), (0, 0), (7, -1)]:
        np.testing.assert_array_equal(np.roll(x, shift, axis).get(), np.roll(host, shift, axis))  # fmt: skip


@pytest.mark.parametrize("size", [100, 100_000])
def test_the_result_overlaps_an_array(size):
    x = gpuarray.to_gpu(np.arange(size, dtype=np.float32))
    host = x.get()
    np.concatenate([x[size // 2 :], x[: size // 2]], out=x)
    # As NumPy's, each array is copied as a whole, one after the other.
    half = host[size // 2 :]
    np.testing.assert_array_equal(x.get(), np.concatenate([half, half]))


def test_types_and_errors():
    x, y = gpuarray.zeros(2, np.float32), gpuarray.ones(2, np.int64)
    assert np.concatenate([x, y]).dtype == np.float64
    assert np.concatenate([x, y], dtype=np.float16).dtype == np.float16
    with pytest.raises(TypeError, match="cannot be cast"):
        np.concatenate([x, y], dtype=np.int8, casting="safe")
    with pytest.raises(TypeError, match="not both"):
        gpuarray.concatenate([x], 0, gpuarray.zeros(2), dtype=np.int8)
    with pytest.raises(ValueError, match="at least one array"):
        gpuarray.stack([])
    with pytest.raises(ValueError, match="same shape"):
        np.stack([x, x.reshape(1, 2)])
    np.testing.assert_array_equal(np.append(x, [3, 4]).get(), [0, 0, 3, 4])


def test_one_launch():
    x = gpuarray.zeros((8, 8), np.float32)
    assert launches(lambda: np.concatenate([x] * 20)) == 1
    assert launches(lambda: np.stack([x, x.T, x[::-1]], 2)) == 1
    assert launches(lambda: np.roll(x, (1, 2), (0, 1))) == 1
    assert launches(lambda: np.meshgrid(x[0], x[1], x[2])) == 1


PLACES = [0, -1, 3, [1, 3], [3, 1], [1, 1, 2], [-1, 0], [], [5], 5, 9, -9, [9], slice(1, 4), slice(None, None, -2), np.array(2), list(range(4)) * 12]  # fmt: skip


@pytest.mark.parametrize("places", PLACES, ids=str)
def test_parts_are_deleted_and_inserted(places):
    def insert_own(x, axis):
        return np.insert(x, places, x[:1, :1] if x.ndim > 1 else x[:1], axis)

    for host in (np.arange(5, dtype="f4"), np.arange(20, dtype="i8").reshape(5, 4)):
        for axis in (None, 0, -1):
            check_with_errors(lambda x, axis: np.delete(x, places, axis), host, axis)
            check_with_errors(lambda x, axis: np.insert(x, places, 7, axis), host, axis)
            check_with_errors(insert_own, host, axis)


def check_with_errors(function, host, axis):
    try:
        theirs = function(host, axis)
    except (IndexError, ValueError) as error:
        with pytest.raises(type(error)):
            function(gpuarray.to_gpu(host), axis)
        return
    np.testing.assert_array_equal(function(gpuarray.to_gpu(host), axis).get(), theirs)


def test_rows_are_inserted():
    host, rows = np.zeros((3, 2), "f4"), np.float32([[1, 2], [3, 4]])
    x, y = gpuarray.to_gpu(host), gpuarray.to_gpu(rows)
    for places in (1, [1, 2], [0, 3], [2, 0]):
        expected = np.insert(host, places, rows, 0)
        np.testing.assert_array_equal(np.insert(x, places, y, 0).get(), expected)
    assert launches(lambda: np.insert(x, [1, 2], y, 0)) == 1
    assert launches(lambda: np.delete(x, [1], 0)) == 1
