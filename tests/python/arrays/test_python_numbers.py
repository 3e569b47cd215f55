"""Python's ints of any size beside arrays, dtypes that no operation computes in, masks, and foreign operands: as in NumPy."""

import re

import numpy as np
import pytest

from pycuda import gpuarray

pytestmark = pytest.mark.usefixtures("device")

ARRAYS = {
    "x": np.array([1.0, 2.0, 1e20]),
    "f": np.array([1, 2, 3], np.float32),
    "c": np.array([1, 2j, 3]),
    "k": np.array([1, 2, 2**63 - 1]),
    "u": np.array([1, 2, 2**64 - 1], np.uint64),
    "b": np.array([True, False, True]),
}
TEXTS = """x * 10**20; x + 2**64; x ** 2**70; 2**100 / x; np.maximum(x, 10**20); f * 10**20; c * 10**20; c + 2**64; x - 2**200
x == 10**20; x < 10**21; k == 10**20; k != 10**20; k < 10**20; k <= 2**64; k > -10**20; 10**20 > k; u == 2**64; u < 2**64
u >= 2**64; u != 2**64; u > -2**64; k == 10**400; k < 10**400; k > -10**400; k + 10**20; k // 10**20; u * 10**20
k / 10**20; 10**20 / k; x * 10**400; x == 10**400; np.where(b, 10**20, x); np.where(b, 10**20, k); np.power(k, 10**20)
np.arctan2(k, 10**20); np.copysign(x, -10**20); np.ldexp(x, 10**20); np.bitwise_and(k, 10**20); np.isclose(x, 10**20)
np.add(k, 10**20, dtype=float); np.add(x, 10**20, dtype='f4'); np.sum(x, initial=10**20); np.clip(x, 0, 10**21)
np.float32(1) * x * 10**20; np.full_like(x, 10**20); np.full_like(k, 10**20)
np.searchsorted(x, 10**20); np.searchsorted(f, 10**30, 'right'); np.searchsorted(k, 10**20); np.searchsorted(k, -10**20)
np.searchsorted(u, [10**20, 2, -1, -10**20], 'right'); np.searchsorted(k, [[2**63, 2]])
np.searchsorted(c, 10**20); np.searchsorted(x, [10**400, 10**20, 10**20 + 1, 10**20 - 1, -10**400], 'right')
np.searchsorted(x, [[10**400, 10**20, 10**20 + 1, 10**20 - 1]]); np.isin(k, [1, 10**20]); np.isin(x, [1, 10**20, 10**400])
np.isin(u, [[2**64], [2]], invert=True); np.isin(c, 10**20); np.isin(f, 10**30); np.isin([[1, 10**20]], k)
np.isin([1, 10**20, 10**400], x, invert=True); np.interp([0, 10**20], x, [1.0, 2, 4]); np.interp(x, [0, 10**21], [1.0, 2])
np.interp(f, [0, 1], [0, 10**30]); np.take(x, 10**20); np.repeat(x, 10**20); np.take(x, [1, 10**20])
np.digitize(k, [1, 10**20]); np.digitize(x, [10**21, 1]); np.setdiff1d(k, [1, 10**30])
np.choose([0, 1, 0], [x, 10**20]); np.choose([0, 1, 0], [f, 1.5]); np.choose(b.astype(int), [f, 10**20]); np.choose([0, 1, 1], [b, 1j])
np.round(x, 1.5); np.round(f, np.nan); np.insert(x, 1.5, 2); np.insert(x, 1.0, 2); np.bincount(b, minlength=4.0)
np.unpackbits(b.astype('u1'), count=2.0); np.where(b, -1, f)"""


def outcome(text, names):
    try:
        with np.errstate(all="ignore"):
            result = eval(text, {"np": np, **names})
    except Exception as error:
        return type(error)
    return result.get() if isinstance(result, gpuarray.GPUArray) else result


@pytest.mark.parametrize(
    "text", [one.strip() for one in TEXTS.replace("\n", ";").split(";")]
)
@pytest.mark.filterwarnings("ignore")
def test_ints_beyond_64_bits_are_numbers(text):
    expected = outcome(text, ARRAYS)
    found = outcome(
        text, {name: gpuarray.to_gpu(value) for name, value in ARRAYS.items()}
    )
    if isinstance(expected, type):
        assert found is expected
    else:
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-15)


@pytest.mark.parametrize(
    "text",
    ["np.where(b, -1, u)", "np.where(b, k, 2**63)", "np.where(b, b.astype('u1'), 300)"],
)
def test_where_takes_no_int_beyond_the_type(text):
    """As with operators. NumPy before 2.5 wraps the number around."""
    arrays = {name: gpuarray.to_gpu(value) for name, value in ARRAYS.items()}
    assert outcome(text, arrays) is OverflowError


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("number", [10**20, -(10**20), 10**400])
def test_ints_beyond_64_bits_are_assigned(name, number):
    array = gpuarray.to_gpu(ARRAYS[name])
    host = ARRAYS[name].copy()

    def assign(target):
        target[1:] = number

    def error_of(target):
        try:
            assign(target)
        except OverflowError:
            return OverflowError

    if name != "b":  # NumPy takes any number as true in an assignment; 10**400 as well
        assert error_of(array) is error_of(host)
        np.testing.assert_array_equal(array.get(), host)


