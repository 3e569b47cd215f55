"""Indices of elements that are not zero, and masks as indices."""

import numpy as np
import pytest

from pycuda import gpuarray

pytestmark = pytest.mark.usefixtures("device")


def agree(places, expected):
    assert len(places) == len(expected)
    for one, other in zip(places, expected, strict=True):
        assert one.dtype == np.int64
        np.testing.assert_array_equal(one.get(), other)


@pytest.mark.parametrize("size", [1, 31, 33, 256, 4095, 4096, 4097, 70001])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
def test_sizes(size, share):
    mask = np.random.default_rng(size).random(size) < share
    agree(np.nonzero(gpuarray.to_gpu(mask)), np.nonzero(mask))


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "f4", "f8", "c8", "bfloat16"])
def test_types(dtype):
    if dtype == "bfloat16":
        dtype = pytest.importorskip("ml_dtypes").bfloat16
    a = (np.arange(300).reshape(3, 100) % 7 % 3).astype(dtype)
    if a.dtype.kind == "f":
        a[0, :3] = [-0.0, np.nan, np.inf]
    agree(np.nonzero(gpuarray.to_gpu(a)), np.nonzero(a))


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a,
        lambda a: a.T,
        lambda a: a[::-1, 1:, ::3],
        lambda a: a[:0],
        lambda a: a[1, 2],
        lambda a: a[:, None],
    ],
)
def test_views(view):
    a = np.arange(5 * 7 * 300).reshape(5, 7, 300) % 5 // 3
    agree(np.nonzero(view(gpuarray.to_gpu(a))), np.nonzero(view(a)))


def test_masks():
    a = np.arange(24.0).reshape(2, 3, 4)
    x = gpuarray.to_gpu(a)
    for mask in (a > 5, a[:, :, 0] > 3, np.array([False, True])):
        expected = a[mask]
        np.testing.assert_array_equal(x[mask].get(), expected)
        np.testing.assert_array_equal(x[gpuarray.to_gpu(mask)].get(), expected)
    np.testing.assert_array_equal(
        x[:, np.array([True, False, True]), 1].get(),
        a[:, np.array([True, False, True]), 1],
    )
    x[x > 5] = x[x > 5] * 2
    np.testing.assert_array_equal(x.get(), np.where(a > 5, 2 * a, a))


def test_masks_must_fit():
    x = gpuarray.to_gpu(np.arange(24.0).reshape(2, 3, 4))
    for mask in (np.ones(3, bool), np.ones((2, 4), bool), np.ones((1, 3, 4), bool)):
        with pytest.raises(IndexError, match="does not fit"):
            x[mask]
    with pytest.raises(IndexError, match="does not fit"):
        x[:, np.ones(2, bool)]


@pytest.mark.parametrize("value", [False, True])
@pytest.mark.parametrize(
    ("shape", "mask"),
    [
        ((2, 3), (2, 0)), ((2, 3), (0,)), ((0, 1), (0, 0)), ((2, 3, 4), (0, 3)),
        ((), ()), ((2, 3), ()), ((0,), ()),
    ],
)  # fmt: skip
def test_masks_without_axes_or_elements(shape, mask, value):
    """A mask without axes chooses along a new one; one without elements need not fit."""
    a = np.arange(np.prod(shape), dtype="f4").reshape(shape)
    mask = np.full(mask, value)
    x = gpuarray.to_gpu(a)
    for own in (mask, gpuarray.to_gpu(mask)):
        result = x[own].get()
        assert result.shape == a[mask].shape
        np.testing.assert_array_equal(result, a[mask])
    a[mask] = 7
    x[gpuarray.to_gpu(mask)] = 7
    np.testing.assert_array_equal(x.get(), a)


@pytest.mark.parametrize(
    "key", [True, (True, 1), (1, False), ([0, 1], True), (None, True), (..., False, 0)]
)
def test_bools_as_indices(key):
    a = np.arange(12).reshape(3, 4)
    result = gpuarray.to_gpu(a)[key].get()
    assert result.shape == a[key].shape
    np.testing.assert_array_equal(result, a[key])


def test_masks_that_do_not_fit():
    x = gpuarray.zeros((3, 1), np.float32)
    for shape in [(1, 1), (1, 0), (3, 2), (2,)]:
        with pytest.raises(IndexError, match="does not fit"):
            x[np.ones(shape, bool)]


@pytest.mark.parametrize("dtype", ["i1", "f2", "i4", "f8", "c16", "S3", "i4,f8,i1"])
def test_elements_selected_by_a_mask(dtype):
    random = np.random.default_rng(2)
    a = np.frombuffer(random.bytes(9001 * np.dtype(dtype).itemsize), dtype)
    for size in (0, 1, 511, 4097, 9001):
        for share in (0.0, 0.3, 1.0):
            mask = random.random(size) < share
            x = gpuarray.to_gpu(a[:size])[gpuarray.to_gpu(mask)]
            assert x.dtype == a.dtype
            assert x.get().tobytes() == a[:size][mask].tobytes()


def test_elements_of_views_selected_by_a_mask():
    a = np.arange(6 * 8.0).reshape(6, 8)
    x, mask = gpuarray.to_gpu(a), a % 3 == 0
    on_device = gpuarray.to_gpu(mask)
    np.testing.assert_array_equal(x.T[on_device.T].get(), a.T[mask.T])
    np.testing.assert_array_equal(
        x[::-2, 1:][on_device[::2, :-1]].get(), a[::-2, 1:][mask[::2, :-1]]
    )


def test_indices_along_several_axes():
    a = np.arange(5 * 6 * 7).reshape(5, 6, 7)
    x = gpuarray.to_gpu(a)
    rows, columns = np.array([[0], [-1], [2]]), np.array([5, -6, 0, 3])
    np.testing.assert_array_equal(x[rows, columns].get(), a[rows, columns])
    np.testing.assert_array_equal(x[rows, :, columns].get(), a[rows, :, columns])
    np.testing.assert_array_equal(
        x[::2][np.array([2, -3]), 1:, -1].get(), a[::2][[2, -3], 1:, -1]
    )
    x[rows, columns] = 7
    a[rows, columns] = 7
    np.testing.assert_array_equal(x.get(), a)


def test_indices_outside_change_nothing():
    a = np.arange(30.0).reshape(5, 6)
    x = gpuarray.to_gpu(a)
    for index in (([0, 5],), ([0, 1], [2, -7]), ([0, -6], [0, 0])):
        axis = 1 if index == ([0, 1], [2, -7]) else 0
        with pytest.raises(
            IndexError, match=f"out of bounds for axis {axis} with size"
        ):
            x[index]
        with pytest.raises(
            IndexError, match=f"out of bounds for axis {axis} with size"
        ):
            x[index] = 1
    np.testing.assert_array_equal(x.get(), a)
