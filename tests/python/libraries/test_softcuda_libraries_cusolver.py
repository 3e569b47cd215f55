"""softcuda's dense cuSOLVER: factorisations, eigenvalues and singular values beside NumPy's."""

import ctypes

import numpy as np
import pytest
from library_calls import (
    LETTERS,
    Handle,
    addresses,
    capture,
    columns,
    load,
    on_device,
    random,
    synchronize,
)

import pycuda.driver as cuda
from pycuda import gpuarray

LOWER, UPPER = 0, 1


@pytest.fixture(params=["11", "12"])
def solver(device, request):
    library = load(f"libcusolver.so.{request.param}")
    handle = Handle(library, "cusolverDn", "cusolverDnCreate", "cusolverDnDestroy")
    yield handle
    handle.close()


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def close(got, wanted):
    tolerance = 1e-3 if np.finfo(got.dtype).eps > 1e-10 else 1e-10
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


def workspace(solver, name, dtype, *arguments):
    """The device's workspace and its size, as programs make it."""
    size = np.zeros(1, np.int32)
    getattr(solver, f"{name}_bufferSize")(*arguments, size)
    return gpuarray.zeros(max(int(size[0]), 1), dtype), int(size[0])


def positive(rng, n, dtype):
    a = random(rng, (n, n), dtype)
    return (a @ a.conj().T + n * np.eye(n)).astype(dtype)


@pytest.mark.parametrize("letter", LETTERS)
def test_lu(solver, rng, letter):
    dtype, n = LETTERS[letter], 11
    a, b = random(rng, (n, n), dtype), random(rng, (n, 3), dtype)
    ga, gb = on_device(a), on_device(b)
    pivots, info = gpuarray.zeros(n, np.int32), gpuarray.zeros(1, np.int32)
    work, _ = workspace(solver, f"{letter}getrf", dtype, n, n, ga, n)
    getattr(solver, f"{letter}getrf")(n, n, ga, n, work, pivots, info)
    for op, of in ((0, a), (1, a.T), (2, a.conj().T)):
        gb = on_device(b)
        getattr(solver, f"{letter}getrs")(op, n, 3, ga, n, pivots, gb, n, info)
        close(columns(gb, n, 3), np.linalg.solve(of, b))
    assert info.get()[0] == 0
    singular = on_device(np.zeros((n, n), dtype))
    getattr(solver, f"{letter}getrf")(n, n, singular, n, work, pivots, info)
    assert info.get()[0] == 1


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("mode", [LOWER, UPPER])
def test_cholesky(solver, rng, letter, mode):
    dtype, n = LETTERS[letter], 9
    a, b = positive(rng, n, dtype), random(rng, (n, 2), dtype)
    ga, gb, info = on_device(a), on_device(b), gpuarray.zeros(1, np.int32)
    work, size = workspace(solver, f"{letter}potrf", dtype, mode, n, ga, n)
    getattr(solver, f"{letter}potrf")(mode, n, ga, n, work, size, info)
    half = np.tril if mode == LOWER else np.triu
    factor = np.linalg.cholesky(a)
    close(half(columns(ga, n, n)), factor if mode == LOWER else factor.conj().T)
    getattr(solver, f"{letter}potrs")(mode, n, 2, ga, n, gb, n, info)
    close(columns(gb, n, 2), np.linalg.solve(a, b))
    getattr(solver, f"{letter}potri")(mode, n, ga, n, work, size, info)
    close(half(columns(ga, n, n)), half(np.linalg.inv(a)))
    assert info.get()[0] == 0
    batch = [on_device(a), on_device(2 * a)]
    infos = gpuarray.zeros(2, np.int32)
    where = addresses(batch)
    getattr(solver, f"{letter}potrfBatched")(mode, n, where, n, infos, 2)
    wanted = np.linalg.cholesky(2 * a)
    close(half(columns(batch[1], n, n)), wanted if mode == LOWER else wanted.conj().T)


@pytest.mark.parametrize("letter", LETTERS)
def test_qr(solver, rng, letter):
    dtype, m, n = LETTERS[letter], 12, 7
    start = "un" if letter in "CZ" else "or"
    a, c = random(rng, (m, n), dtype), random(rng, (m, 3), dtype)
    ga, gc, tau = on_device(a), on_device(c), gpuarray.zeros(n, dtype)
    info = gpuarray.zeros(1, np.int32)
    work, size = workspace(solver, f"{letter}geqrf", dtype, m, n, ga, m)
    getattr(solver, f"{letter}geqrf")(m, n, ga, m, tau, work, size, info)
    r = np.triu(columns(ga, m, n)[:n])
    op = 2 if letter in "CZ" else 1
    multiply = getattr(solver, f"{letter}{start}mqr")
    multiply(0, op, m, 3, n, ga, m, tau, gc, m, work, size, info)
    make = getattr(solver, f"{letter}{start}gqr")
    make(m, n, n, ga, m, tau, work, size, info)
    q = columns(ga, m, n)
    close(q @ r, a)
    close(q.conj().T @ q, np.eye(n))
    close(columns(gc, m, 3)[:n], q.conj().T @ c)
    assert info.get()[0] == 0


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("method", ["evd", "evj"])
def test_eigenvalues(solver, rng, letter, method):
    dtype, n = LETTERS[letter], 10
    a = positive(rng, n, dtype)
    ga, info = on_device(a), gpuarray.zeros(1, np.int32)
    values = gpuarray.zeros(n, a.real.dtype)
    name = f"{letter}{'he' if letter in 'CZ' else 'sy'}{method}"
    more = (None,) if method == "evj" else ()
    size = np.zeros(1, np.int32)
    getattr(solver, f"{name}_bufferSize")(1, LOWER, n, ga, n, values, size, *more)
    work = gpuarray.zeros(int(size[0]), dtype)
    getattr(solver, name)(1, LOWER, n, ga, n, values, work, int(size[0]), info, *more)
    w, v = values.get(), columns(ga, n, n)
    close(w, np.linalg.eigvalsh(a))
    close(a @ v, v * w)
    assert info.get()[0] == 0


