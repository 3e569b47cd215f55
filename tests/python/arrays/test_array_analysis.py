"""Counting, quantiles, sets, correlations, norms and ufunc.at compared with numpy."""

import numpy as np
import pytest

from pycuda import gpuarray
from pycuda.arrays.statistics import correlation

# numpy warns of means of empty arrays, pycuda does not.
pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

RNG = np.random.default_rng(4)
X = RNG.normal(3, 2, 3001)
F = X.astype(np.float32)
N = RNG.integers(0, 40, 3001)
M = RNG.integers(-9, 10, (7, 5, 6)).astype(np.float64)
HOLES = np.where(M > 5, np.nan, M)
HOLES[2] = np.nan
Z = RNG.normal(size=(6, 5)) + 1j * RNG.normal(size=(6, 5))
EDGES = np.array([-1, 0.5, 0.5, 2, 3.25, 7])
METHODS = """linear lower higher midpoint nearest inverted_cdf averaged_inverted_cdf
    closest_observation interpolated_inverted_cdf hazen weibull median_unbiased
    normal_unbiased""".split()


def agree(result, expected, rtol=1e-12):
    if isinstance(expected, (list, tuple)):
        assert len(result) == len(expected)
        for one, other in zip(result, expected, strict=True):
            agree(one, other, rtol)
        return
    assert isinstance(result, gpuarray.GPUArray)
    result, expected = result.get(), np.asarray(expected)
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(result, expected, rtol=rtol, atol=rtol)


def check(call, *arrays, rtol=1e-12):
    agree(call(*(gpuarray.to_gpu(one) for one in arrays)), call(*arrays), rtol)


@pytest.mark.parametrize(
    "call",
    [
        lambda n, x: np.bincount(n),
        lambda n, x: np.bincount(n, minlength=5000),
        lambda n, x: np.bincount(n % 3, weights=x),
        lambda n, x: np.bincount(n[:0], minlength=3),
        lambda n, x: np.bincount((n % 5).astype(np.uint8)[::2]),
        lambda n, x: np.digitize(x, EDGES),
        lambda n, x: np.digitize(x, EDGES[::-1], right=True),
        lambda n, x: np.digitize(n, np.array([3, 3, 20])),
        lambda n, x: np.interp(x, EDGES[[0, 1, 3, 5]], [1.0, -4, 2, 8]),
        lambda n, x: np.interp(x, [1.0, 2], [3.0, 5], left=-1, right=7.5),
        lambda n, x: np.interp(x, [30.0, 190, 350], [5.0, 10, 3], period=360),
        lambda n, x: np.interp(x, [1.0], [3.0 + 1j]),
    ],
)
def test_counting(call):
    check(call, N, X)


