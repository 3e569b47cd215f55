"""The scatter engine: ufunc.at, bincount and histograms with weights, and rows that indices select."""

import numpy as np
import pytest
from marks import slow

import pycuda
from pycuda import _driver, gpuarray

pytestmark = pytest.mark.usefixtures("device")

REAL = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]


def numbers(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        return rng.integers(1, 7, shape).astype(dtype)
    x = rng.integers(-8, 9, shape) / 4  # sums are exact
    return (x + 1j * x[::-1] if dtype.kind == "c" else x).astype(dtype)


def check_at(ufunc, a, indices, b):
    """ufunc.at on the device and in NumPy."""
    expected = a.copy()
    getattr(np, ufunc).at(expected, indices, b)
    got = gpuarray.to_gpu(a)
    on_device = tuple(
        gpuarray.to_gpu(one) if isinstance(one, np.ndarray) else one
        for one in (indices if isinstance(indices, tuple) else (indices,))
    )
    on_device = on_device if isinstance(indices, tuple) else on_device[0]
    b = gpuarray.to_gpu(b) if isinstance(b, np.ndarray) else b
    getattr(np, ufunc).at(got, on_device, b)
    np.testing.assert_array_equal(got.get(), expected)
    assert got.dtype == expected.dtype


@pytest.mark.parametrize("dtype", [*REAL, "c8", "c16"])
@pytest.mark.parametrize("bins", [7, 5000])
@pytest.mark.parametrize("count", [300, 20_000])
def test_sums(dtype, bins, count):
    indices = np.random.default_rng(1).integers(-bins, bins, count)
    if dtype == "f2" and count > 300:
        indices = np.arange(count) % bins  # few steps for each, so that sums stay exact
        count = min(count, 40 * bins)
        indices = indices[:count]
    check_at("add", numbers(bins, dtype), indices, numbers(count, dtype, 2))


@pytest.mark.parametrize(
    "ufunc", ["subtract", "multiply", "maximum", "minimum", "fmax", "fmin", "divide"]
)
@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "i8", "f4", "f8"])
def test_other_operations(ufunc, dtype):
    if ufunc == "divide" and dtype[0] != "f":
        pytest.skip("integers give floats")
    indices = np.random.default_rng(1).integers(0, 500, 900)
    b = numbers(900, dtype, 2)
    if ufunc in ("multiply", "divide"):
        b = np.where(b > 1, 2, 1).astype(dtype)  # exact
    check_at(ufunc, numbers(500, dtype), indices, b)


@pytest.mark.parametrize(
    "ufunc", ["bitwise_and", "bitwise_or", "bitwise_xor", "logical_or", "logical_and"]
)
def test_bits(ufunc):
    indices = np.random.default_rng(1).integers(0, 50, 900)
    kinds = ["?"] if ufunc.startswith("logical") else ["?", "u1", "i4", "u8"]
    for dtype in kinds:
        check_at(ufunc, numbers(50, dtype), indices, numbers(900, dtype, 2))


@pytest.mark.parametrize("shape", [(9, 5), (40, 33), (3, 2, 70), (4, 0), (5, 1)])
@pytest.mark.parametrize("index_type", ["i4", "i8", "u1", "i2"])
def test_rows(shape, index_type):
    indices = np.random.default_rng(1).integers(0, shape[0], 100).astype(index_type)
    b = numbers((100, *shape[1:]), "f4", 2)
    check_at("add", numbers(shape, "f4"), indices, b)
    check_at("add", numbers(shape, "f4"), indices, b[0])  # one row for all
    check_at("add", numbers(shape, "f4"), indices, 2.0)
    check_at("maximum", numbers(shape, "i4"), indices, b.astype("i4"))
    check_at(
        "add",
        numbers(shape, "f4"),
        indices.reshape(4, 25),
        b.reshape(4, 25, *shape[1:]),
    )


