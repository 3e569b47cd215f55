"""Sorting compared with numpy: both methods of moving keys, all types, rows, NaN, equal elements."""

import numpy as np
import pytest
from conftest import is_softcuda
from marks import slow

import pycuda.driver as cuda
from pycuda import _driver, gpuarray

pytestmark = pytest.mark.usefixtures("device")
TYPES = "?bBhHiIqQefd"


def ascending(x, axis=-1):
    """np.sort(); float16 is sorted as float32, because NumPy 2.4.6 sorts a few keys wrongly with AVX-512."""
    wide = np.sort(x.astype("f4") if x.dtype == np.float16 else x, axis)
    return wide.astype(x.dtype)


def keys(shape, dtype, seed=0):
    """Random keys with all special values of the type, and repeated values."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    x = (rng.standard_normal(shape) * 3).astype(dtype)
    if dtype.kind == "c":
        x = np.round(x + 1j * rng.standard_normal(shape)).astype(dtype)
    flat = x.reshape(-1)
    special = [np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf]
    if dtype.kind == "c":
        special += [complex(1, np.nan), complex(np.nan, 1), complex(np.nan, -1)]
    for number, value in enumerate(special):
        flat[number :: len(special) * 3] = value
    return x


def same_values(got, expected):
    got = got.get()
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("length", [1, 3, 300, 3000])
def test_sort_and_argsort(dtype, length):
    x = keys((3, length), dtype)
    on_device = gpuarray.to_gpu(x)
    same_values(gpuarray.sort(on_device), ascending(x))
    same_values(gpuarray.argsort(on_device), np.argsort(x, kind="stable"))


def by(way, function, *arguments, tile=(), **keywords):
    """The result of the function with kernels that sort in this way."""
    with _driver._Kernels(sort=way, **dict(tile)):
        return function(*arguments, **keywords)


# A tile is 2048 or 4096 keys; a small row fits 256, 1024 or 2048.
@pytest.mark.parametrize("way", ["blocks", "serial"])
@pytest.mark.parametrize("dtype", "bHfq")
@pytest.mark.parametrize("shape", [(7, 20), (2, 700), (1, 2048), (3, 2049), (2, 9000)])
def test_both_ways(way, dtype, shape):
    if way == "blocks" and dtype != "q" and is_softcuda():
        pytest.skip("a GPU's way takes 10 s to compile for a CPU; one type will do")
    x = keys(shape, dtype)
    on_device = gpuarray.to_gpu(x)
    same_values(by(way, _driver._array_sort, on_device, 1), ascending(x))
    expected = np.argsort(x, kind="stable")
    same_values(by(way, _driver._array_argsort, on_device, 1), expected)
    order = gpuarray.to_gpu(np.ascontiguousarray(expected[:, ::-1]))
    again = by(way, _driver._array_argsort, on_device, 1, order=order).get()
    np.testing.assert_array_equal(
        np.take_along_axis(x, again, 1), np.take_along_axis(x, expected, 1)
    )


# On a GPU, lanes of a warp sort rows of up to 128 keys.
@pytest.mark.parametrize("dtype", "fq")
@pytest.mark.parametrize("length", [1, 3, 8, 30, 50, 128])
def test_short_rows(dtype, length):
    x = np.random.default_rng(0).integers(-5, 5, (70, length)).astype(dtype)
    on_device = gpuarray.to_gpu(x)
    same_values(by("blocks", _driver._array_sort, on_device, 1), ascending(x))
    places = np.argsort(x, kind="stable")
    same_values(by("blocks", _driver._array_argsort, on_device, 1), places)
    falling = by("blocks", _driver._array_argsort, on_device, 1, True)
    same_values(falling, np.argsort(-x, kind="stable"))
    order = np.ascontiguousarray(places[:, ::-1])
    again = np.argsort(np.take_along_axis(x, order, 1), kind="stable")
    got = by("blocks", _driver._array_argsort, on_device, 1, order=gpuarray.to_gpu(order))  # fmt: skip
    same_values(got, np.take_along_axis(order, again, 1))


@pytest.mark.parametrize("dtype", ["f4", "i8", "u1"])
def test_rows_that_are_split(dtype):
    x = keys(300_001, dtype)
    same_values(gpuarray.sort(gpuarray.to_gpu(x)), ascending(x))
    same_values(gpuarray.argsort(gpuarray.to_gpu(x)), np.argsort(x, kind="stable"))


@pytest.mark.parametrize(
    ("items", "threads", "ranking"),
    [
        (1, 256, "late"),
        *slow([(4, 512, "marks"), (9, 256, "early"), (5, 384, "early")]),
    ],
)
def test_other_tiles(items, threads, ranking):
    x = keys(15_000, "f4")
    on_device = gpuarray.to_gpu(x)
    tile = {"items": items, "threads": threads, "ranking": ranking}
    same_values(
        by("blocks", _driver._array_sort, on_device, 0, tile=tile), ascending(x)
    )
    expected = np.argsort(x, kind="stable")
    same_values(by("blocks", _driver._array_argsort, on_device, 0, tile=tile), expected)


@pytest.mark.parametrize(
    ("tile", "message"),
    [
        ({"items": 25}, "25 keys for each of 256 threads are too many; at most 24"),
        ({"items": 24, "threads": 512}, "24 keys for each of 512 .* at most 22"),
        ({"threads": 300}, "256, 384 or 512 threads, not 300"),
        ({"ranking": "best"}, 'there is no choice "best" of kernels'),
    ],
)
def test_invalid_tiles(tile, message):
    with pytest.raises(ValueError, match=message):
        by(
            "blocks",
            _driver._array_sort,
            gpuarray.zeros(3000, np.float32),
            0,
            tile=tile,
        )


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("dtype", ["f4", "u8"])
def test_many_tiles_by_blocks(dtype):
    x = keys(150_000, dtype)
    on_device = gpuarray.to_gpu(x)
    for _ in range(3):
        same_values(by("blocks", _driver._array_sort, on_device, 0), ascending(x))
        expected = np.argsort(x, kind="stable")
        same_values(by("blocks", _driver._array_argsort, on_device, 0), expected)


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_complex_numbers(dtype):
    x = keys((2, 900), dtype)
    same_values(gpuarray.sort(gpuarray.to_gpu(x)), ascending(x))
    same_values(gpuarray.argsort(gpuarray.to_gpu(x)), np.argsort(x, kind="stable"))


def test_bfloat16():
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    x = np.random.default_rng(0).standard_normal(5000).astype(bfloat16)
    got = gpuarray.to_gpu(x)
    np.testing.assert_array_equal(
        gpuarray.argsort(got).get(), np.argsort(x.astype(np.float32), kind="stable")
    )


def test_axes_and_layouts():
    x = keys((20, 30, 5), "f4")
    on_device = gpuarray.to_gpu(x)
    for axis in (0, 1, 2, -1, None):
        same_values(np.sort(on_device, axis), ascending(x, axis))
        same_values(on_device.argsort(axis), np.argsort(x, axis, kind="stable"))
    view = np.s_[::-2, 3:, ::2]
    same_values(gpuarray.sort(on_device[view], 0), ascending(x[view], 0))
    same_values(gpuarray.sort(on_device.T, 1), ascending(x.T, 1))
    for shape in ((0,), (3, 0), (0, 3)):
        same_values(gpuarray.sort(gpuarray.zeros(shape, "f4")), np.zeros(shape, "f4"))


def test_in_place_and_descending():
    x = keys((4, 50), "i4")
    on_device = gpuarray.to_gpu(x)
    assert on_device[:, ::2].sort(0) is None
    expected = x.copy()
    expected[:, ::2].sort(0)
    same_values(on_device, expected)
    same_values(gpuarray.sort(gpuarray.to_gpu(x), descending=True), -ascending(-x.astype("i8")).astype("i4"))  # fmt: skip
    ties = np.array([1, 2, 1, 2], "i4")
    got = gpuarray.argsort(gpuarray.to_gpu(ties), descending=True).get()
    np.testing.assert_array_equal(got, [1, 3, 0, 2])
    stream = cuda.Stream()
    same_values(gpuarray.sort(gpuarray.to_gpu(x), stream=stream), ascending(x))


def test_lexsort():
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 4, (3, 500))
    same_values(gpuarray.lexsort(gpuarray.to_gpu(rows)), np.lexsort(rows))
    pair = (rng.random(40), rng.integers(0, 3, 40).astype("u1"))
    same_values(
        gpuarray.lexsort([gpuarray.to_gpu(key) for key in pair]), np.lexsort(pair)
    )


@pytest.mark.parametrize("dtype", ["f4", "i8", "c8", "?", "f2"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(dtype, side):
    sorted_ = ascending(keys(700, dtype))
    values = keys((5, 40), dtype, 1)
    got = gpuarray.searchsorted(gpuarray.to_gpu(sorted_), gpuarray.to_gpu(values), side)
    same_values(got, np.searchsorted(sorted_, values, side))


def test_searchsorted_of_numbers_and_orders():
    x = np.array([5.0, 1.0, 3.0])
    sorter = np.argsort(x)
    on_device = gpuarray.to_gpu(x)
    got = gpuarray.searchsorted(on_device, 3, sorter=gpuarray.to_gpu(sorter))
    assert got.get() == np.searchsorted(x, 3, sorter=sorter)
    nothing = gpuarray.searchsorted(gpuarray.zeros(0, "f4"), on_device)
    np.testing.assert_array_equal(nothing.get(), [0, 0, 0])


def test_partition_and_topk():
    x = keys((6, 200), "f4")
    x[np.isnan(x)] = 0
    on_device = gpuarray.to_gpu(x)
    for kth in (0, 17, -1, (3, 50)):
        got = gpuarray.partition(on_device, kth, axis=1).get()
        expected = ascending(x, axis=1)
        np.testing.assert_array_equal(got[:, kth], expected[:, kth])
        places = gpuarray.argpartition(on_device, kth, axis=1).get()
        np.testing.assert_array_equal(
            np.take_along_axis(x, places, 1)[:, kth], expected[:, kth]
        )
    values, places = gpuarray.topk(on_device, 5)
    np.testing.assert_array_equal(values.get(), ascending(x)[:, :-6:-1])
    np.testing.assert_array_equal(np.take_along_axis(x, places.get(), 1), values.get())
    smallest, _ = gpuarray.topk(on_device, 3, axis=0, largest=False)
    np.testing.assert_array_equal(smallest.get(), ascending(x, axis=0)[:3])
    with pytest.raises(ValueError, match="k must be from 0 to 200, not 201"):
        gpuarray.topk(on_device, 201)
    with pytest.raises(ValueError, match="out of bounds"):
        gpuarray.partition(on_device, 200)


@pytest.mark.parametrize("dtype", ["i4", "f4", "?", "c8", "u1"])
def test_unique(dtype):
    x = keys((20, 30), dtype) if dtype in "?c8u1f4" else keys((20, 30), dtype) % 17
    got = np.unique(gpuarray.to_gpu(x), True, True, True)
    expected = np.unique(x, True, True, True)
    for one, other in zip(got, expected, strict=True):
        same_values(one, other)
    same_values(gpuarray.unique(gpuarray.to_gpu(x)), np.unique(x))
    # Without numpy's exception for complex NaN the counts follow the array API.
    if dtype == "f4":
        got = gpuarray.unique_counts(gpuarray.to_gpu(x))
        expected = np.unique(x, return_counts=True, equal_nan=False)
        same_values(got.values, expected[0])
        same_values(got.counts, expected[1])


def test_unique_of_nothing():
    x = np.zeros((0, 3), "i4")
    got = gpuarray.unique(gpuarray.to_gpu(x), True, True, True)
    for one, other in zip(got, np.unique(x, True, True, True), strict=True):
        same_values(one, other)


def test_what_is_refused():
    x = gpuarray.zeros((2, 3), "f4")
    with pytest.raises(np.exceptions.AxisError):
        gpuarray.sort(x, 2)
    with pytest.raises(ValueError, match="sort kind must be one of"):
        gpuarray.sort(x, kind="bubble")
    with pytest.raises(TypeError, match="not defined for elements of"):
        gpuarray.sort(gpuarray.zeros(3, np.dtype([("a", "i4")])))
    with pytest.raises(ValueError, match="side must be"):
        gpuarray.searchsorted(x[0], 1, side="middle")


# Selecting by rank: rows of 16 Ki keys or more are not sorted.


def parted_at(x, parted, k):
    """Whether rows of `parted` are those of `x` with element k at its sorted position."""
    whole = ascending(x)
    np.testing.assert_array_equal(ascending(parted), whole)
    np.testing.assert_array_equal(parted[..., k], whole[..., k])
    np.testing.assert_array_equal(ascending(parted[..., :k]), whole[..., :k])


@pytest.mark.parametrize(
    "dtype, shape",
    [
        *((dtype, (40_001,)) for dtype in TYPES),
        *((dtype, (3, 16_500)) for dtype in "fq"),
        *slow((dtype, (3, 16_500)) for dtype in TYPES if dtype not in "fq"),
    ],
)
def test_selecting(dtype, shape):
    x = keys(shape, dtype)
    on_device = gpuarray.to_gpu(x)
    ranks = [shape[-1] - 1, 0, 7000]
    chosen = _driver._array_select(on_device, x.ndim - 1, ranks)
    same_values(chosen, ascending(x)[..., ranks])
    for k in (0, 7000):
        parted_at(x, gpuarray.partition(on_device, k).get(), k)
        places = gpuarray.argpartition(on_device, k - shape[-1]).get()
        np.testing.assert_array_equal(ascending(places), np.indices(shape)[-1])
        parted_at(x, np.take_along_axis(x, places, -1), k)
        if k > 0:
            values, best = gpuarray.topk(on_device, k // 2)
            order = gpuarray.argsort(on_device, descending=True)[..., : k // 2]
            same_values(best, order.get())
            same_values(values, np.take_along_axis(x, order.get(), -1))


# On a GPU, the registers of a warp or of a block hold rows of up to 32 Ki keys.
@pytest.mark.parametrize("dtype", [*"?HfQ", *slow("bed")])
@pytest.mark.parametrize("shape", [(9, 1), (5, 2), (5, 33), (11, 512), (2, 513), (3, 7000)])  # fmt: skip
def test_selecting_in_registers(dtype, shape):
    if shape[1] > 33 and dtype not in "Hf" and is_softcuda():
        pytest.skip("a GPU's way takes long to compile for a CPU; two types will do")
    x, n = keys(shape, dtype), shape[1]
    on_device = gpuarray.to_gpu(x)
    middle = [(n - 1) // 2, n // 2, n - 1]
    for ranks in (middle, [n // 3], [n - 1, 0, n // 3, n // 3], list(range(min(n, 5)))):
        chosen = by("blocks", _driver._array_select, on_device, 1, ranks)
        same_values(chosen, ascending(x)[:, ranks])


def test_selecting_in_the_registers_of_large_blocks():
    x = keys((2, 9000), "f")
    for rows in (x, np.zeros_like(x), np.full_like(x, np.nan), -np.abs(x)):
        chosen = by("blocks", _driver._array_select, gpuarray.to_gpu(rows), 1, [4499, 4500, 8999])  # fmt: skip
        same_values(chosen, ascending(rows)[:, [4499, 4500, 8999]])


def test_selecting_in_many_rows():
    x = keys((300, 16_400), "f4")  # a block for each
    on_device = gpuarray.to_gpu(x)
    parted_at(x, gpuarray.partition(on_device, 1000).get(), 1000)
    same_values(
        _driver._array_select(on_device, 1, [8200, 8200]), ascending(x)[:, [8200, 8200]]
    )


def test_selecting_along_other_axes():
    x = keys((20_000, 3), "f4")
    on_device = gpuarray.to_gpu(x)
    same_values(
        _driver._array_select(on_device, 0, [5, 10_000]), ascending(x, 0)[[5, 10_000]]
    )
    parted_at(x.T, gpuarray.partition(on_device, 77, axis=0).get().T, 77)
    many = list(range(0, 20_000, 3000))  # more than one search handles
    same_values(_driver._array_select(on_device, 0, many), ascending(x, 0)[many])


def test_selecting_missing_elements():
    x = gpuarray.zeros((3, 20_000), np.float32)
    with pytest.raises(
        IndexError, match="rank 20000 is out of bounds for an axis of 20000"
    ):
        _driver._array_select(x, 1, [20_000])
    with pytest.raises(ValueError, match=r"kth\(=-20001\) out of bounds \(20000\)"):
        gpuarray.partition(x, -20_001)
    assert _driver._array_select(x, 1, []).shape == (3, 0)
    assert gpuarray.partition(x[:0], 4).shape == (0, 20_000)


@pytest.mark.parametrize("kind", ["f4", "i4"])
def test_quantiles_of_long_rows(kind):
    x = keys((2, 30_000), kind)
    x[~np.isfinite(x)] = 3
    on_device = gpuarray.to_gpu(x)
    for q in (50, [2.5, 97.5], [1, 10, 30, 70]):
        np.testing.assert_allclose(
            gpuarray.percentile(on_device, q, axis=1).get(), np.percentile(x, q, axis=1), rtol=1e-6
        )  # fmt: skip
    np.testing.assert_allclose(gpuarray.median(on_device).get(), np.median(x), rtol=1e-6)  # fmt: skip
    if kind == "f4":
        on_device[1, 5] = np.nan
        broken = gpuarray.median(on_device, axis=1).get()
        assert broken[0] == np.median(x[0]) and np.isnan(broken[1])


@pytest.mark.parametrize("sorter", [[0, 1], [0, 1, 2, 2]])
def test_a_sorter_has_an_index_for_each_element(sorter):
    with pytest.raises(ValueError, match="sorter has"):
        gpuarray.searchsorted(gpuarray.array([1, 2, 3]), 2, sorter=sorter)
