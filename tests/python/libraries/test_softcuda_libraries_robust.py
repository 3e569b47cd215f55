"""softcuda's cuBLAS and so on: threads, objects that are freed, invalid arguments, contexts and captures."""

import ctypes
import functools
import threading

import numpy as np
import pytest
from library_calls import Handle, capture, load, synchronize

import pycuda.driver as cuda
from pycuda import gpuarray

N = 16


class Fft:
    """A plan of cuFFT for one transform of N numbers."""

    def __init__(self):
        self.library, self.plan = load("libcufft.so.12"), ctypes.c_int()
        assert self.library.cufftPlan1d(ctypes.byref(self.plan), N, 0x29, 1) == 0

    def transform(self, array):
        address = ctypes.c_void_p(int(array.gpudata))
        assert self.library.cufftExecC2C(self.plan, address, address, -1) == 0

    def close(self):
        assert self.library.cufftDestroy(self.plan) == 0


def solver():
    library = load("libcusolver.so.12")
    return Handle(library, "cusolverDn", "cusolverDnCreate", "cusolverDnDestroy")


def sparse_solver():
    library = load("libcusolver.so.12")
    return Handle(library, "cusolverSp", "cusolverSpCreate", "cusolverSpDestroy")


def sparse():
    return Handle(
        load("libcusparse.so.12"), "cusparse", "cusparseCreate", "cusparseDestroy"
    )


def blas():
    return Handle(
        load("libcublas.so.13"), "cublas", "cublasCreate_v2", "cublasDestroy_v2"
    )


def blas_lt():
    return Handle(
        load("libcublasLt.so.13"), "cublasLt", "cublasLtCreate", "cublasLtDestroy"
    )


def blas_xt():
    return Handle(
        load("libcublas.so.13"), "cublasXt", "cublasXtCreate", "cublasXtDestroy"
    )


class Generator(Handle):
    def __init__(self, kind=101):
        self.library, self.prefix = load("libcurand.so.10"), "curand"
        self.destroy, self.handle = "curandDestroyGenerator", ctypes.c_void_p()
        create = self.library.curandCreateGenerator
        assert create(ctypes.byref(self.handle), kind) == 0


class Description:
    """A descriptor: the library's function makes it from the arguments."""

    def __init__(self, library, create, destroy, *arguments):
        self.library, self.made = load(library), ctypes.c_void_p()
        self.destroy = getattr(self.library, destroy)
        create = getattr(self.library, create)
        assert create(ctypes.byref(self.made), *arguments) == 0

    def close(self):
        assert self.destroy(self.made) == 0


WORDS = np.zeros(N, np.int32)  # an address: nothing is read when a descriptor is made
ADDRESS, SIZE = ctypes.c_void_p(WORDS.ctypes.data), ctypes.c_int64(N)
BLAS_LT, SOLVER, SPARSE = "libcublasLt.so.13", "libcusolver.so.12", "libcusparse.so.12"
INT32, FLOAT = 2, 0  # cusparseIndexType_t, cudaDataType

