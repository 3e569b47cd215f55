"""curandom's generators: their recurrences, skipping ahead, distributions, and errors."""

import numpy as np
import pytest

from pycuda import _skip_ahead, curandom
from pycuda.curandom import (
    MRG32k3aRandomNumberGenerator,
    XORWOWRandomNumberGenerator,
    rand,
    seed_getter_uniform,
    seed_getter_unique,
)
from pycuda.gpuarray import GPUArray, to_gpu

SEEDS = np.array([0, 1, 12345, 2**40 + 7, 2**64 - 1], np.uint64)
GENERATORS = [XORWOWRandomNumberGenerator, MRG32k3aRandomNumberGenerator]


def fixed_seeds(n):
    return to_gpu(np.arange(n, dtype=np.int32) * 3 + 5)


def step_xorwow(state):
    d, v0, v1, v2, v3, v4 = (int(word) for word in state)
    t = v0 ^ (v0 >> 2)
    new = ((v4 ^ (v4 << 4)) ^ (t ^ (t << 1))) & 0xFFFFFFFF
    d = (d + 362437) & 0xFFFFFFFF
    return [d, v1, v2, v3, v4, new], (new + d) & 0xFFFFFFFF


def step_mrg32k3a(state):
    m1, m2 = 2**32 - 209, 2**32 - 22853
    a, b, c, d, e, f = (int(word) for word in state)
    p1, p2 = (1403580 * b - 810728 * a) % m1, (527612 * f - 1370589 * d) % m2
    return [b, c, p1, e, f, p2], (p1 - p2) % m1 or m1


MODELS = {
    XORWOWRandomNumberGenerator: (
        _skip_ahead.seed_xorwow,
        _skip_ahead.skip_xorwow,
        step_xorwow,
    ),
    MRG32k3aRandomNumberGenerator: (
        _skip_ahead.seed_mrg32k3a,
        _skip_ahead.skip_mrg32k3a,
        step_mrg32k3a,
    ),
}


@pytest.mark.parametrize("cls", GENERATORS)
def test_skipping_is_stepping(cls):
    seed, skip, step = MODELS[cls]
    states = seed(SEEDS)
    walked = [list(state) for state in states]
    for _ in range(1000):
        walked = [step(state)[0] for state in walked]
    np.testing.assert_array_equal(skip(states, np.uint64(1000)), walked)
    far = skip(states, np.uint64(2**40))
    np.testing.assert_array_equal(
        skip(far, np.uint64(2**40)), skip(states, np.uint64(2**41))
    )
    np.testing.assert_array_equal(
        skip(states, np.uint64(5), shift=67),
        skip(skip(states, np.uint64(1), shift=67), np.uint64(1), shift=69),
    )
    each = skip(states, np.arange(5))
    for i in range(5):
        np.testing.assert_array_equal(each[i], skip(states[i : i + 1], np.uint64(i))[0])


def test_mrg32k3a_matrix_powers():
    # First rows of A1p76, A1p127 and A2p127 from L'Ecuyer's RngStreams.
    assert _skip_ahead._mrg_power(0, 76)[0] == (82758667, 1871391091, 4127413238)
    assert _skip_ahead._mrg_power(0, 127)[0] == (2427906178, 3580155704, 949770784)
    assert _skip_ahead._mrg_power(1, 127)[0] == (1464411153, 277697599, 1610723613)


