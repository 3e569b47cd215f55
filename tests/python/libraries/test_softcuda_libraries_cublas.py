"""softcuda's cuBLAS: values beside NumPy's, scalars on both sides, streams, captures, errors."""

import ctypes
import threading

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

OPERATIONS = {0: lambda a: a, 1: lambda a: a.T, 2: lambda a: a.conj().T}
LOWER, UPPER = 0, 1


@pytest.fixture(params=["12", "13"])
def blas(device, request):
    handle = Handle(
        load(f"libcublas.so.{request.param}"),
        "cublas",
        "cublasCreate_v2",
        "cublasDestroy_v2",
    )
    yield handle
    handle.close()


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def scalar(value, dtype):
    return np.array([value], dtype)


def close(got, wanted):
    single = np.finfo(wanted.dtype).eps > 1e-10 if wanted.dtype.kind in "fc" else False
    np.testing.assert_allclose(
        got, wanted, rtol=2e-4 if single else 1e-11, atol=1e-4 if single else 1e-11
    )


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("form", ["_v2", "_v2_64"])
def test_vectors(blas, rng, letter, form):
    dtype = LETTERS[letter]
    x, y = random(rng, 40, dtype), random(rng, 40, dtype)
    gx, gy = gpuarray.to_gpu(x), gpuarray.to_gpu(y)
    getattr(blas, f"{letter}axpy{form}")(20, scalar(2, dtype), gx, 2, gy, 1)
    y[:20] += 2 * x[::2]
    close(gy.get(), y)
    getattr(blas, f"{letter}scal{form}")(13, scalar(3, dtype), gx, 3)
    x[:39:3] *= 3
    close(gx.get(), x)
    getattr(blas, f"{letter}swap{form}")(40, gx, 1, gy, 1)
    x, y = y, x
    getattr(blas, f"{letter}copy{form}")(10, gx, 1, gy, 4)
    y[::4] = x[:10]
    close(gy.get(), y)
    name = {"S": "S", "D": "D", "C": "Sc", "Z": "Dz"}[letter]
    real = np.empty(1, x.real.dtype)
    getattr(blas, f"{name}nrm2{form}")(40, gx, 1, real)
    close(real, np.array([np.linalg.norm(x)], real.dtype))
    getattr(blas, f"{name}asum{form}")(40, gx, 1, real)
    sizes = abs(x.real) + abs(x.imag)
    close(real, np.array([sizes.sum()], real.dtype))
    index = np.zeros(1, np.int64)
    getattr(blas, f"I{letter.lower()}amax{form}")(40, gx, 1, index)
    assert index[0] == sizes.argmax() + 1
    getattr(blas, f"I{letter.lower()}amin{form}")(40, gx, 1, index)
    assert index[0] == sizes.argmin() + 1
    result = np.empty(1, dtype)
    dots = {"C": ("dotu", "dotc"), "Z": ("dotu", "dotc")}.get(letter, ("dot",))
    for dot in dots:
        getattr(blas, f"{letter}{dot}{form}")(40, gx, 1, gy, 1, result)
        close(result, np.array([(np.conj(x) if dot == "dotc" else x) @ y], dtype))


