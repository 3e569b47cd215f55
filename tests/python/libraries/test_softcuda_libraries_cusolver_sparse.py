"""softcuda's cuSOLVER: sparse systems (cusolverSp) and iterative refinement."""

import ctypes

import numpy as np
import pytest
from library_calls import LETTERS, Handle, columns, load, on_device, random
from test_softcuda_libraries_cusolver import close, positive, rng, solver  # noqa: F401

from pycuda import gpuarray

# ruff: noqa: F811


@pytest.fixture
def sparse(device):
    library = load("libcusolver.so.12")
    handle = Handle(library, "cusolverSp", "cusolverSpCreate", "cusolverSpDestroy")
    yield handle
    handle.close()


@pytest.fixture
def descriptor(device):
    library, made = load("libcusparse.so.12"), ctypes.c_void_p()
    assert library.cusparseCreateMatDescr(ctypes.byref(made)) == 0
    yield made
    assert library.cusparseDestroyMatDescr(made) == 0


def compressed(a, base=0):
    """Values, row offsets and column indices of a dense matrix in CSR."""
    rows = np.concatenate([[0], np.cumsum((a != 0).sum(axis=1))]) + base
    return a[a != 0], rows.astype(np.int32), (np.nonzero(a)[1] + base).astype(np.int32)


def sparse_positive(rng, n, dtype):
    a = random(rng, (n, n), dtype) * (rng.random((n, n)) < 0.15)
    return (a @ a.conj().T + n * np.eye(n)).astype(dtype)


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("method", ["qr", "qrHost", "luHost", "chol", "cholHost"])
@pytest.mark.parametrize("base", [0, 1])
def test_sparse_systems(sparse, descriptor, rng, letter, method, base):
    dtype, n = LETTERS[letter], 30
    if method.startswith("chol"):
        a = sparse_positive(rng, n, dtype)
    else:
        a = random(rng, (n, n), dtype) * (rng.random((n, n)) < 0.2)
        a += 3 * np.roll(np.eye(n), 4, axis=0)  # needs row exchanges
        a = a.astype(dtype)
    load("libcusparse.so.12").cusparseSetMatIndexBase(descriptor, base)
    arrays = [*compressed(a, base), random(rng, n, dtype), np.zeros(n, dtype)]
    if not method.endswith("Host"):
        arrays = [gpuarray.to_gpu(array) for array in arrays]
    values, rows, indices, b, x = arrays
    tolerance = ctypes.c_double(1e-12) if letter in "DZ" else ctypes.c_float(1e-6)
    singular = np.zeros(1, np.int32)
    solve = f"{letter}csrlsv{method}"
    matrix = (
        n,
        values.size,
        descriptor,
        values,
        rows,
        indices,
        b,
        tolerance,
        1,
        x,
        singular,
    )
    getattr(sparse, solve)(*matrix)
    assert singular[0] == -1
    b, x = (array if isinstance(array, np.ndarray) else array.get() for array in (b, x))
    close(x, np.linalg.solve(a, b).astype(dtype))


def test_a_large_system_of_a_grid(sparse, descriptor):
    """Five points for each of 60 x 60 places, in a random order: the order makes it narrow."""
    side = 60
    n = side * side
    places = np.random.default_rng(4).permutation(n).reshape(side, side)
    entries = {(i, i): 4.0 for i in range(n)}
    for a, b in [(places[1:], places[:-1]), (places[:, 1:], places[:, :-1])]:
        for i, j in zip(a.ravel(), b.ravel(), strict=True):
            entries[i, j] = entries[j, i] = -1.0
    order = sorted(entries)
    values = np.array([entries[place] for place in order])
    i, j = np.array(order).T
    rows = np.concatenate([[0], np.cumsum(np.bincount(i, minlength=n))]).astype(
        np.int32
    )
    indices, b, x = j.astype(np.int32), np.ones(n), np.zeros(n)
    singular = np.zeros(1, np.int32)
    tolerance = ctypes.c_double(1e-12)
    sparse.DcsrlsvcholHost(
        *(
            n,
            len(values),
            descriptor,
            values,
            rows,
            indices,
            b,
            tolerance,
            1,
            x,
            singular,
        )
    )
    assert singular[0] == -1
    product = np.bincount(i, weights=values * x[j], minlength=n)
    np.testing.assert_allclose(product, b, atol=1e-9)


def test_singular_systems_name_a_row(sparse, descriptor):
    a = np.diag([1.0, 2.0, 0.0, 3.0])
    a[2, 1] = a[1, 2] = 1e-30
    values, rows, indices = compressed(a)
    b, x, singular = np.ones(4), np.full(4, 9.0), np.full(1, 9, np.int32)
    for method in ("qrHost", "luHost", "cholHost"):
        getattr(sparse, f"Dcsrlsv{method}")(
            *(4, len(values), descriptor, values, rows, indices, b),
            *(ctypes.c_double(1e-12), 0, x, singular),
        )
        assert 0 <= singular[0] < 4
        assert (x == 9).all()


