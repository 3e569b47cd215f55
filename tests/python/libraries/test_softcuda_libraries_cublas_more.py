"""softcuda's cuBLAS: level 1 with element types as arguments, and cublasXt on the host's matrices."""

import ctypes

import numpy as np
import pytest
from library_calls import LETTERS, Handle, load, random

from pycuda import gpuarray

HALF, BFLOAT = 2, 14
TYPES = {
    HALF: np.float16,
    0: np.float32,
    1: np.float64,
    4: np.complex64,
    5: np.complex128,
}
OPERATIONS = {0: lambda a: a, 1: lambda a: a.T, 2: lambda a: a.conj().T}
LOWER, UPPER = 0, 1


@pytest.fixture(params=["12", "13"])
def blas(device, request):
    library = load(f"libcublas.so.{request.param}")
    handle = Handle(library, "cublas", "cublasCreate_v2", "cublasDestroy_v2")
    yield handle
    handle.close()


@pytest.fixture
def tiled(device):
    library = load("libcublas.so.13")
    handle = Handle(library, "cublasXt", "cublasXtCreate", "cublasXtDestroy")
    yield handle
    handle.close()


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def close(got, wanted):
    eps = np.finfo(got.dtype).eps
    np.testing.assert_allclose(got, wanted, rtol=40 * eps, atol=40 * eps)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("form", ["", "_64"])
@pytest.mark.parametrize("step", [1, 2])
def test_vectors_of_any_type(blas, rng, kind, form, step):
    dtype, n = TYPES[kind], 17
    x, y = random(rng, n * step, dtype), random(rng, n * step, dtype)
    gx, gy, between = gpuarray.to_gpu(x), gpuarray.to_gpu(y), x[1::2]
    x, y = (a[::step].astype(np.complex128) for a in (x, y))
    x, y = (x, y) if dtype().dtype.kind == "c" else (x.real, y.real)
    real, more = np.zeros(1, dtype).real.copy(), (kind,)
    real_kind = {4: 0, 5: 1}.get(kind, kind)
    result = np.zeros(1, dtype)
    for name, wanted in [("DotEx", x @ y), ("DotcEx", x.conj() @ y)]:
        getattr(blas, name + form)(
            n, gx, kind, step, gy, kind, step, result, kind, *more
        )
        np.testing.assert_allclose(
            result[0], wanted, rtol=2e-2 if kind == HALF else 1e-5
        )
    sizes = abs(x.real) + abs(x.imag)
    for name, wanted in [("Nrm2Ex", np.linalg.norm(x)), ("AsumEx", sizes.sum())]:
        getattr(blas, name + form)(n, gx, kind, step, real, real_kind, real_kind)
        close(real, np.array([wanted]))
    place = np.zeros(1, np.int64 if form else np.int32)
    getattr(blas, "IamaxEx" + form)(n, gx, kind, step, place)
    assert place[0] == sizes.argmax() + 1
    getattr(blas, "IaminEx" + form)(n, gx, kind, step, place)
    assert place[0] == sizes.argmin() + 1
    alpha = np.array([1.5], dtype)
    getattr(blas, "AxpyEx" + form)(
        n, alpha, kind, gx, kind, step, gy, kind, step, *more
    )
    close(gy.get()[::step], 1.5 * x + y)
    getattr(blas, "CopyEx" + form)(n, gx, kind, step, gy, kind, step)
    getattr(blas, "ScalEx" + form)(n, alpha, kind, gx, kind, step, *more)
    close(gx.get()[::step], 1.5 * x)
    getattr(blas, "SwapEx" + form)(n, gx, kind, step, gy, kind, step)
    close(gy.get()[::step], 1.5 * x)
    close(gx.get()[::step], x)
    c, s = np.array([0.6]).astype(real.dtype), np.array([0.8], dtype)
    getattr(blas, "RotEx" + form)(n, gx, kind, step, gy, kind, step, c, s, kind, *more)
    close(gx.get()[::step], (0.6 + 0.8 * 1.5) * x)
    if step == 2:
        assert (gx.get()[1::2] == between).all()


