"""numpy's functions called on arrays of the device, compared with numpy's results for host arrays."""

import io

import numpy as np
import pytest

from pycuda import gpuarray

# numpy warns of divisions by zero, pycuda does not.
pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

A = np.arange(24.0).reshape(2, 3, 4)

SHAPES = [
    lambda x: np.moveaxis(x, 0, -1),
    lambda x: np.moveaxis(x, (0, 1), (1, 2)),
    lambda x: np.rollaxis(x, 2),
    lambda x: np.rollaxis(x, 0, 3),
    lambda x: np.swapaxes(x, 0, 2),
    lambda x: np.expand_dims(x, (0, -1)),
    lambda x: np.squeeze(x[:1]),
    lambda x: np.broadcast_to(x, (3, 2, 3, 4)),
    lambda x: np.broadcast_arrays(x, x[0]),
    lambda x: np.atleast_1d(x),
    lambda x: np.atleast_2d(x[0, 0]),
    lambda x: np.atleast_3d(x[0, 0]),
    lambda x: np.atleast_3d(x[0]),
    lambda x: np.flip(x),
    lambda x: np.flip(x, 1),
    lambda x: np.fliplr(x),
    lambda x: np.flipud(x),
    lambda x: np.rot90(x),
    lambda x: np.rot90(x, 3, (1, 2)),
    lambda x: np.rot90(x, 2),
    lambda x: np.diagonal(x, 1, 0, 2),
    lambda x: np.split(x, 2),
    lambda x: np.split(x, [1, 3], axis=2),
    lambda x: np.array_split(x, 3, axis=2),
    lambda x: np.hsplit(x, 3),
    lambda x: np.dsplit(x, 2),
    lambda x: np.vsplit(x, 2),
    lambda x: np.unstack(x),
    lambda x: np.real(x * 1j),
    lambda x: np.imag(x * 1j),
    lambda x: np.shape(x),
    lambda x: np.size(x, 1),
    lambda x: np.ndim(x),
    lambda x: np.matrix_transpose(x),
    lambda x: np.linalg.diagonal(x),
    lambda x: np.may_share_memory(x, x[1]),
    lambda x: np.reshape(x, (4, 6)),
    lambda x: np.reshape(x, -1, order="F"),
    lambda x: np.ravel(x, "F"),
    lambda x: np.transpose(x, (1, 0, 2)),
]
JOINING = [
    lambda x: np.concatenate([x, x], axis=1),
    lambda x: np.concatenate([x, x], axis=None),
    lambda x: np.stack([x, x], axis=-1),
    lambda x: np.vstack([x, x]),
    lambda x: np.hstack([x, x]),
    lambda x: np.dstack([x, x]),
    lambda x: np.column_stack([x[0, 0], x[0, 1]]),
    lambda x: np.append(x, x),
    lambda x: np.append(x, x, axis=0),
    lambda x: np.block([[x[0], x[1]], [x[1], x[0]]]),
    lambda x: np.tile(x, 2),
    lambda x: np.tile(x, (2, 1, 1, 2)),
    lambda x: np.repeat(x, 2),
    lambda x: np.repeat(x, 3, axis=1),
    lambda x: np.repeat(x, [1, 0, 2], axis=1),
    lambda x: np.roll(x, 5),
    lambda x: np.roll(x, (1, -2), axis=(0, 2)),
    lambda x: np.roll(x, 1, axis=2),
    lambda x: np.delete(x, 1, axis=1),
    lambda x: np.delete(x, [0, 3], axis=2),
    lambda x: np.insert(x, 1, 7, axis=1),
    lambda x: np.insert(x, [1, 3], 7, axis=2),
    lambda x: np.insert(x[0, 0], 2, [5, 6]),
    lambda x: np.resize(x, (5, 9)),
    lambda x: np.pad(x, 1),
    lambda x: np.pad(x, ((1, 2), (0, 1), (3, 0)), mode="edge"),
    lambda x: np.pad(x, 2, mode="reflect"),
    lambda x: np.pad(x, 5, mode="symmetric"),
    lambda x: np.pad(x, 5, mode="wrap"),
    lambda x: np.pad(x, 2, mode="maximum"),
    lambda x: np.pad(x, 2, mode="mean", stat_length=2),
    lambda x: np.pad(x, 2, mode="linear_ramp", end_values=-4),
    lambda x: np.pad(
        x, ((1, 2), (0, 1), (3, 0)), constant_values=((1, 2), (3, 4), (5, 6))
    ),
]
SELECTING = [
    lambda x: np.where(x > 5, x, -x),
    lambda x: np.where(x > 5),
    lambda x: np.nonzero(x),
    lambda x: np.argwhere(x > 5),
    lambda x: np.flatnonzero(x),
    lambda x: np.take(x, [0, 5, -1]),
    lambda x: np.take(x, [0, 2], axis=1),
    lambda x: np.take(x, [0, 20], axis=1, mode="clip"),
    lambda x: np.take(x, [[0, 20]], axis=2, mode="wrap"),
    lambda x: np.take_along_axis(x, np.argsort(-np.asarray([[[0, 1, 2, 3]]])), axis=2),
    lambda x: np.compress([True, False, True], x, axis=1),
    lambda x: np.extract(x > 5, x),
    lambda x: np.choose((x > 5).astype(int), [x, -x]),
    lambda x: np.select([x > 5, x > 2], [x, -x], default=3),
    lambda x: np.tril(x),
    lambda x: np.triu(x, 1),
    lambda x: np.diag(x[0]),
    lambda x: np.diag(x[0, 0], 1),
    lambda x: np.diagflat(x[0, :2, :2]),
    lambda x: np.tril_indices_from(x[0]),
    lambda x: np.triu_indices_from(x[0], 1),
    lambda x: np.trace(x),
    lambda x: np.trace(x, 1, 1, 2),
    lambda x: np.ix_(x[0, 0].astype(int), x[0, 1] > 5),
    lambda x: np.meshgrid(x[0, 0], x[0, 1]),
    lambda x: np.meshgrid(x[0, 0], x[0, 1], x[0, 0], indexing="ij", sparse=True),
    lambda x: np.linalg.trace(x),
    lambda x: np.unravel_index(x.astype(int), (5, 5)),
    lambda x: np.ravel_multi_index((x.astype(int), x.astype(int)), (50, 30)),
]
STATISTICS = [
    lambda x: np.sum(x),
    lambda x: np.sum(x, axis=1, keepdims=True, initial=3),
    lambda x: np.sum(x, where=x > 5),
    lambda x: np.prod(x[0], axis=0),
    lambda x: np.min(x, axis=1, initial=-3),
    lambda x: np.max(x, where=x < 7, initial=-1),
    lambda x: np.any(x, axis=0),
    lambda x: np.all(x, axis=(0, 1), where=x > 0),
    lambda x: np.mean(x, where=x > 4),
    lambda x: np.var(x, axis=1, ddof=1),
    lambda x: np.std(x, correction=1),
    lambda x: np.ptp(x, axis=2),
    lambda x: np.argmax(x, axis=1),
    lambda x: np.argmin(x, axis=1, keepdims=True),
    lambda x: np.count_nonzero(x),
    lambda x: np.count_nonzero(x, axis=1),
    lambda x: np.average(x, weights=x + 1),
    lambda x: np.average(x, axis=1, weights=np.array([1, 2, 3]), returned=True),
    lambda x: np.nansum(np.where(x > 5, x, np.nan)),
    lambda x: np.nanprod(np.where(x < 5, x, np.nan)),
    lambda x: np.nanmax(np.where(x < 5, x, np.nan), axis=0),
    lambda x: np.nanmin(np.where(x > 5, x, np.nan), initial=2),
    lambda x: np.nanmean(np.where(x > 5, x, np.nan)),
    lambda x: np.nanvar(np.where(x > 5, x, np.nan), ddof=1),
    lambda x: np.nanstd(np.where(x > 2, x, np.nan), axis=1),
    lambda x: np.nanargmax(np.where(x > 2, x, np.nan), axis=2),
    lambda x: np.nanargmin(np.where(x > 2, x, np.nan)),
]
NUMERIC = [
    lambda x: np.clip(x, 3, 9),
    lambda x: np.clip(x, None, 9),
    lambda x: np.clip(x, min=4),
    lambda x: np.round(x / 7, 2),
    lambda x: np.round(x * 7, -2),
    lambda x: np.fix(-x / 7),
    lambda x: np.copy(x),
    lambda x: np.diff(x),
    lambda x: np.diff(x, 2, axis=1),
    lambda x: np.diff(x, prepend=0, append=x[..., :1]),
    lambda x: np.ediff1d(x, to_begin=-9.0, to_end=[1.0, 2.0]),
    lambda x: np.gradient(x),
    lambda x: np.gradient(x, 2.0, axis=2),
    lambda x: np.gradient(x, np.array([0, 1, 4, 9.0]), axis=2, edge_order=2),
    lambda x: np.trapezoid(x),
    lambda x: np.trapezoid(x, x=np.array([0, 1, 5]), axis=1),
    lambda x: np.cross(x[0, :, :3], x[1, :, :3]),
    lambda x: np.outer(x[0], x[1]),
    lambda x: np.kron(x[0], x[1]),
    lambda x: np.kron(x, x[0, 0]),
    lambda x: np.vander(x[0, 0]),
    lambda x: np.vander(x[0, 0], 3, True),
    lambda x: np.polyval(np.array([1, 2, 3]), x),
    lambda x: np.isclose(x, x + 1e-9),
    lambda x: np.allclose(x, x + 1),
    lambda x: np.array_equal(x, x),
    lambda x: np.array_equiv(x, x[:1]),
    lambda x: np.isneginf(-x / 0),
    lambda x: np.isposinf(x / 0),
    lambda x: np.isreal(x),
    lambda x: np.iscomplex(x * 1j),
    lambda x: np.nan_to_num(x / 0),
    lambda x: np.real_if_close(x * (1 + 0j)),
    lambda x: np.angle(x * 1j),
    lambda x: np.angle(-x, deg=True),
    lambda x: np.sinc(x),
    lambda x: np.apply_along_axis(np.sum, 1, x),
    lambda x: np.apply_over_axes(np.sum, x, (0, 2)),
    lambda x: np.astype(x, np.float32),
]
CREATION = [
    lambda x: np.zeros(3, like=x),
    lambda x: np.ones((2, 3), "f4", like=x),
    lambda x: np.full((2,), 3, like=x),
    lambda x: np.arange(3, like=x),
    lambda x: np.arange(1, 9, 2, like=x),
    lambda x: np.array([1, 2], like=x),
    lambda x: np.asarray([1, 2], like=x),
    lambda x: np.eye(3, like=x),
    lambda x: np.zeros_like(x),
    lambda x: np.full_like(x, 4, dtype="i4"),
    lambda x: np.ones_like(x, shape=(2, 2)),
]