@pytest.mark.parametrize("letter", LETTERS)
def test_generalised_eigenvalues(solver, rng, letter):
    dtype, n = LETTERS[letter], 6
    a, b = positive(rng, n, dtype), positive(rng, n, dtype)
    ga, gb = on_device(a), on_device(b)
    info, values = gpuarray.zeros(1, np.int32), gpuarray.zeros(n, a.real.dtype)
    name = f"{letter}{'he' if letter in 'CZ' else 'sy'}gvd"
    getattr(solver, name)(
        1, 1, UPPER, n, ga, n, gb, n, values, gpuarray.zeros(1, dtype), 1, info
    )
    v, w = columns(ga, n, n), values.get()
    close(a @ v, b @ v * w)


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("jobs", ["AA", "SS", "NN", "OS", "SO"])
def test_singular_values(solver, rng, letter, jobs):
    dtype, m, n = LETTERS[letter], 9, 6
    a = random(rng, (m, n), dtype)
    ga, info = on_device(a), gpuarray.zeros(1, np.int32)
    values = gpuarray.zeros(n, a.real.dtype)
    left = m if jobs[0] == "A" else n
    u, vt = gpuarray.zeros(m * left, dtype), gpuarray.zeros(n * n, dtype)
    work, size = workspace(solver, f"{letter}gesvd", dtype, m, n)
    getattr(solver, f"{letter}gesvd")(
        *(ord(jobs[0]), ord(jobs[1]), m, n, ga, m, values, u, m, vt, n),
        *(work, size, None, info),
    )
    close(values.get(), np.linalg.svd(a, compute_uv=False))
    if "N" not in jobs:
        overwritten = columns(ga, m, n)
        hu = overwritten if jobs[0] == "O" else columns(u, m, left)[:, :n]
        hv = overwritten[:n] if jobs[1] == "O" else columns(vt, n, n)
        close(hu * values.get() @ hv, a)


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("shape", [(8, 5), (5, 8)])
@pytest.mark.parametrize("economy", [0, 1])
def test_singular_values_by_jacobi(solver, rng, letter, shape, economy):
    dtype, (m, n) = LETTERS[letter], shape
    least = min(shape)
    left, right = (least, least) if economy else (m, n)
    a = random(rng, shape, dtype)
    ga, info = on_device(a), gpuarray.zeros(1, np.int32)
    values = gpuarray.zeros(least, a.real.dtype)
    u, v = gpuarray.zeros(m * left, dtype), gpuarray.zeros(n * right, dtype)
    getattr(solver, f"{letter}gesvdj")(
        *(1, economy, m, n, ga, m, values, u, m, v, n),
        *(gpuarray.zeros(1, dtype), 1, info, None),
    )
    hu, hv = columns(u, m, left), columns(v, n, right)
    close(hu[:, :least] * values.get() @ hv[:, :least].conj().T, a)
    close(hu.conj().T @ hu, np.eye(left))
    close(hv.conj().T @ hv, np.eye(right))


def test_a_capture_factors_anew(solver, rng):
    n, stream = 64, cuda.Stream()
    solver.SetStream(ctypes.c_void_p(stream.handle))
    a = positive(rng, n, np.float64)
    ga, source = on_device(a), on_device(a)
    info, work = gpuarray.zeros(1, np.int32), gpuarray.zeros(1, np.float64)
    synchronize()

    def calls():
        cuda.memcpy_dtod_async(ga.gpudata, source.gpudata, a.nbytes, stream)
        solver.Dpotrf(LOWER, n, ga, n, work, 1, info)

    graph = capture(stream, calls).instantiate()
    for factor in (1, 4):
        source.set(np.asfortranarray(factor * a).ravel(order="K"))
        synchronize()
        graph.launch(stream)
        stream.synchronize()
        close(np.tril(columns(ga, n, n)), np.linalg.cholesky(factor * a))


def test_errors_are_cusolvers_own(solver, capfd):
    a, info = gpuarray.zeros(16, np.float32), gpuarray.zeros(1, np.int32)
    assert solver.status("Spotrf", 5, 4, a, 4, a, 1, info) == 3
    assert solver.status("Spotrf", 0, 4, a, 3, a, 1, info) == 3
    assert solver.library.cusolverDnSpotrf(None) == 1
    capfd.readouterr()
    assert solver.status("Spotrf", 0, 20, a, 20, a, 1, info) == 6
    assert "A must be device memory of 1600 bytes" in capfd.readouterr().err
    assert solver.status("Spotrf", 0, 4, a, 4, a, 1, None) == 6
    assert solver.library.cusolverSpScsrzfdHost(None) == 9
    assert "cusolverSpScsrzfdHost: not supported" in capfd.readouterr().err
