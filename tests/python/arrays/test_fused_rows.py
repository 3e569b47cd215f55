"""Fused functions whose reductions share their axes are one kernel: values beside NumPy's, launches, captures."""

import warnings

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda
import pycuda.driver as cuda
from pycuda import gpuarray

pytestmark = pytest.mark.usefixtures("device")


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def normalised(x, axis):
    apart = x - x.mean(axis=axis, keepdims=True)
    return apart / np.sqrt((apart * apart).mean(axis=axis, keepdims=True) + 1)


def statistics(x, axis):
    low, high = x.min(axis=axis), x.max(axis=axis)
    mean = x.mean(axis=axis, keepdims=True)
    return (
        high - low, mean, x.argmax(axis=axis) + 0, (x > mean).sum(axis=axis), np.any(x > mean, axis=axis),
    )  # fmt: skip


def numbers(shape, dtype="f"):
    rng = np.random.default_rng(3)
    if np.dtype(dtype).kind in "iub":
        return rng.integers(0, 2 if dtype == "?" else 50, shape).astype(dtype)
    x = rng.standard_normal(shape)
    return np.asarray(x + 1j * x[::-1] if dtype in "FD" else x).astype(dtype)


def launches(call) -> int:
    call()
    cuda.Context.synchronize()
    with pycuda.profile(counters=False) as profile:
        call()
    return sum(event.activity == "kernel" for event in profile.events)