def agree(result, expected):
    """The same type, shape and elements; in the same containers."""
    if isinstance(expected, (list, tuple)):
        assert len(result) == len(expected)
        for one, other in zip(result, expected, strict=True):
            agree(one, other)
        return
    if isinstance(expected, np.ndarray):
        assert isinstance(result, gpuarray.GPUArray)
    if isinstance(result, gpuarray.GPUArray):
        result = result.get()
    result, expected = np.asarray(result), np.asarray(expected)
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-12)


def name_of(call):
    return [name for name in call.__code__.co_names if name != "np"][0]


@pytest.mark.parametrize(
    "call",
    SHAPES + JOINING + SELECTING + STATISTICS + NUMERIC + CREATION,
    ids=name_of,
)
def test_like_numpy(call):
    agree(call(gpuarray.to_gpu(A)), call(A))


def test_setting_functions():
    def check(change):
        host = A.copy()
        array = gpuarray.to_gpu(A)
        change(host)
        change(array)
        agree(array, host)

    mask = A % 5 == 2
    check(lambda x: np.put(x, [0, -2, 9], [7, 8]))
    check(lambda x: np.put(x, [0, 99], 7, mode="wrap"))
    check(lambda x: np.put(x.T, [0, 7], [1, 2]))
    check(lambda x: np.put_along_axis(x, np.array([[[1], [0], [3]]]), -1.0, 2))
    check(lambda x: np.place(x, mask, [1, 2, 3]))
    check(lambda x: np.putmask(x, mask, [1, 2, 3]))
    check(lambda x: np.putmask(x, mask, -x))
    check(lambda x: np.copyto(x, x[0] + 1))
    check(lambda x: np.copyto(x, 5, where=mask))
    check(lambda x: np.fill_diagonal(x[0], 9))
    check(lambda x: np.fill_diagonal(x[0], [1, 2, 3]))
    check(lambda x: np.nan_to_num(np.divide(x, 0, out=x), copy=False))


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda x: np.concatenate([x, x[0]]), ValueError),
        (lambda x: np.concatenate([x, x], out=x), ValueError),
        (lambda x: np.stack([x, x[0]]), ValueError),
        (lambda x: np.concatenate([x], dtype="i4"), TypeError),
        (lambda x: np.split(x, 5), ValueError),
        (lambda x: np.moveaxis(x, (0, 0), (1, 2)), ValueError),
        (lambda x: np.moveaxis(x, 5, 1), np.exceptions.AxisError),
        (lambda x: np.broadcast_to(x, (3, 3)), ValueError),
        (lambda x: np.take(x, [24]), IndexError),
        (lambda x: np.put(x, [24], 1), IndexError),
        (lambda x: np.take(x, np.array([0.5])), TypeError),
        (lambda x: np.max(x, where=x > 2), ValueError),
        (lambda x: np.max(x[:0]), ValueError),
        (lambda x: np.nanargmax(x * np.nan), ValueError),
        (lambda x: np.average(x, weights=x * 0), ZeroDivisionError),
        (lambda x: np.pad(x, -1), ValueError),
        (lambda x: np.pad(x, 1, constant_value=3), ValueError),
        (lambda x: np.diff(x, -1), ValueError),
        (lambda x: np.expand_dims(x, (0, 0)), ValueError),
        (lambda x: np.repeat(x, [1, 2], axis=1), ValueError),
        (lambda x: np.unravel_index(x.astype(int), (2, 2)), ValueError),
        (lambda x: np.resize(x, (-1,)), ValueError),
    ],
)
def test_refusals(call, error):
    """If numpy raises an error, pycuda raises the same one, or one of a parent class."""
    with pytest.raises(Exception) as numpys:
        call(A)
    with pytest.raises(error) as ours:
        call(gpuarray.to_gpu(A))
    assert isinstance(numpys.value, (error, ours.type))


