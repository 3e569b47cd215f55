"""Generator's orders, choices and distributions: moments, equal sequences, and arguments."""

import math

import numpy as np
import pytest

from pycuda import gpuarray
from pycuda.random import Generator

pytestmark = pytest.mark.usefixtures("device")
N = 40_000

#: A call, and the mean and the variance of its distribution.
CALLS = {
    "gamma(2.5, 2.0": (5, 10),
    "gamma(0.3, 1.0": (0.3, 0.3),
    "standard_gamma(7.0": (7, 7),
    "poisson(0.5": (0.5, 0.5),
    "poisson(50.0": (50, 50),
    "poisson(1e6": (1e6, 1e6),
    "binomial(20, 0.2": (4, 3.2),
    "binomial(1000, 0.7": (700, 210),
    "binomial(5, 1.0": (5, 0),
    "beta(2.0, 3.0": (0.4, 0.04),
    "chisquare(5.0": (5, 10),
    "standard_t(12.0": (0, 1.2),
    "f(6.0, 12.0": (1.2, 0.96),
    "negative_binomial(4, 0.5": (4, 8),
    "lognormal(0.0, 0.5": (math.exp(0.125), math.exp(0.25) * (math.exp(0.25) - 1)),
    "laplace(1.0, 2.0": (1, 8),
    "logistic(1.0, 2.0": (1, 4 * math.pi**2 / 3),
    "gumbel(1.0, 2.0": (1 + 2 * 0.5772157, 4 * math.pi**2 / 6),
    "weibull(2.0": (math.gamma(1.5), 1 - math.gamma(1.5) ** 2),
    "pareto(5.0": (0.25, 5 / 48),
    "rayleigh(2.0": (2 * math.sqrt(math.pi / 2), (4 - math.pi) * 2),
    "power(3.0": (0.75, 3 / 80),
    "geometric(0.25": (4, 12),
    "triangular(0.0, 1.0, 4.0": (5 / 3, 13 / 18),
    "standard_exponential(": (1, 1),
}


@pytest.mark.parametrize("call", CALLS)
def test_moments_and_equal_sequences(call):
    mean, variance = CALLS[call]
    first, again = (eval(f"rng.{call}{'' if call.endswith('(') else ','}size=N)", {"rng": Generator(5), "N": N}).get() for _ in range(2))  # fmt: skip
    np.testing.assert_array_equal(first, again)
    values = first.astype(np.float64)
    assert abs(values.mean() - mean) <= 5 * math.sqrt(variance / N) + 1e-9
    assert abs(values.var() - variance) <= 0.15 * variance + 1e-9
    assert np.isfinite(values).all()


@pytest.mark.parametrize("name, parameters", [("poisson", (3.0,)), ("poisson", (40.0,)), ("binomial", (12, 0.3)), ("binomial", (90, 0.4))])  # fmt: skip
def test_probabilities_of_integers(name, parameters):
    """A chi-square test against the exact probabilities."""
    drawn = getattr(Generator(11), name)(*parameters, size=N).get()
    count = int(drawn.max()) + 1
    k = np.arange(count)
    if name == "poisson":
        log = (
            -parameters[0]
            + k * math.log(parameters[0])
            - [math.lgamma(i + 1) for i in k]
        )
    else:
        n, p = parameters
        log = [math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) + i * math.log(p) + (n - i) * math.log(1 - p) for i in k]  # fmt: skip
    expected = N * np.exp(np.asarray(log))
    seen = np.bincount(drawn, minlength=count)
    usual = expected > 10
    statistic = ((seen - expected)[usual] ** 2 / expected[usual]).sum()
    assert statistic < usual.sum() + 5 * math.sqrt(2 * usual.sum())