@pytest.mark.parametrize("cls", GENERATORS)
def test_device_steps_as_the_model(device, cls):
    generator = cls(fixed_seeds, offset=3)
    seed, skip, step = MODELS[cls]
    n = generator.generators
    states = seed(np.arange(n, dtype=np.uint64) * 3 + 5)
    shift = 67 if cls is XORWOWRandomNumberGenerator else 76
    states = skip(skip(states, np.arange(n), shift), np.uint64(3))
    np.testing.assert_array_equal(generator._states.get(), states)

    uniform = generator.gen_uniform(2 * n + 1, np.float32).get()
    double = generator.gen_uniform(n, np.float64).get()
    for own in (0, 1, n // 2, n - 1):
        state, first = step(states[own])
        state, second = step(state)
        scale = (
            2.3283064e-10
            if cls is XORWOWRandomNumberGenerator
            else 2.3283065498378288e-10
        )
        np.testing.assert_allclose(uniform[own], first * scale, rtol=2e-7)
        np.testing.assert_allclose(uniform[own + n], second * scale, rtol=2e-7)
        if own == 0:
            state, _ = step(state)
        state, word = step(state)
        if cls is XORWOWRandomNumberGenerator:
            state, high = step(state)
            word = word ^ high << 21
            expected = word * 2.0**-53 + 2.0**-54
        else:
            expected = word * scale
        np.testing.assert_allclose(double[own], expected, rtol=1e-15)


@pytest.mark.parametrize("cls", GENERATORS)
def test_distributions(device, cls):
    generator = cls(seed_getter_unique)
    n = 100_001
    for dtype in (np.float32, np.float64):
        x = generator.gen_uniform(n, dtype).get()
        assert x.dtype == dtype and 0 < x.min() and x.max() <= 1
        assert abs(x.mean(dtype=float) - 0.5) < 5 / np.sqrt(12 * n)
        z = generator.gen_normal(n, dtype).get().astype(float)
        assert abs(z.mean()) < 5 / np.sqrt(n)
        assert abs(z.var() - 1) < 5 * np.sqrt(2 / n)
        assert abs((z**4).mean() - 3) < 5 * np.sqrt(96 / n)
        y = np.log(generator.gen_log_normal(n, dtype, 1, 0.5).get().astype(float))
        assert abs(y.mean() - 1) < 2.5 / np.sqrt(n)
        assert abs(y.std() - 0.5) < 0.02
    for dtype in (np.int32, np.uint32):
        bits = generator.gen_uniform(n, dtype).get().view(np.uint32)
        for bit in range(32):
            ones = ((bits >> np.uint32(bit)) & 1).sum()
            assert abs(ones - n / 2) < 3 * np.sqrt(n)
    for mean in (0.5, 7, 12, 300):
        counts = generator.gen_poisson(n, np.uint32, mean).get().astype(float)
        assert abs(counts.mean() - mean) < 5 * np.sqrt(mean / n)
        assert abs(counts.var() / mean - 1) < 0.05


def test_poisson_means_from_the_array(device):
    generator = XORWOWRandomNumberGenerator(fixed_seeds)
    for dtype in (np.float32, np.float64, np.uint32):
        means = np.repeat([0, 4, 50], 20_000).astype(dtype)
        data = to_gpu(means)
        generator.fill_poisson(data)
        groups = data.get().reshape(3, -1).mean(axis=1, dtype=float)
        assert groups[0] == 0
        np.testing.assert_allclose(groups[1:], [4, 50], rtol=0.02)


@pytest.mark.parametrize("cls", GENERATORS)
def test_skipping_moves_all_blocks(device, cls):
    walked, skipped = cls(fixed_seeds), cls(fixed_seeds)
    n = walked.generators
    walked.gen_uniform(7 * n, np.float32)
    skipped.call_skip_ahead(7)
    np.testing.assert_array_equal(
        walked.gen_uniform(n, np.float32).get(),
        skipped.gen_uniform(n, np.float32).get(),
    )
    counts = np.arange(n, dtype=np.int32) % 3
    skipped.call_skip_ahead_array(to_gpu(counts))
    expected = MODELS[cls][1](walked._states.get(), counts)
    np.testing.assert_array_equal(skipped._states.get(), expected)
    before = skipped._states.get()
    skipped.call_skip_ahead_sequence(1)
    assert (skipped._states.get() != before).any(axis=1).all()
    skipped.call_skip_ahead_sequence_array(to_gpu(counts))
    if cls is MRG32k3aRandomNumberGenerator:
        skipped.call_skip_ahead_subsequence(2)
        skipped.call_skip_ahead_subsequence_array(to_gpu(counts))


def test_seeds(device):
    assert np.unique(seed_getter_uniform(100).get()).size == 1
    assert np.unique(seed_getter_unique(100).get()).size > 95
    for wrong in (
        lambda n: np.zeros(n, np.int32),
        lambda n: to_gpu(np.zeros(n - 1, np.int32)),
        lambda n: to_gpu(np.zeros(n, np.float32)),
    ):
        with pytest.raises(TypeError, match="integers of right length"):
            XORWOWRandomNumberGenerator(wrong)


def test_what_is_refused(device):
    generator = XORWOWRandomNumberGenerator(fixed_seeds)
    with pytest.raises(NotImplementedError, match="float32, float64"):
        generator.fill_normal(GPUArray(4, np.int32))
    with pytest.raises(NotImplementedError, match="uint32, not one of float32"):
        generator.fill_poisson(GPUArray(4, np.float32), 3.0)
    with pytest.raises(ValueError, match="must not be negative"):
        generator.call_skip_ahead(-1)
    with pytest.raises(ValueError, match="one for each generator, but has shape"):
        generator.call_skip_ahead_array(to_gpu(np.zeros(3, np.int32)))
    with pytest.raises(ValueError, match="offset must not be negative"):
        XORWOWRandomNumberGenerator(fixed_seeds, offset=-1)
    generator.fill_uniform(GPUArray(0, np.float32))


def test_rand(device):
    np.random.seed(3)
    first = rand((100, 50))
    np.random.seed(3)
    np.testing.assert_array_equal(rand((100, 50)).get(), first.get())
    assert first.shape == (100, 50) and first.dtype == np.float32
    assert 0 <= first.get().min() and first.get().max() < 1
    assert rand(10, np.float64).dtype == np.float64
    integers = rand(10_000, np.int32).get()
    assert integers.min() < -(2**30) and integers.max() > 2**30
    assert rand(7, np.uint32).dtype == np.uint32
    with pytest.raises(NotImplementedError, match="int64"):
        rand(3, np.int64)
    assert curandom.get_curand_version() >= (5, 0, 0)  # as PyCUDA's own suite asks
