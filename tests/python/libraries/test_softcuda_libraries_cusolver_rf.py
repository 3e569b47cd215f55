"""softcuda's cuSOLVER: refactorisation (cusolverRf), whose factors keep their pattern."""

import ctypes

import numpy as np
import pytest
import scipy.linalg
from library_calls import Handle, argument, load
from test_softcuda_libraries_cusolver import rng  # noqa: F401
from test_softcuda_libraries_cusolver_sparse import compressed

import pycuda.driver as cuda
from pycuda import gpuarray

# ruff: noqa: F811

NOT_INITIALIZED, INVALID_VALUE, EXECUTION_FAILED, ZERO_PIVOT = 1, 3, 6, 10
CSR, CSC = 0, 1
N = 24


@pytest.fixture
def library(device):
    return load("libcusolver.so.12")


@pytest.fixture
def rf(library):
    handle = Handle(library, "cusolverRf", "cusolverRfCreate", "cusolverRfDestroy")
    yield handle
    handle.close()


class System:
    """A matrix, its orders and factors: A[P][:, Q] = L U, in the handle's format and diagonal."""

    def __init__(self, rng, form=CSR, unit="L"):
        self.form, self.unit = form, unit
        self.a = rng.standard_normal((N, N)) * (rng.random((N, N)) < 0.15)
        self.a += 2 * np.roll(np.eye(N), 3, axis=0)
        self.q = rng.permutation(N).astype(np.int32)
        exchanges, lower, upper = scipy.linalg.lu(self.a[:, self.q])
        self.p = np.argmax(exchanges, axis=0).astype(np.int32)
        if unit == "U":
            pivots = np.diag(upper).copy()
            lower, upper = lower * pivots, upper / pivots[:, None]
        self.lower, self.upper = lower, upper

    def compressed(self, a):
        """Number, offsets, indices and values of a matrix in the format, as the functions have them."""
        values, rows, columns = compressed(a if self.form == CSR else a.T)
        return [values.size, rows, columns, np.ascontiguousarray(values)]

    def dense(self, rows, columns, values):
        whole = np.zeros((N, N))
        for i in range(N):
            whole[i, columns[rows[i] : rows[i + 1]]] = values[rows[i] : rows[i + 1]]
        return whole if self.form == CSR else whole.T

    def set_up(self, library, rf, where="Host", batch=()):
        arrays = self.compressed(self.a) + self.compressed(self.lower)
        arrays += self.compressed(self.upper) + [self.p, self.q]
        if batch:
            arrays[3] = addresses(batch)
        if where == "Device":
            arrays = [x if isinstance(x, int) else gpuarray.to_gpu(x) for x in arrays]
        name = f"cusolverRf{'Batch' if batch else ''}Setup{where}"
        sizes = ([len(batch)] if batch else []) + [N]
        return getattr(library, name)(*map(argument, sizes + arrays), rf.handle)

    def on_device(self, a):
        return [
            x if isinstance(x, int) else gpuarray.to_gpu(x) for x in self.compressed(a)
        ]


def addresses(arrays):
    return np.array(
        [
            x.ctypes.data if isinstance(x, np.ndarray) else int(x.gpudata)
            for x in arrays
        ],
        np.uintp,
    )


def outputs():
    """What a function fills: a number, and the addresses of offsets, indices and values."""
    return [ctypes.c_int(), *((ctypes.c_void_p * 1)() for _ in range(3))]


def read(filled):
    count, *places = filled
    libc, found = ctypes.CDLL(None), []
    for place, size, kind in zip(
        places,
        [N + 1, count.value, count.value],
        [ctypes.c_int] * 2 + [ctypes.c_double],
        strict=True,
    ):
        found.append(np.array((kind * size).from_address(place[0])))
        libc.free(ctypes.c_void_p(place[0]))
    return found


