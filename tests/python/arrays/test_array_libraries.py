"""Linear algebra and Fourier transforms with libraries and without, compared with NumPy.

The functions here are called as the package calls them, with the library that is available: NVIDIA's on a GPU, the
stand-ins of tests/core/fake_libraries (which compute on softcuda's memory) where PYCUDA_LIBRARIES names them.
"""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda.driver as cuda
from pycuda import _driver, fft, gpuarray, linalg
from pycuda.arrays.interop import host as host_memory
from pycuda.arrays.linalg import lapack, small

pytestmark = pytest.mark.usefixtures("device")

FAKES = Path(_driver.__file__).parents[2] / "tests/core/fake_libraries"
SHAPES = [(7, 4), (4, 7), (5, 5), (2, 6, 4), (3, 6, 6)]
AXES = [(3,), (0,), (1,), (2, 3), (0, 1), (1, 2), (0, 2), (0, 1, 2), (0, 1, 2, 3), (3, 0), (3, 1, 2)]  # fmt: skip


@pytest.fixture
def solver(device):
    if not lapack.takes("f4"):
        pytest.skip("no cuSOLVER")


@pytest.fixture
def fourier(device):
    if not _driver._array_library_takes("fourier", np.dtype("f4")):
        pytest.skip("no cuFFT")


def numbers(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape) + 1j * rng.normal(size=shape)
    return (x if np.dtype(dtype).kind == "c" else x.real).astype(dtype)


def adjoint(a):
    return a.conj().swapaxes(-1, -2)


def close(one, other, dtype):
    limit = 1e-3 if np.dtype(dtype) in (np.float32, np.complex64) else 1e-9
    assert one.shape == other.shape
    np.testing.assert_allclose(one, other, rtol=limit, atol=limit)


def stacks(a):
    """The array in row order, in column order, and with gaps."""
    yield gpuarray.to_gpu(a)
    columns = gpuarray.to_gpu(np.ascontiguousarray(a.swapaxes(-1, -2)))
    yield columns.swapaxes(-1, -2)
    wide = np.zeros((*a.shape[:-1], 2 * a.shape[-1]), a.dtype)
    wide[..., ::2] = a
    yield gpuarray.to_gpu(wide)[..., ::2]


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize(
    "shape", [(6, 6), (3, 6, 6), (1, 1), (2, 1, 40, 40), (70, 70), (2, 260, 260)]
)
def test_equations_in_rows_and_columns(shape, dtype):
    n = shape[-1]
    a = numbers(shape, dtype) + n * np.eye(n, dtype=dtype)
    b = numbers((*shape[:-1], 2), dtype, 1)
    for on_device in stacks(a):
        close(
            linalg.solve(on_device, gpuarray.to_gpu(b)).get(),
            np.linalg.solve(a, b),
            dtype,
        )
        close(linalg.inv(on_device).get(), np.linalg.inv(a), dtype)
        sign, logarithm = (x.get() for x in linalg.slogdet(on_device))
        expected = np.linalg.slogdet(a)
        close(sign, np.asarray(expected[0]), dtype)
        close(logarithm, np.asarray(expected[1]), dtype)
        np.testing.assert_array_equal(on_device.get(), a)  # operands are unchanged


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("shape", [(6, 6), (3, 6, 6), (70, 70)])
def test_cholesky_reads_one_triangle(shape, dtype):
    a = numbers(shape, dtype)
    a = a @ adjoint(a) + shape[-1] * np.eye(shape[-1], dtype=dtype)
    noise = numbers(shape, dtype, 2)
    lower, upper = a + np.triu(noise, 1), a + np.tril(noise, -1)
    expected = np.linalg.cholesky(a)
    close(linalg.cholesky(gpuarray.to_gpu(lower)).get(), expected, dtype)
    close(
        linalg.cholesky(gpuarray.to_gpu(upper), upper=True).get(),
        adjoint(expected),
        dtype,
    )


