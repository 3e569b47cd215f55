"""The array API standard: signatures and results compared with those of array_api_strict.

array_api_strict raises errors for what the standard does not define, so its results are what the
standard requires. docs/array_api.md has the result of this comparison.
"""

import inspect

import numpy as np
import pytest
from marks import slow

from pycuda import array_api as xp
from pycuda import gpuarray

strict = pytest.importorskip("array_api_strict")

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

VERSION = "2024.12"
# Extra names of array_api_strict, and names of a later version of the standard.
NOT_STANDARD = {
    "ArrayAPIStrictFlags", "Device", "__version__", "broadcast_shapes", "isin",
    "get_array_api_strict_flags", "reset_array_api_strict_flags", "set_array_api_strict_flags",
}  # fmt: skip
BOOL = ["bool"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
REAL = ["float32", "float64"]
COMPLEX = ["complex64", "complex128"]
NUMERIC = INTEGERS + REAL + COMPLEX


@pytest.fixture(autouse=True)
def version():
    with strict.ArrayAPIStrictFlags(api_version=VERSION):
        yield


def names():
    return sorted(set(strict.__all__) - NOT_STANDARD)


EXTENSIONS = {
    "linalg": sorted(strict.linalg.__all__),
    "fft": sorted(strict.fft.__all__),
}
ALL_NAMES = names() + [
    f"{e}.{name}" for e, found in EXTENSIONS.items() for name in found
]


def lookup(namespace, name):
    for part in name.split("."):
        namespace = getattr(namespace, part)
    return namespace


def test_missing_names():
    assert not {name for name in names() if not hasattr(xp, name)}
    for extension, found in EXTENSIONS.items():
        assert set(found) <= set(getattr(xp, extension).__all__)
    assert xp.__array_api_version__ == VERSION


@pytest.mark.parametrize("name", ALL_NAMES)
def test_signature(name):
    """Every call that the standard allows is possible."""
    theirs, ours = lookup(strict, name), lookup(xp, name)
    if not inspect.isfunction(theirs):
        assert callable(theirs) == callable(ours)
        return
    mine = inspect.signature(ours).parameters.values()
    wanted = inspect.signature(theirs).parameters.values()
    if name in xp.ELEMENTWISE:
        count = sum(one.kind is one.POSITIONAL_ONLY for one in wanted)
        assert ours.nin == count == len(wanted)
        return
    by_place = [
        one
        for one in mine
        if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
    ]
    mine = {one.name: one for one in mine}
    for place, one in enumerate(wanted):
        if one.kind is one.POSITIONAL_ONLY:
            own = by_place[place]
        else:
            own = mine[one.name]
        if one.kind is one.POSITIONAL_OR_KEYWORD:
            assert by_place[place].name == one.name
        if one.kind is one.VAR_POSITIONAL:
            assert own.kind is own.VAR_POSITIONAL
        if one.kind is one.KEYWORD_ONLY:
            assert own.kind in (own.KEYWORD_ONLY, own.POSITIONAL_OR_KEYWORD)
        if one.default is not one.empty:
            assert own.default is not own.empty


def test_constants_and_types():
    for name in ("e", "pi", "inf", "newaxis"):
        assert getattr(xp, name) == getattr(strict, name)
    assert xp.nan != xp.nan
    for name in BOOL + NUMERIC:
        assert getattr(xp, name) == np.dtype(name)


# Results

HOST = {
    "bool": [[True, False, True], [False, False, True]],
    "unsigned": [[3, 0, 7], [1, 1, 200]],
    "signed": [[3, 0, -7], [-1, 1, 100]],
    "float": [[0.5, -0.0, 1.0], [-1.0, 0.25, 3.75]],
    "complex": [[0.5 + 1j, -0.0, 1.0], [-1j, 0.25 - 2j, 3.75]],
}


def host(dtype, transpose=False):
    kind = np.dtype(dtype).kind
    key = {"b": "bool", "u": "unsigned", "i": "signed", "f": "float", "c": "complex"}
    array = np.asarray(HOST[key[kind]], dtype)
    return array[::-1, ::-1] if transpose else array


def to_host(result):
    """Converts arrays of both libraries to numpy's; returns other objects unchanged."""
    if isinstance(result, gpuarray.GPUArray):
        return result.get()
    if isinstance(result, (list, tuple)):
        return [to_host(one) for one in result]
    return np.asarray(result._array) if hasattr(result, "_array") else result


def agree(ours, theirs):
    ours, theirs = to_host(ours), to_host(theirs)
    if isinstance(theirs, list):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            agree(one, other)
        return
    if not isinstance(theirs, np.ndarray):
        assert ours == theirs
        return
    assert isinstance(ours, np.ndarray)
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    rough = ours.dtype in (np.float32, np.complex64)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5 if rough else 1e-12, atol=1e-6)


