"""Functions that have kernels of their own: values as NumPy's, for types, layouts and edge cases."""

import warnings

import numpy as np
import pytest

import pycuda
import pycuda._driver
import pycuda.driver as cuda
from pycuda import gpuarray

pytestmark = pytest.mark.usefixtures("device")


def on_device(value):
    return gpuarray.to_gpu(value) if isinstance(value, np.ndarray) else value


def same(name, *args, exact=True, **kwargs):
    """The function on the device has NumPy's values and type."""
    expected = getattr(np, name)(*args, **kwargs)
    got = getattr(np, name)(*map(on_device, args), **{k: on_device(v) for k, v in kwargs.items()})  # fmt: skip
    assert got.dtype == expected.dtype and got.shape == expected.shape
    if exact:
        np.testing.assert_array_equal(got.get(), expected)
    else:
        np.testing.assert_allclose(got.get(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", ["?", "i1", "i4", "f2", "f4", "f8", "c16"])
def test_repeat_by_counts(dtype):
    x = np.arange(60).astype(dtype)
    counts = np.arange(60) * 7 % 5
    same("repeat", x, counts)
    same("repeat", x, counts.tolist())
    same("repeat", x, counts.astype("u1"))
    same("repeat", x[::2], counts[::2])
    same("repeat", x.reshape(5, 12), counts[:12], 1)
    same("repeat", x.reshape(12, 5), counts[:12], 0)
    same("repeat", x, counts * 100)
    same("repeat", x, counts * 0)
    same("repeat", x[:0], counts[:0])
    for bad in (counts - 1, np.array([-1] * 60)):
        with pytest.raises(ValueError, match="negative"):
            gpuarray.repeat(on_device(x), on_device(bad))
    with pytest.raises(ValueError, match=r"counts of shape \(59,\)"):
        gpuarray.repeat(on_device(x), on_device(counts[:-1]))


@pytest.mark.parametrize("dtype", ["?", "i2", "f4", "f8", "c16"])
def test_triangles(dtype):
    m = (np.arange(2 * 5 * 7) % 9).astype(dtype).reshape(2, 5, 7)
    for one in (m, m[0], m[0].T, m[:, ::2], m[0, ::-1], m[0, 0], m[:0], m[:, :, :0]):
        for k in (-100, -2, 0, 1, 6, 10**12):
            same("triu", one, k)
            same("tril", one, k)


@pytest.mark.parametrize("dtype", ["?", "i2", "f4", "f8"])
def test_triangles_in_pieces_of_16_bytes(dtype, monkeypatch):
    """The kernel that a GPU uses if rows are whole pieces."""
    monkeypatch.setattr(pycuda._driver, "_array_threads_are_cores", lambda: False)
    m = (1 + np.arange(2 * 21 * 48) % 9).astype(dtype).reshape(2, 21, 48)
    for one in (m, m[1], m[:0], m.reshape(6, 7, 48), m[0, :, 1:], m[0, 0]):
        for k in (-100, -20, -3, 0, 1, 15, 16, 47, 10**12):
            same("triu", one, k)
            same("tril", one, k)


def test_interp():
    rng = np.random.default_rng(0)
    xp, fp = np.sort(rng.random(50)), rng.random(50)
    x = np.concatenate([rng.random(500) * 1.4 - 0.2, xp, [np.nan, np.inf, -np.inf]])
    for kind in ("f8", "f4"):
        same("interp", x.astype(kind), xp.astype(kind), fp.astype(kind))
    same("interp", x.reshape(7, -1)[:, ::2], xp, fp, left=-5, right=7)
    same("interp", (x[:500] * 50).astype("i4"), np.arange(50), np.arange(50) ** 2)
    same("interp", x, xp[:1], fp[:1])
    same(
        "interp",
        x,
        np.array([0.0, 0.5, 0.5, 1.0]),
        np.array([0.0, np.inf, 2.0, np.nan]),
    )
    same("interp", x[:500], xp, fp, period=0.3, exact=False)
    same("interp", 0.5, xp, fp)


def test_interp_of_complex_values():
    """Each part has NumPy's result, also beside a part that is not finite."""
    rng = np.random.default_rng(0)
    xp, fp = np.sort(rng.random(50)), rng.random(50) + 1j * rng.random(50)
    fp[7], fp[20] = complex(1, np.nan), complex(np.inf, 2)
    x = np.concatenate([rng.random(500) * 1.4 - 0.2, xp, [np.nan, np.inf, -np.inf]])
    same("interp", x, xp, fp)
    same("interp", x, xp, fp.astype("c8"), left=0j, right=3 + 4j)
    same("interp", x, xp[:1], fp[:1])
    same("interp", x[:500], xp, fp[::-1], period=0.3, exact=False)


def test_digitize():
    x = np.random.default_rng(0).random(300)
    for bins in (
        np.linspace(0, 1, 9),
        np.linspace(0, 1, 9)[::-1],
        np.array([0.5]),
        np.zeros(0),
    ):
        same("digitize", x, bins)
        same("digitize", x, bins, right=True)
        same("digitize", x, bins.tolist())
    same("digitize", x, np.sort(np.random.default_rng(1).random(20_000)))
    same("digitize", (x * 9).astype("i4")[::2], np.arange(9, dtype="f4"))
    same("digitize", x[:0], np.arange(3.0))
    edges = np.array([5, 3, 3, 1])
    for kind in ("f2", "i4", "u1", "?"):
        for right in (False, True):
            same("digitize", np.arange(8).astype(kind), edges.astype(kind), right)
    same("digitize", x[::3].reshape(10, 10).T, np.linspace(1, 0, 7)[::2])
    same("digitize", np.float64(0.3), np.linspace(1, 0, 7))
    same("digitize", np.tile(x, 300), np.linspace(1, 0, 5000))  # with pivots
    with pytest.raises(ValueError, match="monotonically"):  # also without values
        gpuarray.digitize(on_device(x[:0]), on_device(np.array([0.0, 2.0, 1.0])))
    for bins in ([0.0, 2.0, 1.0], [0.0, np.nan, 1.0], np.concatenate([np.arange(20_000.0), [3.0]])):  # fmt: skip
        with pytest.raises(ValueError, match="monotonically"):
            gpuarray.digitize(on_device(x), on_device(np.asarray(bins)))


@pytest.mark.parametrize("dtype", ["i1", "u4", "i8", "f4", "f8", "c8"])
def test_cross(dtype):
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 9, (2, 40, 3)).astype(dtype)
    same("cross", a, b)
    same("cross", a[0], b)
    same("cross", a.T, b, axisa=0)
    same("cross", a.T, b.T, axis=0)
    same("cross", a[:, None], b[None, :5])
    same("cross", a[:0], b[:0])
    same("cross", a, b.astype("c16"))


@pytest.mark.parametrize("dtype", ["i4", "f4", "f8", "c16"])
def test_trapezoid(dtype):
    y = np.arange(60).astype(dtype).reshape(4, 15) * 0.5
    for one in (y, y[:, ::2], y[0], y[:, :1]):
        same("trapezoid", one, exact=False)
        same("trapezoid", one, dx=0.25, exact=False)
    same("trapezoid", y, np.arange(15) ** 2, exact=False)
    same("trapezoid", y, np.arange(4) ** 2, axis=0, exact=False)
    same("trapezoid", y, np.arange(60).reshape(4, 15) * 1.5, exact=False)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "i4"])
