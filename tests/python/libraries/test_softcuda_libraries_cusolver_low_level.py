"""softcuda's cuSOLVER: sparse systems in steps (csrlu, csrqr, csrchol), in batches, and single eigenvalues."""

import ctypes

import numpy as np
import pytest
from library_calls import LETTERS, load, random
from test_softcuda_libraries_cusolver import close, rng  # noqa: F401
from test_softcuda_libraries_cusolver_sparse import (
    compressed,
    descriptor,  # noqa: F401
    sparse,  # noqa: F401
    sparse_positive,
)

from pycuda import gpuarray

# ruff: noqa: F811

NOT_INITIALIZED, INVALID_VALUE, EXECUTION_FAILED, NOT_SUPPORTED = 1, 3, 6, 9


def scalar(letter, value):
    """A number that is passed by value."""
    real = ctypes.c_float if letter in "SC" else ctypes.c_double
    if letter in "SD":
        return real(value)

    class Complex(ctypes.Structure):
        _fields_ = (("real", real), ("imaginary", real))

    return Complex(value.real, value.imag)


def real(letter, value):
    return (ctypes.c_float if letter in "SC" else ctypes.c_double)(value)


def call(sparse, name, *arguments):
    """Numbers by value, arrays by address; returns the status."""
    passed = [
        a
        if isinstance(a, int | ctypes.Structure | ctypes.c_float | ctypes.c_double)
        else ctypes.c_void_p(int(a.gpudata))
        if isinstance(a, gpuarray.GPUArray)
        else ctypes.c_void_p(a.ctypes.data)
        if isinstance(a, np.ndarray)
        else a
        for a in arguments
    ]
    return getattr(sparse.library, f"cusolverSp{name}")(sparse.handle, *passed)


class Info:
    def __init__(self, sparse, name):
        self.library, self.name, self.address = sparse.library, name, ctypes.c_void_p()
        create = getattr(self.library, f"cusolverSpCreate{name}")
        assert create(ctypes.byref(self.address)) == 0

    def close(self):
        destroy = getattr(self.library, f"cusolverSpDestroy{self.name}")
        assert destroy(self.address) == 0
        assert destroy(self.address) == INVALID_VALUE


