"""pycuda.fuse: the same bits as the function without it, for types, layouts and broadcasting."""

import math

import numpy as np
import pytest
from marks import slow

import pycuda
import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.fusion import FusionError

pytestmark = pytest.mark.usefixtures("device")


def numbers(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind in "iub":
        return gpuarray.to_gpu(rng.integers(0, 100, shape).astype(dtype))
    x = rng.standard_normal(shape)
    return gpuarray.to_gpu((x + 1j * x[::-1] if dtype.kind == "c" else x).astype(dtype))


def same_bits(got, expected):
    got, expected = got.get(), expected.get()
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    assert (
        np.ascontiguousarray(got).tobytes() == np.ascontiguousarray(expected).tobytes()
    )


def polynomial(x, y):
    return (2 * x + y) * x - 3 / (y * y + 1)


def functions(x, y):
    return gpuarray.exp(-(x * x)) + np.sin(y) * gpuarray.hypot(x, y)


def choice(x, y):
    return gpuarray.where(x < y, x.astype(np.float32) * 0.1, np.maximum(x, y)) + 1


@pytest.mark.parametrize("function", [polynomial, functions, choice])
@pytest.mark.parametrize("types", ["ff", "dd", "ee", "fd", "if", "ef"])
def test_same_bits(function, types):
    x, y = numbers(1003, types[0]), numbers(1003, types[1], 1)
    same_bits(pycuda.fuse(function)(x, y), function(x, y))


def test_integers_and_complex_numbers():
    bits = pycuda.fuse(lambda x, y: ((x << 3) ^ y) // 7 % 5 + ~x)
    x, y = numbers(500, "i4"), numbers(500, "i2", 1)
    same_bits(bits(x, y), bits._function(x, y))
    product = pycuda.fuse(lambda x, y: (x * y.conj() + 2j).real + abs(x))
    x, y = numbers(500, "F"), numbers(500, "F", 1)
    same_bits(product(x, y), product._function(x, y))


def test_multiply_and_add_are_rounded_apart():
    # Contracted to one operation, the difference would not be zero.
    x = numbers(5000, "f")
    residue = pycuda.fuse(lambda x: x * x - x * x)
    assert not residue(x).get().any()
    axpy = pycuda.fuse(lambda a, x, y: a * x + y)
    y = numbers(5000, "f", 1)
    same_bits(axpy(1.1, x, y), 1.1 * x + y)


def test_calls_again_with_the_same_and_other_types():
    fused = pycuda.fuse(polynomial)
    x, y, z = numbers(300, "f"), numbers(300, "d", 1), numbers(70, "f", 2)
    for arguments in 2 * [(x, y), (y, x), (z, z), (x, 2.5), (2, y), (x, 2.5)]:
        same_bits(fused(*arguments), polynomial(*arguments))
    with pytest.raises(ValueError, match="broadcast"):
        fused(x, numbers(70, "d"))
    kept = pycuda.fuse(lambda x, y: (x, x + y))
    assert [part.dtype.char for part in kept(x, y) + kept(x, y)] == ["f", "d"] * 2
    assert repr(fused) == "<fused function polynomial>"


def test_numbers_of_numpy():
    """C++ compares them by their types and bytes when a call comes again."""
    fused = pycuda.fuse(lambda x, y: x / y)
    x = numbers(300, "f")
    kinds = (np.float32, np.float64, np.float16, np.int8, np.uint8, np.int64)
    divisors = [kind(2) for kind in kinds]
    divisors += [np.float32(value) for value in (0.0, -0.0, np.nan, np.inf, 3)]
    for number in 2 * [*divisors, np.bool_(True), np.complex64(2j), np.complex64(2)]:
        same_bits(fused(x, number), x / number)
        same_bits(fused(x, type(number)(number)), x / number)


def counted(function):
    """The function, and a list that gets an element whenever Python runs it."""
    runs = []

    def traced(*arguments):
        runs.append(arguments)
        return function(*arguments)

    return pycuda.fuse(traced), runs


@pytest.mark.parametrize("kind", [float, complex, np.float32, np.float64, np.int16])
def test_numbers_that_vary_are_traced_once(kind):
    fused, runs = counted(
        lambda a, x, y: a * x + np.multiply(y, a) - np.where(x > 0, a, x)
    )
    plain = lambda a, x, y: a * x + np.multiply(y, a) - gpuarray.where(x > 0, a, x)  # noqa: E731
    x, y = numbers(300, "f"), numbers(300, "f", 1)
    stream = cuda.Stream()
    same_bits(fused(kind(2), x, y), plain(kind(2), x, y))
    first = len(runs)
    for value in (3, 0, -2, 2, 7, 5):
        same_bits(fused(kind(value), x, y), plain(kind(value), x, y))
        result = gpuarray.empty_like(fused(kind(value), x, y))
        fused.into((result,), kind(value), x, y)
        same_bits(result, plain(kind(value), x, y))
        same_bits(fused(kind(value), x, y, stream=stream), plain(kind(value), x, y))
    assert len(runs) == first
    fused(1, x, y)  # another type
    assert len(runs) > first


#: Functions that use the value of a number in Python.
VALUES_USED = {
    "branch": lambda a, x: x + 1 if a > 2 else x - 1,
    "branch on truth": lambda a, x: x + 1 if a else x - 1,
    "equality": lambda a, x: x + 1 if a == 2 else x - 1,
    "mathematics": lambda a, x: x * math.sqrt(a),
    "arithmetic": lambda a, x: x * (1 - a),
    "numpy": lambda a, x: x * np.sqrt(a),
    "array of the host": lambda a, x: x * np.asarray(a)[()],
    "method": lambda a, x: x * a.real + a.is_integer(),
    "range": lambda a, x: sum((x for _ in range(int(a))), 0 * x),
    "format": lambda a, x: x * float(f"{a:.3f}"),
    "conversion": lambda a, x: x * float(a),
    "rounding": lambda a, x: x * round(a) + math.floor(a),
    "type": lambda a, x: x * 2 if type(a) is float else x * a,
    "dict": lambda a, x: x * {2.0: 5, 3.0: 7}.get(a, 9),
    "and an operand": lambda a, x: a * x if a < 3 else a - x,
    "minimum": lambda a, x: x * min(a, 3.0),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES_USED)
def test_numbers_whose_values_are_used(name):
    function = VALUES_USED[name]
    fused, x = pycuda.fuse(function), numbers(100, "d")
    for value in 2 * (2.0, 3.0, 2.5, 0.0, 3.0, 1.0):
        np.testing.assert_array_equal(fused(value, x).get(), function(value, x).get())


def test_one_of_two_numbers_varies():
    fused, runs = counted(lambda a, b, x: a * x if b > 0 else a - x)
    x = numbers(100, "f")
    for a, b in [(1.0, 2.0), (2.0, 2.0), (2.0, -1.0), (3.0, -1.0), (4.0, 2.0)]:
        same_bits(fused(a, b, x), a * x if b > 0 else a - x)
    assert len({arguments[1] for arguments in runs if type(arguments[0]) is float}) == 2
    count = len(runs)
    same_bits(fused(9.0, 2.0, x), 9.0 * x)
    assert len(runs) == count


def test_numbers_by_keyword_vary():
    fused = pycuda.fuse(lambda x, *, a=1.0: a * x)
    x = numbers(100, "f")
    for a in (2.0, 3.0, np.float32(3), 2.0):
        same_bits(fused(x, a=a), a * x)


def test_numbers_of_a_reduction():
    fused = pycuda.fuse(lambda a, x: (a * x).sum())
    x = gpuarray.arange(10, dtype=np.float64)
    for a in (2.0, 3.0, 2.0):
        assert float(fused(a, x)) == 45 * a


def test_varying_numbers_keep_errors_and_types():
    fused = pycuda.fuse(lambda a, x: x + a)
    x = gpuarray.arange(5, dtype=np.int8)
    assert fused(1.0, x).dtype == fused(2.0, x).dtype == (x + 1.0).dtype
    assert fused(np.int64(1), x).dtype == fused(np.int64(1000), x).dtype == np.int64
    for value in (1, 300):
        if value == 300:
            with pytest.raises(OverflowError):
                fused(value, x)
        else:
            same_bits(fused(value, x), x + value)
    with pytest.raises(FusionError):
        pycuda.fuse(lambda a, x: a)(1.0, x)


def test_into_arrays():
    fused = pycuda.fuse(lambda x, y: x * y)
    x, to = numbers((30, 20), "f"), numbers((30, 20), "f", 1)
    for factor in (2.0, np.float32(3), x, 2.0):
        fused.into((to[::2],), x[::2], factor if factor is not x else x[::2])
        same_bits(to[::2], x[::2] * (factor if factor is not x else x[::2]))
    same_bits(to[1::2], numbers((30, 20), "f", 1)[1::2])
    with pytest.raises(ValueError, match="cannot be written"):
        fused.into((to[:3],), x, 2.0)
    total = pycuda.fuse(lambda x: x.sum())
    for _ in range(2):
        with pytest.raises(AttributeError):
            total.into((to[0, 0],), x)


@pytest.mark.parametrize(
    "index", [np.s_[::2, :], np.s_[::-1, 3:], np.s_[:, ::3], np.s_[1:, 1]]
)
def test_layouts(index):
    x, y = numbers((40, 50), "f"), numbers((40, 50), "d", 1)
    fused = pycuda.fuse(polynomial)
    same_bits(fused(x[index], y[index]), polynomial(x[index], y[index]))
    same_bits(fused(x.T, y.T), polynomial(x.T, y.T))
    same_bits(fused(x[:40, :40].T, y[:40, :40]), polynomial(x[:40, :40].T, y[:40, :40]))


@pytest.mark.parametrize(
    "shapes",
    [((30, 1), (1, 20)), ((30, 20), (20,)), ((30, 20), (1,)), ((), (5,)), ((), ())]
    + [((0,), (0,)), ((3, 0), (1,)), ((1, 1), (4, 4))],
)
def test_broadcasting(shapes):
    x, y = numbers((40, 40), "f"), numbers((40, 40), "f", 1)
    x, y = (
        gpuarray.to_gpu(np.resize(one.get(), shape))
        for one, shape in zip((x, y), shapes, strict=True)
    )
    same_bits(pycuda.fuse(polynomial)(x, y), polynomial(x, y))


def test_several_results_and_reductions():
    def statistics(x, y):
        d = x - y
        return d, (d * d).sum(), np.max(d, axis=0), d.astype(np.float64).mean(axis=1)

    x, y = numbers((70, 90), "f"), numbers((70, 90), "f", 1)
    for got, expected in zip(
        pycuda.fuse(statistics)(x, y), statistics(x, y), strict=True
    ):
        same_bits(got, expected)


def test_calls():
    calls = []

    @pycuda.fuse
    def scaled(x, factor=2.0, *, absolute=False):
        """Doc."""
        calls.append(x.dtype)
        return abs(x) * factor if absolute else x * factor

    x = numbers(100, "f")
    for _ in range(3):
        same_bits(scaled(x), x * 2.0)
        same_bits(scaled(x, absolute=True), abs(x) * 2.0)
        same_bits(scaled(x, factor=3), x * 3)
    assert calls == [np.float32] * 3
    assert scaled.__doc__ == "Doc."
    same_bits(scaled(numbers(100, "d")), numbers(100, "d") * 2.0)
    stream = cuda.Stream()
    got = scaled(x, stream=stream)
    stream.synchronize()
    same_bits(got, x * 2.0)
    copied = pycuda.fuse(lambda x: x)(x)
    same_bits(copied, x)
    assert copied.ptr != x.ptr


def test_functions_that_cannot_be_fused():
    x, other = numbers((4, 5), "f"), numbers(4, "f")
    refused = [
        (lambda x: x if x > 0 else -x, "cannot branch on the elements"),
        (lambda x: x[1:], "cannot index or assign parts"),
        (lambda x: x.sum(out=other) + 1, "takes no out"),
        (lambda x: x.max(where=x > 0), "does not have an identity"),
        (lambda x: x.reshape(20), "cannot use 'reshape'"),
        (lambda x: x + other[:3], r"pass the array of shape \(3,\) as"),
        (lambda x: np.linalg.norm(x), "cannot use numpy.linalg.norm"),
        (lambda x: x + "1", "cannot use a str"),
        (lambda x: 3.0, "must return values computed"),
        (lambda x: gpuarray.exp(x, dtype=np.float64), "no keywords"),
    ]
    for function, reason in refused:
        with pytest.raises((FusionError, ValueError), match=reason):
            pycuda.fuse(function)(x)
    with pytest.raises(FusionError, match="at least one GPUArray"):
        pycuda.fuse(lambda x: x)(1)
    with pytest.raises(ValueError, match="a result of shape"):
        pycuda.fuse(lambda x, y: (x + y, 2 * y))(x, numbers(5, "f"))
    with pytest.raises(TypeError, match="not defined for float32"):
        pycuda.fuse(lambda x: x << 2)(x)
    with pytest.raises(ValueError, match="broadcast"):
        pycuda.fuse(lambda x, y: x + y)(x, other)


@pytest.mark.parametrize("host", [np.ones(3, np.float32), [1.0, 2.0]])
def test_an_array_on_the_host_is_refused_by_name(device, host):
    fused = pycuda.fuse(lambda x, y: x + y)
    name = type(host).__name__
    for call in (
        lambda: fused(host, 1.0),
        lambda: fused(gpuarray.zeros(3, np.float32), y=host),
    ):
        with pytest.raises(FusionError, match=f"not {name}, which is in host memory"):
            call()


def test_many_strided_arrays(device):
    """Eight arrays with gaps and their result once overran a table of eight layouts."""
    parts = [np.arange(64, dtype=np.float32).reshape(8, 8) + k for k in range(12)]
    for count in (7, 8, 12):
        names = ", ".join(f"a{k}" for k in range(count))
        total = pycuda.fuse(eval(f"lambda {names}: {names.replace(',', ' +')}"))
        arrays = [gpuarray.to_gpu(part)[1:-1, 1:-1] for part in parts[:count]]
        wanted = sum(part[1:-1, 1:-1] for part in parts[:count])
        assert (total(*arrays).get() == wanted).all()


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def layer_norm(x, gain, bias):
    mean = x.mean(axis=-1, keepdims=True)
    spread = np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)
    return (x - mean) / spread * gain + bias


def test_reductions_between_operations():
    host = np.random.default_rng(0).standard_normal((40, 130)).astype(np.float32)
    x = gpuarray.to_gpu(host)
    np.testing.assert_allclose(pycuda.fuse(softmax)(x).get(), softmax(host), rtol=1e-5)
    columns = gpuarray.to_gpu(host.T.copy()).T
    np.testing.assert_allclose(
        pycuda.fuse(softmax)(columns).get(), softmax(host), rtol=1e-5
    )
    gain, bias = host[0], host[1]
    got = pycuda.fuse(layer_norm)(x, *map(gpuarray.to_gpu, (gain, bias)))
    np.testing.assert_allclose(
        got.get(), layer_norm(host, gain, bias), rtol=1e-4, atol=1e-5
    )

    def several(x, mask):
        total = x.sum(axis=0, where=mask, keepdims=True)
        return (
            x / (1 + abs(total)), total, (x * x).sum(), x.argmax(axis=1), np.any(x > total),
            np.mean(x, where=mask), x.min(axis=(0, 1), where=mask, initial=9) + 1,
            np.sum(x, axis=1, dtype=np.float64, initial=2), x.std(axis=0, ddof=1), total,
        )  # fmt: skip

    mask = host > 0.1
    got = pycuda.fuse(several)(x, gpuarray.to_gpu(mask))
    for ours, theirs in zip(got, several(host, mask), strict=True):
        np.testing.assert_allclose(ours.get(), theirs, rtol=2e-4, atol=1e-4)
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    assert got[1].ptr != got[-1].ptr  # results are new arrays


@pytest.mark.parametrize(
    "dtype", ["?", "u2", "i8", "f", "D", *slow(["i1", "e", "d", "F"])]
)
def test_types_of_reductions(dtype):
    x = numbers((20, 3), dtype)

    def all_of(x):
        found = [x.sum(axis=1), x.prod(axis=0), x.max(), x.mean(axis=0), np.all(x)]
        if x.dtype.kind != "b":
            found.append(np.var(x, axis=1))
        return tuple(found)

    for got, expected in zip(pycuda.fuse(all_of)(x), all_of(x), strict=True):
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(
            got.get(), expected.get(), rtol=2e-2 if dtype == "e" else 1e-5
        )


def test_reductions_of_no_elements_and_of_wrong_axes():
    empty = gpuarray.zeros((0, 3), np.float32)
    assert pycuda.fuse(lambda x: (2 * x).sum(axis=0) + 1)(empty).get().tolist() == [
        1,
        1,
        1,
    ]
    with pytest.raises(ValueError, match="no identity"):
        pycuda.fuse(lambda x: (2 * x).max(axis=0))(empty)
    with pytest.raises(IndexError, match="axis 2 is out of bounds"):
        pycuda.fuse(lambda x: (2 * x).sum(axis=2))(empty)


def test_large_reductions_of_fused_elements():
    x, y = numbers(300_000, "f"), numbers(300_000, "d", 1)
    norm = pycuda.fuse(lambda x, y: np.sqrt(((x - y) ** 2).sum()))
    same_bits(norm(x, y), np.sqrt(((x - y) ** 2).sum()))
    m = numbers((1000, 300), "f")
    centred = pycuda.fuse(lambda m: abs(m - 1).sum(axis=0))
    same_bits(centred(m), abs(m - 1).sum(axis=0))
    assert norm(x, y).get() == norm(x[::1], y).get()


def test_in_place_operators_change_a_value_and_not_an_argument():
    x, y = np.float32([1, 2, 3]), np.float64([4, 5, 6])

    def function(a, b):
        first = a * 2
        second = first
        first += b  # keeps float32, as an array does
        first **= 2
        return second, first - 1

    for got, wanted in zip(
        pycuda.fuse(function)(gpuarray.to_gpu(x), gpuarray.to_gpu(y)),
        function(x, y),
        strict=True,
    ):
        assert got.dtype == wanted.dtype == np.float32
        np.testing.assert_array_equal(got.get(), wanted)

    @pycuda.fuse
    def changes(a):
        a += 1
        return a

    kept = gpuarray.to_gpu(x)
    with pytest.raises(FusionError, match="cannot change its arguments"):
        changes(kept)
    np.testing.assert_array_equal(kept.get(), x)

    @pycuda.fuse
    def halves(a):
        half = a + 1
        half /= 2
        return half

    with pytest.raises(TypeError, match="float64 in an array of int64"):
        halves(gpuarray.arange(3, dtype=np.int64))


def test_a_fused_function_calls_another_one():
    square = pycuda.fuse(lambda a, scale=1: scale * a * a)
    centred = pycuda.fuse(lambda a: a - a.mean(axis=-1, keepdims=True))
    variance = pycuda.fuse(lambda a: square(centred(a), scale=2).sum(axis=-1))
    x = np.arange(12.0).reshape(3, 4)
    got = variance(gpuarray.to_gpu(x)).get()
    np.testing.assert_allclose(got, 2 * x.var(axis=1) * 4)
    stream = cuda.Stream()
    waits = pycuda.fuse(lambda a: square(a, stream=stream))
    with pytest.raises(FusionError, match="takes no stream"):
        waits(gpuarray.to_gpu(x))
    with pytest.raises(FusionError, match="matrix product"):
        pycuda.fuse(lambda a: a @ a)(gpuarray.to_gpu(x))
