"""softcuda's dense cuSOLVER: the 64-bit interface, reductions, selected eigenvalues, indefinite matrices."""

# ruff: noqa: F811
import ctypes

import numpy as np
import pytest
from library_calls import LETTERS, Handle, columns, load, on_device, random
from test_softcuda_libraries_cusolver import (  # noqa: F401
    LOWER,
    UPPER,
    close,
    positive,
    rng,
    solver,
)

from pycuda import gpuarray

TYPES = {"S": 0, "D": 1, "C": 4, "Z": 5}
REAL = {"S": 0, "D": 1, "C": 0, "Z": 1}
BY_INDEX, BY_VALUE, ALL = 1002, 1003, 1001


def names(letter):
    return ("he", "un") if letter in "CZ" else ("sy", "or")


def info_of():
    return gpuarray.zeros(1, np.int32)


def with_buffers(solver, name, *arguments):
    """The arguments of the two workspaces, of the sizes for which the library asks."""
    sizes = np.zeros(2, np.uint64)
    getattr(solver, f"{name}_bufferSize")(*arguments, sizes[:1], sizes[1:])
    device = gpuarray.zeros(int(sizes[0]), np.uint8)
    return device, int(sizes[0]), np.zeros(int(sizes[1]) + 1, np.uint8), int(sizes[1])


@pytest.mark.parametrize("letter", LETTERS)
def test_lu_of_the_64_bit_interface(solver, rng, letter):
    dtype, n, kind = LETTERS[letter], 7, TYPES[letter]
    a, b = random(rng, (n, n), dtype), random(rng, (n, 2), dtype)
    ga, gb, info = on_device(a), on_device(b), info_of()
    pivots = gpuarray.zeros(n, np.int64)
    buffers = with_buffers(solver, "Xgetrf", None, n, n, kind, ga, n, kind)
    solver.Xgetrf(None, n, n, kind, ga, n, pivots, kind, *buffers, info)
    solver.Xgetrs(None, 0, n, 2, kind, ga, n, pivots, kind, gb, n, info)
    close(columns(gb, n, 2), np.linalg.solve(a, b))
    assert (
        solver.status("Xgetrf", None, n, n, 99, ga, n, pivots, 99, *buffers, info) == 9
    )
    assert (
        solver.status("Xgetrf", None, n, n, kind, ga, n, pivots, 2, *buffers, info) == 3
    )
    huge = 1 << 40
    assert (
        solver.status(
            "Xgetrf", None, huge, n, kind, ga, huge, pivots, kind, *buffers, info
        )
        == 9
    )


@pytest.mark.parametrize("letter", LETTERS)
def test_cholesky_and_qr_of_the_64_bit_interface(solver, rng, letter):
    dtype, n, kind = LETTERS[letter], 6, TYPES[letter]
    a, b = positive(rng, n, dtype), random(rng, (n, 2), dtype)
    ga, gb, info = on_device(a), on_device(b), info_of()
    buffers = with_buffers(solver, "Xpotrf", None, UPPER, n, kind, ga, n, kind)
    solver.Xpotrf(None, UPPER, n, kind, ga, n, kind, *buffers, info)
    solver.Xpotrs(None, UPPER, n, 2, kind, ga, n, kind, gb, n, info)
    close(columns(gb, n, 2), np.linalg.solve(a, b))
    inverse = on_device(np.triu(a))
    buffers = with_buffers(solver, "Xtrtri", UPPER, 0, n, kind, inverse, n)
    solver.Xtrtri(UPPER, 0, n, kind, inverse, n, *buffers, info)
    close(np.triu(columns(inverse, n, n)) @ np.triu(a), np.eye(n))
    q, tau = on_device(a), gpuarray.zeros(n, dtype)
    buffers = with_buffers(solver, "Xgeqrf", None, n, n, kind, q, n, kind, tau, kind)
    solver.Xgeqrf(None, n, n, kind, q, n, kind, tau, kind, *buffers, info)
    r = np.triu(columns(q, n, n))
    close(r.conj().T @ r, a.conj().T @ a)


