"""sliding_window_view(), asnumpy() and get_array_module()."""

import numpy as np
import pytest

from pycuda import gpuarray

pytestmark = pytest.mark.usefixtures("device")


@pytest.mark.parametrize("shape, window, axis", [((9,), 3, None), ((9,), 9, None), ((5, 7), (2, 3), None), ((5, 7), 3, 1), ((5, 7), (2, 3), (1, 0)), ((5, 7), (2, 2), (1, 1)), ((5, 7), (), ()), ((4, 0), 2, 0)])  # fmt: skip
def test_windows(shape, window, axis):
    x = np.arange(np.prod(shape)).reshape(shape)
    expected = np.lib.stride_tricks.sliding_window_view(x, window, axis)
    device = gpuarray.to_gpu(x)
    for function in (
        gpuarray.sliding_window_view,
        np.lib.stride_tricks.sliding_window_view,
    ):
        got = function(device, window, axis)
        assert not got.size or got.strides == expected.strides
        assert not got.flags.writeable
        np.testing.assert_array_equal(got.get(), expected)
    np.testing.assert_array_equal(
        gpuarray.sliding_window_view(device[::-1], window, axis).sum().get(),
        expected.sum(),
    )


def test_windows_that_can_be_written():
    x = gpuarray.arange(5, dtype=np.int64)
    gpuarray.sliding_window_view(x, 2, writeable=True)[0] = 9
    assert x.get().tolist() == [9, 9, 2, 3, 4]
    for wrong in ({"window_shape": 6}, {"window_shape": -1}, {"window_shape": (1, 2)}):
        with pytest.raises(ValueError):
            gpuarray.sliding_window_view(x, **wrong)
    with pytest.raises(ValueError, match="axis 1"):
        gpuarray.sliding_window_view(x, 2, axis=1)


def test_modules():
    x = gpuarray.arange(6, dtype=np.int64).reshape(2, 3)
    assert gpuarray.get_array_module(1, x) is gpuarray
    assert gpuarray.get_array_module(np.ones(2)) is np
    host = gpuarray.asnumpy(x, order="F")
    assert type(host) is np.ndarray and host.flags.f_contiguous
    out = np.zeros((2, 3))
    assert gpuarray.asnumpy(x, out=out) is out and out[1, 2] == 5
    assert gpuarray.asnumpy([1, 2]).tolist() == [1, 2]