def test_nan_to_num(dtype):
    x = np.array(
        [np.nan, np.inf, -np.inf, 2, -3, 0] if dtype != "i4" else [1, 2], dtype
    )
    same("nan_to_num", x)
    same("nan_to_num", x, nan=5, posinf=7, neginf=-7)
    same("nan_to_num", x[::-1])


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_convolutions(dtype):
    rng = np.random.default_rng(0)
    a, v = (rng.integers(0, 3, n).astype(dtype) for n in (3000, 11))
    for mode in ("full", "same", "valid"):
        same("convolve", a, v, mode)
        same("correlate", a, v, mode)
        same("convolve", v, a[::2], mode)
    same("convolve", a, v[:1])
    same("convolve", a[:11], v)
    same("convolve", a[:2500], a[:2400])


@pytest.mark.parametrize(
    "shape, axis", [((300, 3), 1), ((3, 300), 0), ((40, 2, 20, 2), (1, 3)), ((20, 4, 30, 4), (0, 2))]
)  # fmt: skip
def test_reductions_over_short_axes(shape, axis):
    """A thread computes an output alone."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, shape)
    for dtype, names in {"f4": ("sum", "max", "mean", "var"), "u1": ("sum", "any"), "c8": ("sum",)}.items():  # fmt: skip
        for one in (x.astype(dtype), x.astype(dtype)[..., ::-1]):
            for name in names:
                same(name, one, axis=axis, exact=name in ("sum", "max", "any"))
    if isinstance(axis, int):
        same("argmax", x.astype("i4"), axis=axis)
    same("sum", x.astype("f4"), axis=axis, where=rng.integers(0, 2, shape).astype(bool))


@pytest.mark.parametrize(
    "count", [7, 3000]
)  # one block that checks the indices; many blocks
def test_a_wrong_index_changes_no_row(count):
    m = np.arange(80.0).reshape(40, 2)
    x, rng = on_device(m), np.random.default_rng(0)
    places = rng.integers(-40, 40, count)
    for bad in (40, -41):
        places[count // 2] = bad
        for value in (1, x[:1], on_device(rng.random((count, 2)))):
            with pytest.raises(IndexError, match=f"index {bad} is out of bounds for axis 0 with size 40"):  # fmt: skip
                x[on_device(places)] = value
        with pytest.raises(IndexError, match=f"index {bad} is out of bounds"):
            x[on_device(places)]
    np.testing.assert_array_equal(x.get(), m)


@pytest.mark.parametrize("shape", [(5,), (2, 3)])
def test_rows_of_few_elements_are_assigned(shape):
    m, rng = np.arange(80, dtype="f4").reshape(40, 2), np.random.default_rng(0)
    x, places = on_device(m), rng.permutation(40)[: np.prod(shape)].reshape(shape) - 20
    for value in (rng.random((*shape, 2)).astype("f4"), np.float32([7, 8]), np.float32(3)):  # fmt: skip
        m[places] = value
        x[on_device(places)] = on_device(value)
        np.testing.assert_array_equal(x.get(), m)
    for value in (np.float32(3), 3):
        with pytest.raises(IndexError, match="index 0 is out of bounds for axis 0 with size 0"):  # fmt: skip
            x[:0][on_device(np.array([0]))] = value
    x[:0][on_device(np.array([], int))] = 3


@pytest.mark.parametrize("count", [4096, 4097])  # one tile, two tiles
def test_places_of_a_mask(count):
    mask = np.random.default_rng(0).random(count) < 0.3
    values = np.arange(count, dtype="i2")
    same("flatnonzero", mask)
    np.testing.assert_array_equal(on_device(values)[on_device(mask)].get(), values[mask])  # fmt: skip
    assert on_device(values)[on_device(mask & False)].size == 0


@pytest.mark.parametrize(
    "count", [9, 5000]
)  # one block that checks the indices; many blocks
def test_elements_at_indices_of_two_axes(count):
    m, rng = np.arange(9000.0).reshape(90, 100), np.random.default_rng(0)
    chosen = rng.permutation(9000)[:count]
    places, x = (chosen // 100 - 90, chosen % 100), on_device(m)
    values = rng.random(count)
    for value in (values, 7.0, values[:1]):
        m[places] = value
        x[tuple(map(on_device, places))] = on_device(value)
        np.testing.assert_array_equal(x.get(), m)
    for axis, bad in ((0, -91), (1, 100)):
        wrong = [one.copy() for one in places]
        wrong[axis][count // 2] = bad
        with pytest.raises(IndexError, match=f"index {bad} is out of bounds for axis {axis}"):  # fmt: skip
            x[tuple(map(on_device, wrong))] = 1.0
    np.testing.assert_array_equal(x.get(), m)
    x[on_device(places[0][:0]), on_device(places[1][:0])] = 3.0


def strided(host):
    """An array of the device that has every second element of a larger one."""
    wide = np.zeros((*host.shape[:-1], 2 * host.shape[-1]), host.dtype)
    wide[..., ::2] = host
    return gpuarray.to_gpu(wide)[..., ::2]


def test_at_of_strided_arrays():
    rng = np.random.default_rng(0)
    rows, values = rng.integers(0, 9, (20, 6)), rng.integers(0, 9, (50, 6))
    places, columns = rng.integers(-20, 20, 50), rng.integers(0, 6, 50)
    for function in (np.add, np.maximum):
        for index, value in ((places, values), ((places, columns), 2), (3, values[0])):
            expected, got = rows.copy(), strided(rows)
            function.at(expected, index, value)
            index = tuple(map(on_device, index)) if isinstance(index, tuple) else on_device(index)  # fmt: skip
            function.at(got, index, on_device(value))
            np.testing.assert_array_equal(got.get(), expected)
    got = strided(rows)
    with pytest.raises(IndexError, match="99"):
        np.add.at(got, on_device(np.array([1, 99])), on_device(values[:2]))
    np.testing.assert_array_equal(got.get(), rows)


@pytest.mark.parametrize("values", [[1.0], [1.0, 2.0, 3.0], np.arange(40.0)])
@pytest.mark.parametrize("make", [on_device, strided])
def test_put_and_place(make, values):
    rng = np.random.default_rng(0)
    x, mask, places = rng.random((5, 6)), rng.random((5, 6)) > 0.5, np.array([3, 9, -1])
    for shape in ((30,), (5, 6)):
        expected, got = x.reshape(shape).copy(), make(x.reshape(shape))
        np.put(expected, places, values)
        np.put(got, on_device(places), on_device(np.asarray(values)))
        np.place(expected, mask.reshape(shape), values)
        np.place(got, on_device(mask.reshape(shape)), on_device(np.asarray(values)))
        np.testing.assert_array_equal(got.get(), expected)
        np.place(got, on_device(mask.reshape(shape) & False), [5])
        np.testing.assert_array_equal(got.get(), expected)
    whole = on_device(x.astype("i4"))
    expected = x.astype("i4")
    np.place(whole, on_device(mask), on_device(np.arange(4, dtype="i1")))
    np.place(expected, mask, np.arange(4, dtype="i1"))
    np.testing.assert_array_equal(whole.get(), expected)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i8"])
def test_choose_in_one_kernel(dtype):
    rng = np.random.default_rng(0)
    chosen = rng.integers(0, 3, (4, 5)).astype(dtype)
    arrays = [rng.random(5).astype("f4"), rng.integers(0, 9, (4, 5)), rng.random((4, 1))]  # fmt: skip
    for count in (1, 2, 3):
        expected = np.choose(chosen % count, arrays[:count])
        got = np.choose(on_device(chosen % count), list(map(on_device, arrays[:count])))
        assert got.dtype == expected.dtype and got.shape == expected.shape
        np.testing.assert_array_equal(got.get(), expected)
    many = [np.arange(5) * k for k in range(20)]  # more than one kernel has
    same_place = rng.integers(0, 20, (4, 5))
    got = np.choose(on_device(same_place), list(map(on_device, many)))
    np.testing.assert_array_equal(got.get(), np.choose(same_place, many))
    for bad in {"u1": (3,), "i1": (-1, 3), "i8": (-1, 3, 1 << 40)}[dtype]:
        with pytest.raises(ValueError, match="from 0 to 2"):
            np.choose(
                on_device(np.array([0, bad], dtype)), [on_device(many[1][:2])] * 3
            )


def test_multi_indices():
    rng = np.random.default_rng(0)
    for dims in ((5,), (5, 6), (4, 3, 7)):
        for order in "CF":
            places = tuple(rng.integers(0, n, 10).astype("i4") for n in dims)
            expected = np.ravel_multi_index(places, dims, order=order)
            flat = np.ravel_multi_index(tuple(map(on_device, places)), dims, order=order)  # fmt: skip
            assert flat.dtype == expected.dtype
            np.testing.assert_array_equal(flat.get(), expected)
            for one, other in zip(np.unravel_index(flat, dims, order=order), places, strict=True):  # fmt: skip
                np.testing.assert_array_equal(one.get(), other)
    given = on_device(np.array([1, 2]))
    np.ravel_multi_index((given,), (5,)).fill(0)
    assert given.get().tolist() == [1, 2]
    for bad in (-1, 5, 1 << 40):
        one = on_device(np.array([0, bad]))
        with pytest.raises(ValueError, match="invalid entry"):
            np.ravel_multi_index((one,), (5,))
        with pytest.raises(ValueError, match=f"index {bad} is out of bounds"):
            np.unravel_index(one, (5,))


def test_ranges_by_index():
    """Each range is one kernel, which also sets the last element exactly."""
    for count in (0, 1, 2, 5, 1001):
        for start, stop in ((0, 1), (3, -4.5), (1 + 2j, 4)):
            for keywords in ({}, {"endpoint": False}, {"dtype": "c8"}, {"dtype": "i4"}):
                is_complex = isinstance(start, complex)
                if is_complex and keywords.get("dtype") == "i4":
                    continue
                expected = np.linspace(start, stop, count, **keywords)
                got = gpuarray.linspace(start, stop, count, **keywords)
                assert got.dtype == expected.dtype
                np.testing.assert_allclose(got.get(), expected, rtol=1e-6, atol=1e-12)
                if is_complex:
                    continue
                expected = np.logspace(start, stop, count, base=2.5, **keywords)
                got = gpuarray.logspace(start, stop, count, base=2.5, **keywords)
                assert got.dtype == expected.dtype
                np.testing.assert_allclose(got.get(), expected, rtol=1e-6, atol=1e-12)
                ends = -start - 1, -stop - 6
                expected = np.geomspace(*ends, count, **keywords)
                got = gpuarray.geomspace(*ends, count, **keywords)
                assert got.dtype == expected.dtype
                np.testing.assert_allclose(got.get(), expected, rtol=1e-6)
    whole = gpuarray.geomspace(1, 1000, 4, dtype=int).get()
    assert whole.tolist() == [1, 10, 100, 1000]
    assert gpuarray.linspace(0.1, 0.7, 7)[-1].get() == 0.7
    assert gpuarray.geomspace(0.1, 0.7, 7).get()[[0, -1]].tolist() == [0.1, 0.7]


def test_tri_by_index():
    for shape in ((4, None), (3, 7), (7, 3), (0, 3), (3, 0), (1, 1)):
        for k in (-10, -1, 0, 2, 1.0, 10**15):
            for dtype in (float, "i1", "?", "c8"):
                expected, got = np.tri(*shape, k, dtype), gpuarray.tri(*shape, k, dtype)
                assert got.dtype == expected.dtype
                np.testing.assert_array_equal(got.get(), expected)


def kernels_of(call) -> int:
    """The kernels of a second call, which finds them compiled."""
    call()
    cuda.Context.synchronize()
    with pycuda.profile(counters=False) as profile:
        call()
    return sum(event.activity == "kernel" for event in profile.events)


def test_calls_are_few_kernels():
    x = on_device(np.linspace(0, 1, 1000))
    whole, mask = on_device(np.arange(1000) % 3), on_device(np.arange(1000) % 2 > 0)
    most = {
        "linspace": (1, lambda: gpuarray.linspace(0, 1, 1000)),
        "logspace": (1, lambda: gpuarray.logspace(0, 1, 1000)),
        "geomspace": (1, lambda: gpuarray.geomspace(1, 2, 1000)),
        "tri": (1, lambda: gpuarray.tri(30)),
        "hanning": (1, lambda: gpuarray.hanning(1000)),
        "kaiser": (1, lambda: gpuarray.kaiser(1000, 8.6)),
        "choose": (4, lambda: np.choose(whole, [x, x, x])),
        "piecewise": (1, lambda: np.piecewise(x, [mask], [1, 2])),
        "place": (1, lambda: np.place(x, mask, 5)),
        "nanquantile": (12, lambda: np.nanquantile(x, [0.2, 0.4, 0.6])),
        "packbits": (1, lambda: np.packbits(mask)),
    }
    found = {name: kernels_of(call) for name, (_, call) in most.items()}
    assert {k: n for k, n in found.items() if n > most[k][0]} == {}


def test_few_largest():
    rng = np.random.default_rng(0)
    for count in (10, 4096, 5000):
        x = rng.integers(0, 50, count).astype("f4")
        for k in (0, 1, 3, count):
            values, places = gpuarray.topk(on_device(x), k)
            expected = np.argsort(-x, kind="stable")[:k]
            np.testing.assert_array_equal(places.get(), expected)
            np.testing.assert_array_equal(values.get(), x[expected])
    for one in (np.array([3.0, np.nan, -0.0, 0.0, 1]), np.array([3, 1, 2]), np.array([[3, 1], [0, 9]], "i1")):  # fmt: skip
        same("sort_complex", one)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_quantiles_without_nan(dtype):
    rng = np.random.default_rng(0)
    x = rng.random((6, 50))
    x[rng.random((6, 50)) < 0.3] = np.nan
    x[2] = np.nan
    x = x.astype(dtype)
    some = np.array([0.0, 0.1, 0.77, 1.0])
    methods = ("linear", "nearest", "averaged_inverted_cdf")
    for method in methods[:1] if dtype == "f2" else methods:
        for q in (0.5, some, some[:2].reshape(1, 2)):
            for axis in (None, 0, 1):
                with np.errstate(all="ignore"), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    expected = np.nanquantile(x, q, axis=axis, method=method)
                got = np.nanquantile(on_device(x), q, axis=axis, method=method)
                assert got.dtype == expected.dtype and got.shape == expected.shape
                rtol = 2e-3 if dtype == "f2" else 1e-6
                np.testing.assert_allclose(got.get(), expected, rtol=rtol)