@pytest.mark.parametrize("letter", LETTERS)
def test_eigenvalues_of_the_64_bit_interface(solver, rng, letter):
    dtype, n, kind, real = LETTERS[letter], 8, TYPES[letter], REAL[letter]
    a, info = positive(rng, n, dtype), info_of()
    w = np.linalg.eigvalsh(a)
    ga, values = on_device(a), gpuarray.zeros(n, a.real.dtype)
    start = (None, 1, LOWER, n, kind, ga, n, real, values, kind)
    solver.Xsyevd(*start, *with_buffers(solver, "Xsyevd", *start), info)
    v = columns(ga, n, n)
    close(values.get(), w)
    close(a @ v, v * w)
    ga, count = on_device(a), np.zeros(1, np.int64)
    low, high = np.array([w[2] - 1e-3, w[4] + 1e-3]).astype(w.dtype).reshape(2, 1)
    start = (
        None,
        1,
        BY_VALUE,
        LOWER,
        n,
        kind,
        ga,
        n,
        low,
        high,
        0,
        0,
        count,
        real,
        values,
        kind,
    )
    solver.Xsyevdx(*start, *with_buffers(solver, "Xsyevdx", *start), info)
    assert count[0] == 3
    close(values.get()[:3], w[2:5])
    v = columns(ga, n, n)[:, :3]
    close(a @ v, v * w[2:5])


def test_batches_of_eigenvalues(solver, rng):
    n, matrices = (
        5,
        [positive(np.random.default_rng(k), 5, np.float64) for k in range(3)],
    )
    ga = gpuarray.to_gpu(np.concatenate([m.ravel() for m in matrices]))
    values, info = gpuarray.zeros(3 * n, np.float64), gpuarray.zeros(3, np.int32)
    sizes = np.zeros(2, np.uint64)
    start = (None, 0, LOWER, n, 1, ga, n, 1, values, 1)
    solver.XsyevBatched_bufferSize(*start, sizes[:1], sizes[1:], 3)
    solver.XsyevBatched(*start, None, 0, None, 0, info, 3)
    close(values.get(), np.concatenate([np.linalg.eigvalsh(m) for m in matrices]))


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("complex_values", [False, True])
def test_general_eigenvalues(solver, rng, letter, complex_values):
    dtype, n, kind = LETTERS[letter], 6, TYPES[letter]
    a, info = random(rng, (n, n), dtype), info_of()
    is_real = letter in "SD"
    kind_w = kind + 4 if is_real and complex_values else kind
    values = gpuarray.zeros(
        2 * n, dtype if kind_w == kind else LETTERS["CZ"["SD".index(letter)]]
    )
    ga, vr = on_device(a), gpuarray.zeros(n * n, dtype)
    start = (
        None,
        0,
        1,
        n,
        kind,
        ga,
        n,
        kind_w,
        values,
        kind,
        None,
        n,
        kind,
        vr,
        n,
        kind,
    )
    solver.Xgeev(*start, *with_buffers(solver, "Xgeev", *start), info)
    got = values.get()
    w = got[:n] + 1j * got[n:] if is_real and not complex_values else got[:n]
    close(np.sort_complex(w), np.sort_complex(np.linalg.eigvals(a)).astype(w.dtype))
    v = columns(vr, n, n)
    for k in np.flatnonzero(np.abs(w.imag) < 1e-9) if is_real else range(n):
        close(a @ v[:, k], v[:, k] * (w[k].real if is_real else w[k]))