def test_other_indices():
    rng = np.random.default_rng(1)
    y, x = rng.integers(0, 20, 500), rng.integers(-30, 30, 500)
    image = numbers((20, 30), "f4")
    check_at("add", image, (y, x), numbers(500, "f4", 2))
    check_at("add", image, (y, x), 1)
    check_at("add", image, (slice(None), x[:25]), numbers((20, 25), "f4", 2))
    check_at("add", image, (y[:, None], slice(3, 6)), numbers((500, 1, 3), "f4", 2))
    check_at("add", image, image > 0, 1)
    check_at("add", np.zeros((3, 4)), 1, 2.5)
    strided = gpuarray.to_gpu(np.zeros((4, 6), np.float32))
    np.add.at(strided[:, ::2], gpuarray.to_gpu(np.array([1, 1, 3])), 1)
    expected = np.zeros((4, 6), np.float32)
    np.add.at(expected[:, ::2], [1, 1, 3], 1)
    np.testing.assert_array_equal(strided.get(), expected)


VIEWS = {
    "every second": lambda x: x[::2],
    "backwards": lambda x: x[::-1],
    "columns": lambda x: x[:, 1::2],
    "transposed": lambda x: x.T,
    "two axes": lambda x: x[:, ::2, :3],
    "backwards within rows": lambda x: x[1:, ::-1],
    "middle axis": lambda x: x[3],
}


def on_views(shape, view, dtype, count, ufunc="add"):
    """A ufunc.at on a view of an array: all elements of the array, on the device and in NumPy."""
    expected = numbers(shape, dtype)
    got = gpuarray.to_gpu(expected)
    here, there = VIEWS[view](expected), VIEWS[view](got)
    indices = np.random.default_rng(3).integers(-len(here), len(here), count)
    values = numbers((count, *here.shape[1:]), dtype, 4)
    getattr(np, ufunc).at(here, indices, values)
    getattr(np, ufunc).at(there, gpuarray.to_gpu(indices), gpuarray.to_gpu(values))
    np.testing.assert_array_equal(got.get(), expected)


@pytest.mark.parametrize("form", ["chosen", "packed"])  # packed: as on a GPU
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", ["u1", "i4", "f8", "c8"])
def test_views(form, view, dtype):
    with _driver._Kernels(form=form):
        on_views((9, 8, 5), view, dtype, 70)
        if dtype != "c8":
            on_views((9, 8, 5), view, dtype, 70, "maximum")


@pytest.mark.parametrize("form", ["chosen", "packed"])
@pytest.mark.parametrize(
    ("shape", "view", "count"),
    [
        ((64,), "every second", 70_000),  # tables, and parts on a CPU
        ((8, 12), "columns", 20_000),
        ((8, 4, 6), "two axes", 9_000),
        ((40_000,), "backwards", 9_000),
        ((300, 40), "transposed", 900),
    ],
)
def test_many_steps_on_views(form, shape, view, count):
    with _driver._Kernels(form=form):
        on_views(shape, view, "f4", count)
        on_views(shape, view, "f2", min(count, 4 * shape[0]))


def test_views_are_not_copied():
    x = gpuarray.to_gpu(np.zeros((40, 60), np.float32))
    indices, values = (
        gpuarray.to_gpu(np.arange(20)),
        gpuarray.to_gpu(np.ones(20, np.float32)),
    )
    np.add.at(x[::2, 3], indices, values)  # compiles; the indices are known then
    with pycuda.profile(counters=False) as profile:
        np.add.at(x[::2, 3], indices, values)
    assert [one.activity for one in profile.events].count("kernel") == 1
    assert x.get().sum() == 40


def test_views_of_structs_whose_members_are_not_aligned():
    records = np.zeros(10, np.dtype([("a", "u1"), ("b", "f4")]))
    got = gpuarray.to_gpu(records.view(np.uint8))
    member = got[1:46].view(np.uint8)
    unaligned = gpuarray.GPUArray(
        (9,), np.float32, base=got, gpudata=member.gpudata, strides=(5,)
    )
    np.add.at(unaligned, gpuarray.to_gpu(np.array([1, 1, 8])), 2.5)
    np.add.at(records["b"][:9], [1, 1, 8], 2.5)
    np.testing.assert_array_equal(got.get(), records.view(np.uint8))


def test_values_that_share_memory_with_a_view():
    x = np.arange(40.0)
    got = gpuarray.to_gpu(x)
    indices = np.array([3, 3, 0, 19, 1])
    np.add.at(got[::2], gpuarray.to_gpu(indices), got[:10:2])
    np.add.at(x[::2], indices, x[:10:2].copy())
    np.testing.assert_array_equal(got.get(), x)