def test_mixed_types_scalars_on_the_device_and_errors(blas, rng, capfd):
    x = rng.standard_normal(50).astype(np.float16)
    gx, result = gpuarray.to_gpu(x), gpuarray.zeros(1, np.float32)
    blas.SetPointerMode_v2(1)
    blas.DotEx(50, gx, HALF, 1, gx, HALF, -1, result, 0, 0)
    wide = x.astype(np.float64)
    assert abs(result.get()[0] - wide @ wide[::-1]) < 1e-3
    y = gpuarray.to_gpu(x.astype(np.float32))
    blas.AxpyEx(50, gpuarray.to_gpu(np.array([2.0])), 1, gx, HALF, 1, y, 0, 1, 0)
    np.testing.assert_allclose(y.get(), 3 * wide, rtol=1e-6)
    blas.SetPointerMode_v2(0)
    host = np.zeros(1, np.float32)
    assert blas.status("DotEx", 50, gx, 77, 1, gx, HALF, 1, host, 0, 0) == 15
    assert blas.status("DotEx", 50, gx, HALF, 1, gx, HALF, 1, None, 0, 0) == 7
    assert blas.status("CopyEx", 50, gx, HALF, 1, y, 0, 1) == 7
    assert blas.status("Nrm2Ex", 5000, gx, HALF, 1, host, 0, 0) == 13
    blas.DotEx(0, None, HALF, 1, None, HALF, 1, host, 0, 0)
    assert host[0] == 0
    blas.Nrm2Ex(
        2, gpuarray.to_gpu(np.full(2, 1e-40, np.float64) * 1e-200), 1, 1, host, 0, 1
    )
    assert host[0] == 0  # below the smallest float


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("op_a", [0, 1, 2])
def test_products_of_matrices_in_the_hosts_memory(tiled, rng, letter, op_a):
    dtype, m, n, k = LETTERS[letter], 7, 5, 6
    alpha, beta = np.array([1.5], dtype), np.array([0.5], dtype)
    a = np.asfortranarray(random(rng, (m, k) if op_a == 0 else (k, m), dtype))
    b, c = (np.asfortranarray(random(rng, shape, dtype)) for shape in ((k, n), (m, n)))
    wanted = 1.5 * OPERATIONS[op_a](a) @ b + 0.5 * c
    rest = (m, n, k, alpha, a, len(a), b, k, beta, c, m)
    getattr(tiled, f"{letter}gemm")(op_a, 0, *rest)
    close(c, wanted)
    with_c = [*rest[:-1], m - 1]
    assert tiled.status(f"{letter}gemm", op_a, 0, *with_c) == 7
    assert tiled.status(f"{letter}gemm", op_a, 0, m, n, k, None, *rest[4:]) == 7
    assert tiled.status(f"{letter}gemm", op_a, 3, *rest) == 7


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("mode", [LOWER, UPPER])
def test_symmetric_and_triangular_matrices_in_the_hosts_memory(
    tiled, rng, letter, mode
):
    dtype, n = LETTERS[letter], 6
    part = np.tril if mode == LOWER else np.triu
    one, zero = np.array([1], dtype), np.array([0], dtype)
    a, b, c = (np.asfortranarray(random(rng, (n, n), dtype)) for _ in range(3))
    a += (4 * np.eye(n)).astype(dtype)
    getattr(tiled, f"{letter}syrk")(mode, 0, n, n, one, a, n, zero, c, n)
    close(part(c), part(a @ a.T))
    getattr(tiled, f"{letter}syr2k")(mode, 0, n, n, one, a, n, b, n, zero, c, n)
    close(part(c), part(a @ b.T + b @ a.T))
    s = np.asfortranarray(a + a.T)
    getattr(tiled, f"{letter}symm")(0, mode, n, n, one, s, n, b, n, zero, c, n)
    close(c, s @ b)
    getattr(tiled, f"{letter}trmm")(0, mode, 0, 0, n, n, one, a, n, b, n, c, n)
    close(c, part(a) @ b)
    getattr(tiled, f"{letter}trsm")(0, mode, 0, 0, n, n, one, a, n, c, n)
    np.testing.assert_allclose(c, b, atol=1e-3)
    if letter in "CZ":
        real_one, real_zero = one.real.copy(), zero.real.copy()
        getattr(tiled, f"{letter}herk")(mode, 0, n, n, real_one, a, n, real_zero, c, n)
        close(part(c), part(a @ a.conj().T))
        getattr(tiled, f"{letter}her2k")(
            mode, 0, n, n, one, a, n, b, n, real_zero, c, n
        )
        close(part(c), part(a @ b.conj().T + b @ a.conj().T))
        h = np.asfortranarray(a + a.conj().T)
        getattr(tiled, f"{letter}hemm")(0, mode, n, n, one, h, n, b, n, zero, c, n)
        close(c, h @ b)


