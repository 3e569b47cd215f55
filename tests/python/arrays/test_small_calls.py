"""Functions of small arrays that need one kernel and at most one wait have NumPy's values to the last bit."""

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda
import pycuda.driver as cuda
from pycuda import _driver, gpuarray

pytestmark = pytest.mark.usefixtures("device")

# Functions of x, y (floats), i, j (integers), p (points) and b (bool), with the launches of one call, and its copies and waits.
CASES = {
    "histogram": (1, 2, lambda np, a: np.histogram(a.x, 12)),
    "histogram of a range": (1, 0, lambda np, a: np.histogram(a.x, 7, (-1.5, 1))),
    "histogram of a point": (1, 0, lambda np, a: np.histogram(a.x, 7, (1, 1))),
    "histogram of integers": (1, 2, lambda np, a: np.histogram(a.i, 12)),
    "histogram of equal elements": (1, 2, lambda np, a: np.histogram(a.i[:1], 5)),
    "histogram of every second": (2, 2, lambda np, a: np.histogram(a.x[::-2], 12)),
    "histogram with weights": (5, 2, lambda np, a: np.histogram(a.x, 12, weights=a.i)),
    "density with weights": (11, 2, lambda np, a: np.histogram(a.x, 12, (-1, 2), True, abs(a.r[::-1]))),
    "edges of bins": (1, 2, lambda np, a: np.histogram_bin_edges(a.x, 12)),
    "edges of bins of a range": (1, 0, lambda np, a: np.histogram_bin_edges(a.i, 12, (3.0, 8.0))),
    "median of rows": (4, 0, lambda np, a: np.median(a.i.reshape(10, 100), 1)),
    "histogram2d": (1, 2, lambda np, a: np.histogram2d(a.x, a.y, 12)),
    "histogram2d of many boxes": (1, 2, lambda np, a: np.histogram2d(a.x, a.y, 70)),
    "histogram2d of ranges": (1, 0, lambda np, a: np.histogram2d(a.x, a.y, [3, 4], [(-1, 1), (0, 2)])),
    "histogramdd": (1, 2, lambda np, a: np.histogramdd(a.p, 5)),
    "unique": (2, 2, lambda np, a: np.unique(a.i)),
    "unique of bool": (2, 2, lambda np, a: np.unique(a.b)),
    "unique of NaN": (2, 2, lambda np, a: np.unique(a.n)),
    "unique of each NaN": (2, 2, lambda np, a: np.unique(a.n, equal_nan=False)),
    "unique counts": (2, 2, lambda np, a: np.unique_counts(a.i)),
    "unique inverse": (2, 2, lambda np, a: np.unique_inverse(a.i.reshape(10, 100))),
    "unique and all": (2, 2, lambda np, a: np.unique(a.n, True, True, True)),
    "unique of one": (2, 2, lambda np, a: np.unique(a.i[:1], True, True, True)),
    "union1d": (3, 2, lambda np, a: np.union1d(a.i, a.j)),
    "intersect1d": (3, 2, lambda np, a: np.intersect1d(a.i, a.j)),
    "intersect1d of NaN": (3, 2, lambda np, a: np.intersect1d(a.n, a.n[::-1])),
    "intersect1d of two types": (5, 2, lambda np, a: np.intersect1d(a.i, a.j.astype("f8"))),
    "setxor1d": (3, 2, lambda np, a: np.setxor1d(a.i, a.j)),
    "setxor1d of NaN": (3, 2, lambda np, a: np.setxor1d(a.n, a.n[2:])),
    "setdiff1d": (3, 2, lambda np, a: np.setdiff1d(a.i, a.j)),
    "setdiff1d of NaN": (3, 2, lambda np, a: np.setdiff1d(a.n, a.n[:500])),
    "isin": (2, 0, lambda np, a: np.isin(a.i, a.j)),
    "isin of every second": (4, 0, lambda np, a: np.isin(a.n[::2], a.n[::5], invert=True)),
    "trim_zeros": (2, 2, lambda np, a: np.trim_zeros(a.t)),
    "trim_zeros at the front": (2, 2, lambda np, a: np.trim_zeros(a.t, "f")),
    "trim_zeros of zeros": (3, 2, lambda np, a: np.trim_zeros(a.t * 0)),
    "repeat": (5, 2, lambda np, a: np.repeat(a.x, abs(a.j[:1000] % 4))),
    "tril_indices_from": (1, 0, lambda np, a: np.tril_indices_from(a.p, -2)),
    "unravel_index": (1, 1, lambda np, a: np.unravel_index(a.r, (7, 3, 5))),
    "unravel_index in F order": (1, 1, lambda np, a: np.unravel_index(a.r, (7, 13), "F")),
    "ravel_multi_index": (3, 1, lambda np, a: np.ravel_multi_index((abs(a.j), a.r), (91, 51))),
    "ravel_multi_index of a grid": (3, 1, lambda np, a: np.ravel_multi_index((a.r[:, None], abs(a.j[:5])), (51, 91), order="F")),
    "product of vectors": (1, 0, lambda np, a: a.i @ a.j),
    "inner": (1, 0, lambda np, a: np.inner(a.i, a.j)),
    "vecdot": (1, 0, lambda np, a: np.vecdot(a.i.reshape(10, 100), a.j[:100])),
    "product of a matrix and a vector": (1, 0, lambda np, a: a.i.reshape(10, 100) @ a.j[:100]),
    "product of two types": (1, 1, lambda np, a: a.i.reshape(10, 100) @ a.r[:100]),
    "real and imaginary parts": (1, 0, lambda np, a: np.real(a.z) + np.imag(a.z)),
    "triu_indices_from": (1, 0, lambda np, a: np.triu_indices_from(a.p[:9].T, 3)),
}  # fmt: skip


