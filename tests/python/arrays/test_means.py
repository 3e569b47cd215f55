"""Means, variances and standard deviations are finished by the kernel that reduces."""

import warnings

import numpy as np
import pytest
from conftest import is_softcuda
from marks import slow

import pycuda
import pycuda.driver as cuda
from pycuda import gpuarray

pytestmark = pytest.mark.usefixtures("device")

SHAPES = [
    ((1024,), None), ((300_000,), None), ((40, 50), 0), ((40, 50), (0, 1)), ((3000, 3), 1), ((2, 300, 4), 1), ((), None),
]  # fmt: skip


def numbers(shape, dtype):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(shape) * 10
    return np.asarray(x + 1j * x[::-1] if dtype in "FD" and shape else x).astype(dtype)


@pytest.mark.parametrize("dtype", ["f", *slow("dFD")])
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_a_mean_has_the_bits_of_a_sum_and_a_division(dtype, shape, axis):
    x = gpuarray.to_gpu(numbers(shape, dtype))
    total = np.sum(x, axis=axis)
    quotient = total / total.dtype.type(x.size // max(total.size, 1))
    assert np.mean(x, axis=axis).get().tobytes() == quotient.get().tobytes()
    variance = np.var(x, axis=axis)
    assert np.std(x, axis=axis).get().tobytes() == np.sqrt(variance).get().tobytes()


@pytest.mark.parametrize("dtype", [*"HfF", *slow("?beqdD")])
@pytest.mark.parametrize(("shape", "axis"), [*SHAPES, ((0, 3), 0), ((3, 0), 0)])
def test_values_and_types(dtype, shape, axis):
    host = numbers(shape, dtype)
    x = gpuarray.to_gpu(host)
    calls = [{}, {"keepdims": True}, {"dtype": np.float32}]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for more in calls if dtype not in "FD" else calls[:2]:
            for function in (np.mean, np.var, np.std)[: 1 if dtype == "e" else 3]:
                ours = function(x, axis=axis, **more).get()
                theirs = function(host, axis=axis, **more)
                assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
                rtol = 1e-2 if dtype == "e" else 1e-4
                np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=1e-4)


def test_degrees_of_freedom_and_the_types_of_16_bit_floats():
    host = np.linspace(1, 2, 10).astype(np.float16)
    x = gpuarray.to_gpu(host)
    assert x.mean().dtype == np.var(x).dtype == np.std(x, ddof=1).dtype == np.float16
    wide = host.astype(np.float32)
    np.testing.assert_allclose(np.std(x, ddof=3).get(), wide.std(ddof=3), rtol=1e-3)
    assert np.isnan(np.var(x[:1], ddof=1).get())
    assert np.isinf(np.var(x[:2], ddof=2).get())
    whole = gpuarray.to_gpu(np.arange(10))
    assert np.mean(whole, dtype=np.int32).get() == np.mean(whole.get(), dtype=np.int32)
    out = gpuarray.zeros((), np.float32)
    assert np.mean(x, out=out) is out and out.get() == wide.mean()


def test_a_complex_type_of_the_result():
    """NumPy keeps the type that is asked for."""
    host = np.arange(10)
    x = gpuarray.to_gpu(host)
    for function in (np.var, np.std):
        got, want = function(x, dtype=complex), function(host, dtype=complex)
        assert got.dtype == want.dtype == np.complex128
        np.testing.assert_allclose(got.get(), want)


def test_captured_means():
    x, y = gpuarray.to_gpu(numbers(5000, "f")), gpuarray.zeros(2, np.float32)
    np.mean(x), np.std(x)
    stream = cuda.Stream()
    with cuda.capture(stream) as recording, stream:
        y[0] = np.mean(x)
        y[1] = np.std(x)
    x.set(2 * x.get())
    recording.graph.instantiate().launch(stream)
    wanted = [x.get().mean(), x.get().std()]
    np.testing.assert_allclose(y.get(stream=stream), wanted, rtol=1e-4)


@pytest.mark.skipif(not is_softcuda(), reason="the software device counts launches")
@pytest.mark.parametrize("function", [np.mean, np.var, np.std])
def test_one_launch(function):
    x = gpuarray.zeros((40, 60), np.float16)
    function(x, axis=1)
    cuda.Context.synchronize()
    with pycuda.profile(counters=False) as profile:
        function(x, axis=1)
    assert sum(event.activity == "kernel" for event in profile.events) == 1