@pytest.mark.parametrize("dtype", ["f4", "c16"])
def test_one_matrix_of_a_stack_cannot_be_factored(dtype):
    for n in (3, 40):
        a = np.stack([np.eye(n), np.zeros((n, n)), np.eye(n)]).astype(dtype)
        on_device = gpuarray.to_gpu(a)
        for call in (linalg.inv, linalg.cholesky):
            with pytest.raises(linalg.LinAlgError):
                call(on_device)
        with pytest.raises(linalg.LinAlgError):
            linalg.solve(on_device, on_device)
        assert linalg.det(on_device).get().tolist() == [1, 0, 1]
        sign, logarithm = linalg.slogdet(on_device)
        assert sign.get().tolist() == [1, 0, 1]
        assert logarithm.get().tolist() == [0, -np.inf, 0]


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("shape", SHAPES)
def test_factors_by_the_library(solver, shape, dtype):
    a, kind = numbers(shape, dtype), np.dtype(dtype)
    on_device = gpuarray.to_gpu(a)
    for mode in ("reduced", "complete"):
        q, r = (x.get() for x in lapack.qr(on_device, kind, mode))
        expected = np.linalg.qr(a, mode)
        close(q.reshape(expected[0].shape), expected[0], dtype)
        close(r.reshape(expected[1].shape), expected[1], dtype)
    values = np.linalg.svd(a, compute_uv=False)
    for full, way in itertools.product((False, True), ("qr", "jacobi", "polar")):
        if way == "polar" and full and shape[-1] != shape[-2]:
            continue  # it has no more vectors than columns
        u, s, vh = (x.get() for x in lapack.svd(on_device, kind, full, True, way))
        close(s.reshape(values.shape), values, dtype)
        k = s.shape[-1]
        product = (u[..., :k] * s[..., None, :]) @ vh[..., :k, :]
        close(product.reshape(shape), a, dtype)
        for orthonormal in (adjoint(u) @ u, vh @ adjoint(vh)):
            identity = np.broadcast_to(np.eye(orthonormal.shape[-1]), orthonormal.shape)
            close(orthonormal, identity, dtype)
        _, s, _ = lapack.svd(on_device, kind, full, False, way)
        close(s.get().reshape(values.shape), values, dtype)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("shape", [(6, 6), (3, 6, 6)])
@pytest.mark.parametrize("lower", [True, False])
def test_eigenvalues_by_the_library_of_one_triangle(solver, shape, dtype, lower):
    a, noise = numbers(shape, dtype), numbers(shape, dtype, 4)
    a = (a + adjoint(a)) / 2
    given = a + (np.triu(noise, 1) if lower else np.tril(noise, -1))
    values, vectors = (
        x.get()
        for x in lapack.eigh(gpuarray.to_gpu(given), np.dtype(dtype), lower, True)
    )
    close(values.reshape(shape[:-1]), np.linalg.eigvalsh(a), dtype)
    vectors = vectors.reshape(shape)
    close(a @ vectors, vectors * values.reshape(shape[:-1])[..., None, :], dtype)
    alone, nothing = lapack.eigh(gpuarray.to_gpu(given), np.dtype(dtype), lower, False)
    assert nothing is None
    close(alone.get(), values, dtype)


# The code for a lane's row is unrolled: small rows compile quickly for a CPU, too. The largest take
# half a minute there, and run on a GPU only.
SMALL = [("f4", 1, 3), ("f4", 3, 50), ("f4", 4, 7), ("f4", 7, 20)]
LARGER = [("f8", 13, 9), ("c16", 6, 40)]
LARGEST = [("f4", 32, 9), ("c8", 16, 5), ("f8", 32, 3)]


