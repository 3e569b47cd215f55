"""softcuda's cublasLt: products of matrices with epilogues beside NumPy's."""

import ctypes
import itertools

import numpy as np
import pytest
from library_calls import Handle, argument, capture, load, random, synchronize

import pycuda.driver as cuda
from pycuda import gpuarray

COMPUTE = {"f2": 68, "f4": 68, "f8": 70, "c8": 68, "c16": 70, "i1": 72, "i4": 72}
TYPES = {"f2": 2, "f4": 0, "f8": 1, "c8": 4, "c16": 5, "i1": 3, "i4": 10}
OP_A, OP_B, EPILOGUE, BIAS, MODE = 3, 4, 7, 8, 2
RELU, GELU, WITH_BIAS, AUXILIARY = 2, 32, 4, 128
BY_COLUMNS, BY_ROWS = 0, 1


def code(dtype):
    return TYPES[np.dtype(dtype).str[1:]]


class Library:
    def __init__(self, version):
        self.library = load(f"libcublasLt.so.{version}")
        self.handle = Handle(
            self.library, "cublasLt", "cublasLtCreate", "cublasLtDestroy"
        )
        self.made = []

    def call(self, name, *arguments):
        status = getattr(self.library, f"cublasLt{name}")(*map(argument, arguments))
        assert status == 0, f"cublasLt{name} returned {status}"

    def new(self, kind, *arguments):
        made = ctypes.c_void_p()
        assert (
            getattr(self.library, f"cublasLt{kind}Create")(
                ctypes.byref(made), *map(argument, arguments)
            )
            == 0
        )
        self.made.append((kind, made))
        return made

    def set(self, kind, descriptor, attribute, value):
        self.call(f"{kind}SetAttribute", descriptor, attribute, value, value.nbytes)

    def layout(self, shape, dtype, order=BY_COLUMNS, batch=1, stride=0):
        made = self.new(
            "MatrixLayout",
            code(dtype),
            *shape,
            shape[0] if order == BY_COLUMNS else shape[1],
        )
        self.set("MatrixLayout", made, 1, np.int32([order]))
        self.set("MatrixLayout", made, 5, np.int32([batch]))
        self.set("MatrixLayout", made, 6, np.int64([stride]))
        return made

    def product(self, compute, scale, **attributes):
        made = self.new("MatmulDesc", compute, code(scale))
        for name, value in attributes.items():
            self.set("MatmulDesc", made, int(name[1:]), value)
        return made

    def close(self):
        for kind, made in self.made:
            self.call(f"{kind}Destroy", made)
        self.handle.close()


@pytest.fixture(params=["12", "13"])
def lt(device, request):
    library = Library(request.param)
    yield library
    library.close()


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def put(a, order=BY_COLUMNS):
    return gpuarray.to_gpu(np.asarray(a, order="F" if order == BY_COLUMNS else "C"))


def address(array):
    return np.uint64([int(array.gpudata)])


def matmul(lt, how, alpha, a, la, b, lb, beta, c, lc, d, ld, stream=None):
    lt.handle.Matmul(
        how, alpha, a, la, b, lb, beta, c, lc, d, ld, None, None, 0, stream
    )


def close(got, wanted, tolerance=1e-4):
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_products(lt, rng, dtype):
    a, b, c = (
        random(rng, (5, 7), dtype),
        random(rng, (7, 6), dtype),
        random(rng, (5, 6), dtype),
    )
    for op_a, op_b, order_a, order_d in itertools.product(
        (0, 1), (0, 1), (BY_COLUMNS, BY_ROWS), (BY_COLUMNS, BY_ROWS)
    ):
        left, right = (a.T if op_a else a), (b.T if op_b else b)
        how = lt.product(
            COMPUTE[dtype], dtype, _3=np.int32([op_a]), _4=np.int32([op_b])
        )
        d = put(np.zeros_like(c), order_d)
        layouts = [lt.layout(left.shape, dtype, order_a), lt.layout(right.shape, dtype)]
        layouts += [lt.layout(c.shape, dtype), lt.layout(c.shape, dtype, order_d)]
        result, count = np.zeros(96, np.uint8), np.zeros(1, np.int32)
        preference = lt.new("MatmulPreference")
        lt.set("MatmulPreference", preference, 1, np.uint64([1 << 20]))
        lt.handle.MatmulAlgoGetHeuristic(how, *layouts, preference, 1, result, count)
        assert count[0] == 1
        alpha, beta = np.array([2], dtype), np.array([-1], dtype)
        operands = (put(left, order_a), layouts[0], put(right), layouts[1])
        matmul(lt, how, alpha, *operands, beta, put(c), layouts[2], d, layouts[3])
        close(d.get(), 2 * (a @ b) - c)