def test_views_are_views():
    x = gpuarray.to_gpu(A)
    for view in (
        np.moveaxis(x, 0, 1),
        np.flip(x),
        np.rot90(x),
        np.expand_dims(x, 1),
        np.broadcast_to(x, (2, 2, 3, 4)),
        np.split(x, 2)[1],
        np.diagonal(x),
    ):
        assert np.may_share_memory(view, x)
    assert not np.may_share_memory(x[0], x[1])


def test_no_version():
    x = gpuarray.to_gpu(A)
    with pytest.raises(
        TypeError, match=r"numpy\.polyder\(\) does not support GPUArray"
    ):
        np.polyder(x)
    with pytest.raises(
        TypeError, match=r"numpy\.polyint\(\) does not support GPUArray"
    ):
        np.polyint(x)


def test_without_numpys_name():
    """The same functions in pycuda.gpuarray, for lists and host arrays as well."""
    agree(gpuarray.tile([1, 2], 3), np.tile([1, 2], 3))
    agree(gpuarray.tri(3, 4, 1), np.tri(3, 4, 1))
    agree(gpuarray.indices((2, 3)), np.indices((2, 3)))
    agree(gpuarray.indices((2, 3), sparse=True), np.indices((2, 3), sparse=True))
    agree(gpuarray.tril_indices(3, 1), np.tril_indices(3, 1))
    agree(gpuarray.triu_indices(3, -1, 5), np.triu_indices(3, -1, 5))
    agree(gpuarray.logspace(0, 3, 4), np.logspace(0, 3, 4))
    agree(gpuarray.geomspace(-1, -8, 4), np.geomspace(-1, -8, 4))
    agree(gpuarray.linspace(0, 1, 7), np.linspace(0, 1, 7))
    with pytest.raises(ValueError, match="zero"):
        gpuarray.geomspace(0, 3)