class Operands:
    def __init__(self, convert) -> None:
        rng = np.random.default_rng(0)
        self.x = convert(rng.standard_normal(1000).astype(np.float32))
        self.y = convert(rng.standard_normal(1000).astype(np.float32))
        self.p = convert(rng.standard_normal((400, 3)))
        self.i = convert(rng.integers(-20, 200, 1000).astype(np.int32))
        self.j = convert(rng.integers(-90, 90, 1000).astype(np.int32))
        self.r = convert(rng.integers(0, 51, 1000))
        n = rng.integers(-20, 20, 1000).astype(np.float32)
        self.n = convert(np.where(n > 17, np.float32(np.nan), n))
        self.z = convert((n + 2j * n[::-1]).astype(np.complex64))
        self.t = convert(np.pad(rng.integers(0, 2, 1700), (40, 30)))
        self.b = convert(rng.random(1000) > 0.7)


def flat(results) -> list:
    if not isinstance(results, (tuple, list)):
        return [results]
    return [part for one in results for part in flat(one)]


@pytest.mark.parametrize("name", CASES)
def test_values_and_launches(name):
    most_launches, most_others, function = CASES[name]
    operands = Operands(gpuarray.to_gpu)
    ours, theirs = function(np, operands), function(np, Operands(np.array))
    for one, other in zip(flat(ours), flat(theirs), strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert np.array_equal(one.get(), other, equal_nan=other.dtype.kind == "f")
    if not is_softcuda():  # only the software device counts launches
        return
    cuda.Context.synchronize()
    with pycuda.profile(counters=False) as profile:
        function(np, operands)
    launches = sum(one.activity == "kernel" for one in profile.events)
    others = len(profile.events) - launches - 1  # without the profile's own wait
    assert (launches <= most_launches, others <= most_others) == (True, True)


@pytest.mark.parametrize(
    "name", ["histogram", "histogram2d of many boxes", "histogram2d of ranges", "unique and all",
             "setxor1d of NaN", "intersect1d", "repeat"],
)  # fmt: skip
def test_blocks_of_a_gpu(name, monkeypatch):
    """A CPU takes blocks of one warp, a GPU large ones. Both give the same results."""
    monkeypatch.setattr(_driver, "_array_threads_are_cores", lambda: False)
    function = CASES[name][2]
    ours, theirs = (function(np, Operands(one)) for one in (gpuarray.to_gpu, np.array))
    for one, other in zip(flat(ours), flat(theirs), strict=True):
        assert np.array_equal(one.get(), other, equal_nan=other.dtype.kind == "f")


@pytest.mark.parametrize(
    "values",
    [[1, np.nan], [1, np.inf], [-1.7e308, 1.7e308], [1, 1 + 1e-15]],
    ids=["nan", "infinite", "wide", "narrow"],
)
@pytest.mark.parametrize("given", [False, True], ids=["found", "given"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_ranges_without_bins(values, given):
    """NumPy refuses these ranges, with the same words."""
    arguments = (10, tuple(values)) if given else (10,)
    with pytest.raises(ValueError) as expected:
        np.histogram(np.array(values), *arguments)
    with pytest.raises(ValueError) as error:
        np.histogram(gpuarray.array(values), *arguments)
    assert str(error.value) == str(expected.value)


def test_equal_edges_of_points():
    """histogramdd() accepts two equal edges."""
    x = np.array([1.0, 1 + 2e-16, 1 + 4e-16])
    ours = np.histogramdd([gpuarray.to_gpu(x)] * 2, 8)
    theirs = np.histogramdd([x] * 2, 8)
    for one, other in zip(flat(ours), flat(theirs), strict=True):
        assert np.array_equal(one.get(), other)


@pytest.mark.parametrize("k", [-9, -5, -2, 0, 1, 3, 8])
def test_indices_of_triangles(k):
    for n, m in [(1, 1), (5, None), (4, 7), (7, 4), (0, 3), (3, 0)]:
        for name in ("tril_indices", "triu_indices"):
            ours = getattr(gpuarray, name)(n, k, m)
            theirs = getattr(np, name)(n, k, m)
            for one, other in zip(ours, theirs, strict=True):
                assert np.array_equal(one.get(), other) and one.dtype == other.dtype


def test_negative_counts_of_repeat():
    with pytest.raises(ValueError, match="negative"):
        np.repeat(gpuarray.zeros(3), gpuarray.array([1, -1, 2]))
    with pytest.raises(ValueError, match="negative"):
        np.repeat(gpuarray.zeros(3), gpuarray.array([1, -4, 2], np.int8))


def test_repeat_of_nothing():
    nothing = gpuarray.zeros(0, np.int64)
    assert np.repeat(nothing, nothing).shape == (0,)


def test_number_of_bins_is_an_integer():
    with pytest.raises(TypeError, match="`bins` must be an integer"):
        np.histogram(gpuarray.zeros(3), 1.5)
    counts, _ = np.histogram(gpuarray.array([1.0, 2.0]), gpuarray.array(2))
    assert counts.get().tolist() == [1, 1]


def test_places_outside():
    i = gpuarray.array([0, 5, -1])
    for call, words in (
        (lambda: np.unravel_index(i, (2, 3)), "index -1 is out of bounds for array with size 6"),
        (lambda: np.unravel_index(abs(i), (5, 1)), "index 5 is out of bounds for array with size 5"),
        (lambda: np.unravel_index(i, (0, 3)), "size 0"),
        (lambda: np.ravel_multi_index((abs(i), i), (6, 6)), "invalid entry"),
        (lambda: np.ravel_multi_index((abs(i), abs(i)), (6, 5)), "invalid entry"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            call()
    assert [one.shape for one in np.unravel_index(i[:0], (2, 3))] == [(0,), (0,)]
    assert np.ravel_multi_index((i[:0], i[:1]), (2, 3)).shape == (0,)


def test_trimmed_matrices():
    x = np.zeros((7, 5), np.int32)
    assert np.trim_zeros(gpuarray.to_gpu(x)).shape == (0, 0)
    x[2:4, 1:3] = [[1, 0], [0, 2]]
    if np.lib.NumpyVersion(np.__version__) >= "2.2.0":
        assert np.array_equal(np.trim_zeros(gpuarray.to_gpu(x)).get(), np.trim_zeros(x))
    assert gpuarray.trim_zeros(gpuarray.to_gpu(x), axis=0).shape == (2, 5)
    assert gpuarray.trim_zeros(gpuarray.to_gpu(x), "b", 1).shape == (7, 3)


def test_integers_that_floats_do_not_tell_apart():
    a = np.array([2**53, 2**53 + 1])
    b = np.array([2.0**53])
    for name in ("setdiff1d", "intersect1d", "setxor1d"):
        ours = getattr(np, name)(gpuarray.to_gpu(a), gpuarray.to_gpu(b))
        theirs = getattr(np, name)(a, b)
        assert ours.dtype == theirs.dtype and np.array_equal(ours.get(), theirs)


@pytest.mark.parametrize("kind", ["c8", "c16"])
def test_parts_are_views(kind):
    host = np.arange(12).reshape(3, 4).astype(kind)
    x = gpuarray.to_gpu(host)
    for z, part in ((x, host), (x.T, host.T), (x[::-1, ::2], host[::-1, ::2])):
        np.real(z)[1:] = 3
        np.imag(z)[...] = np.real(z)
        np.real(part)[1:] = 3
        np.imag(part)[...] = np.real(part)
        assert np.array_equal(x.get(), host)
    assert np.real(x).dtype == np.real(host).dtype
    real = gpuarray.ones(3)
    assert np.real(real) is real and not np.imag(real).get().any()
    x.flags.writeable = False
    with pytest.raises(ValueError):
        np.imag(x)[...] = 1
