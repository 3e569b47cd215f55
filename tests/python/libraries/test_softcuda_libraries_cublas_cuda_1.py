"""softcuda's cuBLAS: the interface of CUDA 1, which has no handles (cublas.h)."""

import ctypes

import numpy as np
import pytest
from library_calls import LETTERS, columns, load, on_device, pointer, random

from pycuda import gpuarray

CHAR = ctypes.c_char
OPERATIONS = {b"N": lambda a: a, b"t": lambda a: a.T, b"C": lambda a: a.conj().T}


class ComplexFloat(ctypes.Structure):
    _fields_ = [("real", ctypes.c_float), ("imag", ctypes.c_float)]


class ComplexDouble(ctypes.Structure):
    _fields_ = [("real", ctypes.c_double), ("imag", ctypes.c_double)]


TYPES = {
    "S": ctypes.c_float,
    "D": ctypes.c_double,
    "C": ComplexFloat,
    "Z": ComplexDouble,
}


def scalar(letter, value):
    kind = TYPES[letter]
    return kind(value.real, value.imag) if letter in "CZ" else kind(value)


@pytest.fixture
def blas(device):
    library = load("libcublas.so.13")
    assert library.cublasInit() == 0
    yield library
    assert library.cublasShutdown() == 0


def call(blas, name, *arguments, result=None):
    """Calls the function, which must not fail. Bytes are letters."""
    function = getattr(blas, f"cublas{name}")
    function.restype = result
    given = [
        CHAR(value)
        if isinstance(value, bytes)
        else pointer(value)
        if isinstance(value, gpuarray.GPUArray | np.ndarray)
        else value
        for value in arguments
    ]
    returned = function(*given)
    assert blas.cublasGetError() == 0
    return returned


def close(got, wanted):
    tolerance = 1e-4 if np.finfo(wanted.dtype).eps > 1e-10 else 1e-12
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("letter", LETTERS)
def test_level_1(blas, letter):
    rng, dtype = np.random.default_rng(3), LETTERS[letter]
    x, y = random(rng, 9, dtype), random(rng, 9, dtype)
    real = {"S": "S", "D": "D", "C": "Sc", "Z": "Dz"}[letter]
    kind = TYPES["S" if letter in "SC" else "D"]
    there, other = gpuarray.to_gpu(x), gpuarray.to_gpu(y)
    close(
        np.array(call(blas, f"{real}nrm2", 9, there, 1, result=kind)),
        np.linalg.norm(x),
    )
    sums = np.abs(x.real) + np.abs(x.imag)
    close(np.array(call(blas, f"{real}asum", 9, there, 1, result=kind)), sums.sum())
    for name, find in (("amax", np.argmax), ("amin", np.argmin)):
        name = f"I{letter.lower()}{name}"
        assert call(blas, name, 9, there, 1, result=ctypes.c_int) == find(sums) + 1
    for name, of in {"S": [("dot", x)], "C": [("dotu", x), ("dotc", x.conj())]}[
        "C" if letter in "CZ" else "S"
    ]:
        got = call(blas, letter + name, 9, there, 1, other, 1, result=TYPES[letter])
        if letter in "CZ":
            got = complex(got.real, got.imag)
        close(np.array(got), (of * y).sum())
    factor = dtype(1.5 - 0.5j) if letter in "CZ" else dtype(1.5)
    call(blas, f"{letter}axpy", 9, scalar(letter, factor), there, 1, other, 1)
    close(other.get(), factor * x + y)
    call(blas, f"{letter}scal", 9, scalar(letter, factor), there, 1)
    close(there.get(), factor * x)
    call(blas, f"{letter}swap", 9, there, 1, other, 1)
    close(there.get(), factor * x + y)
    call(blas, f"{letter}copy", 9, there, 1, other, 1)
    close(other.get(), there.get())


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("op_a", OPERATIONS)
@pytest.mark.parametrize("op_b", OPERATIONS)
def test_products(blas, letter, op_a, op_b):
    rng, dtype = np.random.default_rng(4), LETTERS[letter]
    m, n, k = 4, 5, 3
    a = random(rng, (m, k) if op_a == b"N" else (k, m), dtype)
    b = random(rng, (k, n) if op_b == b"N" else (n, k), dtype)
    c = random(rng, (m, n), dtype)
    there = on_device(c)
    alpha, beta = dtype(2), dtype(-0.5)
    call(
        *(blas, f"{letter}gemm", op_a, op_b, m, n, k, scalar(letter, alpha)),
        *(on_device(a), a.shape[0], on_device(b), b.shape[0]),
        *(scalar(letter, beta), there, m),
    )
    wanted = alpha * (OPERATIONS[op_a](a) @ OPERATIONS[op_b](b)) + beta * c
    close(columns(there, m, n), wanted)


