"""numpy.linalg.eig and related functions compared with numpy: eigenvalues in any order; vectors are checked with their equation."""

import warnings

import numpy as np
import pytest

from pycuda import gpuarray, linalg

pytestmark = pytest.mark.usefixtures("device")

RNG = np.random.default_rng(3)


def numbers(shape, dtype):
    x = RNG.normal(size=shape) + 1j * RNG.normal(size=shape)
    return (x if np.dtype(dtype).kind == "c" else x.real).astype(dtype)


def same_set(one, other, limit):
    """Each value of either is near one of the other; repeated values need not be matched one to one."""
    apart = abs(one[:, None] - other[None, :])
    bound = limit * max(1, abs(other).max(initial=0))
    assert apart.min(0, initial=np.inf).max(initial=0) < bound
    assert apart.min(1, initial=np.inf).max(initial=0) < bound


def check(a, limit=None):
    limit = limit or (2e-3 if a.dtype in (np.float32, np.complex64) else 1e-9)
    x, n = gpuarray.to_gpu(a), a.shape[-1]
    expected = np.linalg.eigvals(a)
    values, (again, vectors) = np.linalg.eigvals(x), np.linalg.eig(x)
    assert values.dtype == again.dtype == vectors.dtype
    # Later versions of numpy return complex numbers even if all are real.
    assert values.dtype in (expected.dtype, expected.real.dtype)
    assert values.dtype == expected.dtype or not expected.imag.any()
    assert values.shape == again.shape == expected.shape
    assert vectors.shape == a.shape
    for i in np.ndindex(a.shape[:-2]):
        same_set(values.get()[i], expected[i], limit)
        w, v = again.get()[i], vectors.get()[i]
        same_set(w, expected[i], limit)
        scale = max(1, abs(a[i]).max())
        np.testing.assert_allclose(a[i] @ v / scale, v * w / scale, atol=limit)
        np.testing.assert_allclose(np.linalg.norm(v, axis=0), np.ones(n), rtol=limit)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("n", [1, 2, 3, 7, 30])
def test_any_matrices(n, dtype):
    check(numbers((2, n, n), dtype))


def with_values(values):
    turned = RNG.normal(size=(len(values), len(values)))
    return turned @ np.diag(values) @ np.linalg.inv(turned)


@pytest.mark.parametrize(
    "a",
    [
        with_values(np.arange(1.0, 9.0)),
        np.diag(np.arange(4.0)),
        np.zeros((3, 3)),
        np.triu(np.ones((5, 5))),
        np.roll(np.eye(6), 1, 0),  # the usual shifts do not converge
        np.array([[0.0, 1.0], [-1.0, 0.0]]),
        np.eye(4, k=1),  # one vector only
        np.eye(5, k=-1) + 1e-3 * np.eye(5, k=4),
        1e200 * RNG.normal(size=(4, 4)),
        RNG.integers(-3, 4, (6, 6)),
        np.ones((2, 1, 3, 3)),
    ],
)
def test_special_matrices(a):
    check(a)


def test_vectors_of_real_values_are_real_and_pairs_conjugate():
    a = np.zeros((3, 3))
    a[:2, :2], a[2, 2], a[0, 2] = [[1, 2], [-2, 1]], 5, 1
    w, v = (one.get() for one in np.linalg.eig(gpuarray.to_gpu(a)))
    real = np.flatnonzero(w.imag == 0)
    assert real.size == 1 and not v[:, real].imag.any()
    up, down = np.flatnonzero(w.imag > 0)[0], np.flatnonzero(w.imag < 0)[0]
    assert down == up + 1 and w[up] == w[down].conj()
    np.testing.assert_array_equal(v[:, up], v[:, down].conj())


def test_no_matrices_and_refusals():
    w, v = linalg.eig(gpuarray.zeros((2, 0, 0), np.float64))
    assert (w.shape, v.shape) == ((2, 0), (2, 0, 0))
    # Vectors of one eigenvalue, 30 times over: they must not overflow.
    _, v = linalg.eig(gpuarray.to_gpu(np.eye(30, k=1, dtype="f4")))
    assert np.isfinite(v.get()).all()
    with pytest.raises(np.linalg.LinAlgError, match="infs or NaNs"):
        linalg.eigvals(gpuarray.to_gpu(np.array([[1, np.nan], [0, 1]])))
    with pytest.raises(np.linalg.LinAlgError, match="square"):
        linalg.eig(gpuarray.zeros((2, 3), np.float64))


@pytest.mark.parametrize(
    "p",
    [
        [1, -6, 11, -6],
        [1, 0, 0, 1],
        [0, 0, 2, 4, 0, 0],
        [3],
        [0, 0],
        [1j, 2, 3],
        np.array([1, 2.5, 1], "f4"),
    ],
)
def test_roots(p):
    result, expected = np.roots(gpuarray.to_gpu(np.asarray(p))).get(), np.roots(p)
    assert result.shape == expected.shape
    assert result.dtype == expected.dtype or not result.size
    same_set(result, expected, 1e-4)


X, Y = np.linspace(-1, 2, 20), RNG.normal(size=(20, 2))
W = RNG.random(20) + 0.5


@pytest.mark.parametrize("y", [Y, Y[:, 0]])
@pytest.mark.parametrize(
    "given",
    [{}, {"w": W}, {"full": True}, {"cov": True}, {"cov": "unscaled", "w": W}],
)
def test_polyfit(given, y):
    ours = {k: gpuarray.to_gpu(v) if v is W else v for k, v in given.items()}
    result = np.polyfit(gpuarray.to_gpu(X), gpuarray.to_gpu(y), 3, **ours)
    expected = np.polyfit(X, y, 3, **given)
    if not isinstance(expected, tuple):
        result, expected = (result,), (expected,)
    for one, other in zip(result, expected, strict=True):
        one = one.get() if isinstance(one, gpuarray.GPUArray) else one
        assert np.shape(one) == np.shape(other)
        np.testing.assert_allclose(one, other, rtol=1e-8)


def test_polyfit_warns_and_raises():
    x = gpuarray.to_gpu(np.ones(3))
    with pytest.warns(np.exceptions.RankWarning):
        np.polyfit(x, x, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.polyfit(x, x, 2, full=True)
    with pytest.raises(TypeError, match="same length"):
        np.polyfit(x, gpuarray.to_gpu(np.ones(4)), 1)
    with pytest.raises(ValueError, match="deg"):
        np.polyfit(x, x, -1)
