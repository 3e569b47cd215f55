"""Sorting long rows with buckets, the method for devices whose threads are a CPU's cores.

Rows of 65536 keys and more of four or eight bytes use it; buckets have about 4096 keys and, up
to 46 KB, are sorted in shared memory. Rows of 512 keys to 46 KB are a bucket each.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pycuda import _driver, gpuarray

pytestmark = pytest.mark.usefixtures("device")
SHORTEST = 1 << 16
TYPES = ["i4", "u4", "f4", "i8", "u8", "f8"]


def limits(dtype):
    return np.iinfo(dtype) if dtype.kind in "iu" else np.finfo(dtype)


def spread(rng, n, dtype):
    """All bits are random, also of floats, so that there are many different NaN."""
    return rng.integers(0, 256, n * dtype.itemsize, np.uint8).view(dtype)


def narrow(rng, n, dtype):
    return (rng.integers(0, 1 << 20, n) + 5).astype(dtype)


def few(rng, n, dtype):
    return rng.integers(0, 7, n).astype(dtype) * dtype.type(9)


def rising(rng, n, dtype):
    return np.arange(n).astype(dtype)


def falling(rng, n, dtype):
    return rising(rng, n, dtype)[::-1]


def one_apart(rng, n, dtype):
    """Equal keys, and a few at both ends of the range, too rare for the sample."""
    x = np.full(n, 42, dtype)
    x[n // 3], x[n // 2] = limits(dtype).max, limits(dtype).min
    return x


def two_clusters(rng, n, dtype):
    """With buckets of equal width, two would have half of the keys each."""
    near = rng.integers(0, 1 << 16, n).astype(dtype)
    return np.where(rng.random(n) < 0.5, near, limits(dtype).max // 2 + near)


def half_one_value(rng, n, dtype):
    return np.where(rng.random(n) < 0.5, dtype.type(0), spread(rng, n, dtype))


def heavy_tail(rng, n, dtype):
    return np.minimum(rng.pareto(0.3, n), 1e9).astype(dtype)


def low_bits_only(rng, n, dtype):
    """In a bucket only the lowest bits differ and those just below its own: two digits separate
    few keys."""
    unsigned = np.dtype(f"u{dtype.itemsize}")
    bits = 8 * dtype.itemsize
    top = rng.integers(0, 1 << 9, n).astype(unsigned) << unsigned.type(bits - 10)
    middle = rng.integers(0, 2, n).astype(unsigned) << unsigned.type(bits - 20)
    return (top + middle + rng.integers(0, 200, n).astype(unsigned)).view(dtype)


def rare_high_bit(rng, n, dtype):
    """The sample rarely has the keys that differ most within a bucket."""
    x = narrow(rng, n, dtype)
    x[:: n // 40] += dtype.type(1 << 22)
    return x


KINDS = [
    spread,
    narrow,
    few,
    rising,
    falling,
    one_apart,
    two_clusters,
    half_one_value,
    heavy_tail,
    low_bits_only,
    rare_high_bit,
]


def same_bits(got, expected):
    """Zeros keep their signs, -0 first; the bits of a NaN are not preserved."""
    np.testing.assert_array_equal(got, expected)
    for row in np.atleast_2d(got) if expected.dtype.kind == "f" else []:
        assert (np.diff(np.signbit(row[row == 0]).astype(int)) <= 0).all()


def check(x):
    with _driver._Kernels(sort="serial"):
        got = _driver._array_sort(gpuarray.to_gpu(x), 0)
    same_bits(got.get(), np.sort(x))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_distributions(kind, dtype):
    rng = np.random.default_rng(5)
    with np.errstate(all="ignore"):
        x = np.ascontiguousarray(kind(rng, 150_001, np.dtype(dtype)))
    check(x)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.sampled_from(TYPES),
    st.sampled_from(KINDS),
    st.integers(SHORTEST - 3, SHORTEST + 9)
    | st.integers(SHORTEST, 3 * SHORTEST)
    | st.integers(505, 600)
    | st.integers(512, 12_000)
    | st.sampled_from([5888, 5889, 11776, 11777]),
    st.integers(1, 3),
    st.integers(0, 3),
    st.integers(0, 2**32),
)
def test_any_rows(dtype, kind, n, rows, before, seed):
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    with np.errstate(all="ignore"):
        x = np.stack([kind(rng, n, dtype) for _ in range(rows)])
    # A view that begins at any element: groups of keys are not at multiples of 16 bytes.
    device = gpuarray.to_gpu(np.concatenate([np.zeros(before, dtype), x.reshape(-1)]))
    with _driver._Kernels(sort="serial"):
        got = _driver._array_sort(device[before:].reshape(rows, n), 1)
    same_bits(got.get(), np.sort(x))


@pytest.mark.parametrize("dtype", ["i4", "f8"])
def test_descending(dtype):
    x = half_one_value(np.random.default_rng(1), 70_003, np.dtype(dtype))
    with _driver._Kernels(sort="serial"):
        got = _driver._array_sort(gpuarray.to_gpu(x), 0, descending=True)
    np.testing.assert_array_equal(got.get(), np.sort(x)[::-1])


# There are at most 4096 buckets, and shared memory has room for 5888 of these keys.
@pytest.mark.slow
def test_large_buckets():
    check(spread(np.random.default_rng(2), 14_000_001, np.dtype("u8")))