def test_an_index_out_of_bounds_leaves_a_view():
    x = gpuarray.to_gpu(np.zeros((8, 6), np.float32))
    with pytest.raises(IndexError, match="index 8 is out of bounds"):
        np.add.at(x[:, ::2], gpuarray.to_gpu(np.array([1, 8])), 1)
    assert not x.get().any()


def test_operands_of_other_types():
    indices = np.array([0, 2, 2, 1])
    check_at("add", np.zeros(3, "f4"), indices, np.arange(4))
    check_at("add", np.zeros(3, "f4"), indices, np.arange(4.0))
    check_at("add", np.zeros(3, "i4"), indices, np.arange(4, dtype="i8"))
    check_at("add", np.zeros(3, "u1"), indices, np.arange(250, 254, dtype="u1"))
    check_at("add", np.zeros(3, "f8"), indices, 0.1)
    check_at("multiply", np.ones(3, "c16"), indices, np.arange(4) + 1j)


@pytest.mark.parametrize("count", [3, 10_000])
def test_indices_out_of_bounds_change_nothing(count):
    x = gpuarray.to_gpu(np.zeros(5, np.float32))
    for bad in (5, -6):
        indices = np.zeros(count, np.int64)
        indices[1] = bad
        with pytest.raises(IndexError, match=f"index {bad} is out of bounds"):
            np.add.at(x, gpuarray.to_gpu(indices), 1)
        with pytest.raises(IndexError, match=f"index {bad} is out of bounds"):
            x[gpuarray.to_gpu(indices)] = 1
        with pytest.raises(IndexError, match=f"index {bad} is out of bounds"):
            x[gpuarray.to_gpu(indices)]
    assert not x.get().any()


def test_read_only_and_empty():
    x = gpuarray.to_gpu(np.zeros(5, np.float32))
    np.add.at(x, gpuarray.to_gpu(np.zeros(0, np.int64)), 1)
    assert not x.get().any()
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        np.add.at(x, gpuarray.to_gpu(np.zeros(2, np.int64)), 1)


def test_values_that_share_memory():
    x = np.arange(10.0)
    expected = x.copy()
    np.add.at(expected, np.arange(9) + 1, x[:9])
    on_device = gpuarray.to_gpu(x)
    np.add.at(on_device, gpuarray.to_gpu(np.arange(9) + 1), on_device[:9])
    np.testing.assert_array_equal(on_device.get(), expected)


def test_sums_with_weights():
    rng = np.random.default_rng(1)
    x, weights = rng.integers(0, 300, 50_000), rng.integers(-8, 9, 50_000) / 4
    for kind in ("i8", "i4", "u1", "u8"):
        some = (x % 200).astype(kind)
        got = gpuarray.bincount(gpuarray.to_gpu(some), gpuarray.to_gpu(weights))
        np.testing.assert_array_equal(got.get(), np.bincount(some, weights))
    many = rng.integers(0, 1 << 17, 50_000)
    got = gpuarray.bincount(
        gpuarray.to_gpu(many), gpuarray.to_gpu(weights), minlength=1 << 18
    )
    np.testing.assert_array_equal(got.get(), np.bincount(many, weights, 1 << 18))
    values = rng.standard_normal(50_000)
    for given in (
        weights,
        weights.astype("f4"),
        (weights * 4).astype("i4"),
        weights * 1j,
    ):
        got, _ = gpuarray.histogram(
            gpuarray.to_gpu(values), 40, weights=gpuarray.to_gpu(given)
        )
        expected, _ = np.histogram(values, 40, weights=given)
        np.testing.assert_array_equal(got.get(), expected)
        assert got.dtype == expected.dtype


@pytest.mark.parametrize("kind", ["f8", "f4", "f2", "i4", "i8", "u1"])
def test_grids(kind):
    rng = np.random.default_rng(1)
    x, y = rng.normal(50, 20, (2, 5000)).clip(0, 100).astype(kind)
    for bins in (12, [5, 9], [np.linspace(0, 100, 7), 4], np.array([0, 10.5, 70])):
        got = gpuarray.histogram2d(gpuarray.to_gpu(x), gpuarray.to_gpu(y), bins)
        for ours, theirs in zip(got, np.histogram2d(x, y, bins), strict=True):
            np.testing.assert_array_equal(ours.get(), theirs)
    points = np.stack([x, y, x[::-1]], 1)
    weights = rng.integers(0, 5, 5000) / 2
    got, _ = gpuarray.histogramdd(
        gpuarray.to_gpu(points), 4, weights=gpuarray.to_gpu(weights)
    )
    np.testing.assert_array_equal(
        got.get(), np.histogramdd(points, 4, weights=weights)[0]
    )