@pytest.mark.parametrize("count", [4097, 20011, 100_003])
@pytest.mark.parametrize("dtype", [np.int16, np.int64, np.uint32])
def test_many_counts(count, dtype):
    top = min(count, np.iinfo(dtype).max + 1)
    n = np.random.default_rng(count).integers(0, top, 50_021).astype(dtype)
    n[-1] = top - 1
    check(np.bincount, n)
    check(lambda x: np.bincount(x, minlength=count + 5), n[::3])


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_least_integer_is_not_counted(dtype):
    n = np.array([5, np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
    with pytest.raises(ValueError, match="no negative elements"):
        np.bincount(gpuarray.to_gpu(n))


@pytest.mark.parametrize(
    "call",
    [
        lambda x, w: np.histogram(x),
        lambda x, w: np.histogram(x, 7, (0, 4)),
        lambda x, w: np.histogram(x, 5000),
        lambda x, w: np.histogram(x, EDGES),
        lambda x, w: np.histogram(x, 12, density=True),
        lambda x, w: np.histogram(x, 9, weights=w),
        lambda x, w: np.histogram(x, EDGES, weights=w.astype(int), density=True),
        lambda x, w: np.histogram(x[:0], 3),
        lambda x, w: np.histogram(x > 3, 2)[0],
        lambda x, w: np.histogram((x * 100).astype(np.int16), "auto"),
        lambda x, w: np.histogram_bin_edges(x, "auto"),
        lambda x, w: np.histogram_bin_edges(x, "scott"),
        lambda x, w: np.histogram_bin_edges(x, "doane", range=(0, 6)),
        lambda x, w: np.histogram_bin_edges(x, "rice"),
        lambda x, w: np.histogram_bin_edges(x, "sqrt"),
        lambda x, w: np.histogram2d(x, w, [4, EDGES]),
        lambda x, w: np.histogram2d(x, w, 5, weights=x, density=True),
    ],
)
@pytest.mark.parametrize("x", [X, F], ids=["double", "float"])
def test_histograms(call, x):
    check(call, x, np.abs(X[::-1]).copy(), rtol=1e-6 if x is F else 1e-10)


def test_histogram_of_points():
    points = RNG.normal(size=(500, 3))
    counts, edges = np.histogramdd(gpuarray.to_gpu(points), (3, 4, 5))
    expected = np.histogramdd(points, (3, 4, 5))
    agree(counts, expected[0])
    agree(edges, tuple(expected[1]))


def test_complex_distances_of_gradient():
    with pytest.raises(TypeError, match="must be real"):
        np.gradient(gpuarray.to_gpu(X), 1j)


@pytest.mark.parametrize("method", METHODS)
def test_methods_of_quantiles(method):
    q = [0, 0.1, 0.25, 0.5, 0.6, 0.999, 1]
    for x in (M, N[:20], HOLES):
        check(lambda x: np.quantile(x, q, method=method), x)  # noqa: B023
        check(lambda x: np.percentile(x, 35.0, axis=-1, method=method), x)  # noqa: B023
    check(lambda x: np.nanquantile(x, q, axis=1, method=method), HOLES)


@pytest.mark.filterwarnings("ignore:All-NaN")
@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
@pytest.mark.parametrize("method", METHODS)
def test_quantiles_of_bfloat16(name, method):
    bfloat16 = np.dtype(pytest.importorskip("ml_dtypes").bfloat16)
    host = RNG.normal(size=(4, 9)).astype(bfloat16)
    host[1, 3] = host[2] = np.nan
    expected = getattr(np, name)(host.astype(np.float32), 0.3, axis=1, method=method)
    got = getattr(gpuarray, name)(gpuarray.to_gpu(host), 0.3, axis=1, method=method)
    assert got.dtype == bfloat16
    expected = expected.astype(bfloat16).astype(np.float32)
    np.testing.assert_array_equal(got.get().astype(np.float32), expected)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.median(x),
        lambda x: np.median(x, 1),
        lambda x: np.median(x, (0, 2), keepdims=True),
        lambda x: np.median(x[:, :4], axis=-2),
        lambda x: np.median(x.astype(np.float16)),
        lambda x: np.nanmedian(x, 1),
        lambda x: np.nanmedian(x, (0, 1)),
        lambda x: np.nanpercentile(x, [[20, 60]], axis=0, keepdims=True),
        lambda x: np.percentile(x, [10, 90], axis=(0, -1)),
        lambda x: np.percentile(x.astype(np.float32), 50),
        lambda x: np.nancumsum(x, 1),
        lambda x: np.nancumprod(x.astype(np.float32)),
    ],
)
@pytest.mark.parametrize("x", [M, HOLES], ids=["whole", "holes"])
def test_medians(call, x):
    check(call, x, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_medians_of_complex_numbers(dtype):
    x = RNG.integers(-3, 4, (6, 5, 4, 2)).astype("f4").view("c8")[..., 0].astype(dtype)
    holes = x.copy()
    holes[1, 2, 3], holes[4, 0, 0], holes[:, 3, 3] = np.nan, 1j * np.nan, np.nan
    for one in (x, x[::2, ::-1], holes):
        check(lambda x: np.median(x), one)
        check(lambda x: np.median(x, -1), one)
        check(lambda x: np.median(x.T, (0, 2), keepdims=True), one)
        check(lambda x: np.median(x[:, :, :1], axis=2), one)
        check(lambda x: np.nanmedian(x, 1), one)
    check(lambda x: np.median(x[0, 0, 0]), x)
    check(lambda x: np.median(x[:0], axis=1), x)


@pytest.mark.parametrize(
    "call",
    [
        np.union1d,
        np.intersect1d,
        lambda a, b: np.intersect1d(a, b, return_indices=True),
        np.setdiff1d,
        np.setxor1d,
        np.isin,
        lambda a, b: np.isin(a.reshape(2, 4), b, invert=True),
        lambda a, b: np.isin(a, b[:0]),
        lambda a, b: np.union1d(a, b + 0.5),
    ],
)
def test_sets(call):
    check(call, np.array([3, 1, 4, 1, 5, 9, 2, 6]), np.array([5, 3, 5, 8, 9, 7]))


ROWS = RNG.integers(0, 2, (9, 3, 2))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", ["i2", "f4", "c16"])
def test_unique_parts(axis, dtype):
    x = ROWS.astype(dtype)
    check(lambda x: np.unique(x, True, True, True, axis=axis), x)
    check(lambda x: np.unique(x[:4, :1], axis=axis), x)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.take([[1, -1]], 1),
        lambda x: x.repeat([1, 0, 2, 0, 1], axis=1),
        lambda x: x.nonzero(),
        lambda x: x.compress([False, True], 0),
        lambda x: x.trace(1, 1, 2),
        lambda x: (x[0, :, :2] > 0).astype(int).choose([x[0, :, :2], 5.0]),
        lambda x: (x * 10).astype(np.int32).round(-1),
        lambda x: np.round((x * 7).astype(np.int64), -1),
        lambda x: x.astype(np.int8).clip(-1000, 3),
        lambda x: np.clip(abs(x).astype(np.uint8), -1, 300),
    ],
)
def test_methods(call):
    check(call, M)