@pytest.mark.parametrize("letter", LETTERS)
def test_rotations(blas, rng, letter):
    dtype = LETTERS[letter]
    x, y = random(rng, 9, dtype), random(rng, 9, dtype)
    gx, gy = gpuarray.to_gpu(x), gpuarray.to_gpu(y)
    real = x.real.dtype
    a, b, c, s = (
        scalar(v, t) for v, t in ((3, dtype), (4, dtype), (0, real), (0, dtype))
    )
    getattr(blas, f"{letter}rotg_v2")(a, b, c, s)
    close(abs(a), np.array([5], real))
    getattr(blas, f"{letter}rot_v2")(9, gx, 1, gy, 1, c, s)
    close(gx.get(), c[0] * x + s[0] * y)
    close(gy.get(), c[0] * y - np.conj(s[0]) * x)


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("op", OPERATIONS)
def test_matrix_and_vector(blas, rng, letter, op):
    dtype = LETTERS[letter]
    a = random(rng, (7, 5), dtype)
    x, y = (
        random(rng, 5 if op == 0 else 7, dtype),
        random(rng, 7 if op == 0 else 5, dtype),
    )
    ga, gx, gy = on_device(a), gpuarray.to_gpu(x), gpuarray.to_gpu(y)
    call = getattr(blas, f"{letter}gemv_v2")
    call(op, 7, 5, scalar(2, dtype), ga, 7, gx, 1, scalar(0.5, dtype), gy, 1)
    close(gy.get(), 2 * OPERATIONS[op](a) @ x + y / 2)


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("mode", [LOWER, UPPER])
def test_symmetric_and_triangular(blas, rng, letter, mode):
    dtype = LETTERS[letter]
    n = 6
    half = np.tril if mode == LOWER else np.triu
    a = random(rng, (n, n), dtype) + 4 * np.eye(n, dtype=dtype)
    x, y = random(rng, n, dtype), random(rng, n, dtype)
    ga, gx, gy = on_device(a), gpuarray.to_gpu(x), gpuarray.to_gpu(y)
    one, zero = scalar(1, dtype), scalar(0, dtype)
    full = half(a) + half(a, -1 if mode == LOWER else 1).T
    getattr(blas, f"{letter}symv_v2")(mode, n, one, ga, n, gx, 1, zero, gy, 1)
    close(gy.get(), full @ x)
    if letter in "CZ":
        diagonal = np.diag(np.diag(a).real).astype(dtype)
        strict = half(a, -1 if mode == LOWER else 1)
        hermitian = strict + strict.conj().T + diagonal
        getattr(blas, f"{letter}hemv_v2")(mode, n, one, ga, n, gx, 1, zero, gy, 1)
        close(gy.get(), hermitian @ x)
    getattr(blas, f"{letter}trmv_v2")(mode, 0, 0, n, ga, n, gx, 1)
    close(gx.get(), half(a) @ x)
    getattr(blas, f"{letter}trsv_v2")(mode, 0, 0, n, ga, n, gx, 1)
    close(gx.get(), x)
    name = {"C": "geru", "Z": "geru"}.get(letter, "ger")
    getattr(blas, f"{letter}{name}_v2")(n, n, one, gx, 1, gx, 1, ga, n)
    close(columns(ga, n, n), a + np.outer(x, x))
    getattr(blas, f"{letter}syr_v2")(mode, n, one, gx, 1, ga, n)
    close(half(columns(ga, n, n)), half(a + 2 * np.outer(x, x)))
    packed = gpuarray.zeros(n * (n + 1) // 2, dtype)
    getattr(blas, f"{letter}trttp")(mode, n, ga, n, packed)
    gb = gpuarray.zeros(n * n, dtype)
    getattr(blas, f"{letter}tpttr")(mode, n, packed, gb, n)
    close(columns(gb, n, n), half(columns(ga, n, n)))


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("op_a", OPERATIONS)
@pytest.mark.parametrize("op_b", OPERATIONS)
def test_gemm(blas, rng, letter, op_a, op_b):
    dtype = LETTERS[letter]
    m, n, k = 31, 17, 23
    a = random(rng, (m, k) if op_a == 0 else (k, m), dtype)
    b = random(rng, (k, n) if op_b == 0 else (n, k), dtype)
    c = random(rng, (m, n), dtype)
    ga, gb, gc = on_device(a), on_device(b), on_device(c)
    alpha, beta = scalar(2, dtype), scalar(-1, dtype)
    wanted = 2 * OPERATIONS[op_a](a) @ OPERATIONS[op_b](b) - c
    for form in ("_v2", "_v2_64"):
        gc.set(np.asfortranarray(c).ravel(order="K"))
        getattr(blas, f"{letter}gemm{form}")(
            op_a, op_b, m, n, k, alpha, ga, len(a), gb, len(b), beta, gc, m
        )
        close(columns(gc, m, n), wanted)


@pytest.mark.parametrize("letter", LETTERS)
def test_scalars_on_the_device(blas, rng, letter):
    dtype = LETTERS[letter]
    a, b = random(rng, (8, 8), dtype), random(rng, (8, 8), dtype)
    ga, gb, gc = on_device(a), on_device(b), gpuarray.zeros(64, dtype)
    blas.SetPointerMode_v2(1)
    alpha, beta = (
        gpuarray.to_gpu(scalar(3, dtype)),
        gpuarray.to_gpu(scalar(0, dtype)),
    )
    getattr(blas, f"{letter}gemm_v2")(0, 0, 8, 8, 8, alpha, ga, 8, gb, 8, beta, gc, 8)
    close(columns(gc, 8, 8), 3 * a @ b)
    result = gpuarray.zeros(1, dtype)
    name = {"C": "dotc", "Z": "dotc"}.get(letter, "dot")
    getattr(blas, f"{letter}{name}_v2")(64, ga, 1, gb, 1, result)
    close(result.get()[0], np.vdot(a, b))


@pytest.mark.parametrize("letter", LETTERS)
def test_level_3(blas, rng, letter):
    dtype = LETTERS[letter]
    m, n = 9, 6
    one, zero = scalar(1, dtype), scalar(0, dtype)
    a = random(rng, (m, m), dtype) + 5 * np.eye(m, dtype=dtype)
    b = random(rng, (m, n), dtype)
    ga, gb, gc = on_device(a), on_device(b), gpuarray.zeros(m * n, dtype)
    symmetric = np.tril(a) + np.tril(a, -1).T
    getattr(blas, f"{letter}symm_v2")(0, LOWER, m, n, one, ga, m, gb, m, zero, gc, m)
    close(columns(gc, m, n), symmetric @ b)
    getattr(blas, f"{letter}trmm_v2")(0, UPPER, 1, 0, m, n, one, ga, m, gb, m, gc, m)
    close(columns(gc, m, n), np.triu(a).T @ b)
    getattr(blas, f"{letter}trsm_v2")(0, UPPER, 1, 0, m, n, one, ga, m, gc, m)
    close(columns(gc, m, n), b)
    gs = gpuarray.zeros(m * m, dtype)
    getattr(blas, f"{letter}syrk_v2")(LOWER, 0, m, n, one, gb, m, zero, gs, m)
    close(columns(gs, m, m), np.tril(b @ b.T))
    getattr(blas, f"{letter}syrkx")(UPPER, 0, m, n, one, gb, m, gc, m, zero, gs, m)
    close(np.triu(columns(gs, m, m)), np.triu(b @ b.T))
    getattr(blas, f"{letter}geam")(1, 1, n, m, one, gb, m, one, gb, m, gc, n)
    close(columns(gc, n, m), 2 * b.T)
    getattr(blas, f"{letter}dgmm")(0, m, n, gb, m, ga, 1, gc, m)
    close(columns(gc, m, n), a[:, :1] * b)


@pytest.mark.parametrize("letter", LETTERS)
def test_batches(blas, rng, letter):
    dtype = LETTERS[letter]
    n, count = 5, 4
    one, zero = scalar(1, dtype), scalar(0, dtype)
    a = random(rng, (count, n, n), dtype) + 3 * np.eye(n, dtype=dtype)
    b = random(rng, (count, n, n), dtype)
    flat = [gpuarray.to_gpu(x.swapaxes(1, 2).copy()) for x in (a, b)]
    gc = gpuarray.zeros((count, n, n), dtype)
    getattr(blas, f"{letter}gemmStridedBatched")(
        *(0, 0, n, n, n, one, flat[0], n, n * n, flat[1], n, n * n, zero, gc, n, n * n),
        count,
    )
    close(gc.get().swapaxes(1, 2), a @ b)
    parts = [[on_device(x[i]) for i in range(count)] for x in (a, b)]
    out = [gpuarray.zeros(n * n, dtype) for _ in range(count)]
    pa, pb, pc = map(addresses, (*parts, out))
    getattr(blas, f"{letter}gemmBatched")(
        0, 0, n, n, n, one, pa, n, pb, n, zero, pc, n, count
    )
    for i in range(count):
        close(columns(out[i], n, n), a[i] @ b[i])
    pivots, info = gpuarray.zeros(n * count, np.int32), gpuarray.zeros(count, np.int32)
    getattr(blas, f"{letter}getrfBatched")(n, pa, n, pivots, info, count)
    assert not info.get().any()
    getattr(blas, f"{letter}getriBatched")(n, pa, n, pivots, pc, n, info, count)
    for i in range(count):
        close(columns(out[i], n, n), np.linalg.inv(a[i]))
    status = ctypes.c_int(5)
    getattr(blas, f"{letter}getrsBatched")(0, n, n, pa, n, pivots, pb, n, status, count)
    assert status.value == 0
    for i in range(count):
        close(columns(parts[1][i], n, n), np.linalg.solve(a[i], b[i]))


def test_mixed_types(blas, rng):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    m, n, k = 12, 7, 9
    half, bfloat, single, int8, int32 = 2, 14, 0, 3, 10
    one, zero = scalar(1, np.float32), scalar(0, np.float32)
    cases = [(half, np.float16), (bfloat, ml_dtypes.bfloat16)]
    for code, dtype in cases:
        a = rng.standard_normal((m, k)).astype(dtype)
        b = rng.standard_normal((k, n)).astype(dtype)
        exact = a.astype(float) @ b.astype(float)
        ga, gb = (on_device(x.view(np.uint16)) for x in (a, b))
        for out, out_type in ((code, np.uint16), (single, np.float32)):
            gc = gpuarray.zeros(m * n, out_type)
            blas.GemmEx(
                *(0, 0, m, n, k, one, ga, code, m, gb, code, k, zero, gc, out, m),
                *(68, -1),
            )
            got = columns(gc, m, n)
            if out == code:
                got = np.ascontiguousarray(got).view(dtype)
            scale = np.finfo(np.float16).eps if code == half else 2**-8
            assert abs(got.astype(float) - exact).max() < 4 * scale * abs(exact).max()
    a, b = rng.integers(-128, 128, (m, k)), rng.integers(-128, 128, (k, n))
    gc = gpuarray.zeros(m * n, np.int32)
    ga, gb = on_device(a.astype(np.int8)), on_device(b.astype(np.int8))
    one, zero = scalar(1, np.int32), scalar(0, np.int32)
    blas.GemmEx(
        0, 0, m, n, k, one, ga, int8, m, gb, int8, k, zero, gc, int32, m, 72, -1
    )
    assert (columns(gc, m, n) == a @ b).all()


def test_half_conversions_are_ieee(blas):
    """Each half goes through a product with one."""
    one, zero = scalar(1, np.float32), scalar(0, np.float32)
    halves = np.arange(65536, dtype=np.uint16).view(np.float16)
    finite = halves[np.isfinite(halves)]
    g, unit = gpuarray.to_gpu(finite), gpuarray.to_gpu(np.ones(1, np.float16))
    out = gpuarray.zeros(len(finite), np.float32)
    blas.GemmEx(
        *(0, 0, len(finite), 1, 1, one, g, 2, len(finite), unit, 2, 1, zero, out, 0),
        *(len(finite), 68, -1),
    )
    assert (out.get() == finite.astype(np.float32)).all()
    floats = np.random.default_rng(3).standard_normal(4096).astype(np.float32)
    floats = floats * np.float32(10) ** np.linspace(-9, 5, 4096, dtype=np.float32)
    g = gpuarray.to_gpu(floats)
    unit = gpuarray.to_gpu(np.ones(1, np.float32))
    out = gpuarray.zeros(4096, np.float16)
    blas.GemmEx(
        *(0, 0, 4096, 1, 1, one, g, 0, 4096, unit, 0, 1, zero, out, 2, 4096, 68, -1)
    )
    with np.errstate(over="ignore"):
        wanted = floats.astype(np.float16)
    assert (out.get().view(np.uint16) == wanted.view(np.uint16)).all()


def test_stream_order_and_captures(blas, rng):
    """A large product in a stream, a kernel's result before it, and both in a graph."""
    n = 300
    stream = cuda.Stream()
    blas.SetStream_v2(ctypes.c_void_p(stream.handle))
    a = random(rng, (n, n), np.float32)
    ga, gc = on_device(a), gpuarray.zeros(n * n, np.float32)
    one, zero = scalar(1, np.float32), scalar(0, np.float32)
    synchronize()

    def work():
        cuda.memset_d32_async(gc.gpudata, 0x3F800000, n * n, stream)
        blas.Sgemm_v2(0, 0, n, n, n, one, ga, n, ga, n, one, gc, n)
        blas.Sscal_v2(n * n, scalar(2, np.float32), gc, 1)

    work()
    stream.synchronize()
    wanted = 2 * (a @ a + 1)
    close(columns(gc, n, n), wanted)
    graph = capture(stream, work)
    executable = graph.instantiate()
    for _ in range(3):
        gc.fill(0)
        synchronize()
        executable.launch(stream)
        stream.synchronize()
        close(columns(gc, n, n), wanted)
    del zero


def test_errors_are_cublas_own(blas, capfd):
    one = scalar(1, np.float32)
    small = gpuarray.zeros(16, np.float32)
    assert (
        blas.status("Sgemm_v2", 7, 0, 4, 4, 4, one, small, 4, small, 4, one, small, 4)
        == 7
    )
    assert (
        blas.status("Sgemm_v2", 0, 0, 4, 4, 4, one, small, 3, small, 4, one, small, 4)
        == 7
    )
    assert (
        blas.status("Sgemm_v2", 0, 0, 4, 4, 4, None, small, 4, small, 4, one, small, 4)
        == 7
    )
    assert blas.library.cublasSgemm_v2(None) == 1
    assert "softcuda" not in capfd.readouterr().err
    # Memory that is too short is an execution failure with a message; the handle still works.
    arguments = (0, 0, 4, 4, 90, one, small, 4, small, 90, one, small, 4)
    assert blas.status("Sgemm_v2", *arguments) == 13
    assert "A must be device memory of 1440 bytes" in capfd.readouterr().err
    host = np.zeros(16, np.float32)
    assert blas.status("Sscal_v2", 16, one, host, 1) == 13
    blas.Sscal_v2(16, one, small, 1)
    capfd.readouterr()
    assert blas.library.cublasRotgEx(None) == 15
    assert blas.library.cublasRotgEx(None) == 15
    text = capfd.readouterr().err
    assert text.count("softcuda: cuBLAS: cublasRotgEx: not supported") == 1


def test_a_bad_address_in_a_batch_fails_the_handle(device, capfd):
    blas = Handle(
        load("libcublas.so.13"), "cublas", "cublasCreate_v2", "cublasDestroy_v2"
    )
    one = scalar(1, np.float32)
    good = gpuarray.zeros(16, np.float32)
    batch = gpuarray.to_gpu(np.array([8], np.uint64))
    where = addresses([good])
    arguments = (0, 0, 4, 4, 4, one, batch, 4, where, 4, one, where, 4, 1)
    blas.status("SgemmBatched", *arguments)
    synchronize()
    assert "A of a batch is no memory" in capfd.readouterr().err
    assert blas.status("Sscal_v2", 16, one, good, 1) in (0, 13)
    blas.close()


def test_threads_with_one_handle_each_and_in_turn(device):
    library = load("libcublas.so.13")
    shared = Handle(library, "cublas", "cublasCreate_v2", "cublasDestroy_v2")
    context, lock, failed = cuda.Context.get_current(), threading.Lock(), []
    one = scalar(1, np.float32)
    total = gpuarray.zeros(64, np.float32)
    ones = gpuarray.to_gpu(np.ones(64, np.float32))
    synchronize()

    def run():
        context.push()
        try:
            own = Handle(library, "cublas", "cublasCreate_v2", "cublasDestroy_v2")
            mine = gpuarray.zeros(64, np.float32)
            for _ in range(50):
                own.Saxpy_v2(64, one, ones, 1, mine, 1)
                with lock:
                    shared.Saxpy_v2(64, one, ones, 1, total, 1)
            if not (mine.get() == 50).all():
                failed.append(mine.get())
            own.close()
        except AssertionError as error:
            failed.append(error)
        finally:
            context.pop()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert (total.get() == 200).all()
    shared.close()


def test_handles_are_freed(device):
    library = load("libcublas.so.13")

    def make(count):
        for _ in range(count):
            Handle(library, "cublas", "cublasCreate_v2", "cublasDestroy_v2").close()

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1])

    make(1000)
    before = resident()
    make(10000)
    assert resident() - before < 256  # pages: 1 MB


def test_transfers(blas, rng):
    a = np.asfortranarray(random(rng, (6, 4), np.float64))
    device = gpuarray.zeros(8 * 4, np.float64)
    library = blas.library
    from library_calls import pointer

    assert library.cublasSetMatrix(6, 4, 8, pointer(a), 6, pointer(device), 8) == 0
    back = np.zeros((6, 4), order="F")
    assert library.cublasGetMatrix(6, 4, 8, pointer(device), 8, pointer(back), 6) == 0
    assert (back == a).all()
    vector = np.zeros(4)
    assert library.cublasGetVector(4, 8, pointer(device), 8, pointer(vector), 1) == 0
    assert (vector == a[0]).all()


def test_a_handle_serves_other_contexts(device):
    handle = Handle(
        load("libcublas.so.13"), "cublas", "cublasCreate_v2", "cublasDestroy_v2"
    )
    other = cuda.Device(0).make_context()
    try:
        for _ in range(20):
            x = gpuarray.zeros(1 << 14, np.float32)
            x += 1
            handle.Sscal_v2(1 << 14, np.float32([3]), x, 1)
            assert (x.get() == 3).all()
    finally:
        del x
        other.pop()
        other.detach()
    handle.close()