@pytest.mark.parametrize("letter", LETTERS)
def test_singular_values_of_the_64_bit_interface(solver, rng, letter):
    dtype, (m, n), kind, real = LETTERS[letter], (7, 4), TYPES[letter], REAL[letter]
    a, info = random(rng, (m, n), dtype), info_of()
    s = np.linalg.svd(a, compute_uv=False)
    values = gpuarray.zeros(n, a.real.dtype)
    u, v = gpuarray.zeros(m * m, dtype), gpuarray.zeros(n * n, dtype)
    ga = on_device(a)
    start = (
        None,
        ord("S"),
        ord("S"),
        m,
        n,
        kind,
        ga,
        m,
        real,
        values,
        kind,
        u,
        m,
        kind,
        v,
        n,
        kind,
    )
    solver.Xgesvd(*start, *with_buffers(solver, "Xgesvd", *start), info)
    close(columns(u, m, m)[:, :n] * values.get() @ columns(v, n, n), a)
    ga, error = on_device(a), np.ones(1)
    start = (None, 1, 1, m, n, kind, ga, m, real, values, kind, u, m, kind, v, n, kind)
    solver.Xgesvdp(*start, *with_buffers(solver, "Xgesvdp", *start), info, error)
    close(columns(u, m, m)[:, :n] * values.get() @ columns(v, n, n).conj().T, a)
    assert error[0] == 0
    ga = on_device(a)
    start = (None, ord("S"), ord("S"), m, n, 2, 1, 2, kind, ga, m, real, values)
    start = (*start, kind, u, m, kind, v, n, kind)
    solver.Xgesvdr(*start, *with_buffers(solver, "Xgesvdr", *start), info)
    close(values.get()[:2], s[:2])


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("mode", [LOWER, UPPER])
def test_indefinite_matrices(solver, rng, letter, mode):
    dtype, n, kind = LETTERS[letter], 7, TYPES[letter]
    a = random(rng, (n, n), dtype)
    a, b = a + a.T, random(rng, (n, 2), dtype)
    ga, gb, info = on_device(a), on_device(b), info_of()
    pivots, size = gpuarray.zeros(n, np.int32), np.zeros(1, np.int32)
    getattr(solver, f"{letter}sytrf_bufferSize")(n, ga, n, size)
    work = gpuarray.zeros(int(size[0]), dtype)
    getattr(solver, f"{letter}sytrf")(mode, n, ga, n, pivots, work, int(size[0]), info)
    wide = gpuarray.to_gpu(pivots.get().astype(np.int64))
    start = (mode, n, 2, kind, ga, n, wide, kind, gb, n)
    solver.Xsytrs(*start, *with_buffers(solver, "Xsytrs", *start), info)
    close(columns(gb, n, 2), np.linalg.solve(a, b))
    getattr(solver, f"{letter}sytri")(mode, n, ga, n, pivots, work, int(size[0]), info)
    part = np.tril if mode == LOWER else np.triu
    close(part(columns(ga, n, n)), part(np.linalg.inv(a)))
    assert (
        solver.status(f"{letter}sytrf", mode, n, ga, n - 1, pivots, work, 1, info) == 3
    )


