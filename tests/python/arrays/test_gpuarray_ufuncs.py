"""numpy's universal functions called on arrays of the device: keywords and methods."""

import platform

import numpy as np
import pytest
from marks import slow

from pycuda import gpuarray

pytestmark = pytest.mark.usefixtures("device")

A = np.arange(1.0, 25).reshape(2, 3, 4)
N = np.arange(12, dtype=np.int32).reshape(3, 4) * 7 % 13 + 1


def agree(result, expected):
    assert isinstance(result, gpuarray.GPUArray)
    expected = np.asarray(expected)
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(result.get(), expected, rtol=1e-12)


def both(call, *arrays):
    agree(call(*map(gpuarray.to_gpu, arrays)), call(*arrays))


def test_keywords():
    both(lambda x: np.add(x, 1, dtype="f4", casting="unsafe"), A)
    both(lambda x: np.add(x, 1, out=np.zeros_like(x)), A)
    both(lambda x: np.add(x, 1, out=(np.zeros_like(x),)), A)
    both(lambda x: np.sqrt(x, out=np.ones_like(x), where=x > 5), A)
    both(lambda x: np.add(x, 1, out=np.ones_like(x), where=False), A)
    both(lambda x: np.add(x, 1, np.ones_like(x)), A)


def test_two_results():
    for name in ("frexp", "modf"):
        for one, other in zip(
            getattr(np, name)(gpuarray.to_gpu(A / 3)),
            getattr(np, name)(A / 3),
            strict=True,
        ):
            agree(one, other)
    x = gpuarray.to_gpu(A)
    first, second = x.copy(), x.copy()
    results = np.divmod(x, 5, out=(first, second))
    assert results[0] is first and results[1] is second
    agree(first, A // 5)
    agree(second, A % 5)
    first, second = np.modf(x / 3, None, second)
    agree(second, np.modf(A / 3)[1])


@pytest.mark.parametrize("name", ["divmod", "frexp", "modf"])
def test_where_masks_both_results(name):
    function = getattr(np, name)
    inputs = (A / 3, 2.0) if name == "divmod" else (A / 3,)
    mask = A % 3 == 0
    dtypes = [one.dtype for one in function(*inputs)]
    expected = [np.full(A.shape, 7, dtype) for dtype in dtypes]
    function(*inputs, out=tuple(expected), where=mask)
    results = tuple(gpuarray.to_gpu(np.full(A.shape, 7, dtype)) for dtype in dtypes)
    on_device = (gpuarray.to_gpu(inputs[0]), *inputs[1:])
    function(*on_device, out=results, where=gpuarray.to_gpu(mask))
    for one, other in zip(results, expected, strict=True):
        agree(one, other)
    for one, other in zip(
        function(*on_device, where=gpuarray.to_gpu(mask)), expected, strict=True
    ):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one.get()[mask], other[mask])


def test_two_results_may_overwrite_their_input():
    x, other = gpuarray.to_gpu(A / 3), gpuarray.empty_like(gpuarray.to_gpu(A))
    np.divmod(x, 2, out=(x, other))
    agree(x, A / 3 // 2)
    agree(other, A / 3 % 2)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_neighbours(dtype):
    a = np.array([0, 1, -1, 2, -3.5, 65504, 6e-8, np.inf, -np.inf, np.nan], dtype)
    x = gpuarray.to_gpu(a)
    with np.errstate(all="ignore"):
        for to in (np.inf, -np.inf, 0, 3):
            agree(
                np.nextafter(x, np.dtype(dtype).type(to)),
                np.nextafter(a, np.dtype(dtype).type(to)),
            )
        # For negative float16, only numpy returns the distance towards zero.
        a = abs(a) if dtype == "f2" else a
        agree(np.spacing(gpuarray.to_gpu(a)), np.spacing(a))


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "i8"])
def test_bitwise_count(dtype):
    both(np.bitwise_count, np.arange(-5, 20).astype(dtype))


@pytest.mark.parametrize(
    "name",
    ["add", "multiply", "maximum", "subtract", "divide", "hypot", "logaddexp", "fmin"],
)
def test_reduce(name):
    ufunc = getattr(np, name)
    both(lambda x: ufunc.reduce(x), A)
    both(lambda x: ufunc.reduce(x, axis=1, keepdims=True), A)
    both(lambda x: ufunc.reduce(x, axis=-1, initial=3.0), A)
    both(lambda x: ufunc.reduce(x, out=np.zeros_like(x[0])), A)
    if name not in ("subtract", "divide"):
        both(lambda x: ufunc.reduce(x, axis=(0, 2)), A)
        both(lambda x: ufunc.reduce(x, axis=None), A)