def test_settings_of_the_hosts_interface(tiled):
    tiled.DeviceSelect(1, np.zeros(1, np.int32))
    assert tiled.status("DeviceSelect", 1, np.array([99], np.int32)) == 7
    assert tiled.status("DeviceSelect", 0, np.zeros(1, np.int32)) == 7
    tiled.SetBlockDim(512)
    size = np.zeros(1, np.int32)
    tiled.GetBlockDim(size)
    assert size[0] == 512
    assert tiled.status("SetBlockDim", 0) == 7
    assert tiled.library.cublasXtSetBlockDim(ctypes.c_void_p(), 5) == 1


@pytest.mark.parametrize("form", ["", "_64"])
@pytest.mark.parametrize("name", ["syrkEx", "syrk3mEx", "herkEx", "herk3mEx"])
def test_updates_with_element_types(blas, rng, name, form):
    n, k = 5, 3
    a, c = random(rng, (n, k), np.complex64), random(rng, (n, n), np.complex64)
    hermitian = name.startswith("herk")
    alpha, beta = (
        np.full(1, value, np.float32 if hermitian else np.complex64)
        for value in (2, 0.5)
    )
    c += 0 if not hermitian else c.conj().T - c.real  # a real diagonal
    there = gpuarray.to_gpu(np.asfortranarray(c))
    matrix = gpuarray.to_gpu(np.asfortranarray(a))
    update = f"C{name}{form}"
    getattr(blas, update)(LOWER, 0, n, k, alpha, matrix, 4, n, beta, there, 4, n)
    wanted = 2 * a @ (a.conj().T if hermitian else a.T) + 0.5 * c
    close(np.tril(there.get()), np.tril(wanted))
    assert (np.triu(there.get(), 1) == np.triu(c, 1)).all()
    for type_a, type_c, status in ((7, 4, 15), (0, 4, 7), (4, 5, 7)):
        arguments = (LOWER, 0, n, k, alpha, matrix, type_a, n, beta, there, type_c, n)
        assert blas.status(update, *arguments) == status


NARROW = {
    "HSH": (HALF, HALF),
    "HSS": (HALF, 0),
    "TST": (BFLOAT, BFLOAT),
    "TSS": (BFLOAT, 0),
}


def bits_of(values, kind):
    """The values' elements in memory. bfloat16 is the upper half of a float."""
    if kind == BFLOAT:
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return values.astype(TYPES[kind])


def values_of(bits, kind):
    if kind == BFLOAT:
        return (bits.astype(np.uint32) << 16).view(np.float32)
    return bits.astype(np.float32)


