"""Attributes of arrays that a program sets one after the other: shape, strides, gpudata, dtype, base."""

import itertools

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda import gpuarray

pytestmark = pytest.mark.usefixtures("device")

HOST = np.asfortranarray(np.arange(24, dtype=np.float32).reshape(4, 3, 2))
CHANNEL = {"shape": (4, 3), "strides": (4, 16), "gpudata": 48, "base": None}


@pytest.mark.parametrize("order", list(itertools.permutations(CHANNEL)))
def test_attributes_are_set_in_any_order(order):
    image = gpuarray.to_gpu(HOST)
    view = image.ravel()
    for name in order:
        value = CHANNEL[name]
        setattr(view, name, int(image.gpudata) + value if name == "gpudata" else value)
    np.testing.assert_array_equal(view.get(), HOST[:, :, 1])
    np.testing.assert_array_equal((view + 1).get(), HOST[:, :, 1] + 1)
    np.testing.assert_array_equal(view.T.get(), HOST[:, :, 1].T)
    view.fill(7)
    assert (image.get()[:, :, 1] == 7).all() and (image.get()[:, :, 0] != 7).all()


def test_axes_are_reversed():
    array = gpuarray.to_gpu(HOST)
    array.shape, array.strides = array.shape[::-1], array.strides[::-1]
    np.testing.assert_array_equal(array.get(), HOST.T)


def test_a_shorter_array():
    array = gpuarray.to_gpu(np.arange(20, dtype=np.float32))
    array.shape = (8,)
    array.size = 8
    np.testing.assert_array_equal((array + 1).get(), np.arange(8) + 1)


def test_an_address_before_the_memory_is_no_error_until_it_is_used():
    data = gpuarray.to_gpu(np.arange(40, dtype=np.float32).reshape(10, 4))
    batch = gpuarray.GPUArray((2, 4), np.float32, gpudata=data.gpudata)
    batch.gpudata = int(data.gpudata) - batch.nbytes
    parts = []
    for _ in range(5):
        batch.gpudata += batch.nbytes
        parts.append(batch.get())
    np.testing.assert_array_equal(np.concatenate(parts), data.get())


USES = {
    "in place": lambda x: x.__iadd__(1),
    "operator": lambda x: x + 1,
    "fill": lambda x: x.fill(1),
    "sum": lambda x: x.sum(),
    "part": lambda x: x[:1],
    "get": lambda x: x.get(),
    "dlpack": lambda x: x.__dlpack__(),
    "interface": lambda x: x.__cuda_array_interface__,
    "reshape": lambda x: x.reshape(1, -1),
    "copy": lambda x: x.copy(),
    "ufunc": lambda x: np.sqrt(x),
    "sort": lambda x: x.sort(),
    "scan": lambda x: np.cumsum(x),
    "copy to it": lambda x: cuda.memcpy_htod(x, np.zeros(1, np.float32)),
    "fft": lambda x: np.fft.fft(x),
    "product": lambda x: np.dot(x, x),
    "interface of another": lambda x: gpuarray.asarray(x) + 1,
}


@pytest.mark.parametrize("use", USES)
def test_a_use_names_the_attribute_that_does_not_fit(use):
    for name, value, why in (
        ("gpudata", None, "gpudata was set: it is None"),
        (
            "strides",
            (4096,),
            "strides was set: .* address bytes 0 to 8196 of memory of",
        ),
        ("shape", (10**6,), "shape was set"),
        ("strides", (4, 4), "strides was set: the number of strides"),
        (
            "dtype",
            np.float64,
            "dtype was set: .* address bytes 0 to 16 of memory of 12",
        ),
    ):
        x = gpuarray.zeros(3, np.float32)
        setattr(x, name, value)
        with pytest.raises(ValueError, match=why):
            USES[use](x)


def test_an_unknown_address_is_an_error():
    x = gpuarray.zeros(3, np.float32)
    x.gpudata = 0x1000
    with pytest.raises(ValueError, match="gpudata was set"):
        x.get()


def test_attributes_are_read_as_they_were_set():
    x = gpuarray.zeros((2, 3), np.float32)
    x.strides = (1, 2, 3)
    assert x.strides == (1, 2, 3) and x.shape == (2, 3)
    x.shape = (1, 1, 2)
    assert x.shape == (1, 1, 2) and x.strides == (1, 2, 3)
    x.strides = (4, 4, 4)
    np.testing.assert_array_equal(x.get(), np.zeros((1, 1, 2)))


def test_gpudata_of_memory_that_another_library_lent():
    """A DLPack tensor's memory has an owner that is no Python object."""

    class Lender:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **keywords):
            return self.array.__dlpack__(**keywords)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    array = gpuarray.to_gpu(np.arange(3.0))
    borrowed = gpuarray.from_dlpack(Lender(array))
    assert int(borrowed.gpudata) == int(array.gpudata)


@pytest.mark.parametrize(
    "shape, strides",
    [((4,), (512,)), ((2, 2), (4096, 4)), ((3, 0), (8, 4)), ((4,), (0,))],
)
def test_memory_of_a_new_array_holds_what_its_strides_address(shape, strides):
    x = gpuarray.GPUArray(shape, np.float32, strides=strides)
    needed = sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) + 4
    if x.size:
        assert x.gpudata.size >= needed
    x.fill(7)
    assert (x.get() == 7).all()


@pytest.mark.parametrize(
    "shape, strides", [((4,), (-4,)), ((2**33, 2**33), (0, 0)), ((2**62, 4), (8, 4))]
)
def test_strides_of_a_new_array_are_refused(shape, strides):
    with pytest.raises(ValueError, match="must not be negative|too big"):
        gpuarray.GPUArray(shape, np.float32, strides=strides)


def test_an_array_that_was_not_initialised_is_an_error():
    x = gpuarray.GPUArray.__new__(gpuarray.GPUArray)
    assert x.shape == (0,)
    assert (x + 1).shape == (0,)