def test_single_elements_and_bytes():
    x = gpuarray.to_gpu(M)
    assert x.item(37) == M.item(37)
    assert x.item((1, -1, 2)) == x.item(1, -1, 2) == M.item(1, -1, 2)
    assert x[0, 0].item(-1) == M[0, 0].item(-1)
    assert x.T.tobytes() == M.T.tobytes()
    with pytest.raises(ValueError, match="out of bounds"):
        x.item(M.size)
    x.put([0, -1], [7, 8])
    assert (x.item(0), x.item(M.size - 1)) == (7, 8)
    square, host = gpuarray.to_gpu(Z[:5].copy()), Z[:5].copy()
    same, square_before = square, gpuarray.to_gpu(Z[:5].copy())
    square @= square_before
    assert square is same
    np.testing.assert_allclose(square.get(), host @ host)
    with pytest.raises(ValueError, match=r"shape \(5, 1\) cannot be put"):
        square @= square[:, :1]


@pytest.mark.parametrize(
    "call",
    [
        lambda x, z: np.convolve(x, x[:7]),
        lambda x, z: np.convolve(x[:4], x, "same"),
        lambda x, z: np.convolve(x, x[:5], "valid"),
        lambda x, z: np.convolve(x[:9], z[0], "same"),
        lambda x, z: np.correlate(x, x[3:10]),
        lambda x, z: np.correlate(x[3:7], x, "full"),
        lambda x, z: np.correlate(z[:, 0], z[1], "same"),
        lambda x, z: np.correlate(z[1], z[:, 0], "same"),
        lambda x, z: np.cov(x),
        lambda x, z: np.cov(z),
        lambda x, z: np.cov(z.real, rowvar=False, bias=True),
        lambda x, z: np.cov(z.real, z.imag, ddof=0),
        lambda x, z: np.cov(
            z.real, fweights=[1, 2, 1, 3, 1], aweights=[1, 2, 1, 1, 0.5]
        ),
        lambda x, z: np.corrcoef(z),
        lambda x, z: np.corrcoef(x, x * x),
        lambda x, z: np.matvec(z, z[0]),
        lambda x, z: np.vecmat(z[:, 0], z),
        lambda x, z: np.matvec(z.real, np.ones((3, 5))),
        lambda x, z: np.linalg.multi_dot([z, z.T, z, z[0]]),
        lambda x, z: np.linalg.norm(z),
        lambda x, z: np.linalg.norm(x),
        lambda x, z: np.linalg.norm(z, 1),
        lambda x, z: np.linalg.norm(z, -np.inf),
        lambda x, z: np.linalg.norm(z, np.inf, axis=(1, 0), keepdims=True),
        lambda x, z: np.linalg.norm(z, 3, axis=0),
        lambda x, z: np.linalg.norm(x, np.inf),
        lambda x, z: np.linalg.norm(x, 0),
        lambda x, z: np.linalg.norm(x.astype(np.float32), -1),
        lambda x, z: np.linalg.vector_norm(z, axis=(0, 1), ord=1),
        lambda x, z: np.linalg.matrix_norm(z, keepdims=True),
    ],
)
def test_products_and_norms(call):
    check(call, X[:40], Z, rtol=1e-10)


