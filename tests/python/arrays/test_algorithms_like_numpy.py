"""Scans, sorting and products compared with numpy, for many shapes, strides and types."""

import numpy as np
import pytest
from like_numpy import hypothesis, settings

import pycuda
from pycuda import _driver, gpuarray

st = pytest.importorskip("hypothesis.strategies")
npst = pytest.importorskip("hypothesis.extra.numpy")

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.slow,
    pytest.mark.timeout(600),
]


@st.composite
def views(draw, types, max_dims=3, max_side=20):
    """A numpy array and the same view of it and of its copy on the device."""
    dtype = np.dtype(draw(st.sampled_from(types)))
    shape = draw(npst.array_shapes(min_dims=1, max_dims=max_dims, max_side=max_side))
    if dtype.kind == "f":
        elements = st.sampled_from([0.0, -0.0, 1.5, -2.0, 7.0, np.inf, -np.inf, np.nan])
    else:
        low = -5 if dtype.kind == "i" else 0
        elements = st.integers(low, 1 if dtype.kind == "b" else 9)
    whole = draw(npst.arrays(dtype, shape, elements=elements))
    index = tuple(
        slice(None, None, draw(st.sampled_from([1, 1, -1, 2, -2]))) for _ in shape
    )
    order = draw(st.permutations(range(len(shape))))
    on_device = gpuarray.to_gpu(whole)
    return whole[index].transpose(order), on_device[index].transpose(order)


def axis_of(draw, x):
    return draw(st.integers(-x.ndim, x.ndim - 1))


def same(got, expected):
    got = got.get()
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(got, expected)


@settings
@hypothesis.given(data=st.data())
def test_sorting(data):
    x, on_device = data.draw(views(["i1", "f2", "f4", "i8"]))
    axis = axis_of(data.draw, x)
    same(gpuarray.sort(on_device, axis), np.sort(x, axis))
    same(gpuarray.argsort(on_device, axis), np.argsort(x, axis, kind="stable"))
    for way in ("blocks", "serial"):
        with _driver._Kernels(sort=way):
            got = _driver._array_sort(on_device, axis % x.ndim)
        same(got, np.sort(x, axis))
    got = gpuarray.unique(on_device, True, True, True)
    for one, other in zip(got, np.unique(x, True, True, True), strict=True):
        same(one, other)


@settings
@hypothesis.given(data=st.data())
def test_scans(data):
    x, on_device = data.draw(views(["?", "i1", "u2", "i4"]))
    axis = axis_of(data.draw, x)
    same(gpuarray.cumsum(on_device, axis), np.cumsum(x, axis))
    same(gpuarray.cumprod(on_device), np.cumprod(x))
    same(np.maximum.accumulate(on_device, axis), np.maximum.accumulate(x, axis))


@settings
@hypothesis.given(data=st.data())
def test_products(data):
    x, on_device = data.draw(views(["i1", "u2", "i4"], max_dims=2))
    if x.ndim == 1:
        same(on_device @ on_device, np.asarray(x @ x))
    else:
        same(on_device @ on_device.T, x @ x.T)
    same(gpuarray.tensordot(on_device, on_device, 0), np.tensordot(x, x, 0))


@settings
@hypothesis.given(data=st.data())
def test_fusion(data):
    x, on_device = data.draw(views(["i4", "f4"]))
    y, other = data.draw(views(["i4", "f8"], max_side=1))

    def function(x, y):
        return (x + y) * 2 - np.maximum(x, y)

    fused = pycuda.fuse(function)
    same(fused(on_device, other), function(on_device, other).get())