@pytest.mark.parametrize("letters", NARROW)
@pytest.mark.parametrize("form", ["", "_64"])
@pytest.mark.parametrize("op", OPERATIONS)
def test_products_of_narrow_matrices_with_vectors(blas, rng, letters, form, op):
    kind, result_kind = NARROW[letters]
    m, n, count, incx, incy = 5, 3, 2, 2, 3
    length, inner = (m, n) if op == 0 else (n, m)
    # Multiples of 1/8 below 4 are exact in each type.
    draw = lambda *shape: rng.integers(-31, 32, shape) / np.float32(8)  # noqa: E731
    a, x, y = draw(count, n, m), draw(count, inner * incx), draw(count, length * incy)
    alpha, beta = np.array([0.5], np.float32), np.array([2], np.float32)
    there = [gpuarray.to_gpu(bits_of(v, kind)) for v in (a, x)]
    wanted = y.copy()
    for i in range(count):
        product = OPERATIONS[op](a[i].T) @ x[i, ::incx]
        wanted[i, ::incy] = 0.5 * product + 2 * y[i, ::incy]
    wanted = values_of(bits_of(wanted, result_kind), result_kind)
    result = gpuarray.to_gpu(bits_of(y, result_kind))
    getattr(blas, f"{letters}gemvStridedBatched{form}")(
        *(op, m, n, alpha, there[0], m, m * n, there[1], incx, inner * incx),
        *(beta, result, incy, length * incy, count),
    )
    tolerance = 0.02 if result_kind == BFLOAT else 1e-3
    np.testing.assert_allclose(values_of(result.get(), result_kind), wanted, tolerance)
    result = gpuarray.to_gpu(bits_of(y, result_kind))
    each = lambda array: gpuarray.to_gpu(  # noqa: E731
        np.array([int(array.gpudata) + i * array.nbytes // count for i in range(count)])
    )
    getattr(blas, f"{letters}gemvBatched{form}")(
        *(op, m, n, alpha, each(there[0]), m, each(there[1]), incx),
        *(beta, each(result), incy, count),
    )
    np.testing.assert_allclose(values_of(result.get(), result_kind), wanted, tolerance)


SETTINGS = {
    "EmulationStrategy": ([0, 1, 2], [-1, 3]),
    "EmulationSpecialValuesSupport": ([0, 1, 2, 3, 0xFFFF], [4, -1]),
    "FixedPointEmulationMantissaControl": ([0, 1], [2]),
    "FixedPointEmulationMaxMantissaBitCount": ([0, 79], [-1]),
    "FixedPointEmulationMantissaBitOffset": ([-3, 8], [1 << 20]),
}


@pytest.mark.parametrize("prefix", ["cublas", "cusolverDn"])
@pytest.mark.parametrize("name", SETTINGS)
def test_settings_of_emulation_are_kept(device, prefix, name):
    file = {"cublas": "libcublas.so.13", "cusolverDn": "libcusolver.so.12"}[prefix]
    end = "_v2" if prefix == "cublas" else ""
    handle = Handle(load(file), prefix, f"{prefix}Create{end}", f"{prefix}Destroy{end}")
    good, bad = SETTINGS[name]
    found = np.zeros(1, np.int32)
    for value in good:
        getattr(handle, f"Set{name}")(value)
        getattr(handle, f"Get{name}")(found)
        assert found[0] == value
    for value in bad:
        assert handle.status(f"Set{name}", value) == {"cublas": 7}.get(prefix, 3)
    handle.close()


def test_empty_matrices_may_be_null(blas):
    """Also if the two have leading dimensions that one matrix in the place of both cannot have."""
    one, a = np.ones(1), gpuarray.zeros(9, np.float64)
    for m, n in [(0, 3), (3, 0)]:
        blas.Dtrmm_v2(1, UPPER, 0, 0, m, n, one, a, 3, None, 4, None, 5)
    wrong = (1, UPPER, 0, 0, 1, 1, one, a, 1, a, 4, a, 5)
    assert blas.status("Dtrmm_v2", *wrong) == 7


@pytest.mark.parametrize(
    "name", ["Sscal", "Dscal", "Cscal", "Zscal", "Csscal", "Zdscal"]
)
@pytest.mark.parametrize("n", [3, 17, 64, 4096])
@pytest.mark.parametrize("step", [1, 3])
def test_scale_by_zero_keeps_a_nan_in_its_place(blas, name, n, step):
    """64 numbers of complex64 end where memory may end, so nothing after them may be read."""
    dtype = LETTERS[name[0]]
    factor = np.zeros(1, dtype if name[1:] == "scal" else dtype().real.dtype)
    x = np.full((n - 1) * step + 1, 5, dtype)
    x[step] = np.nan
    gx = gpuarray.to_gpu(x)
    getattr(blas, f"{name}_v2")(n, factor, gx, step)
    got, wanted = gx.get(), x.copy()
    wanted[::step] = 0
    assert np.isnan(got[step])
    np.testing.assert_array_equal(np.delete(got, step), np.delete(wanted, step))