@pytest.mark.parametrize("letter", LETTERS)
def test_reductions(solver, rng, letter):
    dtype, (m, n), (sy, un) = LETTERS[letter], (8, 5), names(letter)
    a, info = random(rng, (m, n), dtype), info_of()
    ga = on_device(a)
    d, e = gpuarray.zeros(n, a.real.dtype), gpuarray.zeros(n - 1, a.real.dtype)
    tau_q, tau_p, work = (gpuarray.zeros(k, dtype) for k in (n, n, 1))
    getattr(solver, f"{letter}gebrd")(m, n, ga, m, d, e, tau_q, tau_p, work, 1, info)
    b = np.diag(d.get()) + np.diag(e.get(), 1)
    gp = on_device(columns(ga, m, n)[:n])
    getattr(solver, f"{letter}{un}gbr")(0, m, n, n, ga, m, tau_q, work, 1, info)
    getattr(solver, f"{letter}{un}gbr")(1, n, n, m, gp, n, tau_p, work, 1, info)
    close(columns(ga, m, n) @ b @ columns(gp, n, n), a)

    a = positive(rng, n, dtype)
    ga, gc = on_device(a), on_device(np.eye(n, dtype=dtype))
    getattr(solver, f"{letter}{sy}trd")(LOWER, n, ga, n, d, e, tau_q, work, 1, info)
    t = np.diag(d.get()) + np.diag(e.get(), 1) + np.diag(e.get(), -1)
    getattr(solver, f"{letter}{un}mtr")(
        0, LOWER, 0, n, n, ga, n, tau_q, gc, n, work, 1, info
    )
    getattr(solver, f"{letter}{un}gtr")(LOWER, n, ga, n, tau_q, work, 1, info)
    q = columns(ga, n, n)
    close(columns(gc, n, n), q)
    close(q @ t @ q.conj().T, a)


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("limits", [(ALL, 0, 8), (BY_INDEX, 1, 4), (BY_VALUE, 2, 5)])
def test_selected_eigenvalues(solver, rng, letter, limits):
    (kind, first, last), n, dtype = limits, 8, LETTERS[letter]
    sy, _ = names(letter)
    real = ctypes.c_double if letter in "DZ" else ctypes.c_float
    a, b, info = positive(rng, n, dtype), positive(rng, n, dtype), info_of()
    values, work = gpuarray.zeros(n, a.real.dtype), gpuarray.zeros(1, dtype)
    for w, matrices, start in [
        (np.linalg.eigvalsh(a), [a], f"{letter}{sy}evdx"),
        (np.linalg.eigvals(np.linalg.solve(b, a)), [a, b], f"{letter}{sy}gvdx"),
    ]:
        w = np.sort(w.real)
        count = np.zeros(1, np.int32)
        low, high = real(w[first] - 1e-3), real(w[last - 1] + 1e-3)
        on = [on_device(matrix) for matrix in matrices]
        getattr(solver, start)(
            *([1] if len(on) == 2 else []),
            *(1, kind, LOWER, n, on[0], n),
            *([on[1], n] if len(on) == 2 else []),
            *(low, high, first + 1, last, count, values, work, 1, info),
        )
        assert count[0] == last - first
        close(values.get()[: last - first], w[first:last].astype(values.dtype))
        v = columns(on[0], n, n)[:, : last - first]
        close(
            a @ v, (b @ v if len(on) == 2 else v) * w[first:last].astype(values.dtype)
        )
    assert (
        solver.status(f"{letter}{sy}evdx", 1, 5, LOWER, n, on[0], n, low, high, 1, 1)
        == 3
    )


@pytest.mark.parametrize("letter", LETTERS)
def test_settings_and_residuals_of_jacobi_methods(solver, rng, letter):
    dtype, n, (sy, _) = LETTERS[letter], 9, names(letter)
    library, settings = solver.library, ctypes.c_void_p()
    assert library.cusolverDnCreateSyevjInfo(ctypes.byref(settings)) == 0
    assert library.cusolverDnXsyevjSetTolerance(settings, ctypes.c_double(1e-7)) == 0
    assert library.cusolverDnXsyevjSetMaxSweeps(settings, 15) == 0
    assert library.cusolverDnXsyevjSetSortEig(settings, 1) == 0
    a, info = positive(rng, n, dtype), info_of()
    ga, values = on_device(a), gpuarray.zeros(n, a.real.dtype)
    work, residual, sweeps = (
        gpuarray.zeros(1, dtype),
        np.full(1, 9.0),
        np.full(1, 9, np.int32),
    )
    getattr(solver, f"{letter}{sy}evj")(
        1, UPPER, n, ga, n, values, work, 1, info, settings
    )
    solver.XsyevjGetResidual(settings, residual)
    solver.XsyevjGetSweeps(settings, sweeps)
    eps = np.finfo(dtype).eps
    assert 0 < residual[0] < 100 * eps * np.linalg.norm(a) and sweeps[0] == 0
    assert library.cusolverDnDestroySyevjInfo(settings) == 0

    assert library.cusolverDnCreateGesvdjInfo(ctypes.byref(settings)) == 0
    u, v = gpuarray.zeros(n * n, dtype), gpuarray.zeros(n * n, dtype)
    ga = on_device(a)
    getattr(solver, f"{letter}gesvdj")(
        1, 0, n, n, ga, n, values, u, n, v, n, work, 1, info, settings
    )
    solver.XgesvdjGetResidual(settings, residual)
    assert 0 < residual[0] < 100 * eps * np.linalg.norm(a)
    assert solver.status("XgesvdjGetResidual", None, residual) == 3
    assert library.cusolverDnDestroyGesvdjInfo(settings) == 0


