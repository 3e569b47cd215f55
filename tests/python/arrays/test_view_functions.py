"""Functions whose results are views: axes and shapes as NumPy reads them, results and errors as NumPy's."""

import numpy as np
import pytest

from pycuda import gpuarray

pytestmark = pytest.mark.usefixtures("device")

SHAPES = [(), (1,), (5,), (0,), (3, 4), (1, 4), (3, 1), (2, 3, 4), (2, 0, 3)]
AXES = [-3, -1, 0, 1, 2, None, (0,), (0, 1), (0, 0), [0, 1], np.int64(0)]
windows = np.lib.stride_tricks.sliding_window_view


def host_of(shape):
    return np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)


def outcome(function, array):
    """The results, or the class of the error."""
    try:
        results = function(array)
    except (ValueError, IndexError, TypeError) as error:
        return type(error)
    return list(results) if isinstance(results, (tuple, list)) else [results]


def check(function, *shapes):
    for shape in shapes or SHAPES:
        host = host_of(shape)
        theirs = outcome(function, host)
        ours = outcome(function, gpuarray.to_gpu(host))
        if isinstance(theirs, type) or isinstance(ours, type):
            # Two errors of one call are found in another order.
            assert isinstance(theirs, type) and isinstance(ours, type), (shape, ours)
            continue
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            assert (one.shape, one.dtype) == (other.shape, other.dtype)
            np.testing.assert_array_equal(one.get(), other)


@pytest.mark.parametrize("axis", AXES, ids=str)
def test_one_axis(axis):
    check(lambda x: np.squeeze(x, axis))
    check(lambda x: np.flip(x, axis))
    if axis is not None:
        check(lambda x: np.expand_dims(x, axis))
    if isinstance(axis, int):
        check(lambda x: np.unstack(x, axis=axis))
        check(lambda x: np.array_split(x, 3, axis))
        check(lambda x: np.split(x, [1, 3, -1, 9, 2], axis))


@pytest.mark.parametrize("to", [0, -1, 1, (1, 0), (0, 1)], ids=str)
def test_two_axes(to):
    for axis in AXES[:5] + [(0, 1), (1, 2)]:
        check(lambda x: np.moveaxis(x, axis, to))  # noqa: B023
    for axis in AXES[:5] if isinstance(to, int) else []:
        check(lambda x: np.swapaxes(x, axis, to))  # noqa: B023
        check(lambda x: np.rollaxis(x, axis, to))  # noqa: B023
        check(lambda x: np.diagonal(x, 0, axis, to))  # noqa: B023


@pytest.mark.parametrize("turns", range(-5, 6))
def test_turns_and_diagonals(turns):
    check(lambda x: np.rot90(x, turns))
    check(lambda x: np.rot90(x, turns, (1, 0)))
    check(lambda x: np.diagonal(x, turns))
    check(lambda x: np.diagonal(x, turns, -1, 0))


@pytest.mark.parametrize("shape", [*SHAPES, (-1,), (2, -1), (-1, -1), 12, -1, (3, -1, 2), (4, 3)], ids=str)  # fmt: skip
def test_shapes(shape):
    for order in "CFA":
        check(lambda x: np.reshape(x.T, shape, order=order))  # noqa: B023
    check(lambda x: np.broadcast_to(x, shape))


@pytest.mark.parametrize("window", [1, 2, (1,), (2, 2), -1, 7], ids=str)
def test_windows(window):
    check(lambda x: windows(x, window))
    check(lambda x: windows(x, window, -1))
    check(lambda x: windows(x, window, (0, 0)))  # an axis may be named twice


def test_more_axes():
    for function in (np.atleast_1d, np.atleast_2d, np.atleast_3d, np.matrix_transpose):
        check(function)
    one, other = np.atleast_3d(gpuarray.zeros(3), gpuarray.zeros((2, 3)))
    assert (one.shape, other.shape) == ((1, 3, 1), (2, 3, 1))


def test_repeated_axes_are_refused():
    x = gpuarray.zeros((1, 1))
    with pytest.raises(ValueError, match="repeated"):
        np.squeeze(x, (0, 0))


def test_an_axis_out_of_range_is_named():
    with pytest.raises(np.exceptions.AxisError, match="axis 7 is out of bounds for array of dimension 2"):  # fmt: skip
        np.moveaxis(gpuarray.zeros((2, 2)), 7, 0)
    with pytest.raises(np.exceptions.AxisError):
        np.flip(gpuarray.zeros(3), 10**30)


def test_views_share_memory():
    x = gpuarray.zeros((2, 3))
    np.moveaxis(x, 0, 1)[0] = 1
    np.split(x, 3, 1)[2][...] = 2
    np.testing.assert_array_equal(x.get(), [[1, 0, 2], [1, 0, 2]])
    assert not np.broadcast_to(x, (4, 2, 3)).flags.writeable
    assert not any(
        one.flags.writeable for one in np.broadcast_arrays(x[:1], x.T[:, :1])
    )


def test_another_library_is_asked():
    class Other:
        def __array_function__(self, *arguments):
            return "function"

        def __array_ufunc__(self, *arguments, **keywords):
            return "ufunc"

    x = gpuarray.zeros(3)
    assert np.concatenate([x, Other()]) == "function"
    assert np.add(x, Other()) == "ufunc"
    assert np.add(x, np.float64(1)).dtype == np.float64
    with pytest.raises(TypeError, match="host memory"):
        np.add(x, np.ones(3))