@pytest.mark.parametrize(
    ("dtype", "n", "count"),
    SMALL + [pytest.param(*one, marks=pytest.mark.slow) for one in LARGER + LARGEST],
)
def test_small_matrices(dtype, n, count):
    if (dtype, n, count) in LARGEST and is_softcuda():
        pytest.skip("takes long to compile for a CPU")
    kind = np.dtype(dtype)
    a = numbers((count, n, n), dtype) + 2 * np.eye(n, dtype=dtype)
    b = numbers((count, n, 5), dtype, 1)
    on_device = gpuarray.to_gpu(a)
    identity = np.broadcast_to(np.eye(n, dtype=dtype), a.shape)
    close(a @ small.inv(on_device, kind).get(), identity, dtype)
    close(a @ small.solve(on_device, gpuarray.to_gpu(b), kind).get(), b, dtype)
    sign, logarithm = np.linalg.slogdet(a)
    determinants = small.det(on_device, kind).get()
    close(determinants / (sign * np.exp(logarithm)), np.ones(count), dtype)
    found = small.slogdet(on_device, kind)
    close(found[0].get(), sign, dtype)
    close(found[1].get(), logarithm, dtype)
    check_small_cholesky(a @ adjoint(a), dtype, scale=1)


def check_small_cholesky(positive, dtype, scale):
    """Both factors of a stack; the other half of the matrices is not read. `scale`: of their elements."""
    noise = numbers(positive.shape, dtype, 2)
    for upper in (False, True):
        other = np.tril(noise, -1) if upper else np.triu(noise, 1)
        operand = gpuarray.to_gpu(positive + other)
        factors = small.cholesky(operand, np.dtype(dtype), upper)
        lower = adjoint(factors.get()) if upper else factors.get()
        assert not np.triu(lower, 1).any()
        close(lower @ adjoint(lower) / scale, positive / scale, dtype)


WIDE_ROWS = [("f8", 50, 3), ("c8", 64, 2), ("c16", 20, 3)]


@pytest.mark.parametrize(
    ("dtype", "n", "count"),
    [("f4", 33, 3), ("f4", 64, 2)]
    + [pytest.param(*one, marks=pytest.mark.slow) for one in WIDE_ROWS],
)
def test_matrices_in_blocks_of_threads(dtype, n, count):
    if (dtype, n, count) in WIDE_ROWS and is_softcuda():
        pytest.skip("takes long to compile for a CPU")
    kind = np.dtype(dtype)
    a = numbers((count, n, n), dtype)
    a[0, np.arange(n), np.arange(n)] = 0  # the pivots are in other rows
    on_device = gpuarray.to_gpu(a)
    expected = np.linalg.inv(a.astype(np.result_type(kind, "f8")))
    size = np.abs(expected).max((1, 2), keepdims=True)
    rough = 4e-3 if dtype in ("f4", "c8") else 1e-11
    assert np.abs((small.inv(on_device, kind).get() - expected) / size).max() < rough
    check_small_cholesky(a @ adjoint(a) + np.eye(n, dtype=dtype), dtype, scale=n)


def test_errors_of_matrices_in_blocks_of_threads():
    kind = np.dtype("f4")
    a = numbers((2, 40, 40), "f4")
    a[1, :, 39] = 0
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        small.inv(gpuarray.to_gpu(a), kind)
    a[0, 3, 5] = np.nan
    assert np.isnan(small.inv(gpuarray.to_gpu(a[:1]), kind).get()).any()
    positive = a[1:] @ adjoint(a[1:])
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        small.cholesky(gpuarray.to_gpu(positive), kind, False)


ROTATED = [("f4", 3, 4, 20), ("f4", 4, 3, 20), ("f8", 4, 4, 1), ("c8", 2, 4, 9)]
MORE_ROTATED = [
    ("f4", 32, 32, 5),
    ("f8", 10, 17, 3),
    ("f4", 7, 5, 33),
    ("c16", 6, 6, 4),
]
LARGEST_ROTATED = [
    ("f8", 20, 32, 3),
    ("f8", 32, 32, 2),
    ("c8", 32, 32, 2),
    ("c16", 16, 16, 2),
]


def rotated():
    marked = [pytest.param(*one, marks=pytest.mark.slow) for one in MORE_ROTATED]
    return ROTATED + marked + LARGEST_ROTATED