# The library, the function that makes a descriptor, the one that frees it, and the arguments.
DESCRIPTIONS = [
    (BLAS_LT, "cublasLtMatrixLayoutCreate", "cublasLtMatrixLayoutDestroy")
    + (FLOAT, SIZE, SIZE, SIZE),
    (BLAS_LT, "cublasLtMatmulDescCreate", "cublasLtMatmulDescDestroy", 68, FLOAT),
    (BLAS_LT, "cublasLtMatmulPreferenceCreate", "cublasLtMatmulPreferenceDestroy"),
    (BLAS_LT, "cublasLtMatrixTransformDescCreate", "cublasLtMatrixTransformDescDestroy")
    + (FLOAT,),
    (SOLVER, "cusolverDnCreateSyevjInfo", "cusolverDnDestroySyevjInfo"),
    (SOLVER, "cusolverDnCreateGesvdjInfo", "cusolverDnDestroyGesvdjInfo"),
    (SOLVER, "cusolverDnCreateParams", "cusolverDnDestroyParams"),
    (SOLVER, "cusolverDnIRSParamsCreate", "cusolverDnIRSParamsDestroy"),
    (SOLVER, "cusolverDnIRSInfosCreate", "cusolverDnIRSInfosDestroy"),
    (SOLVER, "cusolverRfCreate", "cusolverRfDestroy"),
    (SOLVER, "cusolverSpCreateCsrqrInfo", "cusolverSpDestroyCsrqrInfo"),
    (SOLVER, "cusolverSpCreateCsrluInfoHost", "cusolverSpDestroyCsrluInfoHost"),
    (SPARSE, "cusparseCreateMatDescr", "cusparseDestroyMatDescr"),
    (SPARSE, "cusparseCreateDnVec", "cusparseDestroyDnVec", SIZE, ADDRESS, FLOAT),
    (SPARSE, "cusparseCreateDnMat", "cusparseDestroyDnMat")
    + (SIZE, SIZE, SIZE, ADDRESS, FLOAT, 1),
    (SPARSE, "cusparseCreateSpVec", "cusparseDestroySpVec")
    + (SIZE, SIZE, ADDRESS, ADDRESS, INT32, 0, FLOAT),
    (SPARSE, "cusparseCreateCsr", "cusparseDestroySpMat")
    + (SIZE, SIZE, SIZE, ADDRESS, ADDRESS, ADDRESS, INT32, INT32, 0, FLOAT),
    (SPARSE, "cusparseSpGEMM_createDescr", "cusparseSpGEMM_destroyDescr"),
    (SPARSE, "cusparseSpSV_createDescr", "cusparseSpSV_destroyDescr"),
    (SPARSE, "cusparseSpSM_createDescr", "cusparseSpSM_destroyDescr"),
    (SPARSE, "cusparseCreateCsrilu02Info", "cusparseDestroyCsrilu02Info"),
    (SPARSE, "cusparseCreateBsrsv2Info", "cusparseDestroyBsrsv2Info"),
    (SPARSE, "cusparseCreateColorInfo", "cusparseDestroyColorInfo"),
    (SPARSE, "cusparseCreatePruneInfo", "cusparseDestroyPruneInfo"),
    (SPARSE, "cusparseCreateCsru2csrInfo", "cusparseDestroyCsru2csrInfo"),
    (SPARSE, "cusparseCreateCoo", "cusparseDestroySpMat")
    + (SIZE, SIZE, SIZE, ADDRESS, ADDRESS, ADDRESS, INT32, 0, FLOAT),
    (SPARSE, "cusparseCreateCsc", "cusparseDestroySpMat")
    + (SIZE, SIZE, SIZE, ADDRESS, ADDRESS, ADDRESS, INT32, INT32, 0, FLOAT),
    *(
        (SPARSE, f"cusparseCreate{name}Info", f"cusparseDestroy{name}Info")
        for name in ("Csric02", "Bsrilu02", "Bsric02", "Bsrsm2")
    ),
    *(
        (SOLVER, f"cusolverSpCreate{name}", f"cusolverSpDestroy{name}")
        for name in ("CsrqrInfoHost", "CsrcholInfo", "CsrcholInfoHost")
    ),
]


MAKERS = {
    maker.__name__: maker
    for maker in (blas, blas_lt, blas_xt, solver, sparse_solver, sparse, Fft, Generator)
} | {words[1]: functools.partial(Description, *words) for words in DESCRIPTIONS}


@pytest.mark.parametrize("name", MAKERS)
def test_objects_are_freed(device, name):
    def make(count):
        for _ in range(count):
            MAKERS[name]().close()

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1])

    make(300)
    before = resident()
    make(10_000)
    assert resident() - before < 80  # pages: less than 33 bytes of each


@pytest.mark.parametrize(
    "name", ["blas", "blas_xt", "solver", "sparse_solver", "sparse", "Generator"]
)
def test_a_destroyed_handle_is_not_initialised(device, name):
    made = MAKERS[name]()
    calls = {
        "blas": lambda: made.status("GetStream_v2", np.zeros(1, np.uint64)),
        "blas_xt": lambda: made.status("SetBlockDim", 5),
        "solver": lambda: made.status("GetStream", np.zeros(1, np.uint64)),
        "sparse_solver": lambda: made.status("GetStream", np.zeros(1, np.uint64)),
        "sparse": lambda: made.status("GetStream", np.zeros(1, np.uint64)),
        "Generator": lambda: made.status("GenerateSeeds"),
    }
    assert calls[name]() == 0
    made.close()
    not_initialised = 101 if name == "Generator" else 1
    assert calls[name]() == not_initialised
    assert getattr(made.library, made.destroy)(made.handle) == not_initialised
    assert getattr(made.library, made.destroy)(None) == not_initialised