def both(call, *arrays):
    """The same call in both namespaces; where array_api_strict raises, ours may do anything."""
    theirs = call(strict, *(strict.asarray(array) for array in arrays))
    ours = call(xp, *(gpuarray.to_gpu(array) for array in arrays))
    agree(ours, theirs)


SOME = ["bool", "int8", "int64", "float32", "complex64"]
OTHER = [dtype for dtype in BOOL + NUMERIC if dtype not in SOME[1:]]


@pytest.mark.parametrize("types", [SOME, *slow([OTHER])])
@pytest.mark.parametrize("name", xp.ELEMENTWISE)
def test_elementwise(name, types):
    done = 0
    count = len(inspect.signature(getattr(strict, name)).parameters)
    for dtype in types:
        a, b = host(dtype), host(dtype, transpose=True)
        if name == "pow" and a.dtype.kind == "i":
            b = abs(b % 5)
        if name == "pow" and a.dtype.kind == "c":
            a, b = a + 1, b + 1  # numpy has two results for 0 ** 0.5j
        if "shift" in name:
            b = b % 7 if dtype in INTEGERS else abs(b)
        arrays = (a, b)[:count]
        try:
            theirs = getattr(strict, name)(*map(strict.asarray, arrays))
        except TypeError:
            continue  # not defined for these
        done += 1
        agree(getattr(xp, name)(*map(gpuarray.to_gpu, arrays)), theirs)
        if count == 2:
            number = {"b": True, "u": 2, "i": 2, "f": 0.5, "c": 0.5j}[a.dtype.kind]
            both(lambda p, x, f=name, n=number: getattr(p, f)(x, n), a)
            both(lambda p, x, f=name, n=number: getattr(p, f)(n, x), b)
    assert done


OPERATORS = {
    "bool": ["a & b", "a | b", "a ^ b", "~a", "a == b", "a != b"],
    "int": [
        "a + b", "a - b", "a * b", "a // (abs(b) + 1)", "a % (abs(b) + 1)", "a ** abs(b % 3)",
        "-a", "+a", "abs(a)", "a & b", "a | b", "a ^ b", "~a", "a << abs(b % 5)",
        "a >> abs(b % 5)", "a < b", "a <= b", "a > b", "a >= b", "a == b", "3 - a", "2 * a",
    ],
    "float": [
        "a + b", "a - b", "a * b", "a / b", "a // b", "a % b", "abs(a) ** b", "-a", "abs(a)",
        "a < b", "a >= b", "2.5 - a", "1 / a", "2 ** a",
    ],
    "complex": ["a + b", "a - b", "a * b", "a / (b + 1)", "-a", "abs(a)", "a == b", "1j * a"],
}  # fmt: skip


@pytest.mark.parametrize("dtype", BOOL + NUMERIC)
def test_operators(dtype):
    a, b = host(dtype), host(dtype, transpose=True)
    kind = {"b": "bool", "u": "int", "i": "int", "f": "float", "c": "complex"}
    for expression in OPERATORS[kind[a.dtype.kind]]:
        if a.dtype.kind == "u" and expression in ("-a", "3 - a"):
            continue
        both(lambda p, a, b, e=expression: eval(e, {"a": a, "b": b, "abs": abs}), a, b)