def test_deterministic():
    x = np.random.default_rng(1).standard_normal(30_000).astype("f4")
    places = gpuarray.to_gpu(np.arange(30_000) % 11)
    expected = np.zeros(11, "f4")
    np.add.at(expected, np.arange(30_000) % 11, x)
    with gpuarray.deterministic(True):
        results = []
        for _ in range(3):
            sums = gpuarray.zeros(11, np.float32)
            np.add.at(sums, places, gpuarray.to_gpu(x))
            results.append(sums.get().tobytes())
        assert len(set(results)) == 1
    np.testing.assert_allclose(sums.get(), expected, rtol=1e-3, atol=1e-2)
    with pytest.raises(TypeError, match="expects a bool"):
        gpuarray.deterministic(1)


@pytest.mark.parametrize(
    "dtype", ["u1", "i2", "f4", "f8", "c16", "S3", [("a", "f4"), ("b", "i8")]]
)
@pytest.mark.parametrize("shape", [(30,), (30, 7), (30, 16), (30, 3, 5), (30, 0)])
def test_rows_taken_and_put(dtype, shape):
    host = np.arange(np.prod(shape)).reshape(shape)
    if isinstance(dtype, list):
        x = np.zeros(shape, dtype)
        x["a"], x["b"] = host, -host
    else:
        x = host.astype(dtype)
    device = gpuarray.to_gpu(x)
    rng = np.random.default_rng(3)
    for places in (
        rng.integers(-30, 30, 50),
        rng.integers(0, 30, (4, 9)).astype("i4"),
        np.uint8([3]),
        np.zeros(0, int),
    ):
        on_device = gpuarray.to_gpu(places)
        np.testing.assert_array_equal(device[on_device].get(), x[places])
        np.testing.assert_array_equal(device[places].get(), x[places])
        np.testing.assert_array_equal(device[::-1][on_device].get(), x[::-1][places])
        np.testing.assert_array_equal(
            device[::2][on_device // 2].get(), x[::2][places // 2]
        )
    places = rng.permutation(30)[:20]
    for value in (x[:20][::-1], x[:1], x[3]):
        expected, got = x.copy(), gpuarray.to_gpu(x)
        expected[places] = value
        got[gpuarray.to_gpu(places)] = gpuarray.to_gpu(np.array(value, x.dtype))
        np.testing.assert_array_equal(got.get(), expected)
    if not isinstance(dtype, list) and dtype != "S3":
        expected, got = x.copy(), gpuarray.to_gpu(x)
        expected[places] = 5
        got[gpuarray.to_gpu(places)] = 5
        np.testing.assert_array_equal(got.get(), expected)


@pytest.mark.parametrize(
    "dtype",
    ["?", "u2", "i4", "f2", "f4", "c16", *slow(["i1", "u8", "f8", "c8"])],
)
@pytest.mark.parametrize("bins, count", [(7, 300), (5000, 9000), (7, 9000)])
def test_the_form_for_a_gpu(dtype, bins, count):
    """Atomic operations in memory, and tables in shared memory, on any device."""
    places = np.random.default_rng(1).integers(0, bins, count)
    if dtype == "f2":
        places, bins = np.arange(count), count  # few steps for each element are exact
    for name in ("add", "subtract", "maximum", "multiply"):
        if not _driver._array_can_combine_rows(name, np.dtype(dtype)):
            continue
        expected = np.ones(bins, dtype)
        getattr(np, name).at(expected, places, np.ones(count, dtype))
        got = gpuarray.to_gpu(np.ones(bins, dtype))
        values = gpuarray.to_gpu(np.ones(count, dtype))
        with _driver._Kernels(form="packed"):
            assert _driver._array_combine_rows(name, got, gpuarray.to_gpu(places), values)  # fmt: skip
        np.testing.assert_array_equal(got.get(), expected)