@pytest.mark.parametrize("dtype, result", [("f2", "f2"), ("f2", "f4"), ("i1", "i4")])
def test_narrow_types(lt, rng, dtype, result):
    a, b = (rng.integers(-4, 5, shape).astype(dtype) for shape in ((6, 5), (5, 4)))
    scale = "i4" if result == "i4" else "f4"
    how = lt.product(COMPUTE[dtype], scale)
    d = put(np.zeros((6, 4), result))
    layouts = [lt.layout(x.shape, x.dtype) for x in (a, b, d)]
    one, zero = np.array([1], scale), np.array([0], scale)
    matmul(
        lt,
        how,
        one,
        put(a),
        layouts[0],
        put(b),
        layouts[1],
        zero,
        d,
        layouts[2],
        d,
        layouts[2],
    )
    assert (d.get() == a.astype("f8") @ b.astype("f8")).all()


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def test_epilogues(lt, rng):
    m, n = 11, 6
    a, b, bias = (random(rng, shape, "f4") for shape in ((m, 4), (4, n), (m,)))
    there, one, zero = put(bias), np.float32([1]), np.float32([0])
    layouts = [lt.layout(shape, "f4") for shape in ((m, 4), (4, n), (m, n))]
    plain = a @ b

    def run(epilogue, first=a, second=b, **attributes):
        how = lt.product(
            68, "f4", _7=np.uint32([epilogue]), _8=address(there), **attributes
        )
        d = put(np.zeros((m, n), "f4"))
        matmul(
            lt,
            how,
            one,
            put(first),
            layouts[0],
            put(second),
            layouts[1],
            zero,
            d,
            layouts[2],
            d,
            layouts[2],
        )
        return d.get()

    close(run(RELU), np.maximum(plain, 0))
    close(run(WITH_BIAS), plain + bias[:, None])
    close(run(RELU | WITH_BIAS), np.maximum(plain + bias[:, None], 0))
    close(run(GELU | WITH_BIAS), gelu(plain + bias[:, None]))

    kept = put(np.zeros((m, n), "f4"))
    close(
        run(GELU | WITH_BIAS | AUXILIARY, _11=address(kept), _12=np.int64([m])),
        gelu(plain + bias[:, None]),
    )
    close(kept.get(), plain + bias[:, None])
    x, step = kept.get().astype("f8"), 1e-5
    slope = (gelu(x + step) - gelu(x - step)) / (2 * step)
    close(
        run(64 | AUXILIARY | 16, _11=address(kept), _12=np.int64([m])),
        plain * slope,
        1e-3,
    )
    close(there.get(), (plain * slope).sum(1), 1e-2)

    mask = gpuarray.zeros(16 * n, np.uint8)
    close(
        run(RELU | AUXILIARY, _11=address(mask), _12=np.int64([128])),
        np.maximum(plain, 0),
    )
    bits = np.unpackbits(mask.get(), bitorder="little").reshape(n, 128)[:, :m].T
    assert (bits == (plain > 0)).all()
    close(
        run(8 | AUXILIARY, _11=address(mask), _12=np.int64([128])),
        np.where(plain > 0, plain, 0),
    )