FUNCTIONS = [
    lambda p, x: p.astype(x, p.complex128),
    lambda p, x: p.asarray(x, copy=True),
    lambda p, x: p.broadcast_arrays(x, x[:1, :]),
    lambda p, x: p.broadcast_to(x, (4, 2, 3)),
    lambda p, x: p.can_cast(x, p.float64),
    lambda p, x: p.concat([x, x], axis=1),
    lambda p, x: p.concat([x, x], axis=None),
    lambda p, x: p.stack([x, x], axis=-1),
    lambda p, x: p.expand_dims(x, axis=1),
    lambda p, x: p.squeeze(x[:1, :], 0),
    lambda p, x: p.flip(x),
    lambda p, x: p.flip(x, axis=1),
    lambda p, x: p.moveaxis(x, 0, 1),
    lambda p, x: p.permute_dims(x, (1, 0)),
    lambda p, x: p.matrix_transpose(x),
    lambda p, x: x.mT,
    lambda p, x: x.T,
    lambda p, x: p.repeat(x, 2, axis=1),
    lambda p, x: p.repeat(x, p.asarray([1, 0, 2]), axis=1),
    lambda p, x: p.reshape(x, (3, 2)),
    lambda p, x: p.roll(x, 1),
    lambda p, x: p.roll(x, (1, 2), axis=(0, 1)),
    lambda p, x: p.tile(x, (2, 1, 2)),
    lambda p, x: p.unstack(x, axis=1),
    lambda p, x: p.take(x, p.asarray([0, 2]), axis=1),
    lambda p, x: p.take_along_axis(x, p.asarray([[0], [1]]), axis=1),
    lambda p, x: p.nonzero(x),
    lambda p, x: p.count_nonzero(x),
    lambda p, x: p.count_nonzero(x, axis=1, keepdims=True),
    lambda p, x: p.where(x == x[:1, :], x, x[:, :1]),
    lambda p, x: p.all(x, axis=1),
    lambda p, x: p.any(x),
    lambda p, x: p.tril(x),
    lambda p, x: p.triu(x, k=1),
    lambda p, x: p.zeros_like(x),
    lambda p, x: p.ones_like(x, dtype=p.int8),
    lambda p, x: p.full_like(x, 1),
    lambda p, x: p.empty_like(x) is None,
    lambda p, x: p.meshgrid(x[0, :], x[1, :]),
    lambda p, x: p.meshgrid(x[0, :], x[1, :], indexing="ij"),
    lambda p, x: p.result_type(x, x, x.dtype) == x.dtype,
    lambda p, x: x[p.asarray([[True, False, True], [True, True, False]])],
    lambda p, x: x[1, ::-1],
    lambda p, x: x[..., None],
]
NUMERIC_FUNCTIONS = [
    lambda p, x: p.sum(x),
    lambda p, x: p.sum(x, axis=0, keepdims=True),
    lambda p, x: p.sum(x, dtype=p.complex128),
    lambda p, x: p.prod(x, axis=1),
    lambda p, x: p.matmul(x, x.mT),
    lambda p, x: x @ x[0, :],
    lambda p, x: p.tensordot(x, x, axes=2),
    lambda p, x: p.tensordot(x, x, axes=((1,), (1,))),
    lambda p, x: p.vecdot(x, x),
    lambda p, x: p.vecdot(x, x, axis=-2),
    lambda p, x: p.diff(x),
    lambda p, x: p.diff(x, axis=0, prepend=x[:1, :], append=x[:1, :]),
    lambda p, x: p.cumulative_sum(x, axis=1),
    lambda p, x: p.cumulative_sum(x, axis=0, include_initial=True),
    lambda p, x: p.cumulative_prod(x, axis=1),
    lambda p, x: p.round(x),
    lambda p, x: p.where(x == 1, x, 1),
]
REAL_FUNCTIONS = [
    lambda p, x: p.max(x),
    lambda p, x: p.max(x, axis=1, keepdims=True),
    lambda p, x: p.min(x, axis=0),
    lambda p, x: p.argmax(x),
    lambda p, x: p.argmin(x, axis=1, keepdims=True),
    lambda p, x: p.sort(x, axis=1),
    lambda p, x: p.sort(x, axis=0, descending=True),
    lambda p, x: p.argsort(x),
    lambda p, x: p.argsort(x, axis=0, descending=True),
    lambda p, x: p.searchsorted(p.sort(x[0, :]), x),
    lambda p, x: p.searchsorted(p.sort(x[0, :]), x, side="right"),
    lambda p, x: p.unique_values(x),
    lambda p, x: p.unique_counts(x),
    lambda p, x: p.unique_inverse(x),
    lambda p, x: p.clip(x, 1, 3),
    lambda p, x: p.clip(x, max=2),
    lambda p, x: p.clip(x, x[:1, :], None),
]
FLOAT_FUNCTIONS = [
    lambda p, x: p.mean(x, axis=1),
    lambda p, x: p.var(x, correction=1.0),
    lambda p, x: p.std(x, axis=0, keepdims=True),
]


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int64", "float32", "complex64", *slow(["uint8", "int32", "float64", "complex128"])],
)  # fmt: skip
def test_functions(dtype):
    kind = np.dtype(dtype).kind
    calls = FUNCTIONS + (NUMERIC_FUNCTIONS if kind != "b" else [])
    calls += REAL_FUNCTIONS if kind in "iuf" else []
    calls += FLOAT_FUNCTIONS if kind == "f" else []
    calls += [lambda p, x: p.real(x), lambda p, x: p.imag(x)] if kind == "c" else []
    for call in calls:
        both(call, host(dtype))


