"""softcuda's cuSOLVER and cuBLAS with matrices that hold NaN or infinity: each call ends, and says that it failed."""

import ctypes

import numpy as np
import pytest
from library_calls import Handle, addresses, columns, load, on_device, synchronize

from pycuda import gpuarray

N = 6
BAD = {"nan": np.nan, "inf": np.inf}


@pytest.fixture
def solver(device):
    made = Handle(
        load("libcusolver.so.12"), "cusolverDn", "cusolverDnCreate", "cusolverDnDestroy"
    )
    synchronize()
    yield made
    made.close()


def positive(n=N):
    a = np.random.default_rng(2).standard_normal((n, n))
    return a @ a.T + n * np.eye(n)


def with_bad(value, row, column):
    a = positive()
    a[row, column] = a[column, row] = value
    return a


def empty(*shape):
    return gpuarray.zeros(int(np.prod(shape)), np.float64)


def info_of(array):
    return int(array.get()[0])


def new_info(count=1):
    return gpuarray.to_gpu(np.full(count, -99, np.int32))


@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("place", [(0, 0), (3, 1), (5, 5)])
def test_potrf_names_the_minor(solver, upper, place):
    """The leading minor of NaN's row is not positive."""
    a, info = on_device(with_bad(np.nan, *place)), new_info()
    solver.Dpotrf(upper, N, a, N, empty(1), 1, info)
    assert info_of(info) == max(place) + 1


def test_potrf_in_batches(solver):
    good, bad = on_device(positive()), on_device(with_bad(np.nan, 2, 2))
    info = new_info(2)
    solver.DpotrfBatched(0, N, addresses([bad, good]), N, info, 2)
    assert list(info.get()) == [3, 0]


@pytest.mark.parametrize("value", BAD)
def test_getrf_keeps_pivots_in_the_matrix(solver, value):
    a = on_device(np.full((N, N), BAD[value]))
    pivots, info = gpuarray.zeros(N, np.int32), new_info()
    solver.Dgetrf(N, N, a, N, empty(1), pivots, info)
    assert ((pivots.get() >= 1) & (pivots.get() <= N)).all()
    assert info_of(info) == 0  # no pivot is zero
    b = on_device(np.ones((N, 1)))
    solver.Dgetrs(0, N, 1, a, N, pivots, b, N, info)
    assert not np.isfinite(b.get()).all()


@pytest.mark.parametrize("value", BAD)
@pytest.mark.parametrize("vectors", [0, 1])
def test_eigenvalues(solver, value, vectors):
    a, w, info = on_device(with_bad(BAD[value], 4, 1)), empty(N), new_info()
    solver.Dsyevd(vectors, 0, N, a, N, w, empty(1), 1, info)
    assert info_of(info) == N
    assert np.isnan(w.get()).all()
    a, info = on_device(with_bad(BAD[value], 4, 1)), new_info()
    b = on_device(positive())
    solver.Dsygvd(1, vectors, 0, N, a, N, b, N, w, empty(1), 1, info)
    assert info_of(info) == N
    a, b = on_device(positive()), on_device(with_bad(BAD[value], 2, 2))
    solver.Dsygvd(1, vectors, 0, N, a, N, b, N, w, empty(1), 1, info)
    assert info_of(info) >= N
    if value == "nan":
        assert info_of(info) == N + 3  # the minor of order 3 of B


def test_only_the_triangle_counts(solver):
    a = positive()
    upper = a.copy()
    upper[4, 1] = np.nan  # below the diagonal
    matrix, w, info = on_device(upper), empty(N), new_info()
    solver.Dsyevd(1, 1, N, matrix, N, w, empty(1), 1, info)
    assert info_of(info) == 0
    np.testing.assert_allclose(w.get(), np.linalg.eigvalsh(a))


@pytest.mark.parametrize("value", BAD)
def test_jacobi_methods_do_not_converge(solver, value):
    settings = ctypes.c_void_p()
    create = solver.library.cusolverDnCreateSyevjInfo
    assert create(ctypes.byref(settings)) == 0
    a, w, info = on_device(with_bad(BAD[value], 4, 1)), empty(N), new_info()
    solver.Dsyevj(1, 0, N, a, N, w, empty(1), 1, info, settings)
    assert info_of(info) == N + 1
    assert solver.library.cusolverDnDestroySyevjInfo(settings) == 0
    create = solver.library.cusolverDnCreateGesvdjInfo
    assert create(ctypes.byref(settings)) == 0
    a, info = on_device(with_bad(BAD[value], 4, 1)), new_info()
    u, v = empty(N, N), empty(N, N)
    solver.Dgesvdj(1, 0, N, N, a, N, w, u, N, v, N, empty(1), 1, info, settings)
    assert info_of(info) == N + 1
    assert solver.library.cusolverDnDestroyGesvdjInfo(settings) == 0