def compare(function, host, axis, part=np.s_[...]):
    x = gpuarray.to_gpu(host)[part]
    ours, theirs = pycuda.fuse(function)(x, axis), function(host[part], axis)
    if not isinstance(ours, tuple):
        ours, theirs = (ours,), (theirs,)
    for one, other in zip(ours, theirs, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        rtol = 2e-2 if host.dtype == np.float16 else 1e-4
        np.testing.assert_allclose(one.get(), other, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("function", [softmax, normalised, statistics])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [((1000,), None), ((1000,), 0), ((300, 3), 1), ((40, 130), 1), ((40, 130), 0), ((3, 2000), -1), ((70, 8, 5), 1)]
    + [((4, 5, 6), (0, 2)), ((4, 5, 6), (1, 2)), ((1, 1), 0), ((2, 9000), 1), ((9000, 2), 0), ((1, 300), 0)],
)  # fmt: skip
def test_shapes(function, shape, axis):
    if function is statistics and isinstance(axis, tuple):
        pytest.skip("argmax takes one axis")
    compare(function, numbers(shape), axis)


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i8", "e", "d"])
def test_types(dtype):
    if dtype != "?":  # bool has no differences
        compare(statistics, numbers((30, 40), dtype), 1)
    compare(normalised, numbers((30, 7), dtype), 0)


def test_complex_numbers():
    def function(x):
        total = x.sum(axis=1, keepdims=True)
        return x / total, (x * x.conj()).real.mean(axis=1), total

    x = numbers((20, 33), "F")
    for ours, theirs in zip(
        pycuda.fuse(function)(gpuarray.to_gpu(x)), function(x), strict=True
    ):
        np.testing.assert_allclose(ours.get(), theirs, rtol=1e-4, atol=1e-5)
        assert ours.dtype == theirs.dtype


@pytest.mark.parametrize(
    "part", [np.s_[::2], np.s_[:, ::-3], np.s_[::-1, 5:], np.s_[3], np.s_[:, 7]]
)
def test_layouts(part):
    host = numbers((40, 60))
    axis = -1 if host[part].ndim == 2 else 0
    for function in (softmax, normalised, statistics):
        compare(function, host, axis, part)
        compare(function, host.T, axis, part)


def test_not_a_number_and_infinities():
    host = numbers((6, 50))
    host[0, 3], host[1, 4], host[2, 5] = np.nan, np.inf, -np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for function in (softmax, normalised):
            compare(function, host, 1)


def test_no_elements():
    for shape, axis in (((0, 3), 1), ((3, 0), 0)):
        assert pycuda.fuse(softmax)(gpuarray.zeros(shape, "f"), axis).shape == shape
    with pytest.raises(ValueError, match="no identity"):
        pycuda.fuse(softmax)(gpuarray.zeros((0, 3), "f"), 0)
    with pytest.raises(IndexError, match="axis 2 is out of bounds"):
        pycuda.fuse(softmax)(gpuarray.zeros((4, 3), "f"), 2)


def test_masks_broadcasts_and_values_of_rows():
    def function(x, mask, gain):
        total = x.sum(axis=1, where=mask, keepdims=True)
        scaled = x * gain / (1 + abs(total))
        high = scaled.max(axis=1, keepdims=True)
        return scaled, np.log(1 + abs(high)), high.sum(axis=1), total.min(axis=1)

    x, gain = numbers((50, 70)), numbers(70)
    mask = x > 0.3
    ours = pycuda.fuse(function)(*map(gpuarray.to_gpu, (x, mask, gain)))
    for one, other in zip(ours, function(x, mask, gain), strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one.get(), other, rtol=1e-4, atol=1e-5)


def test_rows_without_their_axis_do_not_broadcast_with_elements():
    def function(x):  # (n, n) minus (n,): along the other axis
        return x - x.mean(axis=1)

    x = numbers((40, 40))
    ours = pycuda.fuse(function)(gpuarray.to_gpu(x))
    np.testing.assert_allclose(ours.get(), function(x), rtol=1e-4, atol=1e-5)


def test_results_are_the_same_in_each_run_and_layout():
    x = gpuarray.to_gpu(numbers((33, 777)))
    fused = pycuda.fuse(normalised)
    first = fused(x, 1).get()
    assert first.tobytes() == fused(x, 1).get().tobytes()
    columns = gpuarray.to_gpu(np.asfortranarray(x.get()))
    assert fused(columns, 1).flags.f_contiguous
    np.testing.assert_allclose(fused(columns, 1).get(), first, rtol=1e-4, atol=1e-5)


def test_a_captured_call():
    x = gpuarray.to_gpu(numbers((20, 30)))
    y = gpuarray.zeros_like(x)
    fused = pycuda.fuse(softmax)
    fused(x, 1)
    stream = cuda.Stream()
    with cuda.capture(stream) as recording, stream:
        y[...] = fused(x, 1)
    x.set(numbers((20, 30)) / 2)
    recording.graph.instantiate().launch(stream)
    np.testing.assert_allclose(y.get(stream=stream), softmax(x.get(), 1), rtol=1e-5)


@pytest.mark.skipif(not is_softcuda(), reason="the software device counts launches")
def test_launches():
    fused = pycuda.fuse(softmax)
    for shape, axis in [((1024,), 0), ((300, 3), 1), ((100, 1000), 1), ((100, 100), 0)]:
        x = gpuarray.to_gpu(numbers(shape))
        assert launches(lambda x=x, axis=axis: fused(x, axis)) == 1
    long = gpuarray.to_gpu(numbers((2, 20_000)))
    assert launches(lambda: fused(long, 1)) > 1


def test_known_constants_are_told_apart():
    fused = pycuda.fuse(lambda x, a, axis: (x * a).sum(axis=axis) if axis else x * a)
    x = gpuarray.to_gpu(1 + abs(numbers((3, 4))))
    for _ in range(2):
        for a in (1, True, 1.0, 2.5, -0.0, 0.0, 1j):
            assert fused(x, a, None).dtype == np.result_type(x.dtype, a)
            for axis in (None, (0,), (1,), (0, 1)):
                ours, theirs = (
                    fused(x, a, axis).get(),
                    fused._function(x.get(), a, axis),
                )
                np.testing.assert_allclose(ours, theirs, rtol=1e-5)
        for zero in (0.0, -0.0):
            assert (np.signbit(fused(x, zero, None).get()) == np.signbit(zero)).all()


@pytest.mark.parametrize("dtype", ["d", "f", "i", "?"])
def test_a_constant_of_another_type_is_another_kernel(dtype):
    functions = [
        lambda x, k: x.max(axis=1, keepdims=True) * k + x,
        lambda x, k: (x.sum(axis=0) + k, x * k),
        lambda x, k: np.where(x > k, x, k).sum(axis=1),
    ]
    x = gpuarray.to_gpu(numbers((5, 7), dtype))
    for function in functions:
        for values in (
            (2, 2.5, 1 + 2j, True),
            (1 + 2j, 2.5, np.int8(3), np.float64(7.5)),
        ):
            for k in values:
                if isinstance(k, complex) and function is functions[2]:
                    continue
                fused, usual = pycuda.fuse(function)(x, k), function(x, k)
                if not isinstance(usual, tuple):
                    fused, usual = (fused,), (usual,)
                for ours, theirs in zip(fused, usual, strict=True):
                    assert ours.dtype == theirs.dtype
                    np.testing.assert_allclose(ours.get(), theirs.get(), rtol=1e-5)


def test_explanations():
    rows = pycuda.fuse(normalised)
    assert rows.explain(gpuarray.zeros((3, 100), "f"), 1) == "one kernel"
    assert rows.explain(x=gpuarray.zeros((300, 3), "f"), axis=0) == "one kernel"
    assert pycuda.fuse(np.add).explain(gpuarray.zeros(3), 1) == "one kernel"
    assert pycuda.fuse(np.sum).explain(gpuarray.zeros(3)) == "one kernel"

    long, empty = gpuarray.zeros((3, 100_000), "f"), gpuarray.zeros((0, 3), "f")
    assert rows.explain(long, 1).startswith("3 kernels: the rows are too long")
    assert rows.explain(empty, 1) == "3 kernels: there are no elements"
    mixed = pycuda.fuse(lambda x: x.sum(axis=0) + x.sum(axis=1))
    square = gpuarray.zeros((4, 4))
    assert (
        mixed.explain(square)
        == "3 kernels: the reductions have different axes or shapes"
    )
    assert (mixed(square).get() == 0).all()