def general(rng, n, dtype):
    a = random(rng, (n, n), dtype) * (rng.random((n, n)) < 0.2)
    return (a + 3 * np.roll(np.eye(n), 4, axis=0)).astype(dtype)  # needs row exchanges


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize(
    "method", ["csrqr", "csrchol", "csrluHost", "csrqrHost", "csrcholHost"]
)
@pytest.mark.parametrize("base", [0, 1])
def test_a_system_in_steps(sparse, descriptor, rng, letter, method, base):
    name, host = method.removesuffix("Host"), method.endswith("Host")
    suffix, n, dtype = "Host" * host, 30, LETTERS[letter]
    make = sparse_positive if name == "csrchol" else general
    a, b = make(rng, n, dtype), random(rng, n, dtype)
    load("libcusparse.so.12").cusparseSetMatIndexBase(descriptor, base)
    values, rows, indices = compressed(a, base)
    arrays = [values, rows, indices, b, np.zeros(n, dtype)]
    if not host:
        arrays = [gpuarray.to_gpu(array) for array in arrays]
    values, rows, indices, b_there, x = arrays
    sizes = (ctypes.c_size_t(), ctypes.c_size_t())
    place, null = ctypes.c_int(9), ctypes.c_void_p()
    shape = (n, n) if name == "csrqr" else (n,)
    info = Info(sparse, f"C{name[1:]}Info{suffix}")
    shift = 0.25 if letter in "SD" else 0.25 - 0.5j

    def step(name, *arguments):
        assert call(sparse, name, *arguments) == 0

    step(
        f"X{name}Analysis{suffix}",
        *(*shape, values.size, descriptor, rows, indices, info.address),
    )
    matrix = (*shape, values.size, descriptor, values, rows, indices)
    step(
        f"{letter}{name}BufferInfo{suffix}",
        *(*matrix, info.address, *map(ctypes.byref, sizes)),
    )
    assert all(size.value > 0 for size in sizes)
    solve = f"{letter}{name}Solve{suffix}"
    assert call(sparse, solve, *shape, b_there, x, info.address, null) == INVALID_VALUE
    if name == "csrqr":
        step(
            f"{letter}csrqrSetup{suffix}", *matrix, scalar(letter, shift), info.address
        )
        step(
            f"{letter}csrqrFactor{suffix}",
            *(*shape, values.size, null, null, info.address, null),
        )
        a = a - shift * np.eye(n)
    else:
        threshold = [real(letter, 1)] if name == "csrlu" else []
        step(f"{letter}{name}Factor{suffix}", *matrix, info.address, *threshold, null)
    step(
        f"{letter}{name}ZeroPivot{suffix}",
        *(info.address, real(letter, 1e-6), ctypes.byref(place)),
    )
    assert place.value == -1
    step(solve, *shape, b_there, x, info.address, null)
    close(x if host else x.get(), np.linalg.solve(a, b).astype(dtype))
    other = "D" if letter == "S" else "S"
    solve_other = f"{other}{name}Solve{suffix}"
    assert (
        call(sparse, solve_other, *shape, b_there, x, info.address, null)
        == INVALID_VALUE
    )
    if method == "csrchol":
        diagonal = gpuarray.zeros(n, dtype)
        step(f"{letter}csrcholDiag", info.address, diagonal)
        determinant = np.linalg.slogdet(a.astype(np.complex128))[1]
        close(2 * np.log(diagonal.get().real).sum(), determinant)
    info.close()


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("base", [0, 1])
def test_the_factors_of_lu_are_extracted(sparse, descriptor, rng, letter, base):
    n, dtype, null = 25, LETTERS[letter], ctypes.c_void_p()
    a = general(rng, n, dtype)
    load("libcusparse.so.12").cusparseSetMatIndexBase(descriptor, base)
    values, rows, indices = compressed(a, base)
    info = Info(sparse, "CsrluInfoHost")
    counts = (ctypes.c_int(), ctypes.c_int())
    numbers = (*map(ctypes.byref, counts), info.address)
    assert call(sparse, "XcsrluNnzHost", *numbers) == INVALID_VALUE
    matrix = (n, values.size, descriptor, values, rows, indices, info.address)
    factor = f"{letter}csrluFactorHost"
    assert call(sparse, factor, *matrix, real(letter, 1), null) == 0
    assert call(sparse, "XcsrluNnzHost", *numbers) == 0
    p, q = np.zeros(n, np.int32), np.zeros(n, np.int32)
    parts = [
        (
            np.zeros(c.value, dtype),
            np.zeros(n + 1, np.int32),
            np.zeros(c.value, np.int32),
        )
        for c in counts
    ]
    extract = f"{letter}csrluExtractHost"
    assert (
        call(
            sparse,
            extract,
            *(p, q, descriptor, *parts[0], descriptor, *parts[1], info.address, null),
        )
        == 0
    )
    info.close()
    lower, upper = np.eye(n, dtype=dtype), np.zeros((n, n), dtype)
    for dense, (values, rows, indices) in zip((lower, upper), parts, strict=True):
        assert rows[0] == base
        for i in range(n):
            inside = slice(rows[i] - base, rows[i + 1] - base)
            assert (np.diff(indices[inside]) > 0).all()
            dense[i, indices[inside] - base] = values[inside]
    assert (np.tril(lower) == lower).all() and (np.triu(upper) == upper).all()
    assert sorted(p) == sorted(q) == list(range(n))
    close(lower @ upper, a[p][:, q])