def test_batches_and_scalars_on_the_device(lt, rng):
    a, b = random(rng, (3, 4, 5), "f4"), random(rng, (3, 5, 2), "f4")
    d = gpuarray.zeros((3, 4, 2), np.float32)
    layouts = [
        lt.layout(x.shape[1:], "f4", BY_ROWS, 3, x.shape[1] * x.shape[2])
        for x in (a, b, d)
    ]
    alpha, beta = put(np.float32([2])), put(np.float32([0]))
    how = lt.product(68, "f4", _2=np.int32([1]))
    matmul(
        lt,
        how,
        alpha,
        put(a, BY_ROWS),
        layouts[0],
        put(b, BY_ROWS),
        layouts[1],
        beta,
        d,
        layouts[2],
        d,
        layouts[2],
    )
    close(d.get(), 2 * a @ b)
    rows = put(np.arange(4, dtype="f4"))
    how = lt.product(68, "f4", _2=np.int32([3]))
    matmul(
        lt,
        how,
        rows,
        put(a, BY_ROWS),
        layouts[0],
        put(b, BY_ROWS),
        layouts[1],
        None,
        d,
        layouts[2],
        d,
        layouts[2],
    )
    close(d.get(), np.arange(4)[:, None] * (a @ b))


def test_calls_are_work_of_their_stream(lt, rng):
    a, b = random(rng, (4, 4), "f4"), random(rng, (4, 4), "f4")
    layout, how = lt.layout((4, 4), "f4"), lt.product(68, "f4")
    stream = cuda.Stream(flags=1)
    d, one, zero = put(np.zeros((4, 4), "f4")), np.float32([1]), np.float32([1])
    left, right = put(a), put(b)
    synchronize()
    call = (
        how,
        one,
        left,
        layout,
        right,
        layout,
        zero,
        d,
        layout,
        d,
        layout,
        ctypes.c_void_p(stream.handle),
    )
    graph = capture(stream, lambda: matmul(lt, *call)).instantiate()
    assert (d.get() == 0).all()
    for _ in range(3):
        graph.launch(stream)
    stream.synchronize()
    close(d.get(), 3 * (a @ b))


def test_transformations(lt, rng):
    a, b = random(rng, (3, 5), "f4"), random(rng, (5, 3), "f4")
    how = lt.new("MatrixTransformDesc", 0)
    lt.set("MatrixTransformDesc", how, 3, np.int32([1]))
    c = gpuarray.zeros((3, 5), np.float32)
    layouts = (
        lt.layout((3, 5), "f4"),
        lt.layout((5, 3), "f4"),
        lt.layout((3, 5), "f4", BY_ROWS),
    )
    lt.handle.MatrixTransform(
        how,
        np.float32([2]),
        put(a),
        layouts[0],
        np.float32([3]),
        put(b),
        layouts[1],
        c,
        layouts[2],
        None,
    )
    close(c.get(), 2 * a + 3 * b.T)


def test_a_handle_of_cublas_serves(lt):
    other = Handle(
        load("libcublas.so.13"), "cublas", "cublasCreate_v2", "cublasDestroy_v2"
    )
    a = put(np.eye(2, dtype="f4"))
    layout, how, one = lt.layout((2, 2), "f4"), lt.product(68, "f4"), np.float32([1])
    d = put(np.zeros((2, 2), "f4"))
    call = (
        how,
        one,
        a,
        layout,
        a,
        layout,
        np.float32([0]),
        d,
        layout,
        d,
        layout,
        None,
        None,
        0,
        None,
    )
    assert lt.library.cublasLtMatmul(other.handle, *map(argument, call)) == 0
    synchronize()
    assert (d.get() == np.eye(2)).all()
    other.close()


def test_wrong_arguments(lt, capfd):
    a = put(np.eye(3, dtype="f4"))
    layout, wide, how, one = (
        lt.layout((3, 3), "f4"),
        lt.layout((3, 4), "f4"),
        lt.product(68, "f4"),
        np.float32([1]),
    )

    def status(description=how, first=layout, result=layout, d=a):
        return lt.handle.status(
            "Matmul",
            description,
            one,
            a,
            first,
            a,
            layout,
            one,
            a,
            result,
            d,
            result,
            None,
            None,
            0,
            None,
        )

    assert status(first=wide) == 7  # a shape
    assert status(description=None) == 7
    assert status(description=lt.product(68, "f4", _7=np.uint32([4]))) == 7  # no bias
    assert (
        status(description=lt.product(68, "f4", _7=np.uint32([512]))) == 15
    )  # an epilogue
    assert status(description=lt.product(99, "f4")) == 15
    large = lt.layout((300, 3), "f4")
    assert status(first=large, result=large, d=gpuarray.zeros(4, np.float32)) == 13
    assert "A must be device memory" in capfd.readouterr().err
    value = np.zeros(1, np.int64)
    set_attribute = lt.library.cublasLtMatmulDescSetAttribute
    assert set_attribute(how, 3, argument(value), 8) == 7  # a size
    assert set_attribute(how, 99, argument(value), 8) == 15
    written = np.zeros(1, np.uint64)
    lt.call("MatmulDescGetAttribute", how, 7, value, 8, written)
    assert written[0] == 4 and value[0] == 1