def test_parameters_in_arrays():
    rng = Generator(3)
    means = gpuarray.array([[1.0], [100.0]])
    drawn = rng.poisson(means, (2, 5000)).get()
    assert abs(drawn[0].mean() - 1) < 0.1 and abs(drawn[1].mean() - 100) < 1
    assert rng.gamma([1.0, 2.0], [[1.0], [3.0]]).shape == (2, 2)
    assert rng.binomial(gpuarray.array([0, 10, 20]), 0.5).shape == (3,)
    out = gpuarray.zeros(100, np.float64)
    assert rng.gamma(2.0, out=out) is out and out.get().min() > 0
    assert rng.laplace(gpuarray.array([0.0, 9.0]), 0.01, (50, 2)).get().mean(
        0
    ).round().tolist() == [0, 9]


def test_wrong_parameters():
    rng = Generator(3)
    for call in (
        lambda: rng.poisson(-1.0),
        lambda: rng.binomial(5, 1.5),
        lambda: rng.gamma(-1.0),
        lambda: rng.beta(0.0, 1.0),
        lambda: rng.gamma([1.0, 2.0], size=3),
        lambda: rng.choice(3, 4, replace=False),
        lambda: rng.choice(2, p=[0.5, 0.6]),
        lambda: rng.choice(0, 3),
        lambda: rng.triangular(3.0, 2.0, 1.0),
        lambda: rng.multivariate_normal([0.0], np.eye(2)),
        lambda: rng.multivariate_normal([0.0, 0.0], np.eye(2), method="lu"),
        lambda: rng.multivariate_normal([0.0, 0.0], -np.eye(2), check_valid="raise"),
    ):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(TypeError):
        rng.gamma(1.0, dtype=np.int32)
    with pytest.raises(TypeError):
        rng.shuffle(np.arange(3))