def test_orders_are_permutations_that_make_a_matrix_narrow(sparse, descriptor, rng):
    n = 40
    chain = np.eye(n) + np.eye(n, k=1) + np.eye(n, k=-1)
    shuffled = rng.permutation(n)
    a = chain[shuffled][:, shuffled]
    _, rows, indices = compressed(a)
    order, map_ = np.zeros(n, np.int32), np.arange(indices.size, dtype=np.int32)
    for name in ("symrcm", "symmdq", "symamd"):
        getattr(sparse, f"Xcsr{name}Host")(
            n, indices.size, descriptor, rows, indices, order
        )
        assert sorted(order) == list(range(n))
    symmetric = np.zeros(1, np.int32)
    sparse.XcsrissymHost(
        n, indices.size, descriptor, rows, rows[1:], indices, symmetric
    )
    assert symmetric[0] == 1
    moved_rows, moved = rows.copy(), indices.copy()
    start = (n, n, indices.size, descriptor, moved_rows, moved, order, order, map_)
    sparse.XcsrpermHost(*start, np.zeros(1, np.uint8))
    wanted = a[order][:, order]
    got_values, got_rows, got = compressed(wanted)
    assert (moved_rows == got_rows).all() and (moved == got).all()
    assert (a[a != 0][map_] == got_values).all()
    i, j = np.nonzero(wanted)
    assert np.abs(i - j).max() == 1


def test_errors_of_sparse_systems(sparse, descriptor):
    values, rows, indices = compressed(np.eye(3))
    b, x, singular = np.ones(3), np.zeros(3), np.zeros(1, np.int32)
    solve, tolerance = "DcsrlsvqrHost", ctypes.c_double(0)

    def status(n=3, rows=rows, indices=indices, b=b, reorder=0, descriptor=descriptor):
        matrix = (
            n,
            3,
            descriptor,
            values,
            rows,
            indices,
            b,
            tolerance,
            reorder,
            x,
            singular,
        )
        return sparse.status(solve, *matrix)

    assert status() == 0
    assert status(n=-1) == 3
    assert status(b=None) == 3
    assert status(reorder=4) == 3
    assert status(descriptor=None) == 3
    assert status(rows=np.array([0, 2, 1, 3], np.int32)) == 3
    assert status(indices=np.array([0, 1, 3], np.int32)) == 3
    assert sparse.library.cusolverSpSetStream(None, None) == 1


@pytest.mark.parametrize(
    "letters", ["DS", "DH", "DD", "SX", "SB", "ZC", "ZE", "CC", "CY"]
)
def test_refinement_of_mixed_precisions(solver, rng, letters):
    dtype, n = LETTERS[letters[0]], 12
    a, b = positive(rng, n, dtype), random(rng, (n, 2), dtype)
    ga, gb, gx = on_device(a), on_device(b), gpuarray.zeros(2 * n, dtype)
    pivots, info = gpuarray.zeros(n, np.int32), gpuarray.zeros(1, np.int32)
    size, iterations = np.zeros(1, np.uint64), np.full(1, 9, np.int32)
    start = (n, 2, ga, n, pivots, gb, n, gx, n)
    getattr(solver, f"{letters}gesv_bufferSize")(*start, None, size)
    work = gpuarray.zeros(int(size[0]), np.uint8)
    getattr(solver, f"{letters}gesv")(*start, work, int(size[0]), iterations, info)
    close(columns(gx, n, 2), np.linalg.solve(a, b))
    assert iterations[0] >= 0 and info.get()[0] == 0
    close(columns(ga, n, n), a)
    m = n + 4
    a, b = random(rng, (m, n), dtype), random(rng, (m, 2), dtype)
    ga, gb = on_device(a), on_device(b)
    getattr(solver, f"{letters}gels")(
        *(m, n, 2, ga, m, gb, m, gx, n, work, int(size[0]), iterations, info)
    )
    close(columns(gx, n, 2), np.linalg.lstsq(a, b, rcond=None)[0])


def test_refinement_with_settings(solver, rng):
    library, n = solver.library, 9
    settings, infos = ctypes.c_void_p(), ctypes.c_void_p()
    a, b = positive(rng, n, np.float64), random(rng, (n, 1), np.float64)
    ga, gb, gx = on_device(a), on_device(b), gpuarray.zeros(n, np.float64)
    info, iterations = gpuarray.zeros(1, np.int32), np.zeros(1, np.int32)
    rest = (n, 1, ga, n, gb, n, gx, n, None, 0, iterations, info)
    assert solver.status("IRSXgesv", None, None, *rest) == 12
    assert library.cusolverDnIRSParamsCreate(ctypes.byref(settings)) == 0
    assert library.cusolverDnIRSInfosCreate(ctypes.byref(infos)) == 0
    assert solver.status("IRSXgesv", settings, infos, *rest) == 14
    assert library.cusolverDnIRSParamsSetSolverPrecisions(settings, 1203, 1204) == 0
    assert solver.status("IRSXgesv", settings, infos, *rest) == 15
    assert library.cusolverDnIRSParamsSetRefinementSolver(settings, 1104) == 0
    assert library.cusolverDnIRSParamsSetMaxIters(settings, 7) == 0
    assert solver.status("IRSXgesv", settings, None, *rest) == 25
    solver.IRSXgesv(settings, infos, *rest)
    close(columns(gx, n, 1), np.linalg.solve(a, b))
    count = ctypes.c_int()
    assert library.cusolverDnIRSInfosGetMaxIters(infos, ctypes.byref(count)) == 0
    assert count.value == 7
    assert library.cusolverDnIRSInfosDestroy(infos) == 0
    assert library.cusolverDnIRSParamsDestroy(settings) == 0