def test_capabilities_of_the_algorithm(lt):
    library = lt.library
    algorithm, written = np.zeros(8, np.uint64), np.zeros(1, np.uint64)
    values = {0: 0, 3: 1, 4: 1, 6: 0, 7: 0, 11: 31, 13: 0, 14: 0, 16: 1}
    for attribute, wanted in values.items():
        got = np.full(2, -1, np.int32)
        call = library.cublasLtMatmulAlgoCapGetAttribute
        of = argument(algorithm), attribute
        assert call(*of, None, argument(0), argument(written)) == 0 and written[0] == 4
        assert call(*of, argument(got), argument(4), argument(written)) == 0
        assert list(got) == [wanted, -1]
        assert call(*of, argument(got), argument(3), argument(written)) == 7
    epilogues, flags = np.zeros(1, np.uint32), np.zeros(1, np.uint64)
    assert call(argument(algorithm), 12, argument(epilogues), argument(4), None) == 0
    wanted = RELU | GELU | WITH_BIAS | AUXILIARY
    assert epilogues[0] & wanted == wanted
    assert epilogues[0] & 0x300 == 0  # BGRADA and BGRADB
    assert call(argument(algorithm), 15, argument(flags), argument(8), None) == 0
    assert call(argument(algorithm), 99, argument(flags), argument(8), None) == 15


def test_capacity_of_the_heuristics_and_the_log(lt):
    library, capacity = lt.library, np.zeros(1, np.uint64)
    assert library.cublasLtHeuristicsCacheSetCapacity(argument(100)) == 0
    assert library.cublasLtHeuristicsCacheGetCapacity(argument(capacity)) == 0
    assert capacity[0] == 100
    assert (
        library.cublasLtLoggerSetLevel(0) == 0
        and library.cublasLtLoggerSetLevel(-1) == 7
    )
    assert (
        library.cublasLtLoggerOpenFile(None) == 7
        and library.cublasLtLoggerForceDisable() == 0
    )


def test_a_null_c_needs_a_beta_of_0(lt, capfd):
    a, d = put(np.eye(3, dtype="f4")), gpuarray.zeros(9, np.float32)
    layout, how, one = lt.layout((3, 3), "f4"), lt.product(68, "f4"), np.float32([1])

    def status(how, alpha, beta):
        operands = (a, layout, a, layout, beta, None, layout, d, layout)
        return lt.handle.status("Matmul", how, alpha, *operands, None, None, 0, None)

    assert status(how, one, np.float32([0])) == 0
    assert (d.get() == np.eye(3, dtype="f4").ravel()).all()
    assert status(how, one, one) == 7
    on_device = lt.product(68, "f4", _2=np.int32([1]))
    scalar = gpuarray.to_gpu(one)
    status(on_device, scalar, scalar)  # fails when beta is read
    synchronize()
    assert status(on_device, scalar, scalar) == 13
    assert "C is null, but beta is not 0" in capfd.readouterr().err


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_an_empty_result_with_an_auxiliary_matrix(lt, shape):
    m, n = shape
    a, b = gpuarray.zeros(9, np.float32), gpuarray.zeros(9, np.float32)
    bits = gpuarray.to_gpu(np.full(64, 7, np.uint8))
    how = lt.product(68, "f4", _7=np.uint32([RELU | AUXILIARY]), _11=address(bits))
    lt.set("MatmulDesc", how, 12, np.int64([128]))
    layouts = [lt.layout(s, "f4") for s in ((m, 3), (3, n), (m, n))]
    one, zero = np.float32([1]), np.float32([0])
    matmul(
        lt, how, one, a, layouts[0], b, layouts[1], zero, a, layouts[2], a, layouts[2]
    )
    synchronize()
    assert (bits.get() == 7).all()