def solve(rf, system, right):
    x = gpuarray.to_gpu(right)
    orders = [gpuarray.to_gpu(system.p), gpuarray.to_gpu(system.q)]
    rf.Solve(*orders, 1, gpuarray.zeros(N, np.float64), N, x, N)
    return x.get()


@pytest.mark.parametrize("where", ["Host", "Device"])
@pytest.mark.parametrize("form", [CSR, CSC])
@pytest.mark.parametrize("unit", ["L", "U"])
@pytest.mark.parametrize("stored", [True, False])
def test_systems_with_new_values(library, rf, rng, where, form, unit, stored):
    system = System(rng, form, unit)
    diagonal = (0 if stored else 2) + (unit == "U")
    rf.SetMatrixFormat(form, diagonal)
    if not stored:  # the client's factors lack the ones
        part = system.lower if unit == "L" else system.upper
        part -= np.eye(N)
    assert system.set_up(library, rf, where) == 0
    rf.Analyze()
    right = rng.standard_normal(N)
    for _ in range(3):
        rf.Refactor()
        np.testing.assert_allclose(
            system.a @ solve(rf, system, right), right, atol=1e-9
        )
        lower, upper = outputs(), outputs()
        rf.ExtractSplitFactorsHost(*lower, *upper)
        lower, upper = system.dense(*read(lower)), system.dense(*read(upper))
        if not stored:
            (lower if unit == "L" else upper)[np.diag_indices(N)] = 1
        assert np.all(np.diag(lower if unit == "L" else upper) == 1)
        assert np.all(np.triu(lower, 1) == 0) and np.all(np.tril(upper, -1) == 0)
        np.testing.assert_allclose(
            lower @ upper, system.a[system.p][:, system.q], atol=1e-10
        )
        system.a = system.a * (1 + 0.1 * rng.random((N, N)))
        count, rows, columns, values = system.on_device(system.a)
        status = library.cusolverRfResetValues(
            *map(argument, [N, count, rows, columns, values]),
            *map(argument, [gpuarray.to_gpu(system.p), gpuarray.to_gpu(system.q)]),
            rf.handle,
        )
        assert status == 0


def test_bundled_factors_are_memory_of_the_device(library, rf, rng):
    system = System(rng)
    assert system.set_up(library, rf) == 0
    rf.Analyze()
    rf.Refactor()
    there, here = outputs(), outputs()
    rf.AccessBundledFactorsDevice(*there)
    rf.ExtractBundledFactorsHost(*here)
    assert there[0].value == here[0].value
    rows, columns, values = read(here)
    copy = np.empty_like(values)
    cuda.memcpy_dtoh(copy, there[3][0])
    assert np.array_equal(copy, values)
    whole = system.dense(rows, columns, values)
    lower, upper = np.tril(whole, -1) + np.eye(N), np.triu(whole)
    np.testing.assert_allclose(
        lower @ upper, system.a[system.p][:, system.q], atol=1e-10
    )


def test_batches(library, rf, rng):
    system = System(rng)
    matrices = [system.a * (1 + 0.1 * rng.random((N, N))) for _ in range(3)]
    assert (
        system.set_up(library, rf, batch=[system.compressed(a)[3] for a in matrices])
        == 0
    )
    rf.BatchAnalyze()
    orders = [gpuarray.to_gpu(system.p), gpuarray.to_gpu(system.q)]
    for round_ in range(2):
        rf.BatchRefactor()
        position = np.zeros(3, np.int32)
        rf.BatchZeroPivot(position)
        assert position.tolist() == [-1] * 3
        right = rng.standard_normal((3, N))
        vectors = [gpuarray.to_gpu(row) for row in right]
        places = gpuarray.to_gpu(addresses(vectors))
        rf.BatchSolve(*orders, 1, gpuarray.zeros(6 * N, np.float64), N, places, N)
        for a, x, b in zip(matrices, vectors, right, strict=True):
            np.testing.assert_allclose(a @ x.get(), b, atol=1e-9)
        if round_ == 1:
            break
        matrices = [2 * a for a in matrices]
        matrices[1] = matrices[1] * (1 + 0.1 * rng.random((N, N)))
        values = [gpuarray.to_gpu(system.compressed(a)[3]) for a in matrices]
        count, rows, columns, _ = system.on_device(system.a)
        arguments = [
            3,
            N,
            count,
            rows,
            columns,
            gpuarray.to_gpu(addresses(values)),
            *orders,
        ]
        assert (
            library.cusolverRfBatchResetValues(*map(argument, arguments), rf.handle)
            == 0
        )


