"""numpy's functions compared with numpy itself, for many shapes, strides and types, bfloat16 among them.

Hypothesis draws the same examples in each run; each test compiles few kernels and uses many arrays.
"""

import numpy as np
import pytest

from pycuda import gpuarray

hypothesis = pytest.importorskip("hypothesis")
st = pytest.importorskip("hypothesis.strategies")
npst = pytest.importorskip("hypothesis.extra.numpy")
ml_dtypes = pytest.importorskip("ml_dtypes")

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

settings = hypothesis.settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)
TYPES = [np.dtype(one) for one in ("?", "i2", "f4", ml_dtypes.bfloat16)]
FLOATS = [np.dtype(one) for one in ("f4", "f8", ml_dtypes.bfloat16)]
SHAPES = npst.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=5)


@st.composite
def arrays(draw, shape=SHAPES, types=TYPES, nan=False):
    """An array with small whole numbers, perhaps transposed, reversed or with gaps."""
    shape = draw(shape) if not isinstance(shape, tuple) else shape
    dtype = draw(st.sampled_from(types))
    order = draw(st.permutations(range(len(shape))))
    steps = [draw(st.sampled_from([1, 1, -1, 2])) for _ in shape]
    whole = [shape[axis] * abs(steps[axis]) for axis in order]
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 2 if dtype.kind == "b" else 6, whole).astype(dtype)
    if nan:
        values[rng.random(whole) < 0.3] = np.nan
    values = values.transpose(np.argsort(order))
    return values, tuple(slice(None, None, step) for step in steps)


def both(drawn):
    """The array on the host, and the same view of it on the device."""
    whole, index = drawn
    return whole[index], gpuarray.to_gpu(whole)[index]


def agree(result, expected):
    if isinstance(expected, (list, tuple)):
        assert len(result) == len(expected)
        for one, other in zip(result, expected, strict=True):
            agree(one, other)
        return
    expected = np.asarray(expected)
    result = result.get() if isinstance(result, gpuarray.GPUArray) else result
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    if expected.dtype.kind == "V":
        result, expected = result.astype("f4"), expected.astype("f4")
    np.testing.assert_allclose(result, expected, rtol=2e-6)


def axis_of(data, array, none=True):
    axes = [*range(-array.ndim, array.ndim), *([None] if none else [])]
    return data.draw(st.sampled_from(axes))


@settings
@hypothesis.given(data=st.data())
def test_joining(data):
    (a, x), (b, y) = (
        both(data.draw(arrays(shape=data.draw(st.shared(SHAPES, key="s")))))
        for _ in range(2)
    )
    if {a.dtype, b.dtype} == {np.dtype("i2"), np.dtype(ml_dtypes.bfloat16)}:
        b, y = b.astype(a.dtype), y.astype(x.dtype)  # numpy finds no common type
    axis = axis_of(data, a, none=False)
    agree(np.concatenate([x, y, x], axis), np.concatenate([a, b, a], axis))
    agree(np.stack([x, y], axis), np.stack([a, b], axis))
    agree(np.append(x, y), np.append(a, b))


@settings
@hypothesis.given(data=st.data())
def test_splitting(data):
    a, x = both(data.draw(arrays()))
    axis = axis_of(data, a, none=False)
    parts = data.draw(st.integers(1, 4))
    agree(np.array_split(x, parts, axis), np.array_split(a, parts, axis))
    ends = data.draw(st.lists(st.integers(-6, 6), max_size=3))
    agree(np.split(x, ends, axis), np.split(a, ends, axis))
    places = data.draw(st.permutations(range(a.ndim)))
    agree(
        np.moveaxis(x, tuple(range(a.ndim)), tuple(places)),
        np.moveaxis(a, tuple(range(a.ndim)), tuple(places)),
    )