@pytest.mark.parametrize(
    "name", ["bitwise_and", "bitwise_or", "bitwise_xor", "logical_xor", "gcd", "lcm"]
)
def test_reduce_integers(name):
    ufunc = getattr(np, name)
    both(lambda x: ufunc.reduce(x, axis=1), N)
    both(lambda x: ufunc.reduce(x, axis=0), N)
    if name != "lcm":
        both(lambda x: ufunc.reduce(x[:0], axis=0), N)
        both(lambda x: ufunc.reduce(x, axis=0, where=x > 5), N)


@pytest.mark.parametrize(
    "name", ["add", "multiply", "maximum", "subtract", "divide", "logaddexp"]
)
def test_accumulate(name):
    ufunc = getattr(np, name)
    both(lambda x: ufunc.accumulate(x), A)
    both(lambda x: ufunc.accumulate(x, axis=-1), A)
    if name != "logaddexp" and name != "divide":
        both(lambda x: ufunc.accumulate(x, axis=1), N)
    both(lambda x: ufunc.accumulate(x, axis=2, out=np.zeros_like(x)), A)


def test_outer():
    both(lambda x: np.add.outer(x, x[0]), A)
    both(lambda x: np.less.outer(x[0], x), N)
    both(lambda x: np.subtract.outer(x, 3), N)


def test_refusals():
    x = gpuarray.to_gpu(A)
    with pytest.raises(TypeError, match="must be a GPUArray, not ndarray"):
        np.add(x, 1, out=A.copy())
    with pytest.raises(TypeError, match="to_gpu"):
        np.add(x, A)
    with pytest.raises(ValueError, match="not reorderable"):
        np.subtract.reduce(x, axis=None)
    with pytest.raises(ValueError, match="no identity"):
        np.fmax.reduce(x[:0])
    with pytest.raises(TypeError, match="isnat"):
        np.isnat(x)


def test_complex_functions_near_their_zeros(device):
    """The real part of a logarithm is small near the unit circle; cancellation would lose it."""
    parts = np.array([-3, -1.001, -1, -0.999, -0.3, -1e-8, 1e-8, 0.5, 0.999, 1, 1.5])
    z = parts[:, None] + 1j * parts
    for name in ("arctan", "arctanh", "log", "log2", "log10"):
        result = getattr(gpuarray, name)(gpuarray.to_gpu(z)).get()
        np.testing.assert_allclose(result, getattr(np, name)(z), rtol=2e-15)
    small = np.array([1e-8 - 1e-8j, -1e-9 + 0j, 0.25 + 0.5j, -0.75 + 0.1j])
    exact = [1e-8 - 0.9999999900000002e-8j, -1.0000000005e-9, *np.log(1 + small[2:])]
    result = gpuarray.log1p(gpuarray.to_gpu(small)).get()
    np.testing.assert_allclose(result, exact, rtol=2e-15)


SPECIAL = [0.0, 0.5, 1.0, 30.0, np.inf, np.nan]
# At infinite and zero arguments, which C's annex G defines; the array API defines expm1 there.
ENDS = [complex(a, b) for a in [*SPECIAL, *(-x for x in SPECIAL)] for b in [*SPECIAL, *(-x for x in SPECIAL)]]  # fmt: skip


def same_parts(one, other, signs=True):
    """Both parts agree: NaN, infinite, zero of the same sign, or near. The sign of NaN, and of a part next to NaN, is not compared."""
    for part, mate in (("real", "imag"), ("imag", "real")):
        a, b, beside = getattr(one, part), getattr(other, part), getattr(other, mate)
        if np.isnan(b) or np.isnan(a):
            assert np.isnan(a) == np.isnan(b)
            continue
        np.testing.assert_allclose(abs(a), abs(b), rtol=1e-5, atol=1e-6)
        # C does not define the sign: next to NaN, and where an angle at infinity is not known.
        if signs and not np.isnan(beside):
            assert np.signbit(a) == np.signbit(b)


@pytest.mark.parametrize("dtype", ["c8", *slow(["c16"])])
@pytest.mark.parametrize(
    "name",
    "exp exp2 log log10 sqrt sin cos tan sinh cosh tanh arcsin arccos arcsinh arccosh arctanh".split(),
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_complex_functions_at_the_ends(device, name, dtype):
    a = np.array(ENDS, dtype)
    if name == "tan":  # whose imaginary zeros at an infinite angle have any sign
        a = a[~(np.isinf(a.real) & np.isinf(a.imag))]
    result, expected = getattr(np, name)(gpuarray.to_gpu(a)).get(), getattr(np, name)(a)
    for x, one, other in zip(a, result, expected, strict=True):
        try:
            same_parts(one, other, signs=not np.isnan(x))
        except AssertionError:
            raise AssertionError(f"{name}({x}): {one}, but numpy has {other}") from None


def test_complex_expm1_at_the_ends(device):
    inf, nan = np.inf, np.nan
    expected = {
        complex(inf, 0.0): complex(inf, 0.0),
        complex(-inf, 0.0): complex(-1, 0.0),
        complex(nan, -0.0): complex(nan, -0.0),
        complex(-inf, inf): complex(-1, 0),
        complex(-inf, nan): complex(-1, 0),
        complex(inf, inf): complex(inf, nan),
        complex(inf, nan): complex(inf, nan),
        complex(0.5, inf): complex(nan, nan),
        complex(-0.0, -0.0): complex(-0.0, -0.0),
    }
    result = np.expm1(gpuarray.to_gpu(np.array(list(expected)))).get()
    for one, other in zip(result, expected.values(), strict=True):
        same_parts(np.complex128(one), np.complex128(other))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["fmod", "remainder", "floor_divide"])