def test_zero_pivots_are_found_and_replaced(library, rf, rng):
    system = System(rng)
    system.a[:] = np.diag(np.arange(N) - 5.0)
    system.lower = system.upper = np.eye(N)
    system.p = system.q = np.arange(N, dtype=np.int32)
    system.compressed = lambda a: [
        N,
        np.arange(N + 1, dtype=np.int32),
        system.p,
        np.diag(a).copy(),
    ]
    assert system.set_up(library, rf) == 0
    rf.Analyze()
    assert rf.status("Refactor") == ZERO_PIVOT
    rf.SetNumericProperties(ctypes.c_double(1.5), ctypes.c_double(4.0))
    report = ctypes.c_int(-1)
    assert system.set_up(library, rf) == 0
    rf.Analyze()
    rf.GetNumericBoostReport(report)
    assert report.value == 0
    rf.Refactor()
    rf.GetNumericBoostReport(report)
    assert report.value == 1
    pivots = np.where(np.abs(np.arange(N) - 5.0) < 1.5, 4.0, np.arange(N) - 5.0)
    np.testing.assert_allclose(solve(rf, system, np.ones(N)), 1 / pivots)


def test_wrong_calls(library, rf, rng):
    system = System(rng)
    for name in ["Analyze", "Refactor", "BatchAnalyze", "BatchRefactor"]:
        assert rf.status(name) == NOT_INITIALIZED
    assert rf.status("SetMatrixFormat", 2, 0) == INVALID_VALUE
    assert rf.status("SetAlgs", 0, 0) == INVALID_VALUE
    assert (
        rf.status("SetNumericProperties", ctypes.c_double(-1), ctypes.c_double(0))
        == INVALID_VALUE
    )
    kept = system.q.copy()
    for wrong in [N, -1, int(kept[1])]:  # no row, and a row twice
        system.q = kept.copy()
        system.q[0] = wrong
        assert system.set_up(library, rf) == INVALID_VALUE
    system.q = kept
    assert system.set_up(library, rf) == 0
    assert rf.status("Refactor") == NOT_INITIALIZED  # without Analyze
    rf.Analyze()
    assert rf.status("BatchRefactor") == NOT_INITIALIZED
    assert rf.status("ExtractBundledFactorsHost", *outputs()) == NOT_INITIALIZED
    rf.Refactor()
    assert rf.status("Refactor") == INVALID_VALUE  # the values are the factors now
    full = system.on_device(np.ones((N, N)))
    orders = [gpuarray.to_gpu(system.p), gpuarray.to_gpu(system.q)]
    x = gpuarray.zeros(N, np.float64)
    assert rf.status("BatchSolve", *orders, 1, x, N, x, N) == NOT_INITIALIZED
    assert rf.status("Solve", *orders, 2, x, N, x, N) == INVALID_VALUE
    assert rf.status("Solve", *orders, 1, x, N, x, N - 1) == INVALID_VALUE
    host = np.zeros(N)
    assert rf.status("Solve", *orders, 1, x, N, host, N) == EXECUTION_FAILED
    # Elements that the matrix had not at the setup.
    status = library.cusolverRfResetValues(
        *map(argument, [N, *full, *orders]), rf.handle
    )
    assert status == EXECUTION_FAILED