def test_files(tmp_path):
    x = gpuarray.to_gpu(A.astype("f4").T)
    np.save(tmp_path / "a.npy", x)
    agree(gpuarray.load(tmp_path / "a.npy"), A.astype("f4").T)
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), A.T)
    agree(gpuarray.load(tmp_path / "a.npy", mmap_mode="r"), A.astype("f4").T)
    np.savez(tmp_path / "b.npz", x, y=x[0])
    loaded = gpuarray.load(tmp_path / "b.npz")
    assert sorted(loaded) == ["arr_0", "y"]
    agree(loaded["y"], A.astype("f4").T[0])
    file = io.BytesIO()
    gpuarray.save(file, x[::2])
    file.seek(0)
    agree(gpuarray.load(file), A.astype("f4").T[::2])
    text = io.StringIO()
    np.savetxt(text, x[0], fmt="%d")
    assert text.getvalue() == "0 12\n4 16\n8 20\n"


def test_text():
    x = gpuarray.to_gpu(A)
    assert np.array_repr(x) == np.array_repr(A) == repr(x)
    assert np.array_str(x[0]) == np.array_str(A[0])
    assert np.array2string(x[0], precision=2) == np.array2string(A[0], precision=2)


@pytest.mark.parametrize("size", [64, 4096, 16385, 131072, 300000])
def test_any_and_all_find_one_element_wherever_it_is(size):
    """Tests of bytes stop at the first hit, after pieces of 16 KiB."""
    for begin in (0, 3):
        for at in {0, 7, size // 3, size // 2, size - 16, size - 1}:
            mask = np.zeros(begin + size, np.bool_)
            mask[begin + at] = True
            one = gpuarray.to_gpu(mask)[begin:]
            other = gpuarray.to_gpu(~mask)[begin:]
            assert one.any().get() and not one[at + 1 :].any().get()
            assert not other.all().get() and other[at + 1 :].all().get()
            assert np.count_nonzero(one) == 1


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u4", "i8", "u8"])
@pytest.mark.parametrize(
    "numbers",
    [(7,), (5, 0, -2), (0.5, 3, 0.5), (0, 5, 1.5), (3, 3), (1, 0, -5), (100, 0, -50), (0, 1, 9.5)],
)  # fmt: skip
def test_ranges_of_integers_are_numpys(numbers, dtype):
    """Steps below zero and fractions: NumPy casts the first two numbers, whose distance is that of all others."""
    like = gpuarray.zeros(0, np.float32)
    ours = np.arange(*numbers, dtype=dtype, like=like).get()
    theirs = np.arange(*numbers, dtype=dtype)
    assert ours.dtype == theirs.dtype
    np.testing.assert_array_equal(ours, theirs)


def test_bools_are_indices_of_take_and_put():
    x = np.arange(4.0)
    on_device = gpuarray.to_gpu(x)
    mask = np.array([True, False, True])
    for indices in (True, mask, [False, True]):
        theirs = np.take(x, indices)
        np.testing.assert_array_equal(np.take(on_device, indices).get(), theirs)
    np.testing.assert_array_equal(on_device.take(gpuarray.to_gpu(mask)).get(), x[[1, 0, 1]])  # fmt: skip
    np.put(x, mask[:2], [7, 8])
    np.put(on_device, mask[:2], [7, 8])
    np.testing.assert_array_equal(on_device.get(), x)