@pytest.mark.parametrize("letter", LETTERS)
def test_a_batch_of_systems(sparse, descriptor, rng, letter):
    n, batch, dtype = 20, 3, LETTERS[letter]
    a = general(rng, n, dtype)
    items = np.stack([a * (1 + k) for k in range(batch)])
    items[1] = (a != 0) * a * 0  # has zero pivots
    items[1][a != 0] = 0
    values = np.concatenate([item[a != 0] for item in items])
    _, rows, indices = compressed(a)
    b = random(rng, (batch, n), dtype)
    on_device = [gpuarray.to_gpu(array) for array in (values, rows, indices, b)]
    values_there, rows, indices, b_there = on_device
    x, info = gpuarray.zeros((batch, n), dtype), Info(sparse, "CsrqrInfo")
    count = values.size // batch
    assert (
        call(
            sparse,
            "XcsrqrAnalysisBatched",
            *(n, n, count, descriptor, rows, indices, info.address),
        )
        == 0
    )
    arguments = (
        n,
        n,
        count,
        descriptor,
        values_there,
        rows,
        indices,
        b_there,
        x,
        batch,
    )
    assert (
        call(
            sparse,
            f"{letter}csrqrsvBatched",
            *(*arguments, info.address, ctypes.c_void_p()),
        )
        == 0
    )
    for k in (0, 2):
        close(x.get()[k], np.linalg.solve(items[k], b[k]).astype(dtype))
    assert np.isnan(x.get()[1]).all()
    info.close()


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("suffix", ["", "Host"])
def test_the_eigenvalue_next_to_a_number(sparse, descriptor, rng, letter, suffix):
    n, dtype = 30, LETTERS[letter]
    a = sparse_positive(rng, n, dtype)
    wanted = np.linalg.eigvalsh(a)
    near = float(wanted[4] + 0.2 * (wanted[5] - wanted[4]))
    arrays = [*compressed(a), random(rng, n, dtype), np.zeros(n, dtype)]
    found = np.zeros(1, dtype)
    if not suffix:
        arrays = [gpuarray.to_gpu(array) for array in arrays]
        found = gpuarray.to_gpu(found)
    values, rows, indices, start, x = arrays
    status = call(
        sparse,
        f"{letter}csreigvsi{suffix}",
        *(n, values.size, descriptor, values, rows, indices),
        *(scalar(letter, dtype(near)), start, 500, real(letter, 1e-9), found, x),
    )
    assert status == 0
    found, x = (v if suffix else v.get() for v in (found, x))
    close(found[0].real, wanted[4])
    np.testing.assert_allclose(
        a @ x, found[0] * x, atol=2e-3 if letter in "SC" else 1e-6
    )


def test_zero_pivots_and_wrong_objects(sparse, descriptor):
    null, place = ctypes.c_void_p(), ctypes.c_int(9)
    values, rows, indices = compressed(np.diag([1.0, 2.0, 1e-9, 3.0]))
    info = Info(sparse, "CsrcholInfoHost")
    matrix = (4, 4, descriptor, values, rows, indices)
    assert call(sparse, "DcsrcholFactorHost", *matrix, info.address, null) == 0
    for tolerance, wanted in ((1e-12, -1), (1e-3, 2)):
        status = call(
            sparse,
            "DcsrcholZeroPivotHost",
            *(info.address, ctypes.c_double(tolerance), ctypes.byref(place)),
        )
        assert status == 0
        assert (place.value >= 0) == (wanted >= 0)
    assert call(sparse, "DcsrcholFactorHost", *matrix, null, null) == INVALID_VALUE
    x = np.zeros(5)
    solve = ("DcsrcholSolveHost", 5, x, x, info.address, null)
    assert call(sparse, *solve) == INVALID_VALUE
    indices[0] = 4
    assert (
        call(sparse, "DcsrcholFactorHost", *matrix, info.address, null) == INVALID_VALUE
    )
    info.close()
    info = Info(sparse, "CsrqrInfoHost")
    status = call(
        sparse,
        "XcsrqrAnalysisHost",
        *(5, 4, 4, descriptor, rows, indices, info.address),
    )
    assert status == NOT_SUPPORTED
    info.close()
    values[:], indices[0] = 1.0, 0
    one = np.ones(4)
    mu = (ctypes.c_double(1.0), one, 9, ctypes.c_double(0), np.zeros(1), x)
    assert call(sparse, "DcsreigvsiHost", *matrix, *mu) == EXECUTION_FAILED


def test_objects_leave_no_memory(sparse):
    """Ten thousand objects of each kind, one after the other, in the place of the first one."""
    create = sparse.library.cusolverSpCreateCsrqrInfo
    destroy = sparse.library.cusolverSpDestroyCsrqrInfo
    made, places = ctypes.c_void_p(), set()
    for _ in range(10_000):
        assert create(ctypes.byref(made)) == 0
        places.add(made.value)
        assert destroy(made) == 0
    assert len(places) == 1