# The extensions: stacks of matrices that are far from singular. The signs of factors are not
# defined, so their products are compared.


def matrices(dtype):
    x = np.arange(2 * 3 * 3).reshape(2, 3, 3) % 7 + 4.0 * np.eye(3)
    x = x + 1j * (np.arange(9).reshape(3, 3) % 4) if np.dtype(dtype).kind == "c" else x
    return x.astype(dtype)


LINALG = [
    lambda p, x: p.linalg.cross(x, x[:1, :, ::-1]),
    lambda p, x: p.linalg.cross(x, x + x, axis=-2),
    lambda p, x: p.linalg.det(x),
    lambda p, x: p.linalg.diagonal(x),
    lambda p, x: p.linalg.diagonal(x, offset=1),
    lambda p, x: p.linalg.inv(x),
    lambda p, x: p.linalg.matmul(x, x),
    lambda p, x: p.linalg.matrix_norm(x),
    lambda p, x: p.linalg.matrix_norm(x, ord="nuc", keepdims=True),
    lambda p, x: p.linalg.matrix_norm(x, ord=-1),
    lambda p, x: p.linalg.matrix_power(x, 3),
    lambda p, x: p.linalg.matrix_power(x, -1),
    lambda p, x: p.linalg.matrix_rank(x),
    lambda p, x: p.linalg.matrix_rank(x, rtol=0.9),
    lambda p, x: p.linalg.matrix_transpose(x),
    lambda p, x: p.linalg.outer(x[0, 0, :], x[1, 1, :]),
    lambda p, x: p.linalg.pinv(x),
    lambda p, x: p.linalg.pinv(x[:, :2, :], rtol=1e-4),
    lambda p, x: p.linalg.slogdet(x),
    lambda p, x: p.linalg.solve(x, x[0, :, :1]),
    lambda p, x: p.linalg.solve(x, x[0, 0, :]),
    lambda p, x: p.linalg.svdvals(x),
    lambda p, x: p.linalg.tensordot(x, x, axes=((0, 1), (0, 2))),
    lambda p, x: p.linalg.trace(x),
    lambda p, x: p.linalg.trace(x, offset=-1, dtype=p.complex128),
    lambda p, x: p.linalg.vecdot(x, x, axis=-2),
    lambda p, x: p.linalg.vector_norm(x),
    lambda p, x: p.linalg.vector_norm(x, axis=(0, 2), ord=1, keepdims=True),
    lambda p, x: p.linalg.vector_norm(x, axis=1, ord=-2.5),
]


def adjoint(p, x):
    return (
        p.conj(p.matrix_transpose(x))
        if x.dtype in (p.complex64, p.complex128)
        else x.mT
    )


def rebuilt_svd(p, x, **given):
    u, s, vh = p.linalg.svd(x, **given)
    n = s.shape[-1]
    s = p.astype(s, x.dtype)
    return [
        u @ adjoint(p, u),
        vh @ adjoint(p, vh),
        (u[..., :n] * s[:, None, :]) @ vh[:, :n, :],
    ]


def rebuilt_qr(p, x, **given):
    q, r = p.linalg.qr(x, **given)
    return [adjoint(p, q) @ q, q @ r, p.tril(r, k=-1)]


def rebuilt_eigh(p, x):
    x = x + adjoint(p, x)
    values, vectors = p.linalg.eigh(x)
    return [
        values,
        (vectors * p.astype(values, x.dtype)[:, None, :]) @ adjoint(p, vectors),
    ]