# dtypes

OPAQUE = ["S4", "V8", [("a", "f4"), ("b", "i2")]]
COMPUTED = {
    "cumsum": lambda x, t: np.cumsum(x, dtype=t),
    "cumprod": lambda x, t: np.cumprod(x, dtype=t),
    "nancumsum": lambda x, t: np.nancumsum(x, dtype=t),
    "accumulate": lambda x, t: np.add.accumulate(x, dtype=t),
    "reduce": lambda x, t: np.add.reduce(x, dtype=t),
    "sum": lambda x, t: x.sum(dtype=t),
    "mean": lambda x, t: x.mean(dtype=t),
    "var": lambda x, t: x.var(dtype=t),
    "prod": lambda x, t: np.prod(x, dtype=t),
    "matmul": lambda x, t: np.matmul(x, x, dtype=t),
    "trace": lambda x, t: np.trace(x.reshape(2, 2), dtype=t),
    "add": lambda x, t: np.add(x, x, dtype=t, casting="unsafe"),
    "sqrt": lambda x, t: np.sqrt(x, dtype=t, casting="unsafe"),
    "astype": lambda x, t: x.astype(t),
    "nansum": lambda x, t: np.nansum(x, dtype=t),
    "std": lambda x, t: np.std(x, dtype=t),
    "arange": lambda x, t: gpuarray.arange(3, dtype=t),
    "linspace": lambda x, t: gpuarray.linspace(0, 1, 3, dtype=t),
}


@pytest.mark.parametrize("dtype", OPAQUE, ids=str)
@pytest.mark.parametrize("name", COMPUTED)
def test_no_operation_computes_in_structs_and_bytes(name, dtype):
    x = gpuarray.zeros(4, np.float32)
    with pytest.raises(TypeError):
        COMPUTED[name](x, dtype)


# Masks


@pytest.mark.parametrize("where", [np.array([1, 0, 1]), np.array([1.0, 0, 1])])
@pytest.mark.parametrize("call", ["sum", "add", "mean", "max"])
def test_a_mask_is_an_array_of_bool(where, call):
    x = gpuarray.zeros(3)
    for mask in (where, gpuarray.to_gpu(where)):
        with pytest.raises(TypeError, match="where must be an array of bool"):
            if call == "add":
                np.add(x, x, out=x, where=mask)
            else:
                getattr(np, call)(
                    x, where=mask, **({"initial": 0} if call == "max" else {})
                )


def test_lists_are_masks():
    x = gpuarray.ones(3)
    assert np.sum(x, where=[1, 0, 1]).get() == 2
    np.testing.assert_array_equal(np.add(x, x, out=x, where=[1, 0, 1]).get(), [2, 1, 2])


# Foreign operands


class Other:
    __array_priority__ = 1000

    def __array_function__(self, function, types, args, kwargs):
        return "other"

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return "other"


@pytest.mark.parametrize(
    "call",
    [
        lambda x, o: np.concatenate([x, o]),
        lambda x, o: np.stack([x, o]),
        lambda x, o: np.where(x, x, o),
        lambda x, o: np.einsum_path("i,i", x, o),
        lambda x, o: np.linalg.solve(x, o),
        lambda x, o: np.add(x, o),
        lambda x, o: np.matmul(x, o),
        lambda x, o: np.add(x, x, out=o),
        lambda x, o: np.add.outer(x, o),
        lambda x, o: np.add.at(x, [0], o),
    ],
)
def test_an_operand_with_a_protocol_has_its_turn(call):
    x = gpuarray.zeros(3)
    assert call(x, Other()) == "other"


def test_subclasses_and_host_arrays_are_ours():
    class Own(gpuarray.GPUArray):
        pass

    own = Own((3,), np.float64).fill(1)
    assert type(np.add(gpuarray.zeros(3), own)) is gpuarray.GPUArray
    assert np.concatenate([gpuarray.zeros(1), own]).shape == (4,)


@pytest.mark.parametrize(
    ("values", "name"),
    [
        (np.array([1, 2], "m8[s]"), "timedelta64[s]"),
        (np.array([1, 2], "M8[D]"), "datetime64[D]"),
        (np.array([b"ab", b"c"]), "|S2"),
        (np.zeros(2, [("a", "i4"), ("b", "f4")]), "[('a', '<i4'), ('b', '<f4')]"),
    ],
)
@pytest.mark.parametrize(
    "call",
    [
        lambda x: x + x,
        lambda x: x.sum(),
        lambda x: gpuarray.sort(x),
        lambda x: x.cumsum(),
        lambda x: x.any(),
        lambda x: x @ x,
        lambda x: gpuarray.searchsorted(x, x),
        lambda x: x[::-1].astype("i8"),
        lambda x: gpuarray.median(x._reshape(1, 2)),
    ],
)
def test_an_error_names_the_type_of_the_program(values, name, call):
    with pytest.raises(TypeError, match=re.escape(name)):
        call(gpuarray.to_gpu(values))