@pytest.mark.parametrize("value", BAD)
@pytest.mark.parametrize("job", "ASON")
def test_singular_values(solver, value, job):
    a, s, info = on_device(with_bad(BAD[value], 4, 1)), empty(N), new_info()
    u, vt = empty(N, N), empty(N, N)
    other = "S" if job == "O" else job
    solver.Dgesvd(
        *(ord(job), ord(other), N, N, a, N, s, u, N, vt, N),
        *(empty(1), 1, None, info),
    )
    assert info_of(info) == N
    assert np.isnan(s.get()).all()
    if job in "AS":
        assert np.isnan(u.get()).all()
        assert np.isnan(vt.get()).all()


@pytest.mark.parametrize("value", BAD)
def test_general_eigenvalues(solver, value):
    settings = ctypes.c_void_p()
    create = solver.library.cusolverDnCreateParams
    assert create(ctypes.byref(settings)) == 0
    a, info = on_device(with_bad(BAD[value], 4, 1)), new_info()
    w, vr = gpuarray.zeros(N, np.complex128), empty(N, N)
    double, complex_double = 1, 5
    solver.Xgeev(
        *(settings, 0, 1, N, double, a, N, complex_double, w, double, None, 1),
        *(double, vr, N, double, empty(1), 1, None, 0, info),
    )
    assert info_of(info) == N
    assert np.isnan(w.get()).all()
    assert solver.library.cusolverDnDestroyParams(settings) == 0


@pytest.mark.parametrize("value", BAD)
def test_least_squares_and_qr_end(solver, value):
    a, tau, info = on_device(with_bad(BAD[value], 4, 1)), empty(N), new_info()
    solver.Dgeqrf(N, N, a, N, tau, empty(1), 1, info)
    assert info_of(info) == 0
    assert not np.isfinite(columns(a, N, N)).all()
    blas = Handle(
        load("libcublas.so.13"), "cublas", "cublasCreate_v2", "cublasDestroy_v2"
    )
    a, c = on_device(with_bad(BAD[value], 4, 1)), on_device(np.ones((N, 1)))
    of_call, of_device = np.full(1, -99, np.int32), new_info()
    blas.DgelsBatched(
        *(0, N, N, 1, addresses([a]), N, addresses([c]), N, of_call, of_device, 1)
    )
    synchronize()
    assert of_call[0] == 0
    assert not np.isfinite(c.get()).all()
    blas.close()


@pytest.mark.parametrize("value", [0, -1, N + 1])
def test_a_pivot_outside_of_the_matrix(solver, value, capfd):
    """LAPACK uses pivots as addresses. The call fails; later calls with the handle, too."""
    a, b = on_device(positive()), on_device(np.ones((N, 1)))
    pivots = np.arange(1, N + 1, dtype=np.int32)
    pivots[2] = value
    info = new_info()
    status = solver.status(
        *("Dgetrs", 0, N, 1, a, N, gpuarray.to_gpu(pivots), b, N, info)
    )
    synchronize()
    assert status in (0, 6)  # CUSOLVER_STATUS_EXECUTION_FAILED, if it ran at once
    assert f"the pivot {value} is no row of the matrix" in capfd.readouterr().err
    assert (b.get() == 1).all()


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
def test_rotmg_ends(device, value):
    """BLAS's method scales a number until it is small. With 1e200, a product overflows."""
    blas = Handle(
        load("libcublas.so.13"), "cublas", "cublasCreate_v2", "cublasDestroy_v2"
    )
    for place in (2, 3) if value == 1e200 else range(4):
        numbers = [np.ones(1) for _ in range(4)]
        numbers[place][0] = value
        result = np.zeros(5)
        blas.Drotmg_v2(*numbers, result)
        assert result[0] == -1
        assert np.isnan(result[1:]).all()
    blas.close()