@pytest.mark.parametrize(("dtype", "m", "n", "count"), rotated())
def test_small_matrices_rotated(dtype, m, n, count):
    if (dtype, m, n, count) in LARGEST_ROTATED and is_softcuda():
        pytest.skip("takes long to compile for a CPU")
    kind, least = np.dtype(dtype), min(m, n)
    a = numbers((count, m, n), dtype) * 1e6
    a[0] *= 1e-12  # whatever the size
    on_device = gpuarray.to_gpu(a)
    u, s, vh = (x.get() for x in small.svd(on_device, kind, True))
    one = np.broadcast_to(np.eye(least, dtype=dtype), (count, least, least))
    close(adjoint(u) @ u, one, dtype)
    close(vh @ adjoint(vh), one, dtype)
    size = s[:, :1, None]
    close((u * s[:, None]) @ vh / size, a / size, dtype)
    assert (np.diff(s) <= 0).all()
    close(small.svd(on_device, kind, False)[1].get() / s[:, :1], s / s[:, :1], dtype)


@pytest.mark.parametrize(("dtype", "m", "n", "count"), rotated())
def test_small_hermitian_matrices(dtype, m, n, count):
    if (dtype, m, n, count) in LARGEST_ROTATED and is_softcuda():
        pytest.skip("takes long to compile for a CPU")
    kind = np.dtype(dtype)
    noise = numbers((count, m, m), dtype)
    a = noise + adjoint(noise)
    a[-1] = np.diag(np.arange(m) % 3 - 1)  # the same eigenvalue several times, and 0
    one = np.broadcast_to(np.eye(m, dtype=dtype), a.shape)
    for upper in (False, True):
        triangle = (
            np.triu(a) + np.tril(noise, -1) if upper else np.tril(a) + np.triu(noise, 1)
        )
        on_device = gpuarray.to_gpu(triangle.astype(dtype) * kind.type(1e-10))
        values, vectors = (x.get() for x in small.eigh(on_device, kind, upper, True))
        values = values * 1e10
        close(adjoint(vectors) @ vectors, one, dtype)
        close((vectors * values[:, None]) @ adjoint(vectors), a, dtype)
        close(values, np.linalg.eigvalsh(a), dtype)
        close(small.eigh(on_device, kind, upper, False)[0].get() * 1e10, values, dtype)


def test_small_matrices_that_cannot_be_rotated():
    """Whose other way svd() takes: one of no full rank, one that is not finite."""
    kind = np.dtype("f4")
    a = np.stack([np.eye(3), np.ones((3, 3))]).astype(kind)
    zero, infinite = a.copy(), a.copy()
    zero[1] = 0
    infinite[0, 1, 2] = np.inf
    assert small.svd(gpuarray.to_gpu(zero), kind, True) is None
    assert (small.svd(gpuarray.to_gpu(zero), kind, False)[1].get()[1] == 0).all()
    assert small.svd(gpuarray.to_gpu(infinite), kind, False) is None
    assert small.eigh(gpuarray.to_gpu(infinite), kind, True, True) is None
    assert (
        small.eigh(gpuarray.to_gpu(zero), kind, False, True)[0].get()[1].tolist()
        == [0] * 3
    )


def test_small_matrices_of_which_one_is_singular():
    kind = np.dtype("f4")
    a = np.stack([np.eye(4), np.zeros((4, 4)), np.eye(4)[::-1]]).astype(kind)
    on_device = gpuarray.to_gpu(a)
    for call in (
        lambda: small.inv(on_device, kind),
        lambda: small.solve(on_device, on_device, kind),
        lambda: small.cholesky(on_device, kind, False),
    ):
        with pytest.raises(linalg.LinAlgError):
            call()
    assert small.det(on_device, kind).get().tolist() == [1, 0, 1]
    sign, logarithm = small.slogdet(on_device, kind)
    assert sign.get().tolist() == [1, 0, 1]
    assert logarithm.get().tolist() == [0, -np.inf, 0]