def test_orders():
    rng = Generator(3)
    assert sorted(rng.permutation(100).get().tolist()) == list(range(100))
    x = np.arange(60).reshape(12, 5)
    rows = rng.permutation(gpuarray.to_gpu(x)).get()
    assert not np.array_equal(rows, x) and np.array_equal(rows[rows[:, 0].argsort()], x)
    columns = rng.permutation(gpuarray.to_gpu(x), axis=1).get()
    np.testing.assert_array_equal(np.sort(columns, 1), x)
    apart = rng.permuted(gpuarray.to_gpu(x), axis=0).get()
    np.testing.assert_array_equal(np.sort(apart, 0), x)
    assert len({tuple(column // 5) for column in apart.T}) == 5
    shuffled = gpuarray.to_gpu(x)
    rng.shuffle(shuffled)
    assert sorted(shuffled.get()[:, 0]) == x[:, 0].tolist()
    assert sorted(rng.permuted(gpuarray.to_gpu(x), out=shuffled).get().ravel()) == list(
        range(60)
    )
    firsts = [Generator(seed).permutation(4).get()[0] for seed in range(200)]
    assert np.bincount(firsts, minlength=4).min() > 25


def test_choices():
    rng = Generator(3)
    drawn = rng.choice(4, 8000, p=[0.1, 0.0, 0.3, 0.6]).get()
    assert (
        np.abs(np.bincount(drawn, minlength=4) / 8000 - [0.1, 0, 0.3, 0.6]).max() < 0.03
    )
    some = rng.choice(gpuarray.array([5, 6, 7]), (2, 1), replace=False).get()
    assert some.shape == (2, 1) and len(set(some.ravel())) == 2
    assert rng.choice(10, 10, replace=False, shuffle=False).get().tolist() == list(
        range(10)
    )
    weighted = rng.choice(5, 3, replace=False, p=[0.2, 0.2, 0.2, 0.2, 0.2]).get()
    assert len(set(weighted)) == 3
    assert rng.choice(7).shape == () and 0 <= int(rng.choice(7).get()) < 7
    assert rng.choice(gpuarray.zeros((3, 4)), 5, axis=1).shape == (3, 5)


def test_normal_vectors():
    cov = np.array([[2.0, 0.6], [0.6, 1.0]])
    for method in ("svd", "eigh", "cholesky"):
        drawn = (
            Generator(3).multivariate_normal([1.0, -2.0], cov, N, method=method).get()
        )
        np.testing.assert_allclose(drawn.mean(0), [1, -2], atol=0.05)
        np.testing.assert_allclose(np.cov(drawn.T), cov, atol=0.1)
    parts = Generator(3).dirichlet([1.0, 2.0, 5.0], N).get()
    np.testing.assert_allclose(parts.mean(0), np.array([1, 2, 5]) / 8, atol=0.01)


LOW, HIGH = np.array([0.0, 100.0]), [10.0, 1000.0]


@pytest.mark.parametrize("place", [list, np.asarray, gpuarray.to_gpu])
def test_parameters_of_real_numbers_in_arrays(place):
    low, high = place(LOW), place(np.asarray(HIGH))
    rng = Generator(4)
    drawn = rng.uniform(low, high, (N, 2), np.float64).get()
    assert (drawn >= LOW).all() and (drawn < HIGH).all()
    np.testing.assert_allclose(drawn.mean(0), [5, 550], rtol=0.02)
    drawn = rng.normal(low, high, (N, 2)).get()
    np.testing.assert_allclose(drawn.mean(0) - LOW, 0, atol=20)
    np.testing.assert_allclose(drawn.std(0), HIGH, rtol=0.02)
    drawn = rng.exponential(high, (N, 2)).get()
    np.testing.assert_allclose(drawn.mean(0), HIGH, rtol=0.02)
    assert rng.uniform(low, high).shape == rng.normal(0, high).shape == (2,)
    assert (
        rng.lognormal(low, place(np.ones(2))).shape == rng.f(high, high).shape == (2,)
    )


def test_integers_of_ranges_in_arrays():
    rng = Generator(4)
    drawn = rng.integers([0, 100], gpuarray.array([10, 1000]), (N, 2)).get()
    assert drawn.dtype == np.int64
    assert drawn.min(0).tolist() == [0, 100] and drawn.max(0).tolist() == [9, 999]
    assert np.abs(np.bincount(drawn[:, 0]) / N - 0.1).max() < 0.01
    assert rng.integers([3, -4, 2**63 - 1], [4, -3, 2**63]).get().tolist() == [3, -4, 2**63 - 1]  # fmt: skip
    whole = rng.integers([0] * 1000, 2**64, dtype=np.uint64).get()
    assert whole.max() > 2**63 and whole.min() < 2**60
    out = gpuarray.zeros(2, np.uint8)
    assert rng.integers([0, 7], [1, 7], endpoint=True, out=out) is out
    assert out.get()[0] <= 1 and out.get()[1] == 7
    for low, high, dtype in (
        ([1, 2], [1, 3], np.int64),
        (0, [1, 257], np.uint8),
        ([-1], 2, np.uint64),
    ):
        with pytest.raises(ValueError):
            rng.integers(low, high, dtype=dtype)
    with pytest.raises(TypeError):
        rng.integers([0.5], [3.0])


def test_wrong_parameters_in_arrays():
    rng = Generator(4)
    for call in (
        lambda: rng.normal(0, [1, -1]),
        lambda: rng.exponential([-1.0]),
        lambda: rng.uniform([0, 1], [1, 2, 3]),
        lambda: rng.uniform([0, 1], 2, 3),
        lambda: rng.normal([0, 1], out=gpuarray.zeros(3)),
    ):
        with pytest.raises(ValueError):
            call()


def test_more_draws_than_parts_with_a_probability():
    with pytest.raises(ValueError, match="2 parts cannot be drawn from 1"):
        Generator(3).choice(3, 2, replace=False, p=[1, 0, 0])
    drawn = Generator(3).choice(3, 2, replace=False, p=[0.5, 0, 0.5]).get()
    assert sorted(drawn) == [0, 2]
    with pytest.raises(np.exceptions.AxisError):
        Generator(3).permutation(gpuarray.zeros(3), axis=1)
