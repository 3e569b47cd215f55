"""Composite functions have NumPy's values, and few launches: each is traced once and becomes a kernel."""

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda
import pycuda.driver as cuda
from pycuda import gpuarray

pytestmark = pytest.mark.usefixtures("device")

# Functions of x (floats), n (with NaN), z (complex), i (integers) and b (bool), and the launches of one call.
CASES = {
    "cross": (1, lambda np, a: np.cross(a.x[:, :3], a.x[0, 3:6])),
    "cross of columns": (1, lambda np, a: np.cross(a.x[:3], a.x[3:6], axis=0)),
    "norm": (1, lambda np, a: np.linalg.norm(a.x, axis=1, keepdims=True)),
    "norm of complex numbers": (1, lambda np, a: np.linalg.norm(a.z, "fro")),
    "largest size": (1, lambda np, a: np.linalg.norm(a.x[0], np.inf)),
    "largest size of none": (1, lambda np, a: np.linalg.norm(a.x[:0], np.inf, axis=1)),
    "ptp": (1, lambda np, a: np.ptp(a.x, axis=-1)),
    "average": (2, lambda np, a: np.average(a.x, axis=1, weights=a.i[0] + 1)),
    "cov": (1, lambda np, a: np.cov(a.x[:, :12], rowvar=False)),
    "cov of integers": (1, lambda np, a: np.cov(a.i[::3, ::2], bias=True)),
    "cov of one": (1, lambda np, a: np.cov(a.x[0], ddof=3)),
    "cov of many": (4, lambda np, a: np.cov(np.tile(a.x, (3, 1)))),
    "cov of no freedom": (3, lambda np, a: np.cov(a.x[:, :2], ddof=2)),
    "corrcoef": (1, lambda np, a: np.corrcoef(a.z[:12])),
    "corrcoef of columns": (1, lambda np, a: np.corrcoef(a.i[:, ::4], rowvar=False)),
    "corrcoef of one": (4, lambda np, a: np.corrcoef(a.x[0])),
    "corrcoef of many": (6, lambda np, a: np.corrcoef(np.tile(a.x, (3, 1)))),
    "choose": (2, lambda np, a: np.choose(a.i % 3, [a.x, 2.5, a.i])),
    "choose of one": (2, lambda np, a: np.choose(a.i * 0, [a.x])),
    "nanmean": (1, lambda np, a: np.nanmean(a.n, axis=0)),
    "nanvar": (1, lambda np, a: np.nanvar(a.n, axis=1, ddof=1)),
    "nanstd": (1, lambda np, a: np.nanstd(a.n, axis=(0, 1), keepdims=True)),
    "nanargmin": (2, lambda np, a: np.nanargmin(a.n, axis=1)),
    "nancumsum": (2, lambda np, a: np.nancumsum(a.n, axis=1)),
    "masked mean": (1, lambda np, a: np.mean(a.x, axis=0, where=a.b)),
    "masked var": (1, lambda np, a: np.var(a.i, axis=1, where=a.b[0], ddof=1)),
    "masked std": (1, lambda np, a: np.std(a.z, where=a.b, keepdims=True)),
    "iscomplex": (1, lambda np, a: np.iscomplex(a.z)),
    "real_if_close": (1, lambda np, a: np.real_if_close(a.z)),
    "nan_to_num": (1, lambda np, a: np.nan_to_num(a.n, nan=7, posinf=np.float64(1e30))),
    "modf": (1, lambda np, a: np.modf(a.x.T[::2])),
    "divmod": (1, lambda np, a: np.divmod(a.i, a.x[:1])),
    "select": (1, lambda np, a: np.select([a.b, a.b[0]], [a.x, a.i], -1)),
    "gradient": (2, lambda np, a: np.gradient(a.x[::-1], 0.5, axis=1)),
    "gradient of two": (3, lambda np, a: np.gradient(a.x[:2], axis=0)),
    "pad": (2, lambda np, a: np.pad(a.x, ((1, 2), (3, 0)), constant_values=7)),
    "pad by several": (5, lambda np, a: np.pad(a.x, 2, constant_values=(1, 2))),
}  # fmt: skip


class Operands:
    def __init__(self, convert) -> None:
        rng = np.random.default_rng(0)
        x = rng.standard_normal((30, 40)).astype(np.float32)
        self.x, self.b = convert(x), convert(x > 0)
        self.n = convert(np.where(x > 1, np.float32(np.nan), x))
        self.z = convert((x + 1j * x[::-1]).astype(np.complex64))
        self.i = convert(rng.integers(0, 9, x.shape).astype(np.int32))


@pytest.mark.parametrize("name", CASES)
def test_values_and_launches(name):
    most, function = CASES[name]
    operands = Operands(gpuarray.to_gpu)
    ours, theirs = function(np, operands), function(np, Operands(np.array))
    if not isinstance(theirs, tuple):
        ours, theirs = (ours,), (theirs,)
    for one, other in zip(ours, theirs, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        np.testing.assert_allclose(one.get(), other, rtol=1e-3, atol=1e-5)
    if not is_softcuda():  # only the software device counts launches
        return
    cuda.Context.synchronize()
    with pycuda.profile(counters=False) as profile:
        function(np, operands)
    # The operands of `average` are a launch of the test.
    extra = name == "average"
    assert sum(one.activity == "kernel" for one in profile.events) <= most + extra


@pytest.mark.parametrize("dtype", ["i8", "i1", "f4", "c8"])
def test_indices(dtype):
    for shape in [(3, 5, 2), (4,), (300, 2), (2, 0, 3), ()]:
        for sparse in (False, True):
            ours = gpuarray.indices(shape, dtype, sparse)
            theirs = np.indices(shape, dtype, sparse)
            for one, other in zip(ours, theirs, strict=True):
                assert (one.dtype, one.shape) == (other.dtype, other.shape)
                np.testing.assert_array_equal(one.get(), other)
    x, y = gpuarray.indices((2, 3), sparse=True)
    x[...] = 7  # the vectors do not share memory
    assert y.get().tolist() == [[0, 1, 2]]


def test_choices_outside():
    x = gpuarray.arange(4, dtype=np.int8)
    for chosen in (x, x - 1):
        with pytest.raises(ValueError, match="from 0 to 2, not from"):
            np.choose(chosen, [x, x, x])
        with pytest.raises(ValueError, match="from 0 to 19, not from -7"):
            np.choose(chosen - 7 - chosen.min(), [x] * 20)
    assert np.choose(x[:0], [x[:0], 2]).shape == (0,)


def test_variables_without_observations():
    for name in ("cov", "corrcoef"):
        ours = getattr(np, name)(gpuarray.zeros((0, 3), np.complex64))
        assert (ours.shape, ours.dtype) == ((0, 0), np.float64)


def test_errors_of_composites():
    x = gpuarray.zeros((3, 4), np.float32)
    with pytest.raises(np.exceptions.AxisError):
        np.linalg.norm(x, axis=3)
    with pytest.raises(np.exceptions.AxisError):
        np.ptp(x, axis=2)
    with pytest.raises(ZeroDivisionError):
        np.average(x, weights=x)
    with pytest.raises(ValueError, match="All-NaN"):
        np.nanargmax(x * np.nan)
    with pytest.raises(ValueError, match="broadcast"):
        np.mean(x[0], where=x > 0)
    with pytest.raises(TypeError, match="cannot be cast"):
        np.nan_to_num(x, nan=1j)
