"""cumsum and cumprod compared with numpy: types, axes, layouts, and sizes of many tiles."""

import numpy as np
import pytest
from marks import slow

import pycuda.driver as cuda
from pycuda import _driver, gpuarray

pytestmark = pytest.mark.usefixtures("device")
TYPES = "?bBhHiIqQefdFD"


def small_numbers(shape, dtype, seed=0):
    """Numbers whose sums are exact in every type."""
    return np.random.default_rng(seed).integers(0, 3, shape).astype(dtype)


def check_sums(x, axis, **keywords):
    result = gpuarray.cumsum(gpuarray.to_gpu(x), axis, **keywords)
    expected = np.cumsum(x, axis, **keywords)
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(result.get(), expected)


@pytest.mark.parametrize("dtype", TYPES)
def test_types(dtype):
    check_sums(small_numbers(700, dtype), 0)
    check_sums(small_numbers((3, 90), dtype), None)


# Columns: many scans side by side. Warps: many short ones. Tiles: long ones.
@pytest.mark.parametrize(
    ("shape", "axis"),
    [((0,), 0), ((3, 0), 1), ((0, 3), 1), ((), None), ((1,), -1), ((5, 2100), 0), ((70, 1000), 1)]
    + [((40, 9), 0), ((2, 9000), 1), ((3, 20, 70), 1), ((2100, 4), 1), ((7, 3, 5), None)],
)  # fmt: skip
def test_shapes(shape, axis):
    check_sums(small_numbers(shape, np.int32), axis)


@pytest.mark.parametrize("dtype", ["f4", *slow(["f2", "i4", "f8", "u1", "c8", "c16"])])
def test_long_scans_are_the_same_however_they_are_done(dtype):
    """With a block for each tile and with the device's other method: short loops (a CPU) or a
    pipeline (a GPU that copies in bulk). The bits must be equal."""
    n = 400_001 if "softcuda" in cuda.get_driver_path() else 9_000_001
    x = np.random.default_rng(5).random(n + 1).astype(dtype)
    if x.dtype.kind == "c":
        x += 1j * x[::-1]
    on_device = gpuarray.to_gpu(x)
    with _driver._Kernels(form="packed"):
        shifted = _driver._array_scan("sum", on_device[1:], 0)
    aligned = gpuarray.cumsum(on_device[1:].copy())
    assert shifted.get().tobytes() == aligned.get().tobytes()
    several = on_device[: n // 3 * 3].reshape(3, -1)
    for row in range(3):
        alone = gpuarray.cumsum(several[row].copy())
        np.testing.assert_array_equal(
            gpuarray.cumsum(several, 1)[row].get(), alone.get()
        )
    if x.dtype.kind in "iu":
        np.testing.assert_array_equal(aligned.get(), x[1:].cumsum())


def test_strided_views():
    x = small_numbers((50, 40, 30), np.int16)
    on_device = gpuarray.to_gpu(x)
    views = [np.s_[::-1, ::2, 1:], np.s_[:, 3, ::-1], np.s_[:, :, None, 4]]
    for view in views:
        for axis in range(x[view].ndim):
            got = gpuarray.cumsum(on_device[view], axis).get()
            np.testing.assert_array_equal(got, np.cumsum(x[view], axis))
    got = on_device.transpose(2, 0, 1).cumsum().get()
    np.testing.assert_array_equal(got, x.transpose(2, 0, 1).cumsum())


def test_dtype_and_out():
    x = small_numbers((6, 50), np.int32)
    check_sums(x, 1, dtype=np.float32)
    check_sums(x, 1, dtype=np.int8)
    out = gpuarray.zeros(x.shape, np.float64)
    assert gpuarray.cumsum(gpuarray.to_gpu(x), 0, out=out) is out
    np.testing.assert_array_equal(out.get(), x.cumsum(0))
    stream = cuda.Stream()
    streamed = gpuarray.cumsum(gpuarray.to_gpu(x), 0, stream=stream)
    np.testing.assert_array_equal(streamed.get(), x.cumsum(0))


@pytest.mark.parametrize("dtype", "bBiqfdF")
def test_products(dtype):
    x = (
        np.random.default_rng(1)
        .choice(np.array([-1, 1, 2], dtype="i1"), (4, 60))
        .astype(dtype)
    )
    for axis in (0, 1, None):
        got = gpuarray.to_gpu(x).cumprod(axis)
        assert got.dtype == np.cumprod(x, axis).dtype
        np.testing.assert_allclose(got.get(), np.cumprod(x, axis), rtol=1e-5)


def test_not_a_number_stays():
    x = np.ones(20_000, np.float32)
    x[12_345] = np.nan
    np.testing.assert_array_equal(gpuarray.to_gpu(x).cumsum().get(), x.cumsum())


def test_floats_are_close_and_repeat():
    x = np.random.default_rng(2).standard_normal(1_000_003).astype(np.float32)
    on_device = gpuarray.to_gpu(x)
    first = on_device.cumsum().get()
    np.testing.assert_allclose(first, np.cumsum(x, dtype=np.float64), atol=2e-3)
    for _ in range(3):
        np.testing.assert_array_equal(on_device.cumsum().get(), first)


def test_names_of_numpy_and_the_array_api():
    x = small_numbers((5, 9), np.int64)
    on_device = gpuarray.to_gpu(x)
    np.testing.assert_array_equal(np.cumsum(on_device, 1).get(), x.cumsum(1))
    np.testing.assert_array_equal(gpuarray.cumprod(on_device, 0).get(), x.cumprod(0))
    for axis in (0, -1):
        for name in ("cumulative_sum", "cumulative_prod"):
            if not hasattr(np, name):
                pytest.skip("this numpy has no cumulative_sum()")
            expected = getattr(np, name)(x, axis=axis, include_initial=True)
            got = getattr(gpuarray, name)(on_device, axis=axis, include_initial=True)
            np.testing.assert_array_equal(got.get(), expected)
    same = np.testing.assert_array_equal
    same(np.add.accumulate(on_device, 1).get(), np.add.accumulate(x, 1))
    same(np.maximum.accumulate(on_device).get(), np.maximum.accumulate(x))
    with pytest.raises(ValueError, match="needs an axis"):
        gpuarray.cumulative_sum(on_device)


def test_what_is_refused():
    x = gpuarray.zeros((2, 3), np.float32)
    with pytest.raises(np.exceptions.AxisError):
        gpuarray.cumsum(x, 2)
    struct = gpuarray.zeros(3, np.dtype([("a", "i4")]))
    with pytest.raises(TypeError, match="not defined for elements of"):
        gpuarray.cumsum(struct)


# Around the sizes at which the look-back gets another level of nodes, and much larger ones.
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("dtype", ["i4", "i8", "f4", "f8", "c16"])
@pytest.mark.parametrize(
    "n",
    [2**22 - 1, 2**22, 2**22 + 1, 2**22 + 8193, 2**23 + 5, 2**24, 2**24 + 1, 2**24 + 12_345],
)  # fmt: skip
def test_long_scans_again_and_again(n, dtype):
    x = (np.random.default_rng(n).integers(0, 64, n) == 0).astype(dtype)
    expected = x.cumsum()
    on_device = gpuarray.to_gpu(x)
    for repetition in range(2 if "softcuda" in cuda.get_driver_path() else 10):
        got = on_device.cumsum().get()
        wrong = np.flatnonzero(got != expected)
        assert wrong.size == 0, (repetition, wrong[:3], got[wrong[:3]])