@settings
@hypothesis.given(data=st.data())
def test_repeating(data):
    a, x = both(data.draw(arrays()))
    reps = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=4))
    agree(np.tile(x, reps), np.tile(a, reps))
    axis = axis_of(data, a)
    count = data.draw(st.integers(0, 3))
    agree(np.repeat(x, count, axis), np.repeat(a, count, axis))
    shifts = data.draw(st.integers(-7, 7))
    agree(np.roll(x, shifts, axis), np.roll(a, shifts, axis))
    agree(np.flip(x, axis), np.flip(a, axis))


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric", "wrap"])
@settings
@hypothesis.given(data=st.data())
def test_padding(mode, data):
    shape = npst.array_shapes(min_dims=1, max_dims=3, max_side=5)
    a, x = both(data.draw(arrays(shape=shape)))
    widths = [[data.draw(st.integers(0, 6)) for _ in range(2)] for _ in a.shape]
    agree(np.pad(x, widths, mode=mode), np.pad(a, widths, mode=mode))


@settings
@hypothesis.given(data=st.data())
def test_selecting(data):
    shape = npst.array_shapes(min_dims=1, max_dims=3, max_side=5)
    a, x = both(data.draw(arrays(shape=shape)))
    axis = axis_of(data, a)
    extent = a.size if axis is None else a.shape[axis]
    places = st.lists(st.integers(-extent, extent - 1), min_size=1, max_size=6)
    indices = np.array(data.draw(places))
    agree(np.take(x, indices, axis), np.take(a, indices, axis))
    clipped = indices * 3
    agree(
        np.take(x, clipped, axis, mode="wrap"), np.take(a, clipped, axis, mode="wrap")
    )
    agree(np.nonzero(x), np.nonzero(a))
    agree(np.argwhere(x), np.argwhere(a))
    agree(np.where(x, x, 0 * x), np.where(a, a, 0 * a))
    mask = np.arange(extent) % 3 > 0
    agree(np.compress(mask, x, axis), np.compress(mask, a, axis))


@settings
@hypothesis.given(data=st.data())
def test_setting(data):
    shape = npst.array_shapes(min_dims=1, max_dims=3, max_side=5)
    a, x = both(data.draw(arrays(shape=shape)))
    a, x = a.copy("K"), x.copy("K")
    indices = np.array(
        data.draw(st.lists(st.integers(-a.size, a.size - 1), unique=True, min_size=1))
    )
    indices = indices[np.unique(indices % a.size, return_index=True)[1]]
    np.put(a, indices, [1, 0])
    np.put(x, indices, [1, 0])
    agree(x, a)
    mask = np.arange(a.size).reshape(a.shape) % 2 == 0
    np.putmask(a, mask, a[::-1])
    np.putmask(x, mask, x[::-1].copy())
    agree(x, a)


@settings
@hypothesis.given(data=st.data())
def test_triangles(data):
    shape = npst.array_shapes(min_dims=2, max_dims=3, min_side=1, max_side=5)
    a, x = both(data.draw(arrays(shape=shape)))
    k = data.draw(st.integers(-5, 5))
    agree(np.tril(x, k), np.tril(a, k))
    agree(np.triu(x, k), np.triu(a, k))
    agree(np.diagonal(x, k, -2, -1), np.diagonal(a, k, -2, -1))


@pytest.mark.parametrize("name", ["nansum", "nanmax", "nanmin", "nanmean", "nanvar"])
@settings
@hypothesis.given(data=st.data())
def test_statistics_of_numbers(name, data):
    types = [one for one in FLOATS if one.kind == "f"]  # numpy's fail with bfloat16
    shape = npst.array_shapes(min_dims=1, max_dims=3, max_side=6)
    a, x = both(data.draw(arrays(shape=shape, types=types, nan=True)))
    axis = axis_of(data, a)
    keepdims = data.draw(st.booleans())
    function = getattr(np, name)
    agree(function(x, axis, keepdims=keepdims), function(a, axis, keepdims=keepdims))


@pytest.mark.parametrize("name", ["sum", "any", "all", "mean", "count_nonzero"])
@settings
@hypothesis.given(data=st.data())
def test_reductions_where(name, data):
    types = [np.dtype(one) for one in ("?", "i2", "f4")]
    shape = npst.array_shapes(min_dims=1, max_dims=3, max_side=6)
    a, x = both(data.draw(arrays(shape=shape, types=types)))
    axis = axis_of(data, a)
    function = getattr(np, name)
    if name == "count_nonzero":
        agree(function(x, axis), function(a, axis))
        return
    mask = np.arange(a.size).reshape(a.shape) % 3 != 1
    agree(function(x, axis, where=mask), function(a, axis, where=mask))