@pytest.mark.parametrize("n", [2, 40])
def test_nan_stays_nan(n):
    a = np.eye(n)
    a[0, 1] = np.nan
    on_device = gpuarray.to_gpu(a)
    assert np.isnan(linalg.det(on_device).get())
    assert np.isnan(linalg.slogdet(on_device).logabsdet.get())
    assert np.isnan(linalg.inv(on_device).get()).any()
    assert np.isnan(linalg.solve(on_device, on_device).get()).any()


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_transforms_over_any_axes(axes, dtype):
    x = numbers((4, 6, 5, 8), dtype)
    real = np.ascontiguousarray(x.real)
    calls = [("fftn", x), ("fftn", real), ("ifftn", x), ("ifftn", real)]
    calls += [("rfftn", real), ("irfftn", x)]
    for (name, host), norm in itertools.product(calls, (None, "ortho")):
        on_device = gpuarray.to_gpu(host)
        result = getattr(fft, name)(on_device, axes=axes, norm=norm)
        expected = getattr(np.fft, name)(host, axes=axes, norm=norm)
        close(result.get(), expected, dtype)
        np.testing.assert_array_equal(on_device.get(), host)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4", "?"])
@pytest.mark.parametrize(
    "shape, axes",
    [((9,), (0,)), ((5, 7), (1, 0)), ((5, 7), (0,)), ((3, 1, 5), (1,)), ((2, 3, 4, 3, 5), (0, 2, 4))],
)  # fmt: skip
def test_spectra_of_real_numbers(shape, axes, dtype):
    x = (3 * numbers(shape, "f8")).astype(dtype)
    on_device = gpuarray.to_gpu(x)
    host = x.astype("f4") if dtype == "f2" else x
    for name in ("fftn", "ifftn"):
        got = getattr(fft, name)(on_device, axes=axes).get()
        close(got, getattr(np.fft, name)(host, axes=axes), "f4")
    for norm in (None, "ortho", "forward"):
        expected = np.fft.ihfft(host, axis=axes[0], n=6, norm=norm)
        close(fft.ihfft(on_device, axis=axes[0], n=6, norm=norm).get(), expected, "f4")
    np.testing.assert_array_equal(on_device.get(), x)
    assert fft.ihfft(gpuarray.zeros((0, 4), "f4")).shape == (0, 3)


def test_transforms_of_parts_do_not_change_the_whole(fourier):
    x = numbers((6, 8), "c16")
    on_device = gpuarray.to_gpu(x)
    close(fft.fft(on_device[:4]).get(), np.fft.fft(x[:4]), "c16")
    close(fft.fft(on_device, 4, axis=0).get(), np.fft.fft(x, 4, axis=0), "c16")
    close(fft.ifft(on_device[:, ::2]).get(), np.fft.ifft(x[:, ::2]), "c16")
    close(fft.irfft(on_device[:, :5]).get(), np.fft.irfft(x[:, :5]), "c16")
    np.testing.assert_array_equal(on_device.get(), x)


def test_transform_into_out():
    x = numbers((6, 8), "c16")
    on_device = gpuarray.to_gpu(x)
    out = gpuarray.empty((6, 8), np.complex128)
    assert fft.fft(on_device, out=out) is out
    close(out.get(), np.fft.fft(x), "c16")
    assert fft.fft2(out, out=out) is out
    close(out.get(), np.fft.fft2(np.fft.fft(x)), "c16")
    narrow = gpuarray.empty((6, 8), np.complex64)
    fft.ifft(on_device, out=narrow)
    close(narrow.get(), np.fft.ifft(x), "c8")


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(
    "shape, axis", [((9,), 0), ((3, 9), 1), ((3, 5), 0), ((3, 6, 5), 1)]
)
def test_real_numbers_at_addresses_unaligned_for_complex(fourier, dtype, shape, axis):
    """Data that begins at an odd element of an array, and pieces with an odd number of elements."""
    x = numbers(shape, dtype)
    bed = gpuarray.zeros(x.size + 1, dtype)
    odd = bed[1:].reshape(shape)
    odd.set(x)
    spectrum = np.fft.rfft(x, axis=axis)
    close(fft.rfft(odd, axis=axis).get(), spectrum, dtype)
    on_device = gpuarray.to_gpu(spectrum.astype(np.result_type(dtype, "c8")))
    assert fft.irfft(on_device, shape[axis], axis=axis, out=odd) is odd
    close(odd.get(), x, dtype)
    assert bed.get()[0] == 0