def test_remainders_are_exact(device, name, dtype):
    info, random = np.finfo(dtype), np.random.default_rng(1)
    hard = [0, 1, 3, 1 / 3, 7.5, info.tiny, info.smallest_subnormal, info.max, info.eps]
    hard += [2.0**23, 2.0**24 - 1, 2.0**52, np.inf, np.nan]
    hard = np.array([*hard, *(-np.array(hard))], dtype)
    x, y = (each.ravel() for each in np.meshgrid(hard, hard))
    divisors = random.uniform(0.1, 10, 3000).astype(dtype)
    close = (divisors * random.integers(1, 1 << 22, 3000)).astype(
        dtype
    )  # to a multiple
    far = np.ldexp(dtype(1.37), random.integers(-60, 60, 3000)).astype(dtype)
    x = np.concatenate([x, close, np.nextafter(close, dtype(0)), far, -close])
    y = np.concatenate([y, divisors, -divisors, far[::-1] * dtype(1.1), divisors])
    function = getattr(np, name)
    with np.errstate(all="ignore"):
        expected = function(x, y)
    result = function(gpuarray.to_gpu(x), gpuarray.to_gpu(y)).get()
    np.testing.assert_array_equal(result, expected)
    finite = ~np.isnan(expected)
    np.testing.assert_array_equal(
        np.signbit(result[finite]), np.signbit(expected[finite])
    )


# Effects of dtype and casting on the operands


def refused(call, *arrays):
    """NumPy and pycuda raise TypeError."""
    for given in (arrays, map(gpuarray.to_gpu, arrays)):
        with pytest.raises(TypeError):
            call(*given)


F4, I4, C16, B = (np.array([1, 0, 3]).astype(kind) for kind in ("f4", "i4", "c16", "?"))


def test_dtype_is_the_type_of_the_result():
    both(lambda x: np.greater(x, -1.5, dtype=bool), B)  # which compared True > True
    both(lambda x: np.isnan(x, dtype=bool), F4)
    both(lambda x: np.absolute(x, dtype="f8"), C16)
    both(lambda x: np.ldexp(x, 2, dtype="f8"), F4)
    for name in ("rint", "sqrt", "isnan", "signbit", "logical_not"):
        refused(lambda x, name=name: getattr(np, name)(x, dtype="i4"), F4)
    for name in ("less", "logical_and", "equal", "divide", "arctan2"):
        refused(lambda x, name=name: getattr(np, name)(x, x, dtype="i4"), I4)
    refused(lambda x: np.square(x, dtype="?"), B)
    refused(lambda x: np.absolute(x, dtype="c16"), C16)


def test_operands_are_cast_by_the_rule():
    refused(lambda x: np.add(x, 1, dtype="i4"), F4)
    refused(lambda x: np.add(x, 1.5, dtype="i4"), I4)
    refused(lambda x: np.floor(x, dtype="i2", casting="no"), F4)
    refused(lambda x: np.sqrt(x, casting="no"), I4)
    refused(lambda x, y: np.maximum(x, y, casting="no"), I4, F4)
    refused(lambda x: np.add(x, True, casting="no"), I4)
    both(lambda x: np.add(x, 1, casting="no"), I4)
    both(lambda x: np.greater(x, -5, casting="no"), I4.astype("u1"))
    both(lambda x, y: np.logical_and(x, y, casting="no"), I4, F4)
    both(lambda x: np.add(x, 1.5, dtype="i4", casting="unsafe"), I4)


def test_mask_in_the_memory_of_the_result():
    for shape in ((5,), (4, 3)):
        mask = np.arange(np.prod(shape)).reshape(shape) % 3 > 0
        on_device = gpuarray.to_gpu(mask)
        np.logical_not(mask, out=mask[::-1], where=mask)
        np.logical_not(on_device, out=on_device[::-1], where=on_device)
        assert on_device.get().tolist() == mask.tolist()
    # More elements than one thread writes: the order of writes is not defined.
    mask = np.random.default_rng(1).integers(0, 2, 100_000).astype(bool)
    on_device = gpuarray.to_gpu(mask)
    np.logical_not(mask, out=mask[::-1], where=mask)
    np.logical_not(on_device, out=on_device[::-1], where=on_device)
    assert np.array_equal(on_device.get(), mask)


