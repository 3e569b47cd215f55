"""packbits, unpackbits, windows, unwrap, piecewise, trim_zeros: values as NumPy's."""

import numpy as np
import pytest

from pycuda import gpuarray

pytestmark = pytest.mark.usefixtures("device")


def on_device(value):
    return gpuarray.to_gpu(value) if isinstance(value, np.ndarray) else value


def same(name, *args, exact=True, **kwargs):
    expected = getattr(np, name)(*args, **kwargs)
    got = getattr(np, name)(*map(on_device, args), **kwargs)
    assert got.dtype == expected.dtype and got.shape == expected.shape
    if exact:
        np.testing.assert_array_equal(got.get(), expected)
    else:
        np.testing.assert_allclose(got.get(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("order", ["big", "little"])
@pytest.mark.parametrize("dtype", ["?", "i4"])
def test_packbits(dtype, order):
    x = (np.random.default_rng(0).integers(0, 3, 2400) * 85).astype(dtype)
    for one in (x, x[:13], x[8:], x[1:], x[::2], x[::-1], x[:0], x[:1]):
        same("packbits", one, bitorder=order)
    for shape in ((3, 800), (24, 100), (6, 20, 20), (150, 16), (2400, 1), (0, 5)):
        one = x[: np.prod(shape)].reshape(shape)
        same("packbits", one, bitorder=order)
        for axis in range(-1, len(shape)):
            same("packbits", one, axis=axis, bitorder=order)
            same("packbits", one.T, axis=axis, bitorder=order)
    for axis in (None, 0, -1):
        same("packbits", np.array(5, dtype), axis=axis, bitorder=order)


@pytest.mark.parametrize("order", ["big", "little"])
def test_unpackbits(order):
    x = np.random.default_rng(0).integers(0, 256, 600).astype(np.uint8)
    for count in (None, 0, 1, 8, 23, 5000, -1, -8, -4800):
        same("unpackbits", x, count=count, bitorder=order)
        same("unpackbits", x[::3], count=count and count // 3, bitorder=order)
    for shape in ((3, 200), (6, 10, 10), (0, 5), (600, 1)):
        one = x[: np.prod(shape)].reshape(shape)
        for axis in (None, *range(-1, len(shape))):
            # NumPy does not fill results of empty arrays.
            for count in (None, 3, 10, 90) if one.size else (None,):
                same("unpackbits", one, axis=axis, count=count, bitorder=order)
            same("unpackbits", one.T, axis=axis, bitorder=order)
    same("unpackbits", np.array(5, np.uint8), bitorder=order)
    packed = gpuarray.packbits(gpuarray.to_gpu(x > 9), bitorder=order)
    assert (gpuarray.unpackbits(packed, bitorder=order).get() == (x > 9)).all()


def test_bits_of_wrong_arrays():
    x = gpuarray.zeros(8, np.float32)
    with pytest.raises(TypeError, match="bool or of integers, not of float32"):
        gpuarray.packbits(x)
    with pytest.raises(TypeError, match="uint8, not of float32"):
        gpuarray.unpackbits(x)
    x = gpuarray.zeros(2, np.uint8)
    with pytest.raises(ValueError, match="'big' or 'little'"):
        gpuarray.packbits(x, bitorder="middle")
    with pytest.raises(ValueError, match="16 bits"):
        gpuarray.unpackbits(x, count=-17)


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hanning"])
def test_windows(name):
    for count in (-1, 0, 1, 2, 3, 8, 101):
        expected = getattr(np, name)(count)
        got = getattr(gpuarray, name)(count)
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got.get(), expected, rtol=1e-12, atol=1e-15)
        kaiser = gpuarray.kaiser(count, 8.6).get()
        np.testing.assert_allclose(kaiser, np.kaiser(count, 8.6), rtol=1e-12)
    np.testing.assert_array_equal(gpuarray.kaiser(9, 0).get(), np.ones(9))
    x = np.linspace(-5, 5, 30)
    np.testing.assert_allclose(np.i0(on_device(x)).get(), np.i0(x), rtol=1e-12)


def test_unwrap_of_bools():
    x = np.random.default_rng(1).random((5, 9)) > 0.5
    for words in ({}, {"period": 1}, {"period": 4}, {"discont": 0.1, "axis": 0}):
        same("unwrap", x, exact=False, **words)


def test_unwrap():
    rng = np.random.default_rng(0)
    x = np.cumsum(rng.random(200)) * 1.7
    for kind in ("f8", "f4"):
        same("unwrap", (x % (2 * np.pi)).astype(kind)[:40], exact=False)
    same("unwrap", (x % 3).reshape(20, 10), axis=0, period=3, exact=False)
    same("unwrap", (x % 3).reshape(20, 10)[:, ::2], period=3.0, exact=False)
    same("unwrap", x % 6, 4.0, exact=False)
    whole = rng.integers(-9, 9, 100)
    for period in (4, 5):
        same("unwrap", whole, period=period)
    same("unwrap", whole, discont=4, period=6)
    same("unwrap", whole, period=2.5, exact=False)
    same("unwrap", whole[:1])
    same("unwrap", whole[:0])
    with pytest.raises(ValueError, match="axis"):
        gpuarray.unwrap(gpuarray.zeros(()))


def test_piecewise():
    x = np.linspace(-3, 3, 41)

    def both(x, *args, **kwargs):
        def on(array):
            given = [
                [array(one) if isinstance(one, np.ndarray) else one for one in part]
                if isinstance(part, list)
                else part
                for part in args
            ]
            return np.piecewise(array(x), *given, **kwargs)

        expected, got = on(np.asarray), on(on_device)
        assert got.dtype == expected.dtype and got.shape == expected.shape
        np.testing.assert_array_equal(got.get(), expected)

    both(x, [x < 0, x >= 0], [-1, 1])
    both(x, [x < 0, x >= 1], [lambda v: -v, lambda v: v * v])
    both(x, [x < 0, x >= 1], [lambda v: -v, 2.5, lambda v: v + v.mean()])
    both(x, [x < 0, x < 1], [1, 2])
    both(x.astype("i4"), [x < 0, x < 1], [1.5, 2, 3])
    both(x, [x < -9], [lambda v: 1 / 0, 3])
    both(x.astype("i4"), [x < 0], [lambda v: v - 0.75])
    both(x[:40].reshape(5, 8), [x[:40].reshape(5, 8) < 0], [lambda v, k, add: v * k + add], 3, add=1)  # fmt: skip
    both(np.array(2.0), [np.array(True)], [lambda v: v + 1])
    got = np.piecewise(on_device(x), on_device(x < 1), [lambda v: v + 1, 7])
    np.testing.assert_array_equal(
        got.get(), np.piecewise(x, x < 1, [lambda v: v + 1, 7])
    )
    small = on_device(x.astype("i1"))
    for wrong, error in ((300, OverflowError), (1j, TypeError)):
        with pytest.raises(error):
            np.piecewise(x.astype("i1"), [x < 0], [wrong])
        with pytest.raises(error):
            np.piecewise(small, [on_device(x < 0)], [wrong])
    with pytest.raises(ValueError, match="1 condition"):
        gpuarray.piecewise(on_device(x), [on_device(x < 0)], [1, 2, 3])


def test_trim_zeros():
    vectors = ([0, 0, 1, 0, 2, 0], [1, 2], [0, 0], [], [0, 5], [5, 0])
    for one in (*map(np.array, vectors), np.array([0.0, -0.0, np.nan, 0.0])):
        for trim in ("f", "b", "fb", "BF"):
            same("trim_zeros", one, trim)
    m = np.zeros((5, 6, 3), np.int32)
    same("trim_zeros", m)
    m[1, 2:4, 1] = 7
    for axis in (None, 0, -1, (0, 2)):
        same("trim_zeros", m, axis=axis)
        same("trim_zeros", m[::2], "f", axis=axis)
    with pytest.raises(ValueError, match="'f', 'b' or 'fb'"):
        gpuarray.trim_zeros(on_device(m), "x")


def test_mask_indices():
    for k in (-1, 0, 2):
        expected = np.mask_indices(6, np.tril, k)
        for one, other in zip(gpuarray.mask_indices(6, gpuarray.tril, k), expected, strict=True):  # fmt: skip
            np.testing.assert_array_equal(one.get(), other)


def test_compress_and_extract():
    x = np.arange(24.0).reshape(4, 6)
    mask = np.arange(24) % 3 == 1
    for condition in (mask, mask[:9], mask * 7, np.append(mask, [False] * 5)):
        same("compress", condition, x)
        same("compress", condition[:6], x[0])
    same("compress", mask[:4], x, axis=0)
    same("compress", mask[:3], x, axis=1)
    same("extract", mask, x)
    same("extract", mask.reshape(6, 4), x.T)
    same("extract", mask[:7] * 2, x[:, ::2])
    with pytest.raises(IndexError):
        gpuarray.compress(on_device(np.ones(9, bool)), on_device(x[0]))


def test_coordinate_grids():
    for key in (
        np.s_[:5],
        np.s_[1:9:2],
        np.s_[0:1:5j],
        np.s_[:3, 2:4],
        np.s_[0:1:3j, :2, 5:1:-2],
        np.s_[:0, :2],
        np.s_[:3,],
    ):
        expected, got = np.mgrid[key], gpuarray.mgrid[key]
        assert got.dtype == expected.dtype and got.shape == expected.shape
        np.testing.assert_array_equal(got.get(), expected)
        expected, got = np.ogrid[key], gpuarray.ogrid[key]
        if not isinstance(key, tuple):
            expected, got = (expected,), (got,)
        for one, other in zip(got, expected, strict=True):
            assert one.dtype == other.dtype and one.shape == other.shape
            np.testing.assert_array_equal(one.get(), other)