FACTORS = [
    lambda p, x: rebuilt_svd(p, x),
    lambda p, x: rebuilt_svd(p, x[:, :2, :], full_matrices=False),
    lambda p, x: rebuilt_svd(p, x[:, :2, :]),
    lambda p, x: rebuilt_qr(p, x),
    lambda p, x: rebuilt_qr(p, x[:, :, :2], mode="complete"),
    lambda p, x: rebuilt_eigh(p, x),
    lambda p, x: p.linalg.eigvalsh(x + adjoint(p, x)),
    lambda p, x: p.linalg.cholesky(x @ adjoint(p, x)),
    lambda p, x: p.linalg.cholesky(x @ adjoint(p, x), upper=True),
]


@pytest.mark.parametrize(
    "dtype", ["float32", "complex128", *slow(["float64", "complex64"])]
)
def test_linalg(dtype):
    for call in LINALG + FACTORS:
        both(call, matrices(dtype))


def test_linalg_names_its_results():
    x = gpuarray.to_gpu(matrices("float32"))
    fields = {
        "eigh": ("eigenvalues", "eigenvectors"),
        "qr": ("Q", "R"),
        "slogdet": ("sign", "logabsdet"),
        "svd": ("U", "S", "Vh"),
    }
    for name, wanted in fields.items():
        assert getattr(xp.linalg, name)(x)._fields == wanted


def test_linalg_refusals():
    x = gpuarray.to_gpu(matrices("float64"))
    with pytest.raises(ValueError, match="vectors"):
        xp.linalg.outer(x, x)
    with pytest.raises(ValueError, match="two axes"):
        xp.linalg.diagonal(x[0, 0])
    with pytest.raises(ValueError, match="3 elements"):
        xp.linalg.cross(x[:, :, :2], x[:, :, :2])
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        xp.linalg.inv(xp.zeros((2, 2)))


REAL_TRANSFORMS = [
    lambda p, x: p.fft.rfft(x, n=4),
    lambda p, x: p.fft.rfftn(x, axes=(0, 1), norm="ortho"),
    lambda p, x: p.fft.ihfft(x, axis=0),
    lambda p, x: p.fft.fftshift(x),
    lambda p, x: p.fft.ifftshift(x, axes=(1,)),
]
COMPLEX_TRANSFORMS = [
    lambda p, x: p.fft.fft(x),
    lambda p, x: p.fft.fft(x, n=5, axis=0, norm="forward"),
    lambda p, x: p.fft.ifft(x, norm="ortho"),
    lambda p, x: p.fft.fftn(x, s=(2, 5), axes=(0, 1)),
    lambda p, x: p.fft.ifftn(x),
    lambda p, x: p.fft.irfft(x, n=6),
    lambda p, x: p.fft.irfftn(x, axes=(0, 1)),
    lambda p, x: p.fft.hfft(x, n=7),
    lambda p, x: p.fft.fftshift(x, axes=0),
]


@pytest.mark.parametrize("dtype", REAL + COMPLEX)
def test_fft(dtype):
    real = np.dtype(dtype).kind == "f"
    for call in REAL_TRANSFORMS if real else COMPLEX_TRANSFORMS:
        both(call, host(dtype))
    if real:
        for n in (5, 6):
            both(lambda p, n=n: p.fft.fftfreq(n, d=0.5, dtype=getattr(p, dtype)))
            both(lambda p, n=n: p.fft.rfftfreq(n, d=2, dtype=getattr(p, dtype)))