@pytest.mark.parametrize("letter", LETTERS)
def test_leading_singular_values_of_a_batch(solver, rng, letter):
    dtype, (m, n), rank = LETTERS[letter], (7, 5), 3
    matrices = [random(rng, (m, n), dtype) for _ in range(2)]
    ga = gpuarray.to_gpu(np.concatenate([x.ravel(order="F") for x in matrices]))
    values = gpuarray.zeros(2 * rank, matrices[0].real.dtype)
    u, v = gpuarray.zeros(2 * m * rank, dtype), gpuarray.zeros(2 * n * rank, dtype)
    info, norms = gpuarray.zeros(2, np.int32), np.zeros(2)
    getattr(solver, f"{letter}gesvdaStridedBatched")(
        *(1, rank, m, n, ga, m, m * n, values, rank, u, m, m * rank, v, n, n * rank),
        *(gpuarray.zeros(1, dtype), 1, info, norms, 2),
    )
    for k, a in enumerate(matrices):
        left, s, right = np.linalg.svd(a, full_matrices=False)
        best = left[:, :rank] * s[:rank] @ right[:rank]
        hu = columns(u[k * m * rank : (k + 1) * m * rank], m, rank)
        hv = columns(v[k * n * rank : (k + 1) * n * rank], n, rank)
        close(hu * values.get()[k * rank : (k + 1) * rank] @ hv.conj().T, best)
        assert abs(norms[k] - np.linalg.norm(a - best)) < 1e-3


FULL = 2


@pytest.fixture
def solver_13(device):
    """For functions that CUDA 12 does not have."""
    library = load("libcusolver.so.12")
    handle = Handle(library, "cusolverDn", "cusolverDnCreate", "cusolverDnDestroy")
    yield handle
    handle.close()


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("mode", [LOWER, UPPER, FULL])
def test_polar_decomposition(solver_13, rng, letter, mode):
    dtype, m, n, kind = LETTERS[letter], 7, 4, TYPES[letter]
    a = random(rng, (m, n), dtype)
    ga, gh, info = on_device(a), gpuarray.zeros(n * n, dtype), info_of()
    measures = [gpuarray.zeros(1, np.float64) for _ in range(3)]
    of = (None, mode, m, n, kind, ga, m, kind, gh, n, kind)
    solver_13.Xpolar(*of, *with_buffers(solver_13, "Xpolar", *of), *measures, info)
    assert info.get()[0] == 0
    u, h = columns(ga, m, n), columns(gh, n, n)
    close(u.conj().T @ u, np.eye(n))
    wanted = u.conj().T @ a
    assert (np.linalg.eigvalsh(wanted) > 0).all()
    part = {LOWER: np.tril, UPPER: np.triu, FULL: lambda x: x}[mode]
    close(h, part(wanted))
    residual, norm, condition = (x.get()[0] for x in measures)
    assert residual < 1e-5
    close(np.array(norm).astype(h.real.dtype), np.linalg.norm(a))
    inverse = np.linalg.norm(1 / np.linalg.svd(a, compute_uv=False))
    close(np.array(condition).astype(h.real.dtype), 1 / (norm * inverse))


def test_the_math_mode_is_kept(solver_13):
    found = np.zeros(1, np.int32)
    solver_13.GetMathMode(found)
    assert found[0] == 1  # CUSOLVER_DEFAULT_MATH
    for mode in (2, 4, 6, 1):
        solver_13.SetMathMode(mode)
        solver_13.GetMathMode(found)
        assert found[0] == mode
    assert solver_13.status("SetMathMode", 3) == 3
    assert solver_13.library.cusolverDnLoggerSetLevel(5) == 0
    assert solver_13.library.cusolverDnLoggerSetLevel(6) == 3
    assert solver_13.library.cusolverDnLoggerSetMask(31) == 0
    assert solver_13.library.cusolverDnLoggerSetMask(32) == 3