def test_negative_powers_of_integers():
    for call in (
        lambda x: np.power(x, -1),
        lambda x: x.__ipow__(-1),
        lambda x: np.power(x, np.int64(-2)),
    ):
        for array in (I4, gpuarray.to_gpu(I4)):
            with pytest.raises(ValueError, match="(?i)negative integer powers"):
                call(array)


@pytest.mark.parametrize(
    "name", "equal not_equal less less_equal greater greater_equal".split()
)
def test_int64_and_uint64_compare_exactly(name):
    """float64, the common type of the two, does not hold 2**63 - 1."""
    compare = getattr(np, name)
    signed = np.array([2**63 - 1, 2**63 - 1, -1, 0, -(2**63), 5])
    unsigned = np.array([2**63, 2**63 - 1, 2**64 - 1, 0, 2**63, 4], np.uint64)
    both(compare, signed, unsigned)
    both(compare, unsigned, signed)
    both(lambda x: compare(x, 2**63), signed)
    both(lambda x: compare(2**63, x), signed)
    both(lambda x: compare(x, np.uint64(2**63)), signed)
    both(lambda x: compare(x, np.int64(2**63 - 1)), unsigned)
    both(lambda x: compare(x, -1), unsigned)
    both(lambda x: compare(x, -1, dtype=bool, casting="unsafe"), unsigned)


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8"])
def test_divisors_of_the_least_integer(dtype):
    least = np.iinfo(dtype).min
    x = np.array([least, least, least, 0, 6, -6], dtype)
    y = np.array([7, least, least // 2, least, least, 4], dtype)
    both(np.gcd, x, y)
    both(np.lcm, x, y)


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_complex_functions_near_the_limits_of_the_type(dtype):
    """Steps between the operand and the result overflow or lose digits if they are not scaled."""

    def parts_agree(name, x, rtol, atol=0.0):
        call = getattr(np, name)
        ours, theirs = call(gpuarray.to_gpu(x)).get(), call(x)
        for part in ("real", "imag"):
            one, other = getattr(ours, part), getattr(theirs, part)
            np.testing.assert_allclose(one, other, rtol, atol, err_msg=name)

    info = np.finfo(dtype)
    large, small, ends = info.max / 2, info.tiny, np.log(info.max) + 0.5
    x = [large + 1j, 1 + large * 1j, -large - large * 1j, large / 3 - 2j, 1e12j - 1e12]
    x += [small + small * 1j, -small / 8 + small / 8 * 1j, small * 1j, 1 + small * 1j]
    for name in (
        "sqrt log log2 log10 arcsin arccos arcsinh arccosh arctan arctanh sign".split()
    ):
        parts_agree(name, np.array(x, dtype), 32 * info.eps, small / 4)
    x = np.array([ends + 1e-3j, -ends + 1e-3j, ends - 1e-6j], dtype)
    for name in "exp", "sinh", "cosh":
        parts_agree(name, x, 400 * info.eps)
    for name in "sin", "cos":
        parts_agree(name, x * 1j, 400 * info.eps)


def test_a_ufunc_that_is_not_implemented():
    def twice(x):
        return 2 * x

    with pytest.raises(TypeError, match=r"^twice .* has no version for .*get\(\)"):
        np.frompyfunc(twice, 1, 1)(gpuarray.zeros(3, np.float32))
    with pytest.raises(TypeError, match=r"^numpy.isnat\(\) has no version for .*get"):
        np.isnat(gpuarray.zeros(3, np.float32))


def test_complex_powers_of_infinity():
    x = np.array([complex(np.inf, 1e-300), complex(-3, np.inf)])
    for exponent in (1, 2, 3):
        ours = np.float_power(gpuarray.to_gpu(x), exponent).get()
        np.testing.assert_array_equal(ours, np.float_power(x, exponent))


@pytest.mark.skipif(
    platform.machine() != "x86_64",
    reason="NumPy's 1 / 0 of integers depends on the processor",
)
@pytest.mark.parametrize("dtype", "?bBhHiIlL")
def test_reciprocals_of_integers(dtype):
    x = np.array([0, 1, 2, -1, 0]).astype(dtype)
    index = np.array([0, 0, 1, 2, 4])
    with np.errstate(all="ignore"):
        both(np.reciprocal, x)
        expected, ours = x.copy(), gpuarray.to_gpu(x)
        np.reciprocal.at(expected, index)
    np.reciprocal.at(ours, gpuarray.to_gpu(index))
    agree(ours, expected)