@pytest.mark.parametrize("name", ["argmin", "argmax"])
@pytest.mark.parametrize("special", [0.0, np.nan, np.inf, -np.inf])
def test_indices_of_special_numbers(name, special):
    """The first of equal ones, and a NaN before any number."""
    rng = np.random.default_rng(0)
    a = np.where(rng.random((66, 1500)) < 0.001, special, -0.0).astype("f4")
    a[::3] = special
    a[1] = rng.random(1500)
    x = gpuarray.to_gpu(a)
    for axis in (None, 0, 1):
        agree(getattr(x, name)(axis), getattr(a, name)(axis))
    agree(getattr(x[1:], name)(), getattr(a[1:], name)())


@pytest.mark.parametrize("columns", [256, 300])
def test_reductions_of_several_axes(columns):
    """Axes that cannot be merged, with rows that a block's threads fill, and others."""
    whole = np.random.default_rng(0).integers(-9, 9, (6, 40, columns)).astype("f4")
    mask = np.arange(whole.size).reshape(whole.shape) % 3 != 1
    for index in [np.s_[:], np.s_[:, ::2], np.s_[:, :, 1:], np.s_[::2, 3:]]:
        a, x = whole[index], gpuarray.to_gpu(whole)[index]
        for axis in [None, (0, 2), (0, 1), (1, 2)]:
            agree(np.sum(x, axis), np.sum(a, axis))
            agree(np.max(x, axis), np.max(a, axis))
        agree(np.argmax(x), np.argmax(a))
        agree(
            np.sum(x, (0, 2), where=mask[index]), np.sum(a, (0, 2), where=mask[index])
        )


@pytest.mark.parametrize("dtype", ["?", "i1", "u1"])
@hypothesis.settings(settings, max_examples=8)
@hypothesis.given(data=st.data())
def test_reductions_of_bytes(dtype, data):
    """Lengths and start addresses that are not multiples of a word."""
    rows, columns = data.draw(
        st.sampled_from([(1, 70001), (3, 2051), (66, 300), (2, 9)])
    )
    first = data.draw(st.integers(0, 8))
    fill = data.draw(
        st.sampled_from([None, 0, np.iinfo("i1").min if dtype == "i1" else 255])
    )
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    a = rng.integers(0, 256, (rows, columns)).astype("u1")
    a = (a % 3 == 0) if dtype == "?" else a.view(dtype)
    if fill is not None:
        a[:] = fill
    x = gpuarray.to_gpu(a)
    a, x = (one[:, first:] for one in (a, x))
    axis = data.draw(st.sampled_from([None, 0, 1, (0, 1)]))
    mask = np.arange(a.size).reshape(a.shape) % 3 != 1
    agree(np.count_nonzero(x, axis), np.count_nonzero(a, axis))
    for function in (np.sum, np.any, np.all, np.mean):
        agree(function(x, axis), function(a, axis))
    for function in (np.sum, np.any):
        agree(function(x, axis, where=mask), function(a, axis, where=mask))


@settings
@hypothesis.given(data=st.data())
def test_differences(data):
    types = [np.dtype(one) for one in ("?", "i2", "f4")]
    a, x = both(data.draw(arrays(types=types)))
    axis = axis_of(data, a, none=False)
    n = data.draw(st.integers(0, 3))
    agree(np.diff(x, n, axis), np.diff(a, n, axis))
    agree(np.clip(x, 1, 4), np.clip(a, 1, 4))
    agree(np.isclose(x, x), np.isclose(a, a))


@pytest.mark.parametrize("dtype", ["V0", "S0", []])
def test_elements_without_bytes_are_refused(device, dtype):
    with pytest.raises(TypeError, match="elements of 0 bytes"):
        gpuarray.empty(3, dtype)
    with pytest.raises(ValueError, match="not compatible"):
        gpuarray.zeros(4, np.float32).view(dtype)