PLACES = np.array([3, 0, 3, 3, 7, 0, 9, 3])


@pytest.mark.parametrize("dtype", ["i4", "u1", "f4", "f8", "c16"])
@pytest.mark.parametrize(
    ("name", "repeats"), [("add", 1), ("add", 400), ("subtract", 3), ("multiply", 1)]
)
def test_at(name, repeats, dtype):
    values = RNG.integers(1, 3, 8 * repeats).astype(dtype)
    host = np.arange(12).astype(dtype)
    array, ufunc = gpuarray.to_gpu(host), getattr(np, name)
    ufunc.at(array, np.tile(PLACES, repeats), gpuarray.to_gpu(values))
    ufunc.at(host, np.tile(PLACES, repeats), values)
    agree(array, host, 1e-6)


def test_at_of_half_floats():
    host = np.arange(12, dtype=np.float16)
    array = gpuarray.to_gpu(host)
    np.add.at(array, PLACES, np.float16(0.5))
    np.add.at(host, PLACES, np.float16(0.5))
    agree(array, host)


@pytest.mark.parametrize(
    "change",
    [
        lambda x: np.maximum.at(x, ([0, 0, 4], [1, 1, 2]), [50.0, np.nan, 3]),
        lambda x: np.power.at(x, (PLACES % 7, PLACES % 5), 2),
        lambda x: np.negative.at(x, ([0, 0, 0, 3], slice(1, 3))),
        lambda x: np.add.at(x.T, [1, 1, 4], x.T[:3] + 1),
        lambda x: np.add.at(x, x > 2, 1.5),
        lambda x: np.divide.at(x, 2, 4),
        lambda x: np.add.at(x, np.array([], int), 1),
    ],
)
def test_at_with_other_indices(change):
    host = M[:, :, 0].copy()
    array = gpuarray.to_gpu(host)
    change(host)
    change(array)
    agree(array, host)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.add.reduceat(x, [0, 4, 1, 4]),
        lambda x: np.add.reduceat(x, [0, 3, 3], axis=1),
        lambda x: np.maximum.reduceat(x, [1, 0], axis=-1),
        lambda x: np.subtract.reduceat(x, [0, 2, 5]),
        lambda x: np.add.reduceat(x.astype(np.int8), [0, 2], axis=2),
        lambda x: np.logical_or.reduceat(x, [2, 4]),
        lambda x: np.multiply.reduceat(x.ravel(), [0, 100]),
    ],
)
def test_reduceat(call):
    check(call, M)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: np.bincount(x), "expects integers, not float64"),
        (lambda x: np.bincount(-(x > 9).astype(int) - 1), "no negative elements"),
        (lambda x: np.percentile(x, 101), r"range \[0, 100\]"),
        (lambda x: np.quantile(x, 0.5, method="best"), "Use one of: linear, "),
        (lambda x: np.histogram(x, 0), "must be positive"),
        (lambda x: np.histogram(x / 0), "is not finite"),
        (lambda x: np.digitize(x, [1, 3, 2]), "monotonically"),
        (lambda x: np.add.reduceat(x, [99999]), "99999 out-of-bounds"),
        (lambda x: np.matvec(x, x), r"not shapes \(3001,\) and \(3001,\)"),
    ],
)
def test_refusals(call, message):
    with pytest.raises((ValueError, TypeError, IndexError), match=message):
        call(gpuarray.to_gpu(X))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8"])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolutions_of_infinities_add_nothing_outside_of_the_vectors(dtype, mode):
    long = np.array([1, np.inf, 2, 3, -np.inf, 5, 6, 7] + [1] * 2000, dtype)
    for short in (np.array([1, np.inf, 2], dtype), np.array([1, 2, 3], dtype)):
        with np.errstate(invalid="ignore"):
            expected = np.convolve(long, short, mode)
        x, v = gpuarray.to_gpu(long), gpuarray.to_gpu(short)
        if dtype != "c8":  # the products of complex infinities differ
            assert np.array_equal(
                np.convolve(x, v, mode).get(), expected, equal_nan=True
            )
        before = {"full": 2, "same": 1, "valid": 0}[mode]
        kernels = correlation._correlated(x, v[::-1], before, expected.size).get()
        ends = np.r_[0:2, -3:0]  # no element beside them is infinite twice
        assert (np.isnan(kernels) == np.isnan(expected))[ends].all()
