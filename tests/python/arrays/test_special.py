"""pycuda.special: SciPy's values, and SciPy's own functions of arrays of the device."""

import numpy as np
import pytest

import pycuda
from pycuda import gpuarray, special
from pycuda.arrays.ufuncs.special_functions import SPECIAL

pytestmark = pytest.mark.usefixtures("device")
scipy_special = pytest.importorskip("scipy.special")

RANGES = {
    "erfinv": (-0.99, 0.99), "erfcinv": (0.01, 1.99), "logit": (0.01, 0.99), "ndtri": (0.01, 0.99),
    "erfcx": (-3, 9), "gamma": (-4.5, 9), "beta": (-3.5, 6), "y0": (0.01, 30), "y1": (0.01, 30),
    "i0": (-20, 20), "i1": (-20, 20), "xlogy": (0, 9), "xlog1py": (0, 9), "rel_entr": (-1, 5),
    "entr": (-1, 5), "psi": (-6.3, 30), "betaln": (0.1, 9), "gammaln": (-6.3, 30), "rgamma": (-6.3, 9),
}  # fmt: skip


@pytest.mark.parametrize("name, dtype", [*((one, "f8") for one in SPECIAL), ("erf", "f4"), ("psi", "f4")])  # fmt: skip
def test_values(name, dtype):
    tolerance = 1e-9 if dtype == "f8" else 2e-4
    low, high = RANGES.get(name, (-6, 6))
    x = np.linspace(low, high, 301).astype(dtype)
    operands = (x, x[::-1].copy())[: SPECIAL[name].nin]
    if name in ("psi", "gamma", "gammaln", "rgamma", "beta", "betaln"):
        # Away from the poles, where rounding of the argument changes the result.
        keep = np.abs(x - np.round(x)) > 0.05
        operands = tuple(one[keep & keep[::-1]] for one in operands)
    with np.errstate(all="ignore"):
        expected = getattr(scipy_special, name)(*(one.astype("f8") for one in operands))
    on_device = [gpuarray.to_gpu(one) for one in operands]
    got = getattr(special, name)(*on_device)
    assert got.dtype == dtype
    scale = np.maximum(np.abs(expected), 1 if name not in ("erfcx", "gamma") else 0)
    finite = np.isfinite(expected)
    error = np.abs(got.get().astype("f8") - expected)[finite] / scale[finite]
    assert error.max() < tolerance
    np.testing.assert_array_equal(got.get()[~finite], expected[~finite])
    theirs = getattr(scipy_special, name)(*on_device)
    np.testing.assert_array_equal(theirs.get(), got.get())


def test_special_values():
    x = gpuarray.array([0.0, -1.0, np.nan, np.inf])
    with np.errstate(all="ignore"):
        for name in ("gammaln", "psi", "entr", "erf", "expit"):
            expected = getattr(scipy_special, name)(x.get())
            got = getattr(special, name)(x).get()
            if name == "psi":
                expected[0], got[0] = 0, 0  # SciPy's sign of the pole
            np.testing.assert_allclose(got, expected)
    assert special.xlogy(gpuarray.zeros(1), gpuarray.zeros(1)).get() == 0
    assert special.erf(gpuarray.array([1, 2])).dtype == np.float64
    with pytest.raises(TypeError):
        special.erf(gpuarray.array([1j]))


def test_functions_of_axes():
    x = np.random.default_rng(0).normal(0, 30, (7, 9))
    b = np.random.default_rng(1).random((7, 9))
    device = gpuarray.to_gpu(x)
    for axis in (None, 0, -1, (0, 1)):
        for name in ("softmax", "log_softmax"):
            expected = getattr(scipy_special, name)(x, axis=axis)
            got = getattr(special, name)(device, axis=axis)
            np.testing.assert_allclose(got.get(), expected, rtol=1e-10, atol=1e-13)
        for keepdims in (False, True):
            got = special.logsumexp(device, axis, gpuarray.to_gpu(b), keepdims)
            expected = scipy_special.logsumexp(x, axis, b, keepdims)
            np.testing.assert_allclose(got.get(), expected, rtol=1e-10, atol=1e-13)
            got = special.logsumexp(device, axis, keepdims=keepdims)
            np.testing.assert_allclose(got.get(), scipy_special.logsumexp(x, axis, keepdims=keepdims))  # fmt: skip
    whole = gpuarray.array([[1, 2], [3, 4]])
    assert special.softmax(whole, axis=1).dtype == np.float64
    loss = pycuda.fuse(lambda x: -special.log_softmax(x, axis=-1).mean())
    np.testing.assert_allclose(
        loss(device).get(), -scipy_special.log_softmax(x, axis=-1).mean()
    )


@pytest.mark.parametrize("dtype, tolerance", [("f4", 3e-5), ("f8", 1e-9)])
def test_beta_of_large_numbers(dtype, tolerance):
    a = np.array([1, 33.25, 0.125, 1e5, 12, 300, -0.5], dtype)
    b = np.array([1e5, 1e30, 4096, 0.5, 9.5, 20, 1e6], dtype)
    for name in ("beta", "betaln"):
        expected = getattr(scipy_special, name)(a.astype("f8"), b.astype("f8"))
        kept = (expected == 0) | (np.abs(expected) > np.finfo(dtype).tiny)
        got = getattr(special, name)(gpuarray.to_gpu(a), gpuarray.to_gpu(b)).get()
        np.testing.assert_allclose(got[kept], expected[kept], tolerance)
    limits = special.betaln(gpuarray.array([2.0, -2.5]), np.inf).get()
    assert limits.tolist() == [-np.inf, np.inf]


@pytest.mark.parametrize("dtype, tolerance", [("f4", 1e-6), ("f8", 1e-12)])
def test_psi_near_zero(dtype, tolerance):
    x = np.array([-1e-5, -1e-3, -0.25, 1e-5], dtype)
    expected = scipy_special.psi(x.astype("f8"))
    np.testing.assert_allclose(special.psi(gpuarray.to_gpu(x)).get(), expected, tolerance)  # fmt: skip


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u2", "i4", "u8"])
def test_integers_become_float64(dtype):
    """float16, the type of numpy.exp of 8-bit integers, cannot hold 9!."""
    x = np.array([1, 10, 20]).astype(dtype)
    for name in ("gamma", "gammaln", "i0", "erf"):
        got, wanted = (
            getattr(special, name)(gpuarray.to_gpu(x)),
            getattr(scipy_special, name)(x.astype("f8")),
        )
        assert got.dtype == np.float64
        np.testing.assert_allclose(got.get(), wanted, rtol=1e-9)
    assert np.i0(gpuarray.to_gpu(x)).dtype == np.i0(x).dtype
    mixed = special.xlogy(gpuarray.to_gpu(x), gpuarray.array([2, 3, 4], "f4"))
    assert mixed.dtype == np.result_type(x, np.float32)