def test_more_plans_than_are_kept(fourier):
    for n in (*range(2, 100), 2, 50):
        x = numbers((n,), "c16")
        close(fft.fft(gpuarray.to_gpu(x)).get(), np.fft.fft(x), "c16")


def test_libraries_in_contexts_that_are_created_and_destroyed():
    a = numbers((40, 40), "f8") + 9 * np.eye(40)
    x = numbers((40,), "c16")
    for _ in range(3):
        context = cuda.Device(0).make_context()
        try:
            close(linalg.inv(gpuarray.to_gpu(a)).get(), np.linalg.inv(a), "f8")
            close(fft.fft(gpuarray.to_gpu(x)).get(), np.fft.fft(x), "c16")
        finally:
            context.pop()
            context.detach()


def test_handles_and_plans_end_with_a_detached_context(run_program):
    """Also those of a context with live arrays."""
    if not (is_softcuda() and FAKES.is_dir()):
        pytest.skip("stand-ins are built for softcuda alone")
    done = run_program(
        """
        import ctypes, os
        import numpy as np
        import pycuda.driver as cuda
        from pycuda import fft, gpuarray, linalg

        def handles():
            names = ("cublas.so.13", "cusolver.so.12", "cufft.so.12")
            files = (os.path.join(os.environ["PYCUDA_LIBRARIES"], "lib" + n) for n in names)
            return [ctypes.CDLL(file).fake_live_handles() for file in files]

        cuda.init()
        for _ in range(2):
            context = cuda.Device(0).make_context()
            x = gpuarray.to_gpu(np.eye(40))
            (x @ x, linalg.inv(x), fft.fft(x, 37))
            print(handles())
            context.pop()
            context.detach()
            print(handles())
        """,
        PYCUDA_LIBRARIES=str(FAKES),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[1, 1, 1]", "[0, 0, 0]"] * 2


def test_the_host_waits_for_queued_work():
    """Kernels before a call write its operand; kernels after it read its result."""
    n = 256
    one = gpuarray.to_gpu(np.eye(n))
    for _ in range(5):
        a = one.copy()
        for _ in range(20):
            a += one  # queued
        inverse = linalg.inv(a)
        doubled = inverse + inverse
        close(doubled.get(), 2 / 21 * np.eye(n), "f8")
        spectrum = fft.fft(a) * 2
        close(spectrum.get(), 2 * np.fft.fft(21 * np.eye(n)), "c16")


def test_views_of_the_host_are_the_arrays_memory():
    x = gpuarray.to_gpu(np.arange(6.0).reshape(2, 3))
    lent = host_memory.views(x, x.T)
    if lent is None:
        pytest.skip("the host does not have the arrays' memory")
    lent[0][1, 2] = 77
    assert lent[1][2, 1] == 77
    assert x.get()[1, 2] == 77


WITH = {"none": "none", "stand-ins": str(FAKES)}


@pytest.mark.slow
@pytest.mark.parametrize("libraries", WITH)
def test_with_other_libraries(libraries):
    """Runs these tests and those of linear algebra and transforms with the named libraries."""
    softcuda = "softcuda" in cuda.get_driver_path()
    if libraries == "stand-ins" and not (softcuda and FAKES.is_dir()):
        pytest.skip("stand-ins are built for softcuda alone")
    folder = Path(__file__).parent
    names = ("array_libraries", "linalg", "linalg_spectral", "fft")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow",
         "-k", "not small_matrices",  # which never go to a library
         *(str(folder / f"test_{name}.py") for name in names)],
        env={**os.environ, "PYCUDA_LIBRARIES": WITH[libraries]},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " passed" in done.stdout


def test_a_wrong_choice_of_libraries_is_an_error(run_program):
    done = run_program(
        """
        import numpy as np, pycuda.autoinit
        from pycuda import gpuarray, linalg
        linalg.inv(gpuarray.to_gpu(np.eye(80)))
        """,
        PYCUDA_LIBRARIES="/no/such/folder",
    )
    assert done.returncode != 0
    assert "PYCUDA_LIBRARIES is '/no/such/folder'" in done.stderr