def in_threads(count, work):
    """Runs work(number) in threads, in the context of this thread."""
    context, failed = cuda.Context.get_current(), []

    def run(number):
        context.push()
        try:
            work(number)
        except BaseException as error:  # the test's thread raises it
            failed.append(error)
        finally:
            context.pop()

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


@pytest.mark.parametrize("shared", [False, True])
def test_transforms_in_threads(device, shared):
    """One plan for each thread, and one for all of them at the same time."""
    plan = Fft()
    values = (np.arange(N) + 1j).astype(np.complex64)
    wanted = np.fft.fft(np.fft.fft(values)) / N
    synchronize()

    def work(_):
        own = plan if shared else Fft()
        array = gpuarray.to_gpu(values)
        for _ in range(20):
            own.transform(array)
            own.transform(array)
            np.testing.assert_allclose(array.get() / N, wanted, atol=1e-4)
            array.set(values)
        if not shared:
            own.close()

    in_threads(4, work)
    plan.close()


@pytest.mark.parametrize("shared", [False, True])
def test_solvers_in_threads(device, shared):
    handle = solver()
    a = np.random.default_rng(1).standard_normal((N, N)).astype(np.float32)
    a = a @ a.T + N * np.eye(N, dtype=np.float32)
    work_size = gpuarray.zeros(1, np.float32)
    synchronize()

    def work(_):
        own = handle if shared else solver()
        for _ in range(10):
            matrix, info = gpuarray.to_gpu(a), gpuarray.zeros(1, np.int32)
            own.Spotrf(0, N, matrix, N, work_size, 1, info)
            np.testing.assert_allclose(
                np.triu(matrix.get()), np.linalg.cholesky(a).T, atol=1e-4
            )
        if not shared:
            own.close()

    in_threads(4, work)
    handle.close()


@pytest.mark.parametrize("shared", [False, True])
def test_sparse_products_in_threads(device, shared):
    """Each thread has its own descriptors; the handle is its own, or that of all threads."""
    handle = sparse()
    dense = np.arange(N * N, dtype=np.float32).reshape(N, N) % 3
    rows, columns = np.nonzero(dense)
    offsets = np.concatenate([[0], np.cumsum(np.count_nonzero(dense, axis=1))])
    one, zero = np.ones(1, np.float32), np.zeros(1, np.float32)
    synchronize()

    def work(number):
        own = handle if shared else sparse()
        parts = [
            gpuarray.to_gpu(part.astype(dtype))
            for part, dtype in [
                (offsets, np.int32),
                (columns, np.int32),
                (dense[rows, columns], np.float32),
            ]
        ]
        x, y = gpuarray.to_gpu(np.full(N, number, np.float32)), gpuarray.zeros(N, "f")
        places = [ctypes.c_void_p(int(part.gpudata)) for part in (*parts, x, y)]
        matrix = Description(
            *(SPARSE, "cusparseCreateCsr", "cusparseDestroySpMat", SIZE, SIZE),
            *(ctypes.c_int64(len(rows)), *places[:3], INT32, INT32, 0, FLOAT),
        )
        vectors = [
            Description(
                *(SPARSE, "cusparseCreateDnVec", "cusparseDestroyDnVec"),
                *(SIZE, place, FLOAT),
            )
            for place in places[3:]
        ]
        for _ in range(20):
            y.fill(0)
            made = (matrix.made, vectors[0].made)
            own.SpMV(0, one, *made, zero, vectors[1].made, FLOAT, 0, None)
            np.testing.assert_array_equal(y.get(), dense.sum(axis=1) * number)
        for description in (matrix, *vectors):
            description.close()
        if not shared:
            own.close()

    in_threads(4, work)
    handle.close()


@pytest.mark.parametrize("kind", [101, 121, 141, 161, 201])
def test_a_generator_in_threads_gives_each_number_once(device, kind):
    generator, parts = Generator(kind), []
    synchronize()

    def work(_):
        for _ in range(10):
            values = gpuarray.zeros(256, np.uint32)
            generator.Generate(values, 256)
            parts.append(values.get())

    in_threads(4, work)
    other, wanted = Generator(kind), gpuarray.zeros(40 * 256, np.uint32)
    other.Generate(wanted, 40 * 256)
    assert (np.sort(np.concatenate(parts)) == np.sort(wanted.get())).all()
    generator.close()
    other.close()


