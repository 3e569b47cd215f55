"""Sobol generators: direction numbers, the sequence, evenness, distributions, skipping ahead."""

import math

import numpy as np
import pytest
from marks import slow

from pycuda import _sobol_directions as directions
from pycuda import curandom, gpuarray
from pycuda.curandom import direction_vector_set as vectors

pytestmark = pytest.mark.usefixtures("device")
GENERATORS = [
    curandom.Sobol32RandomNumberGenerator,
    curandom.Sobol64RandomNumberGenerator,
    curandom.ScrambledSobol32RandomNumberGenerator,
    curandom.ScrambledSobol64RandomNumberGenerator,
]


def sequence(generator, count):
    """The first words of each generator, (count, generators), as unsigned integers."""
    wide = generator.generator_bits == 64
    out = generator.gen_uniform(
        (count, generator.generators), np.uint64 if wide else np.uint32
    )
    return out.get()


def test_polynomials_are_those_of_joe_and_kuo():
    # Computed by pycuda, in the order of the published table, so both agree.
    for degree in range(1, 10):
        theirs = [row[1] for row in directions._chosen_numbers() if row[0] == degree]
        ours = directions.primitive_polynomials(degree).tolist()
        assert ours[: len(theirs)] == theirs
    assert len(directions.primitive_polynomials(12)) == 144


def test_first_dimensions():
    v = directions.directions(4, 32)
    assert v.shape == (4, 32) and v.dtype == np.uint32
    np.testing.assert_array_equal(v[0], 1 << np.arange(31, -1, -1, dtype=np.uint64))
    # For the third dimension, x^2 + x + 1: m1 = 1, m2 = 3, m3 = 2 m2 ^ 4 m1 ^ m1 = 3.
    assert [int(n) >> (31 - i) for i, n in enumerate(v[2][:3])] == [1, 3, 3]
    np.testing.assert_array_equal(directions.directions(4, 64)[:, :32] >> 32, v)


@pytest.mark.parametrize(
    "make", [directions.directions, directions.scrambled_directions]
)
def test_each_dimension_is_even(make):
    # Of 2**k points, one is in each of 2**k equal parts.
    v = make(600, 32)
    n = np.arange(256)
    gray = n ^ n >> 1
    points = np.zeros((600, 256), np.uint32)
    for bit in range(8):
        points ^= np.where(gray >> bit & 1, v[:, bit : bit + 1], 0).astype(np.uint32)
    np.testing.assert_array_equal(np.sort(points >> 24, axis=1), np.tile(n, (600, 1)))


@pytest.mark.parametrize("cls", GENERATORS)
def test_sequence(cls):
    generator = cls()
    words = sequence(generator, 40)
    wide, scrambled = generator.generator_bits == 64, "Scrambled" in cls.__name__
    name = f"{'SCRAMBLED_' if scrambled else ''}VECTOR_{generator.generator_bits}"
    v = curandom.generate_direction_vectors(
        generator.generators, getattr(vectors, name)
    ).get()
    x = np.zeros(generator.generators, v.dtype)
    if scrambled:
        make = curandom.generate_scramble_constants64 if wide else curandom.generate_scramble_constants32  # fmt: skip
        x = make(generator.generators).get()
    for n in range(40):
        np.testing.assert_array_equal(words[n], x)
        x = x ^ v[:, int(math.log2(~n & (n + 1)))]
    # Continues where it stopped; an offset is the start position.
    again = sequence(generator, 3)
    offset = 40
    np.testing.assert_array_equal(again, sequence(cls(offset=offset), 3))
    skipped = cls()
    skipped.call_skip_ahead(30)
    skipped.call_skip_ahead_array(
        gpuarray.to_gpu(np.full(generator.generators, 10, np.int32))
    )
    np.testing.assert_array_equal(again, sequence(skipped, 3))


@pytest.mark.parametrize("cls", GENERATORS)
@pytest.mark.parametrize("dtype", [np.float32, *slow([np.float64])])
def test_distributions(cls, dtype):
    generator = cls(offset=1)  # the first point, 0, is a normal number far from 0
    shape = (512, generator.generators)
    uniform = generator.gen_uniform(shape, dtype).get()
    assert 0 < uniform.min() and uniform.max() <= 1
    np.testing.assert_allclose(uniform.mean(axis=0), 0.5, atol=0.01)
    normal = cls(offset=1).gen_normal(shape, dtype).get()
    assert np.isfinite(normal).all()
    np.testing.assert_allclose(normal.mean(axis=0), 0, atol=0.03)
    np.testing.assert_allclose(normal.std(axis=0), 1, atol=0.03)
    log_normal = cls(offset=1).gen_log_normal(shape, dtype, 0.5, 0.25).get()
    np.testing.assert_allclose(
        np.log(log_normal), 0.5 + 0.25 * normal, rtol=1e-4, atol=1e-5
    )


def test_poisson():
    for mean in (0.7, 30.0, 2000.0):
        generator = curandom.Sobol32RandomNumberGenerator(offset=1)
        got = generator.gen_poisson((500, generator.generators), np.uint32, mean).get()
        np.testing.assert_allclose(got.mean(), mean, rtol=0.01)
        np.testing.assert_allclose(got.var(), mean, rtol=0.05)
    means = gpuarray.to_gpu(np.full(1000, 5, np.float32))
    curandom.ScrambledSobol64RandomNumberGenerator().fill_poisson(means)
    assert set(means.get()) <= set(range(40)) and len(set(means.get())) > 3


def test_host_buffers_and_repetition():
    host = np.zeros((3, 32), np.uint32)
    curandom._get_direction_vectors(vectors.VECTOR_32, host, 3)
    np.testing.assert_array_equal(host, directions.directions(3, 32))
    host = np.zeros(5, np.uint64)
    curandom._get_scramble_constants64(host, 5)
    np.testing.assert_array_equal(host, directions.scramble_constants(5, 64))
    with pytest.raises(ValueError, match="dst has 40 bytes"):
        curandom._get_scramble_constants32(host, 5)


def test_what_is_refused():
    generator = curandom.Sobol32RandomNumberGenerator()
    with pytest.raises(NotImplementedError, match="not one of uint64"):
        generator.gen_uniform(5, np.uint64)
    with pytest.raises(TypeError, match="dir_vector must be GPUArray"):
        curandom.Sobol32RandomNumberGenerator(np.zeros((2, 32), np.uint32))
    with pytest.raises(TypeError, match="right length"):
        curandom.Sobol64RandomNumberGenerator(curandom.generate_direction_vectors(3))
    with pytest.raises(ValueError, match="must not be negative"):
        generator.call_skip_ahead(-1)
    with pytest.raises(ValueError, match="offset must not be negative"):
        curandom.ScrambledSobol32RandomNumberGenerator(offset=-1)
    assert not hasattr(generator, "call_skip_ahead_sequence")