CREATION = [
    lambda p: p.arange(5),
    lambda p: p.arange(1, 9, 2),
    lambda p: p.arange(0.5, 3.0),
    lambda p: p.arange(5, dtype=p.float32),
    lambda p: p.arange(5, 0, -2),
    lambda p: p.arange(0),
    lambda p: p.asarray(3),
    lambda p: p.asarray(3.5),
    lambda p: p.asarray(True),
    lambda p: p.asarray(1j),
    lambda p: p.asarray([[1, 2], [3, 4]], dtype=p.uint8),
    lambda p: p.asarray([0, 2**64 - 2, 2**53 + 1], dtype=p.uint64),
    lambda p: p.zeros((2, 3)),
    lambda p: p.zeros(3, dtype=p.int16),
    lambda p: p.ones((), dtype=p.bool),
    lambda p: p.full((2, 2), 7),
    lambda p: p.full(3, 2.5),
    lambda p: p.full(3, True),
    lambda p: p.full((2,), 1, dtype=p.complex64),
    lambda p: p.empty((2, 0, 3)),
    lambda p: p.eye(3),
    lambda p: p.eye(2, 4, k=1, dtype=p.int32),
    lambda p: p.linspace(0, 1, 5),
    lambda p: p.linspace(0.0, 2.0, 4, endpoint=False, dtype=p.float32),
    lambda p: p.linspace(1, 2, 1),
    lambda p: p.linspace(1, 2, 0),
    lambda p: p.sum(p.zeros((0, 3)), axis=0),
    lambda p: p.all(p.zeros((0,))),
    lambda p: p.can_cast(p.int32, p.float64),
    lambda p: p.can_cast(p.int64, p.int8),
    lambda p: p.result_type(p.int8, p.uint8) == p.int16,
    lambda p: p.result_type(p.float32, 1.0) == p.float32,
    lambda p: p.isdtype(p.int8, "integral"),
    lambda p: p.isdtype(p.float32, ("complex floating", p.float32)),
    lambda p: float(p.finfo(p.float32).max),
    lambda p: p.finfo(p.float64).bits,
    lambda p: p.iinfo(p.int16).min,
    lambda p: p.broadcast_to(p.asarray(3), (2,)),
]


@pytest.mark.parametrize("number", range(len(CREATION)))
def test_creation(number):
    both(CREATION[number])


def test_info():
    info, theirs = xp.__array_namespace_info__(), strict.__array_namespace_info__()
    assert info.default_dtypes().keys() == theirs.default_dtypes().keys()
    assert info.capabilities()["boolean indexing"]
    for kind in (None, "bool", "integral", "numeric", ("real floating", "bool")):
        assert info.dtypes(kind=kind).keys() == theirs.dtypes(kind=kind).keys()
    assert info.devices() == [info.default_device()] == ["cuda:0"]


@pytest.mark.parametrize("dtype", REAL + COMPLEX)
def test_limits_are_python_numbers(dtype):
    for given in (getattr(xp, dtype), xp.ones(2, dtype=getattr(xp, dtype))):
        limits, expected = xp.finfo(given), np.finfo(dtype)
        for name in ("eps", "max", "min", "smallest_normal"):
            assert type(getattr(limits, name)) is float
            assert getattr(limits, name) == getattr(expected, name)
        assert limits.dtype == expected.dtype
    assert type(xp.iinfo(xp.uint8).max) is int and xp.iinfo(xp.uint8).dtype == xp.uint8


def test_reflected_product():
    x = gpuarray.to_gpu(host("float32"))
    agree(x.__rmatmul__(x.mT), x.mT @ x)
    assert x.__rmatmul__([1.0]) is NotImplemented


def test_attributes():
    x = gpuarray.to_gpu(host("float32"))
    assert x.__array_namespace__() is xp
    assert x.__array_namespace__(api_version="2023.12") is xp
    with pytest.raises(ValueError, match="1999.01"):
        x.__array_namespace__(api_version="1999.01")
    assert x.device == "cuda:0"
    assert x.to_device("cuda:0") is x
    np.testing.assert_array_equal(x.to_device("cpu"), host("float32"))
    with pytest.raises(ValueError, match="tpu"):
        x.to_device("tpu")
    assert xp.zeros(2, device="cuda:0").shape == (2,)
    with pytest.raises(ValueError, match="cuda:7"):
        xp.zeros(2, device="cuda:7")
    for name in ("dtype", "ndim", "shape", "size", "T", "mT"):
        assert hasattr(x, name)


def test_refusals():
    x = gpuarray.to_gpu(host("complex64"))
    with pytest.raises(TypeError, match="real"):
        xp.astype(x, xp.float32)
    with pytest.raises(ValueError, match="axis"):
        xp.take(x, xp.asarray([0]))
    with pytest.raises(ValueError, match="two axes"):
        xp.tril(x[0])
    with pytest.raises(ValueError, match="copy"):
        xp.asarray([1], copy=False)
    with pytest.raises(ValueError, match="at least one array"):
        xp.result_type(1, 2.0)