@pytest.mark.parametrize("letter", LETTERS)
def test_vectors_triangles_and_rank_updates(blas, letter):
    rng, dtype = np.random.default_rng(5), LETTERS[letter]
    a, x, y = random(rng, (4, 4), dtype), random(rng, 4, dtype), random(rng, 4, dtype)
    a += 4 * np.eye(4, dtype=dtype)
    one, two = scalar(letter, dtype(1)), scalar(letter, dtype(2))
    there, at_x, at_y = on_device(a), gpuarray.to_gpu(x), gpuarray.to_gpu(y)
    call(blas, f"{letter}gemv", b"T", 4, 4, two, there, 4, at_x, 1, one, at_y, 1)
    close(at_y.get(), 2 * (a.T @ x) + y)
    call(blas, f"{letter}trsv", b"U", b"N", b"N", 4, there, 4, at_x, 1)
    close(np.triu(a) @ at_x.get(), x)
    call(blas, f"{letter}trmv", b"u", b"n", b"u", 4, there, 4, at_x, 1)
    unit = np.triu(a, 1) + np.eye(4, dtype=dtype)
    close(at_x.get(), unit @ np.linalg.solve(np.triu(a), x).astype(dtype))
    b = random(rng, (4, 3), dtype)
    solved = on_device(b)
    call(blas, f"{letter}trsm", b"L", b"L", b"N", b"N", 4, 3, two, there, 4, solved, 4)
    close(np.tril(a) @ columns(solved, 4, 3), 2 * b)
    multiplied = on_device(b)
    call(
        blas,
        f"{letter}trmm",
        b"L",
        b"L",
        b"N",
        b"N",
        4,
        3,
        two,
        there,
        4,
        multiplied,
        4,
    )
    close(columns(multiplied, 4, 3), 2 * (np.tril(a) @ b))
    letters = ("syrk", "symm") if letter in "SD" else ("herk", "hemm")
    real = scalar("S" if letter in "SC" else "D", np.float64(2))
    zero = scalar("S" if letter in "SC" else "D", np.float64(0))
    result = gpuarray.zeros(16, dtype)
    call(
        blas,
        letter + letters[0],
        b"U",
        b"N",
        4,
        3,
        real,
        on_device(b),
        4,
        zero,
        result,
        4,
    )
    close(np.triu(columns(result, 4, 4)), np.triu(2 * (b @ b.conj().T)))
    full = np.tril(a, -1) + np.tril(a, -1).conj().T + np.diag(np.diag(a).real)
    full = full.astype(dtype)
    product = on_device(b)
    call(
        *(blas, letter + letters[1], b"L", b"L", 4, 3, two, on_device(full), 4),
        *(on_device(b), 4, one, product, 4),
    )
    close(columns(product, 4, 3), 2 * (full @ b) + b)


def test_errors_are_kept_until_they_are_read(device):
    library = load("libcublas.so.13")
    library.cublasSgemm.restype = None
    zero = ctypes.c_float(0)
    gemm = lambda op: library.cublasSgemm(  # noqa: E731
        *(CHAR(op), CHAR(b"N"), 1, 1, 1, zero, None, 1, None, 1, zero, None, 1)
    )
    gemm(b"N")
    assert library.cublasGetError() == 1  # CUBLAS_STATUS_NOT_INITIALIZED
    assert library.cublasGetError() == 0
    assert library.cublasShutdown() == 1
    assert library.cublasInit() == 0 and library.cublasInit() == 0
    gemm(b"X")
    assert library.cublasGetError() == 7  # CUBLAS_STATUS_INVALID_VALUE
    place = ctypes.c_void_p()
    assert library.cublasAlloc(0, 4, ctypes.byref(place)) == 7
    assert library.cublasAlloc(1 << 30, 1 << 30, ctypes.byref(place)) == 3
    assert place.value is None
    assert library.cublasAlloc(16, 4, ctypes.byref(place)) == 0
    values = np.arange(16, dtype=np.float32)
    assert library.cublasSetVector(16, 4, pointer(values), 1, place, 1) == 0
    library.cublasSasum.restype = ctypes.c_float
    assert library.cublasSasum(16, place, 1) == 120
    assert library.cublasFree(place) == 0
    assert library.cublasShutdown() == 0
