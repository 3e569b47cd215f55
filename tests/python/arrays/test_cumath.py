"""cumath compared with numpy: functions, types, layouts, out= and stream=."""

import numpy as np
import pytest
from marks import slow

import pycuda.driver as cuda
from pycuda import cumath
from pycuda.gpuarray import GPUArray, to_gpu

NUMPY_NAMES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
FUNCTIONS = "fabs ceil floor exp log log10 sqrt sin cos tan asin acos atan sinh cosh tanh".split()
REAL = "fabs ceil floor".split()


def samples(dtype):
    values = np.linspace(0.05, 0.95, 77).reshape(7, 11)
    if np.dtype(dtype).kind == "c":
        return (values - 0.5 + 2j * values[::-1]).astype(dtype)
    return values.astype(dtype)


def numpy_function(name):
    return getattr(np, NUMPY_NAMES.get(name, name))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["f", "d", "D", *slow(["e", "F"])])
def test_functions(device, name, dtype):
    x = samples(dtype)
    if np.dtype(dtype).kind == "c" and name in REAL:
        with pytest.raises(TypeError, match="complex"):
            getattr(cumath, name)(to_gpu(x))
        return
    result = getattr(cumath, name)(to_gpu(x))
    expected = numpy_function(name)(x)
    assert result.dtype == expected.dtype
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(result.get(), expected, rtol=4 * eps, atol=eps / 8)


@pytest.mark.parametrize("dtype", "bBhHiIqQ")
def test_integers_give_numpys_types(device, dtype):
    x = np.arange(1, 10).astype(dtype)
    for name in ("exp", "sqrt", "floor", "fabs"):
        result, expected = (
            getattr(cumath, name)(to_gpu(x)),
            numpy_function(name)(x),
        )
        assert result.dtype == expected.dtype
        tolerance = 2e-3 if expected.dtype == np.float16 else 1e-6
        np.testing.assert_allclose(result.get(), expected, rtol=tolerance)


def test_layouts(device):
    x = samples("f")
    fortran = cumath.exp(to_gpu(np.asfortranarray(x)))
    assert fortran.flags.f_contiguous
    np.testing.assert_allclose(fortran.get(), np.exp(x), rtol=1e-6)
    assert cumath.exp(to_gpu(np.float32(1)[None][0:0])).shape == (0,)
    assert cumath.exp(to_gpu(np.float32([[1]]))).shape == (1, 1)


def test_out_and_stream(device):
    x, stream = to_gpu(samples("f")), cuda.Stream()
    out = GPUArray(x.shape, np.float32)
    assert cumath.sin(x, out=out, stream=stream) is out
    stream.synchronize()
    np.testing.assert_allclose(out.get(), np.sin(samples("f")), rtol=1e-6)
    with pytest.raises(ValueError, match="out must be an array of float32"):
        cumath.sin(x, out=GPUArray(x.shape, np.float64))
    with pytest.raises(ValueError, match="out must be an array of float32"):
        cumath.sin(x, out=GPUArray((3,), np.float32))


def test_positional_second_argument_is_deprecated_and_obeyed(device):
    x, stream = to_gpu(samples("f")), cuda.Stream()
    out = GPUArray(x.shape, np.float32)
    with pytest.warns(DeprecationWarning, match="'out' or 'stream'"):
        assert cumath.cos(x, out) is out
    np.testing.assert_allclose(out.get(), np.cos(samples("f")), rtol=1e-6)
    with pytest.warns(DeprecationWarning):
        result = cumath.cos(x, stream)
    stream.synchronize()
    np.testing.assert_array_equal(result.get(), out.get())


@pytest.mark.parametrize("dtype", "efd")
def test_pairs(device, dtype):
    x = (np.linspace(-9, 9, 50)).astype(dtype)
    y = (np.arange(50) % 4 + 1).astype(dtype)
    x_gpu, y_gpu = to_gpu(x), to_gpu(y)
    np.testing.assert_array_equal(cumath.fmod(x_gpu, y_gpu).get(), np.fmod(x, y))
    significand, exponent = cumath.frexp(x_gpu)
    np.testing.assert_array_equal(significand.get(), np.frexp(x)[0])
    np.testing.assert_array_equal(exponent.get(), np.frexp(x)[1])
    assert exponent.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(cumath.ldexp(significand, exponent).get(), x)
    fraction, integer = cumath.modf(x_gpu)
    np.testing.assert_array_equal(fraction.get(), np.modf(x)[0])
    np.testing.assert_array_equal(integer.get(), np.modf(x)[1])
    np.testing.assert_array_equal(
        cumath.fmod(x_gpu, 4).get(), np.fmod(x, x.dtype.type(4))
    )
    with pytest.raises(TypeError, match="takes a GPUArray, not float$"):
        cumath.exp(2.0)
    with pytest.raises(
        TypeError, match=r"sin\(\) takes a GPUArray, .*; copy it with .*to_gpu"
    ):
        cumath.sin(np.ones(3))
    with pytest.raises(ValueError, match="same shape and dtype"):
        cumath.fmod(x_gpu, to_gpu(y[:3]))
    with pytest.raises(TypeError, match="floating-point arrays, not int32"):
        cumath.modf(to_gpu(np.arange(3, dtype=np.int32)))
