"""pycuda.fft compared with numpy.fft: lengths, types, axes, norms, inverses."""

import numpy as np
import pytest

from pycuda import fft, gpuarray

pytestmark = pytest.mark.usefixtures("device")

RNG = np.random.default_rng(11)


def numbers(shape, dtype):
    x = RNG.normal(size=shape) + 1j * RNG.normal(size=shape)
    return (x if np.dtype(dtype).kind == "c" else 9 * x.real).astype(dtype)


def check(name, x, *args, **kwargs):
    result = getattr(np.fft, name)(gpuarray.to_gpu(x), *args, **kwargs)
    expected = getattr(np.fft, name)(x, *args, **kwargs)
    assert isinstance(result, gpuarray.GPUArray)
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    single = result.dtype in (np.complex64, np.float32)
    size = np.abs(expected).max() if expected.size else 1
    error = np.abs(result.get() - expected).max() / size if expected.size else 0
    assert error < (1e-6 if single else 1e-14)


# Powers, products, primes with Bluestein's algorithm, and the shortest.
@pytest.mark.parametrize(
    ("n", "dtype"),
    [(n, "c16") for n in (1, 2, 3, 8, 17, 60, 1001, 2048, 4099, 3 * 37)]
    + [(n, "c8") for n in (8, 35, 1024, 2003)],
)
def test_lengths(n, dtype):
    x = numbers((3, n), dtype)
    check("fft", x)
    check("ifft", x, norm="ortho")


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i2", "?", "c8"])
def test_types(dtype):
    x = numbers((4, 30), dtype)
    check("fft", x)
    if dtype != "f2":  # numpy divides by the length in float16
        check("ifft", x)
        check("irfft", x)
    if dtype != "c8":
        check("rfft", x)


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_axes_and_lengths(name, norm):
    x = numbers((6, 5, 7), "f8" if name in ("rfft", "ihfft") else "c16")
    check(name, x, norm=norm)
    check(name, x, axis=0, norm=norm)
    check(name, x, 8, 1, norm)
    check(name, x, 4, -1, norm)
    check(name, x[::-1, ::2].T, axis=1, norm=norm)


@pytest.mark.parametrize(
    "name", ["fftn", "ifftn", "fft2", "ifft2", "rfftn", "rfft2", "irfftn", "irfft2"]
)
def test_several_axes(name):
    x = numbers((4, 6, 5), "f4" if name.startswith("r") else "c16")
    check(name, x)
    check(name, x, axes=(0, 2))
    check(name, x, s=(3, 8), axes=(1, 0), norm="forward")
    if name == "fftn":
        check(name, x, axes=())


@pytest.mark.parametrize(
    "name", ["fftn", "ifft2", "rfft2", "rfftn", "irfft2", "irfftn"]
)
@pytest.mark.parametrize("axes", [(1, 1), (-1, 2), (0, 1, 0), (0, 0, 1), (1, 0, 0)])
def test_repeated_axes(name, axes):
    x = numbers((4, 6, 5), "f8" if name.startswith("r") else "c16")
    check(name, x, axes=axes)
    for s in (3, 7, 4)[: len(axes)], (4, 3, 6)[: len(axes)]:
        check(name, x, axes=axes, s=s)
        check(name, x, axes=axes, s=s, norm="ortho")


def test_inverse_of_a_large_one():
    x = gpuarray.to_gpu(numbers(1 << 16, "c8"))
    np.testing.assert_allclose(fft.ifft(fft.fft(x)).get(), x.get(), atol=5e-6)
    real = gpuarray.to_gpu(numbers((2, 5001), "f8"))
    np.testing.assert_allclose(
        fft.irfft(fft.rfft(real), 5001).get(), real.get(), atol=1e-12
    )


def test_shifts_and_frequencies():
    for shape in ((5, 4), (7,)):
        check("fftshift", numbers(shape, "f8"))
        check("ifftshift", numbers(shape, "c16"), axes=0)
    np.testing.assert_array_equal(fft.fftfreq(7, 0.5).get(), np.fft.fftfreq(7, 0.5))
    np.testing.assert_array_equal(fft.rfftfreq(8).get(), np.fft.rfftfreq(8))
    for n in (1, 2, 3, 8, 1001):
        for d in (1, 0.1, 3.7, -2):
            np.testing.assert_array_equal(fft.fftfreq(n, d).get(), np.fft.fftfreq(n, d))
            np.testing.assert_array_equal(
                fft.rfftfreq(n, d).get(), np.fft.rfftfreq(n, d)
            )
    for wrong in (2.5, -1, "8"):
        with pytest.raises(ValueError, match="n must be an integer"):
            fft.fftfreq(wrong)


def test_into_out_and_of_nothing():
    x = numbers((3, 12), "c16")
    out = gpuarray.zeros((3, 12), np.complex128)
    assert fft.fft(gpuarray.to_gpu(x), out=out) is out
    np.testing.assert_allclose(out.get(), np.fft.fft(x), atol=1e-13)
    check("fft", numbers((0, 4), "c16"))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: fft.fft(x, 0), ValueError, r"data points \(0\)"),
        (lambda x: fft.fft(x, norm="best"), ValueError, "Invalid norm value best"),
        (lambda x: fft.rfft(x), TypeError, "expects real numbers, not complex128"),
        (lambda x: fft.fft(x, axis=1), np.exceptions.AxisError, "axis 1 is out of"),
        (lambda x: fft.fftn(x, s=(3, 4), axes=(0,)), ValueError, "different lengths"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call(gpuarray.to_gpu(numbers(4, "c16")))


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft"])
def test_no_elements_are_filled_up_with_zeros(device, name):
    """NumPy 2.4 returns uninitialised memory here."""
    x = gpuarray.ones((2, 0), np.float64 if name == "rfft" else np.complex128)
    result = getattr(np.fft, name)(x, n=4)
    assert result.shape[0] == 2 and result.size and not result.get().any()


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
def test_more_lengths_than_axes(name):
    with pytest.raises(np.exceptions.AxisError):
        getattr(fft, name)(gpuarray.zeros((4, 4)), (4, 4, 4))