def test_null_pointers_negative_sizes_and_leading_dimensions(device):
    b, d, s = blas(), solver(), sparse()
    one, x = np.ones(1, np.float32), gpuarray.zeros(N, np.float32)
    gemm = (0, 0, 4, 4, 4, one, x, 4, x, 4, one, x, 4)
    assert b.status("Sgemm_v2", *gemm) == 0
    for place, value in [
        (2, -1),
        (5, None),
        (7, 3),
        (9, 3),
        (10, None),
        (12, 3),
        (0, 9),
    ]:
        changed = [*gemm]
        changed[place] = value
        assert b.status("Sgemm_v2", *changed) == 7
    assert b.status("Sgemm_v2", 0, 0, 0, 4, 4, one, None, 4, None, 4, one, None, 4) == 0
    info = gpuarray.zeros(1, np.int32)
    potrf = (0, 4, x, 4, x, 1, info)
    for place, value in [(0, 2), (1, -1), (3, 3)]:
        changed = [*potrf]
        changed[place] = value
        assert d.status("Spotrf", *changed) == 3
    assert d.status("Spotrf", 0, 4, None, 4, x, 1, info) == 6
    assert d.status("Spotrf_bufferSize", 0, 4, x, 4, None) == 3
    made = ctypes.c_void_p()
    create = s.library.cusparseCreateDnVec
    assert create(ctypes.byref(made), ctypes.c_int64(-1), None, 0) == 3
    assert create(None, ctypes.c_int64(1), None, 0) == 3
    plan, fft = ctypes.c_int(), load("libcufft.so.12")
    assert fft.cufftPlan1d(ctypes.byref(plan), -3, 0x29, 1) == 8
    assert fft.cufftPlan1d(None, 3, 0x29, 1) == 4
    assert fft.cufftPlan1d(ctypes.byref(plan), 8, 0x99, 1) == 3
    assert fft.cufftExecC2C(12345, None, None, -1) == 1
    for handle in (b, d, s):
        handle.close()


def test_a_scalar_of_the_wrong_side(device, capfd):
    """A host's address in the device's mode is an error, and not read."""
    b, x = blas(), gpuarray.zeros(N, np.float32)
    b.SetPointerMode_v2(1)
    assert b.status("Sscal_v2", N, np.ones(1, np.float32), x, 1) == 13
    assert "alpha must be device memory" in capfd.readouterr().err
    b.close()


def test_results_of_the_host_in_a_capture(device, capfd):
    """The call fails, and the handle and the capture go on."""
    b, stream = blas(), cuda.Stream()
    x, result = gpuarray.to_gpu(np.ones(N, np.float32)), np.zeros(1, np.float32)
    b.SetStream_v2(ctypes.c_void_p(stream.handle))
    synchronize()
    two = np.full(1, 2, np.float32)

    def calls():
        assert b.status("Snrm2_v2", N, x, 1, result) == 13
        b.Sscal_v2(N, two, x, 1)

    graph = capture(stream, calls).instantiate()
    assert "a capture cannot contain a call" in capfd.readouterr().err
    assert (x.get() == 1).all()
    graph.launch(stream)
    stream.synchronize()
    assert (x.get() == 2).all()
    b.Snrm2_v2(N, x, 1, result)
    assert result[0] == 8
    b.close()


def test_a_handle_without_a_context(device):
    """As with NVIDIA's libraries, the primary context of the first device becomes current."""
    load("libcublas.so.13")  # here, because a thread cannot skip the test
    made = []

    def work():
        made.append(cuda.Context.get_current() is None)
        handle = blas()
        made.append(cuda.Context.get_current() is not None)
        handle.close()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert made[0] and len(made) == 2


def test_calls_of_all_threads_run_in_the_calling_thread(device):
    """If the stream is idle, and they are not long. Without an idle stream, the caller does not wait."""
    n, stream, s = 160, cuda.Stream(), solver()
    a = gpuarray.to_gpu(np.asfortranarray(np.eye(n, dtype=np.float64)))
    pivots, info = gpuarray.zeros(n, np.int32), gpuarray.to_gpu(np.ones(1, np.int32))
    work = gpuarray.zeros(1, np.float64)
    s.SetStream(ctypes.c_void_p(stream.handle))
    synchronize()
    s.Dgetrf(n, n, a, n, work, pivots, info)
    assert stream.is_done()
    assert (info.get() == 0).all()
    info.fill(1)
    synchronize()
    open_gate = threading.Event()
    cuda.launch_host_func(open_gate.wait, stream)
    s.Dgetrf(n, n, a, n, work, pivots, info)
    assert not stream.is_done()
    open_gate.set()
    stream.synchronize()
    assert (info.get() == 0).all()
    s.close()
